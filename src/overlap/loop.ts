// The overlapped loop: chunks of rows through read, copy in, kernel, copy out, write.
//
// Every device has `depth` slots, each with the memory of one chunk. A slot takes the next chunk, reads it,
// issues its copies and its kernel (chunk-streams.ts), waits for them, writes the results, and takes the
// next. Slots read one at a time and write one at a time, in the order of the chunks; while one reads, others
// copy, compute and write. So everything overlaps, the memory is that of the slots whatever the length of the
// data, and with a depth of 1 nothing overlaps on a device at all. A chunk goes to whichever slot is free
// first; only where devices accumulate do they take the chunks in rotation, so that what each finds does not
// depend on timing.
//
// How rows are cut into chunks is not the loop's business: it asks the plan (plan.ts), and while it runs the
// tuner, for how many rows and with how many slots, and carries them through. A slot that is one too many
// stops between two chunks and keeps its memory, for which another may start again.

import { count } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Kernel, LaunchArguments, Schema } from '../kernel/kernel.ts';

import { type BoundJob, launchOf, lengthsOf, rowBytes, rowsKept, volume } from './chunks.ts';
import { countKept, keptRows } from './kept-rows.ts';
import { readState } from './kept-state.ts';
import type { Meter } from './meter.ts';
import type { ChunkReport } from './options.ts';
import { granularityOf, type Plan, rowsOut } from './plan.ts';
import { PinnedSink } from './sinks/pinned.ts';
import type { Slot } from './slot.ts';
import { type CutStep, type Freedom, Tuner } from './tuner.ts';
import { Turns } from './turns.ts';
import { startWorkers, type Worker } from './workers.ts';

/** What the loop works with, and whom it tells. */
export interface LoopContext {
  readonly meter: Meter;
  /** Aborted to stop everything, by the caller or by a slot that failed. */
  readonly stop: AbortController;
  /** So many rows more are written; `kept`, of those that are kept, where not all are. */
  readonly onRows: (rows: number, kept?: number) => void;
  readonly onChunk?: ((chunk: Omit<ChunkReport, 'pass'>) => void) | undefined;
  /** Keeps what accumulators hold, whenever that is due; undefined where nothing is kept of them. */
  readonly keep?: { readonly isDue: () => boolean; readonly state: (state: Uint8Array) => void } | undefined;
}

/** What went through, in all and through each device. */
export interface Passed extends Share {
  readonly shares: readonly Share[];
  /** What carried the kernel out. */
  readonly ranOn: ReadonlySet<string>;
  /** The plan as it was carried out: with smaller chunks, where memory was short. */
  readonly plan: Plan;
  /** How it went on from there. */
  readonly steps: readonly CutStep[];
}

export interface Share {
  readonly rows: number;
  readonly chunks: number;
}

/**
 * Runs all chunks of a job. Where a device has not the memory that was planned with (others may have
 * taken it meanwhile), the chunks are halved, down to the smallest that the job allows.
 */
export async function runChunks(job: BoundJob, context: LoopContext): Promise<Passed> {
  const smallest = granularityOf(job.outputs);
  for (let { plan } = job; ; ) {
    const workers = await startWorkers({ ...job, plan });
    if (workers !== null) return new Loop({ ...job, plan }, context, workers).run();
    const chunkRows = Math.max(smallest, Math.floor(plan.chunkRows / 2 / smallest) * smallest);
    plan = { ...plan, chunkRows, chunkBytes: Math.ceil((plan.chunkBytes * chunkRows) / plan.chunkRows) };
  }
}

/** A GPU or processor of one's own may be fed better; virtual ones live in another time, and several share. */
function freedomOf({ plan, places, accumulators, outputs, rows }: BoundJob): Freedom {
  const isOne = places.length === 1 && places[0]!.device.properties.kind !== 'model';
  const mayShrink = isOne && plan.auto.chunk && accumulators.length === 0;
  return {
    granularity: mayShrink ? granularityOf(outputs) : null,
    greatestDepth: isOne && plan.auto.depth ? Math.max(plan.depth, Math.min(8, plan.affordable)) : null,
    rows,
    engines: places.every(({ device }) => device.properties.kind === 'cuda'),
  };
}

class Loop {
  readonly #job: BoundJob;
  readonly #context: LoopContext;
  readonly #workers: readonly Worker[];
  readonly #reads = new Turns();
  readonly #writes = new Turns();
  readonly #ranOn = new Set<string>();
  /** Elements of a full chunk's arrays. */
  readonly #full: Readonly<Record<string, number>>;
  readonly #tuner: Tuner;
  /** Slots that were started; none of them fails. */
  readonly #started: Promise<void>[] = [];
  /** Slots at work on each device. */
  #atWork = 0;
  /** Of slots on one device, how many there was memory for. */
  #mostAtWork = Number.POSITIVE_INFINITY;
  #asked = 0;
  #ended: boolean;
  /** Before the next chunk. */
  #rows: number;

