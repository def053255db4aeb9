// The devices at work on a job, and the chunks that each has in flight.
//
// A device begins with the memory of one chunk and takes that of the others as they are wanted, so that a device
// that is short of memory works with fewer. Only where chunks go round the devices has each all of it from the start.

import { WarpstageError } from '../diagnostics/error.ts';
import { type CopyStreams, copyStreamsOf } from './chunk-streams.ts';
import { type BoundJob, lengthsOf } from './chunks.ts';
import type { Place } from './constants.ts';
import { granularityOf } from './plan.ts';
import { PinnedSink } from './sinks/pinned.ts';
import { Slot, type StreamedArray } from './slot.ts';

/** A device at work: what it has done, and which kernel it was given last. */
export class Worker {
  readonly place: Place;
  /** Of its slots; those that nobody works with lie in `spare`. */
  readonly slots: Slot[] = [];
  readonly spare: Slot[] = [];
  rows = 0;
  chunks = 0;
  /** Chunks that its slots asked for. */
  asked = 0;
  previous: Slot | undefined;
  readonly #arrays: readonly StreamedArray[];
  readonly #copies: CopyStreams | null;

  constructor(place: Place, arrays: readonly StreamedArray[]) {
    this.place = place;
    this.#arrays = arrays;
    this.#copies = copyStreamsOf(place);
  }

  /** One more chunk in flight, without memory so far. */
  addSlot(): Slot {
    const slot = new Slot(this.place, this.#arrays, this.#copies);
    this.slots.push(slot);
    return slot;
  }

  /** Waits for everything that was issued, whatever became of it, and gives all memory back. */
  async free(): Promise<void> {
    const streams = this.#copies === null ? [] : [this.#copies.into, this.#copies.out];
    await Promise.all(streams.map((stream) => stream.destroy().catch(() => {})));
    await Promise.all(this.slots.map((slot) => slot.free()));
  }
}

/** Whether chunks go round the devices, so that none of the slots can be missing. */
function isRound({ accumulators, places }: BoundJob): boolean {
  return accumulators.length > 0 && places.length > 1;
}

/**
 * The devices at work, with the memory that they need from the start. Null if a device has not as much
 * and smaller chunks are possible.
 */
export async function startWorkers(job: BoundJob): Promise<readonly Worker[] | null> {
  const { outputs, plan, places } = job;
  const arrays = arraysOf(job);
  const workers: Worker[] = [];
  const first = isRound(job) ? plan.depth : 1;
  try {
    for (const place of places) {
      const worker = new Worker(place, arrays);
      workers.push(worker);
      for (let position = 0; position < plan.depth; ++position) worker.addSlot();
      for (const slot of worker.slots.slice(0, first)) slot.takeDevice();
    }
    const slots = workers.flatMap((worker) => worker.slots);
    for (const slot of isRound(job) ? slots : slots.slice(0, 1)) slot.takeHost();
    return workers;
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.free()));
    const isShort = error instanceof WarpstageError && error.code === 'WS4001';
    if (isShort && !job.isKept && plan.chunkRows > granularityOf(outputs)) return null;
    throw error;
  }
}

/** What a slot holds. */
function arraysOf(job: BoundJob): readonly StreamedArray[] {
  const { inputs, outputs, plan } = job;
  const lengths = lengthsOf(job, plan.chunkRows);
  return [
    ...inputs.map(({ name, element, inPlace }) => ({
      ...{ name, element, role: 'input' as const },
      inPlace: inPlace !== undefined,
    })),
    ...outputs.map(({ name, element, sink }) => ({
      ...{ name, element, role: 'output' as const },
      inPlace: sink instanceof PinnedSink,
    })),
  ].map((array) => ({ ...array, capacity: lengths[array.name]! }));
}
