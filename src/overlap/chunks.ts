// The overlapped loop: chunks of rows through read, copy in, kernel, copy out, write.
//
// Every device has `depth` lanes, each with the memory of one chunk and a stream of its own. A lane
// takes the next chunk, reads it, issues its copies and its kernel, waits for them, writes the
// results, and takes the next. Lanes read one at a time and write one at a time, in the order of
// the chunks; while one reads, others copy, compute and write. So everything overlaps, the
// memory is that of the lanes whatever the length of the data, and with a depth of 1 nothing
// overlaps on a device at all. A chunk goes to whichever lane is free first; only where devices
// accumulate do they take the chunks in rotation, so that what each finds does not depend on timing.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel, LaunchArguments, Schema } from '../kernel/kernel.ts';
import { type ElementType, type Extent, elementBytes } from '../kernel/types.ts';
import type { PinnedArray } from '../runtime/device.ts';
import type { Accumulator } from './accumulate.ts';
import type { Place } from './constants.ts';
import type { AnyDefinition, ChunkContext } from './job.ts';
import type { Meter } from './meter.ts';
import { granularityOf, type Plan, type Ratio, rowsOut } from './plan.ts';
import { count, problem } from './problem.ts';
import { PinnedSink } from './sinks/pinned.ts';
import type { Sink } from './sinks/sink.ts';
import { Slot } from './slot.ts';
import { Turns } from './turns.ts';
import type { WindowReader } from './window.ts';

/** An input, bound to its data. */
export interface BoundInput {
  readonly name: string;
  readonly element: ElementType;
  /** Elements of a row. */
  readonly width: number;
  /** Rows beside the chunk's own. */
  readonly halo: number;
  readonly reader: WindowReader;
  /** The data itself, where the device can copy it from where it lies: then nothing is read. */
  readonly inPlace: PinnedArray | undefined;
}

/** An output, bound to its destination. */
export interface BoundOutput {
  readonly name: string;
  readonly element: ElementType;
  readonly width: number;
  readonly ratio: Ratio;
  readonly sink: Sink;
}

/** A job with everything that its kernel is launched with, except for the chunk. */
export interface BoundJob {
  readonly definition: AnyDefinition;
  readonly inputs: readonly BoundInput[];
  readonly outputs: readonly BoundOutput[];
  readonly accumulators: readonly Accumulator[];
  /** Elements of the constant arrays. */
  readonly constantLengths: Readonly<Record<string, number>>;
  /** Arguments that are the same for every chunk, beside the arrays of the places. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** The devices. */
  readonly places: readonly Place[];
  readonly settings: ChunkContext['settings'];
  readonly plan: Plan;
  /** Rows of the whole; undefined if only the end tells. */
  readonly rows: number | undefined;
}

/** What the loop works with, and whom it tells. */
export interface LoopContext {
  readonly meter: Meter;
  /** Aborted to stop everything, by the caller or by a lane that failed. */
  readonly stop: AbortController;
  readonly onRows: (rows: number) => void;
}

/** What went through, in all and through each device. */
export interface Passed extends Share {
  readonly shares: readonly Share[];
  /** What carried the kernel out. */
  readonly ranOn: ReadonlySet<string>;
  /** The plan as it was carried out: with smaller chunks, where memory was short. */
  readonly plan: Plan;
}

export interface Share {
  readonly rows: number;
  readonly chunks: number;
}

/** A device at work: what it has done, and which kernel it was given last. */
class Worker {
  readonly place: Place;
  readonly slots: readonly Slot[];
  rows = 0;
  chunks = 0;
  /** Chunks that its lanes asked for. */
  asked = 0;
  previous: Slot | undefined;

  constructor(place: Place, slots: readonly Slot[]) {
    this.place = place;
    this.slots = slots;
  }
}

/**
 * Runs all chunks of a job. Where a device has not the memory that was planned with (others may have
 * taken it meanwhile), the chunks are halved, down to the smallest that the job allows.
 */
