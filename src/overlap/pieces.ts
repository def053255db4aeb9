// A job from files to files on the CPU, in pieces that stay in a processor's caches.
//
// A chunk that is read, computed and written by three threads, one after the other, has left the caches each time. So
// where the rows of the outputs follow from the same rows of the inputs, and all of them are files of elements as they
// lie in memory, each thread of the device takes small pieces from the file to the file (runtime/cpu/file-pieces.ts).
// Outputs get their bytes at their places, in any order. Launches of many pieces are issued two at a time, so that
// the run knows how far it is, and a failure stops it soon; where they are over soon they become longer, as the threads
// wait for each other at the end of each. Where the kernel takes long, pieces become shorter, as the threads wait for who has
// the last one. All other jobs go through the loop (loop.ts), as do those whose chunks somebody
// chose or wants to hear of.

import { getSystemErrorName } from 'node:util';
import { unreadable, unwritable } from '../diagnostics/problem.ts';
import type { FilePlace } from '../formats/bytes.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { PieceState, pieceStages } from '../runtime/cpu/file-pieces.ts';
import { withCompiler } from '../runtime/cpu/late-compiler.ts';
import { piecesOf, type StreamedFile } from '../runtime/cpu/piece-launch.ts';
import type { DeviceArray } from '../runtime/device.ts';
import { CommandStream } from '../runtime/stream.ts';
import { type BoundJob, launchOf, lengthsOf, rowBytes } from './chunks.ts';
import type { Place } from './constants.ts';
import type { LoopContext, Passed } from './loop.ts';
import { granularityOf, rowsOut } from './plan.ts';

/**
 * Bytes of a piece's inputs and outputs. Only one thread writes to a file at a time, and the others sleep until it is done: longer
 * pieces make them wait less often. A short job has shorter pieces, so that each thread gets several.
 */
const pieceBytes = { least: 2 ** 19, most: 2 ** 21 };
/** Pieces of each thread, at least, in a job. */
const leastPieces = 4;
/** Milliseconds of the kernel over a piece: too long, and as long as shorter ones take; and how much shorter they are at most. */
const kernelTime = { tooLong: 40, good: 10, parts: 64 };
/** Bytes of the first launches, and of the longest; and milliseconds in which a launch is over too soon. */
const launchBytes = { first: 2 ** 25, most: 2 ** 30 };
const soon = 50;
/** Launches of pieces of one length, at least, so that there are pieces left when it is known how long they take. */
const leastLaunches = 4;
/** A job with fewer bytes of inputs and outputs is over before it matters. */
const leastBytes = 16 * 2 ** 20;
/** Launches in flight: one more than the threads work on. */
const inFlight = 2;

/** An input or output with the place of its next element. */
interface Streamed extends StreamedFile {
  /** For messages: how to tell what became of it. */
  readonly failed: (errno: number | null, bytes: number) => Error;
}

/**
 * What runs a job from its first row on in pieces; null where its chunks must go through the loop. Nothing of it has been
 * done then.
 */
export function inPieces(job: BoundJob): Pieces | null {
  const { definition, inputs, outputs, accumulators, places, plan, rows } = job;
  const [{ device, stream }, another] = places as readonly [Place, Place?];
  const threads = device.properties.multiProcessorCount;
  if (device.properties.kind !== 'cpu' || another !== undefined || !(stream instanceof CommandStream))
    return null;
  if (!plan.auto.chunk || !plan.auto.depth || rows === undefined) return null;
  if (accumulators.length > 0 || inputs.length === 0 || outputs.length === 0) return null;
  if (definition.keep !== undefined) return null;
  if (typeof definition.launch === 'function' || inputs.some(({ halo, beside }) => halo + beside > 0))
    return null;
  const granularity = granularityOf(outputs);
  const bytesOfRow =
    inputs.reduce((sum, input) => sum + rowBytes(input), 0) +
    outputs.reduce((sum, output) => sum + (rowBytes(output) * output.ratio[0]) / output.ratio[1], 0);
  if (rows % granularity !== 0 || rows * bytesOfRow < leastBytes) return null;
  // Long rows make few pieces, and then a chunk is as good; and they may take no more memory than chunks.
  const mostBytes = Math.floor((plan.depth * plan.chunkBytes) / threads);
  if (pieceBytes.least > mostBytes) return null;
  const goodBytes = Math.max(pieceBytes.least, Math.floor((rows * bytesOfRow) / (2 * leastPieces * threads)));
  const bytes = Math.min(goodBytes, pieceBytes.most, mostBytes);
  const pieceRows = Math.floor(bytes / bytesOfRow / granularity) * granularity;
  if (pieceRows === 0 || rows < leastPieces * threads * pieceRows) return null;
  const from = placesOf(inputs.map(({ reader }) => reader.source));
  const into = placesOf(outputs.map(({ sink }) => sink));
  return from === null || into === null ? null : new Pieces(job, pieceRows, bytesOfRow, from, into);
}