  constructor(job: BoundJob, context: LoopContext, workers: readonly Worker[]) {
    this.#job = job;
    this.#context = context;
    this.#workers = workers;
    this.#full = lengthsOf(job, job.plan.chunkRows);
    this.#rows = job.begin;
    this.#ended = job.rows === job.begin;
    this.#tuner = new Tuner({ row: job.begin, ...job.plan }, freedomOf(job));
  }

  async run(): Promise<Passed> {
    const { signal } = this.#context.stop;
    const onStop = () => {
      this.#reads.stop(signal.reason);
      this.#writes.stop(signal.reason);
    };
    signal.addEventListener('abort', onStop);
    if (signal.aborted) onStop();
    // The first chunks go to all devices in turn, not all to one.
    this.#atWork = this.#job.plan.depth;
    for (let position = 0; position < this.#atWork; ++position) {
      for (const worker of this.#workers) this.#started.push(this.#work(worker, worker.slots[position]!));
    }
    try {
      // More may start meanwhile.
      for (let position = 0; position < this.#started.length; ++position) await this.#started[position];
    } finally {
      signal.removeEventListener('abort', onStop);
      await Promise.all(this.#workers.map((worker) => worker.free()));
      this.#context.meter.settle();
    }
    signal.throwIfAborted();
    const shares = this.#workers.map(({ rows, chunks }) => ({ rows, chunks }));
    const chunks = shares.reduce((sum, share) => sum + share.chunks, 0);
    return {
      rows: this.#rows,
      chunks,
      shares,
      ranOn: this.#ranOn,
      plan: this.#job.plan,
      steps: this.#tuner.steps,
    };
  }

  /** Takes chunk after chunk. A slot does not fail: it stops them all, and the first reason counts. */
  async #work(worker: Worker, slot: Slot): Promise<void> {
    const { stop } = this.#context;
    try {
      for (;;) {
        stop.signal.throwIfAborted();
        if (this.#atWork > this.#tuner.depth) {
          this.#atWork--;
          worker.spare.push(slot);
          return;
        }
        const index = this.#next(worker);
        const { meter } = this.#context;
        const at = { readBegan: 0, readEnded: 0, computed: 0, writeBegan: 0, firstRow: 0 };
        const rows = await this.#reads.run(index, async () => {
          await this.#keepState(index);
          at.readBegan = meter.elapsed;
          at.firstRow = this.#rows;
          const read = await this.#readAndIssue(worker, slot);
          at.readEnded = meter.elapsed;
          return read;
        });
        if (rows !== null) await slot.streams.synchronize();
        at.computed = meter.elapsed;
        await this.#writes.run(index, async () => {
          at.writeBegan = meter.elapsed;
          await this.#write(slot, rows ?? 0);
          if (rows === null) return;
          const { name } = worker.place;
          this.#context.onChunk?.({ chunk: index, device: name, rows, ...at, writeEnded: meter.elapsed });
        });
        if (rows === null) return;
        this.#startSlots(worker);
      }
    } catch (error) {
      stop.abort(error);
    }
  }

  /** Starts slots that the tuner wants; only where one device has all slots. */
  #startSlots(worker: Worker): void {
    while (this.#atWork < Math.min(this.#tuner.depth, this.#mostAtWork) && !this.#ended) {
      this.#atWork++;
      let slot = worker.spare.pop();
      if (slot === undefined) {
        slot = worker.addSlot();
      }
      this.#started.push(this.#work(worker, slot));
    }
  }

  /**
   * The number of the chunk that a free slot takes. In rotation, too, the slots ask for every number up
   * to the last one that is asked for: each asks once more than there are chunks for it, and all
   * devices have as many slots.
   */
  #next(worker: Worker): number {
    if (this.#job.accumulators.length === 0) return this.#asked++;
    const all = this.#workers.length;
    // The device that is next behind the chunks of a former run begins.
    const position = (this.#workers.indexOf(worker) + all - (this.#job.beginChunk % all)) % all;
    return worker.asked++ * all + position;
  }

  /**
   * Keeps what the accumulators hold, if it is time: between two chunks, when those before are computed and written. So
   * what is kept is the state behind so many rows, on however many devices.
   */
  async #keepState(index: number): Promise<void> {
    const { keep } = this.#context;
    if (this.#ended || keep === undefined || !keep.isDue()) return;
    await this.#writes.reached(index);
    keep.state(await readState(this.#job));
  }

  /** The rows of the chunk; null if there are no more, or no memory to read them into. */
  async #readAndIssue(worker: Worker, slot: Slot): Promise<number | null> {
    if (this.#ended) return null;
    if (!this.#isReady(slot)) {
      this.#missing(worker);
      return null;
    }
    const read = await this.#read(slot);
    const rows = rowsKept(read, this.#job.outputs, this.#job.definition.remainder, this.#rows);
    if (rows === 0) return null;
    this.#issue(worker, slot, rows);
    this.#rows += rows;
    worker.rows += rows;
    worker.chunks++;
    return rows;
  }

  /**
   * Whether the slot has its memory. One slot has had it from the start; without that of another, fewer
   * chunks are in flight.
   */
  #isReady(slot: Slot): boolean {
    try {
      slot.take();
      return true;
    } catch (error) {
      const isShort = error instanceof WarpstageError && error.code === 'WS4001';
      if (isShort) return false;
      throw error;
    }
  }

  /** A slot has no memory, and ends. Those that are left are all there can be; one goes on in any case. */
  #missing(worker: Worker): void {
    if (this.#workers.length > 1) return;
    this.#atWork--;
    this.#mostAtWork = Math.max(1, this.#atWork);
    this.#startSlots(worker);
  }

  /** Fills the slot's inputs. All inputs are read side by side, and have as many rows. */
  async #read(slot: Slot): Promise<number> {
    const { inputs, rows: total } = this.#job;
    const asked = Math.min(this.#tuner.nextRows(), total === undefined ? Infinity : total - this.#rows);
    const streamed = inputs.filter(({ inPlace }) => inPlace === undefined);
    const fill = async () => {
      const ended = await Promise.allSettled(
        streamed.map(({ name, reader }) => reader.next(slot.host(name, this.#full[name]!), asked)),
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
    this.#ended = rows < asked || this.#rows + rows === total;
    this.#tuner.read(rows);
    return rows;
  }

  /** Issues a chunk's copies and its kernel; nothing waits. */
  #issue(worker: Worker, slot: Slot, rows: number): void {
    const { definition, inputs, outputs, accumulators, fixed, settings } = this.#job;
    const { into, compute, out } = slot.streams;
    const { meter } = this.#context;
    meter.sample(this.#tuner.isSettled);
    const device = this.#workers.indexOf(worker);
    const lengths = lengthsOf(this.#job, rows);
    const args: Record<string, unknown> = { ...fixed, ...worker.place.arrays, ...worker.place.accumulated };
    for (const { name, width, inPlace } of inputs) {
      const part = slot.device(name).subarray(0, lengths[name]);
      const begin = this.#rows * width;
      into.memcpyAsync(part, inPlace?.subarray(begin, begin + part.length) ?? slot.host(name, part.length));
      meter.give(device, 'copy in', part.byteLength);
      args[name] = part;
    }
    const results = outputs.map(({ name }) => slot.device(name).subarray(0, lengths[name]));
    for (const [i, { name }] of outputs.entries()) args[name] = results[i];
    if (definition.offset !== undefined) args[definition.offset] = this.#rows;
    if (definition.rows !== undefined) args[definition.rows] = rows;

    slot.streams.hasArrived();
    const shape = launchOf(definition, { rows, offset: this.#rows, lengths, settings });
    if (accumulators.length > 0) {
      this.#checkBlocks(volume(shape.grid));
      worker.previous?.streams.precede(compute);
    }
    const { signal } = this.#context.stop;
    const launched = compute.launch(
      definition.kernel as Kernel<Schema>,
      { ...shape, signal },
      args as LaunchArguments<Schema>,
    );
    this.#ranOn.add(launched.ranOn);
    meter.give(device, 'compute');
    worker.previous = slot;
    slot.streams.hasComputed();
    for (const [i, { name, width, ratio, sink }] of outputs.entries()) {
      const { length } = results[i]!;
      const target =
        sink instanceof PinnedSink
          ? sink.part(rowsOut(this.#rows, ratio) * width, length)
          : slot.host(name, length);
      out.memcpyAsync(target, results[i]!);
      meter.give(device, 'copy out', results[i]!.byteLength);
    }
    slot.streams.hasLeft();
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
    if (rows === 0) return;
    const { keep } = this.#job.definition;
    const lengths = lengthsOf(this.#job, rows);
    const mask = keep === undefined ? undefined : slot.host(keep, lengths[keep]!);
    const kept = mask && countKept(mask);
    const outputs = this.#job.outputs.filter(
      ({ name, sink }) => name !== keep && !(sink instanceof PinnedSink),
    );
    const partOf = (name: string) => {
      const all = slot.host(name, lengths[name]!);
      return mask === undefined ? all : keptRows(all, mask);
    };
    if (outputs.length > 0 && kept !== 0) {
      await this.#context.meter.time(
        'write',
        async () => {
          const ended = await Promise.allSettled(outputs.map(({ name, sink }) => sink.write(partOf(name))));
          for (const one of ended) if (one.status === 'rejected') throw one.reason;
        },
        () =>
          outputs.reduce((sum, output) => sum + (kept ?? rowsOut(rows, output.ratio)) * rowBytes(output), 0),
      );
    }
    const { meter } = this.#context;
    this.#tuner.complete(rows, meter.elapsed, () => meter.busy());
    this.#context.onRows(rows, kept);
  }
}