export async function runChunks(job: BoundJob, context: LoopContext): Promise<Passed> {
  const smallest = granularityOf(job.outputs);
  for (let { plan } = job; ; ) {
    const workers = await takeSlots({ ...job, plan });
    if (workers !== null) return new Loop({ ...job, plan }, context, workers).run();
    const chunkRows = Math.max(smallest, Math.floor(plan.chunkRows / 2 / smallest) * smallest);
    plan = { ...plan, chunkRows, chunkBytes: Math.ceil((plan.chunkBytes * chunkRows) / plan.chunkRows) };
  }
}

/** The memory of the chunks in flight; null if a device has not as much and smaller chunks are possible. */
async function takeSlots(job: BoundJob): Promise<readonly Worker[] | null> {
  const { inputs, outputs, plan, places } = job;
  const lengths = lengthsOf(job, plan.chunkRows);
  const arrays = [
    ...inputs.map(({ name, element, inPlace }) => ({ name, element, inPlace: inPlace !== undefined })),
    ...outputs.map(({ name, element, sink }) => ({ name, element, inPlace: sink instanceof PinnedSink })),
  ].map((array) => ({ ...array, capacity: lengths[array.name]! }));
  const taken: Slot[] = [];
  try {
    const workers: Worker[] = [];
    for (const place of places) {
      const slots: Slot[] = [];
      while (slots.length < plan.depth) {
        const slot = await Slot.create(place.device, arrays);
        slots.push(slot);
        taken.push(slot);
      }
      workers.push(new Worker(place, slots));
    }
    return workers;
  } catch (error) {
    await Promise.all(taken.map((slot) => slot.free()));
    const isShort = error instanceof WarpstageError && error.code === 'WS4001';
    if (isShort && plan.chunkRows > granularityOf(outputs)) return null;
    throw error;
  }
}

/** The arrays of a job, as far as they say how long they are in a chunk. */
export interface ArraysOfChunk {
  readonly inputs: readonly Pick<BoundInput, 'name' | 'width' | 'halo'>[];
  readonly outputs: readonly Pick<BoundOutput, 'name' | 'width' | 'ratio'>[];
  readonly accumulators: readonly Pick<Accumulator, 'name' | 'length'>[];
  readonly constantLengths: BoundJob['constantLengths'];
}

/** Elements of every array parameter in a chunk of so many rows, by name. */
export function lengthsOf(
  { inputs, outputs, constantLengths, accumulators }: ArraysOfChunk,
  rows: number,
): Record<string, number> {
  const lengths: Record<string, number> = { ...constantLengths };
  for (const { name, width, halo } of inputs) lengths[name] = (rows + halo) * width;
  for (const { name, width, ratio } of outputs) lengths[name] = rowsOut(rows, ratio) * width;
  for (const { name, length } of accumulators) lengths[name] = length;
  return lengths;
}

/** The grid and block of a chunk's launch. */
export function launchOf(
  { launch = {} }: AnyDefinition,
  chunk: ChunkContext,
): { readonly grid: Extent; readonly block: Extent } {
  if (typeof launch === 'function') return launch(chunk);
  const { block = 256, rowsPerThread = 1, grid } = launch;
  return { block, grid: grid ?? Math.max(1, Math.ceil(chunk.rows / (volume(block) * rowsPerThread))) };
}

/** How many there are in an extent. */
export function volume(extent: Extent): number {
  if (typeof extent === 'number') return extent;
  const [x, y = 1, z = 1] = extent;
  return x * y * z;
}

class Loop {
  readonly #job: BoundJob;
  readonly #context: LoopContext;
  readonly #workers: readonly Worker[];
  readonly #reads = new Turns();
  readonly #writes = new Turns();
  readonly #ranOn = new Set<string>();
  #asked = 0;
  #ended: boolean;
  #rows = 0;

  constructor(job: BoundJob, context: LoopContext, workers: readonly Worker[]) {
    this.#job = job;
    this.#context = context;
    this.#workers = workers;
    this.#ended = job.rows === 0;
  }