/** Where the next elements of all of these are; null where one has them in no file. */
function placesOf(all: readonly { place?(): FilePlace | undefined }[]): readonly FilePlace[] | null {
  const places = all.flatMap((one) => one.place?.() ?? []);
  return places.length === all.length ? places : null;
}

export class Pieces {
  readonly #job: BoundJob;
  readonly #pieceRows: number;
  readonly #bytesOfRow: number;
  readonly #from: readonly FilePlace[];
  readonly #into: readonly FilePlace[];
  readonly #state = new PieceState();
  #ranOn = '';

  constructor(
    job: BoundJob,
    pieceRows: number,
    bytesOfRow: number,
    from: readonly FilePlace[],
    into: readonly FilePlace[],
  ) {
    this.#job = job;
    this.#pieceRows = pieceRows;
    this.#bytesOfRow = bytesOfRow;
    this.#from = from;
    this.#into = into;
  }

  /** Runs all of them. Nothing reads or writes the files any more when the promise is settled. */
  async run(context: LoopContext): Promise<Passed> {
    const rows = this.#job.rows!;
    const { outputs, places, plan } = this.#job;
    for (const output of outputs) output.sink.skip!(rowsOut(rows, output.ratio) * rowBytes(output));
    const threads = places[0]!.device.properties.multiProcessorCount;
    const cutInto = (pieceRows: number) => ({
      chunkRows: pieceRows,
      chunkBytes: Math.ceil((plan.chunkBytes * pieceRows) / plan.chunkRows),
      depth: threads,
    });
    let cut = cutInto(this.#pieceRows);
    const steps = [{ row: 0, ...cut, why: 'each thread takes them from file to file' }];
    let pieces = 0;
    for (let row = 0; row < rows; ) {
      const whole = Math.floor((rows - row) / cut.chunkRows);
      const some = whole === 0 ? rows - row : cut.chunkRows;
      const { done, shorter } = await this.#launch(context, row, some, Math.max(1, whole));
      pieces += done;
      row += done * some;
      if (shorter === null) continue;
      cut = cutInto(shorter);
      steps.push({ row, ...cut, why: 'the kernel takes long: no thread is to wait long for the last piece' });
    }
    this.#tell(context, pieces, threads);
    return {
      rows,
      chunks: pieces,
      shares: [{ rows, chunks: pieces }],
      ranOn: new Set([this.#ranOn]),
      plan: { ...plan, ...cut },
      steps,
    };
  }

  /** The rows of pieces over which the kernel takes as long as is good; null where those, of so many rows, are short enough. */
  #shorter(rows: number, milliseconds: number): number | null {
    if (milliseconds < kernelTime.tooLong) return null;
    const granularity = granularityOf(this.#job.outputs);
    const parts = Math.min(kernelTime.parts, milliseconds / kernelTime.good);
    const shorter = Math.max(1, Math.floor(rows / parts / granularity)) * granularity;
    return shorter < rows ? shorter : null;
  }

  /**
   * Runs pieces of equal rows, from a row on: so many, or less where they turn out to take long. Says how many, and how long
   * those behind them are to be.
   */
  async #launch(
    context: LoopContext,
    firstRow: number,
    rows: number,
    count: number,
  ): Promise<{ readonly done: number; readonly shorter: number | null }> {
    const { definition, inputs, outputs, places, fixed, settings } = this.#job;
    const { device, arrays, streams } = places[0]!;
    const lengths = lengthsOf(this.#job, rows);
    const shape = launchOf(definition, { rows, offset: firstRow, lengths, settings });
    const files = this.#files(firstRow, rows);
    const args: Record<string, unknown> = { ...fixed, ...arrays };
    const bound: DeviceArray[] = [];
    for (const { name, element } of [...inputs, ...outputs]) {
      const array = device.alloc(element, lengths[name]!);
      bound.push(array);
      args[name] = array;
    }
    // Whether positions fit into 32 bits is decided by the last one.
    if (definition.offset !== undefined) args[definition.offset] = this.#job.rows! - rows;
    if (definition.rows !== undefined) args[definition.rows] = rows;
    const row =
      definition.offset === undefined ? undefined : { parameter: definition.offset, rows, first: firstRow };
    const stream = streams.create() as CommandStream;
    const marks: { readonly event: ReturnType<typeof device.createEvent>; readonly pieces: number }[] = [];
    const piecesOfBytes = (bytes: number) => Math.floor(bytes / (rows * this.#bytesOfRow));
    const threads = device.properties.multiProcessorCount;
    let atOnce = Math.max(
      threads,
      Math.min(piecesOfBytes(launchBytes.first), Math.floor(count / leastLaunches)),
    );
    let ended = performance.now();
    let shorter: number | null = null;
    const before = { computed: this.#state.took('compute'), pieces: this.#state.pieces };
    const next = async (): Promise<void> => {
      const { event, pieces } = marks.shift()!;
      await event.synchronize();
      event.destroy();
      const took = performance.now() - ended;
      ended += took;
      const computed = this.#state.took('compute') - before.computed;
      shorter ??= this.#shorter(rows, computed / (this.#state.pieces - before.pieces));
      if (took < soon) atOnce = Math.max(atOnce, Math.min(4 * atOnce, piecesOfBytes(launchBytes.most)));
      context.onRows(pieces * rows);
    };
    try {
      const { ranOn, launch } = await withCompiler(device, () =>
        stream.bindOverFiles(
          definition.kernel as Kernel,
          { ...shape, signal: context.stop.signal },
          args,
          (work) => piecesOf(work, { files, row, state: this.#state }),
        ),
      );
      this.#ranOn = ranOn;
      let done = 0;
      while (done < count && shorter === null) {
        const pieces = Math.min(atOnce, count - done);
        launch(done, pieces);
        done += pieces;
        const event = device.createEvent();
        stream.record(event);
        marks.push({ event, pieces });
        if (marks.length === inFlight) await next();
      }
      while (marks.length > 0) await next();
      return { done, shorter: done < count ? shorter : null };
    } catch (error) {
      const failure = this.#state.failure;
      throw failure === null ? error : files[failure.file]!.failed(failure.errno, failure.bytes);
    } finally {
      // When it is through, no thread reads or writes any more.
      await stream.destroy().catch(() => {});
      for (const array of bound) array.free();
    }
  }

  /** The files, from a row on. */
  #files(firstRow: number, rows: number): readonly Streamed[] {
    const { inputs, outputs } = this.#job;
    const read = inputs.map((input, i): Streamed => {
      const { fd, position } = this.#from[i]!;
      const { source } = input.reader;
      const before = firstRow * rowBytes(input);
      return {
        ...{
          parameter: input.name,
          use: 'read',
          fd,
          position: position + before,
          bytes: rows * rowBytes(input),
        },
        failed: (errno, bytes) =>
          errno === null
            ? source.endedEarly!(Math.floor(((before + bytes) / rowBytes(input)) * input.width))
            : unreadable(source.name, systemError(errno)),
      };
    });
    const written = outputs.map((output, i): Streamed => {
      const { fd, position } = this.#into[i]!;
      const bytesOf = (count: number) => rowsOut(count, output.ratio) * rowBytes(output);
      return {
        ...{
          parameter: output.name,
          use: 'write',
          fd,
          position: position + bytesOf(firstRow),
          bytes: bytesOf(rows),
        },
        failed: (errno) =>
          unwritable(
            output.sink.name,
            errno === null ? new Error('nothing was written') : systemError(errno),
          ),
      };
    });
    return [...read, ...written];
  }

  /** What the stages did: the threads worked side by side. */
  #tell(context: LoopContext, pieces: number, threads: number): void {
    const { inputs, outputs } = this.#job;
    const rows = this.#job.rows!;
    const bytes = {
      read: inputs.reduce((sum, input) => sum + rows * rowBytes(input), 0),
      compute: 0,
      write: outputs.reduce((sum, output) => sum + rowsOut(rows, output.ratio) * rowBytes(output), 0),
    };
    for (const stage of pieceStages)
      context.meter.tell(stage, this.#state.took(stage) / threads, bytes[stage], pieces);
  }
}

/** An error of the system by its number. */
function systemError(errno: number): Error {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(code), { code, errno });
}