  async run(): Promise<Passed> {
    const { signal } = this.#context.stop;
    const onStop = () => {
      this.#reads.stop(signal.reason);
      this.#writes.stop(signal.reason);
    };
    signal.addEventListener('abort', onStop);
    // The first chunks go to all devices in turn, not all to one.
    const { depth } = this.#job.plan;
    const lanes = Array.from({ length: depth }, (_, i) =>
      this.#workers.map((worker) => ({ worker, slot: worker.slots[i]! })),
    ).flat();
    try {
      await Promise.all(lanes.map(({ worker, slot }) => this.#lane(worker, slot)));
    } finally {
      signal.removeEventListener('abort', onStop);
      await Promise.all(lanes.map(({ slot }) => slot.free()));
    }
    signal.throwIfAborted();
    const shares = this.#workers.map(({ rows, chunks }) => ({ rows, chunks }));
    const chunks = shares.reduce((sum, share) => sum + share.chunks, 0);
    return { rows: this.#rows, chunks, shares, ranOn: this.#ranOn, plan: this.#job.plan };
  }

  /** Takes chunk after chunk. A lane does not fail: it stops them all, and the first reason counts. */
  async #lane(worker: Worker, slot: Slot): Promise<void> {
    const { stop } = this.#context;
    try {
      for (;;) {
        stop.signal.throwIfAborted();
        const index = this.#next(worker);
        const rows = await this.#reads.run(index, () => this.#readAndIssue(worker, slot));
        if (rows === null) return;
        await slot.stream.synchronize();
        await this.#writes.run(index, () => this.#write(slot, rows));
      }
    } catch (error) {
      stop.abort(error);
    }
  }

  /**
   * The number of the chunk that a free lane takes. In rotation, too, the lanes ask for every number up
   * to the last one that is asked for: each asks once more than there are chunks for it, and all
   * devices have as many lanes.
   */
  #next(worker: Worker): number {
    if (this.#job.accumulators.length === 0) return this.#asked++;
    return worker.asked++ * this.#workers.length + this.#workers.indexOf(worker);
  }

  /** The rows of the chunk; null if there are no more. */
  async #readAndIssue(worker: Worker, slot: Slot): Promise<number | null> {
    if (this.#ended) return null;
    const read = await this.#read(slot);
    const rows = rowsKept(read, this.#job.outputs, this.#job.definition.remainder, this.#rows);
    if (rows === 0) return null;
    this.#issue(worker, slot, rows);
    this.#rows += rows;
    worker.rows += rows;
    worker.chunks++;
    return rows;
  }

  /** Fills the slot's inputs. All inputs are read side by side, and have as many rows. */
  async #read(slot: Slot): Promise<number> {
    const { inputs, plan, rows: total } = this.#job;
    const asked = Math.min(plan.chunkRows, total === undefined ? Infinity : total - this.#rows);
    const streamed = inputs.filter(({ inPlace }) => inPlace === undefined);
    const fill = async () => {
      const ended = await Promise.allSettled(
        streamed.map(({ name, reader }) => reader.next(slot.pinned(name).array, asked)),
      );
      return ended.map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
    };
    const bytes = (filled: readonly number[]) =>
      filled.reduce((sum, rows, i) => sum + rows * rowBytes(streamed[i]!), 0);
    const filled = streamed.length === 0 ? [] : await this.#context.meter.time('read', fill, bytes);
    const read = inputs.map((input) =>
      input.inPlace === undefined
        ? filled[streamed.indexOf(input)]!
        : Math.min(asked, input.inPlace.length / input.width - this.#rows),
    );
    const rows = Math.min(...read);
    const longer = read.findIndex((other) => other > rows);
    if (longer >= 0) {
      const shorter = inputs[read.indexOf(rows)]!;
      throw problem(
        'WS5005',
        `${shorter.reader.source.name} ends after ${count(this.#rows + rows)} rows, ` +
          `and ${inputs[longer]!.reader.source.name} has more`,
        'all inputs must have as many rows',
      );
    }
    this.#ended = rows < plan.chunkRows || this.#rows + rows === total;
    return rows;
  }

  /** Issues a chunk's copies and its kernel; nothing waits. */
  #issue(worker: Worker, slot: Slot, rows: number): void {
    const { definition, inputs, outputs, accumulators, fixed, settings } = this.#job;
    const { stream } = slot;
    const lengths = lengthsOf(this.#job, rows);
    const args: Record<string, unknown> = { ...fixed, ...worker.place.arrays, ...worker.place.accumulated };
    for (const { name, width, inPlace } of inputs) {
      const part = slot.device(name).subarray(0, lengths[name]);
      const begin = this.#rows * width;
      stream.memcpyAsync(
        part,
        inPlace?.subarray(begin, begin + part.length) ?? slot.pinned(name).subarray(0, part.length),
      );
      args[name] = part;
    }
    const results = outputs.map(({ name }) => slot.device(name).subarray(0, lengths[name]));
    for (const [i, { name }] of outputs.entries()) args[name] = results[i];
    if (definition.offset !== undefined) args[definition.offset] = this.#rows;
    if (definition.rows !== undefined) args[definition.rows] = rows;

    const shape = launchOf(definition, { rows, offset: this.#rows, lengths, settings });
    if (accumulators.length > 0) {
      this.#checkBlocks(volume(shape.grid));
      if (worker.previous !== undefined) stream.waitEvent(worker.previous.computed);
    }
    const { signal } = this.#context.stop;
    const launched = stream.launch(
      definition.kernel as Kernel<Schema>,
      { ...shape, signal },
      args as LaunchArguments<Schema>,
    );
    this.#ranOn.add(launched.ranOn);
    stream.record(slot.computed);
    worker.previous = slot;
    for (const [i, { name, width, ratio, sink }] of outputs.entries()) {
      const { length } = results[i]!;
      const target =
        sink instanceof PinnedSink
          ? sink.part(rowsOut(this.#rows, ratio) * width, length)
          : slot.pinned(name).subarray(0, length);
      stream.memcpyAsync(target, results[i]!);
    }
  }

  #checkBlocks(blocks: number): void {
    for (const accumulator of this.#job.accumulators) {
      if (blocks <= accumulator.blocks) continue;
      throw problem(
        'WS5007',
        `launch of the job gives ${count(blocks)} blocks for a chunk, and accumulator '${accumulator.name}' ` +
          `has room for the ${count(accumulator.blocks)} of a full chunk`,
        'let a shorter chunk have no more blocks than a full one',
      );
    }
  }

  async #write(slot: Slot, rows: number): Promise<void> {
    const outputs = this.#job.outputs.filter(({ sink }) => !(sink instanceof PinnedSink));
    if (outputs.length > 0) {
      const lengths = lengthsOf(this.#job, rows);
      await this.#context.meter.time(
        'write',
        async () => {
          for (const { name, sink } of outputs) {
            await sink.write(slot.pinned(name).subarray(0, lengths[name]).array);
          }
        },
        () => outputs.reduce((sum, { name, element }) => sum + lengths[name]! * elementBytes[element], 0),
      );
    }
    this.#context.onRows(rows);
  }
}

/** Rows that are used, of those that were read: the last ones may fit no ratio. `before` is for the message. */
export function rowsKept(
  rows: number,
  outputs: readonly Pick<BoundOutput, 'name' | 'ratio'>[],
  remainder: AnyDefinition['remainder'] = 'error',
  before = 0,
): number {
  const rest = rows % granularityOf(outputs);
  if (rest === 0 || remainder === 'partial') return rows;
  if (remainder === 'drop') return rows - rest;
  const { name, ratio } = outputs.find((output) => rows % output.ratio[1] !== 0)!;
  throw problem(
    'WS5005',
    `output '${name}' takes ${ratio[1]} rows of input at a time, and the input has ${count(before + rows)} rows`,
    "say what becomes of the rest in the job: remainder: 'drop' or 'partial'",
  );
}

/** Bytes of a row on the device. */
export function rowBytes({ width, element }: Pick<BoundInput, 'width' | 'element'>): number {
  return width * elementBytes[element];
}
