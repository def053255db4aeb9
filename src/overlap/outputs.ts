// The outputs of a run: which goes where, and the sinks opened for them. They appear together
// when all are complete, or not at all; then a journal may say how far they are, for the next run.

import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { findOverwriting } from '../files/overwriting.ts';
import { PartSums, partBytes } from '../files/part-sums.ts';
import type { Encoding, Format } from '../formats/format.ts';
import { formatNamed, formatOfName } from '../formats/registry.ts';
import { unsupportedName } from '../formats/unsupported.ts';
import type { ElementType } from '../kernel/types.ts';
import type { PinnedArray } from '../runtime/device.ts';
import { type CopyBytes, copyHere } from './host-copies.ts';
import { isPinned } from './inputs.ts';
import type { AnyDefinition, TypedArray } from './job.ts';
import { type Flushed, Journal, type Target, unfinishedFiles } from './journal/journal.ts';
import type { Facts, Mark } from './journal/text.ts';
import type { OutputData, OutputFile, RunOptions } from './options.ts';
import type { Piece } from './shards/piece.ts';
import { openPiece } from './shards/sink.ts';
import { type FileSinkOptions, flushNames, isPresent, needsShape, openFileSink } from './sinks/file.ts';
import { arraySink, collectingSink, type MemorySink } from './sinks/memory.ts';
import { PinnedSink } from './sinks/pinned.ts';
import type { Sink } from './sinks/sink.ts';
import { StreamSink } from './sinks/stream.ts';
import { dropSums, type Sums, sumsPath, sumsText } from './sums.ts';

/** One output, as its sink needs to know it. */
export interface OutputShape {
  readonly parameter: string;
  readonly element: ElementType;
  /** Extents of the whole; the first one is a guess where the length is not known. */
  readonly shape: readonly number[];
  readonly shapeKnown: boolean;
}

/** The destination of every output that has one, by name. */
export function assignOutputs(
  definition: AnyDefinition,
  output: RunOptions['output'],
): Map<string, OutputData> {
  const names = Object.keys(definition.outputs ?? {});
  if (output === undefined) return new Map();
  if (isByName(output)) {
    const unknown = Object.keys(output).filter((name) => !names.includes(name));
    if (unknown.length === 0) return new Map(Object.entries(output));
    throw problem(
      'WS5006',
      `the job has no output ${unknown.join(', ')}; its outputs are ${names.join(', ') || 'none'}`,
    );
  }
  const list = (Array.isArray(output) ? output : [output]) as readonly OutputData[];
  if (list.length === names.length) return new Map(names.map((name, i) => [name, list[i]!]));
  throw problem(
    'WS5006',
    names.length === 0
      ? 'the job writes no output, and one was given; its result is the value that a run gives'
      : `the job writes ${names.length} (${names.join(', ')}), and ${count(list.length)} were given`,
  );
}

/**
 * Refuses outputs in no format that is written, and those that would overwrite an input, or each other; with `resume`, also the files in which they wait until
 * they are complete.
 *
 * @throws WarpstageError WS5012, WS5006
 */
export async function checkOutputs(
  outputs: Iterable<OutputData>,
  inputs: Iterable<string>,
  { resume = false, checksum = false }: Pick<RunOptions, 'resume' | 'checksum'>,
): Promise<void> {
  const given = [...outputs];
  for (const data of given) if (typeof data === 'string' || 'file' in data) outputFile(data);
  const paths = given.flatMap((data) => pathOf(data) ?? []);
  const unfinished = resume ? await unfinishedFiles(paths) : [];
  const beside = checksum ? paths.filter((path) => path !== '-').map(sumsPath) : [];
  const found = await findOverwriting(inputs, [...paths, ...unfinished, ...beside]);
  if (found === undefined) return;
  const { path, other, kind } = found;
  const also = path === other ? '' : ` (${other})`;
  if (kind === 'read') {
    const what = paths.includes(path)
      ? 'its output'
      : beside.includes(path)
        ? 'where the checksums of its output are'
        : 'where its output waits until it is complete';
    throw problem(
      'WS5006',
      `${path} is an input of the job${also}, and cannot be ${what} as well`,
      'write to another name, and rename it then',
    );
  }
  throw problem('WS5006', `${path} is given for two outputs${also}`, 'give each its own name');
}

/** Refuses outputs that are there already. Devices and pipes are written directly, and always there. */
export async function refusePresent(outputs: Iterable<OutputData>, checksum: boolean): Promise<void> {
  const files = [...outputs].flatMap((data) => pathOf(data) ?? []).filter((path) => path !== '-');
  for (const path of [...files, ...(checksum ? files.map(sumsPath) : [])]) {
    const about = await stat(path).catch(() => undefined);
    if (about?.isFile()) throw isPresent(path);
  }
}

/** How files are written. */
type HowWritten = Pick<FileSinkOptions, 'fsync' | 'overwrite' | 'signal'> & { readonly checksum?: boolean };

/** A piece, before it is written. */
export type PieceOf = Omit<Piece, 'partBytes' | 'sums'>;

/** Sinks that were opened for a run. */
export class OpenOutputs {
  readonly #sinks: Sink[] = [];
  /** The files among the outputs. */
  readonly #files: string[] = [];
  /** Where the checksums of outputs go, and what they are. */
  readonly #sums: { readonly sink: Sink; readonly parts: PartSums }[] = [];
  readonly #memory = new Map<string, MemorySink>();
  readonly #how: HowWritten;
  readonly #copy: CopyBytes;
  #journal: Journal | undefined;
  /** What the pieces are of, by output, where these are pieces. */
  #pieces: ReadonlyMap<string, PieceOf> | undefined;
  #interrupted = Promise.resolve();

  /** `how` files are written, `copy`: how typed arrays are filled. */
  constructor(how: HowWritten, copy: CopyBytes = copyHere) {
    this.#how = how;
    this.#copy = copy;
  }

  /** Keeps a journal from now on, and goes on where that of a former run ends. All outputs are files. */
  async keepJournal(facts: Facts, targets: readonly Target[]): Promise<Mark> {
    this.#journal = await Journal.open(facts, targets);
    return this.#journal.begin;
  }

  /** Has the outputs be pieces from now on. All are files. */
  cut(pieces: ReadonlyMap<string, PieceOf>): void {
    this.#pieces = pieces;
  }

  /** Rows that the next run need not compute. */
  get keptRows(): number {
    return this.#journal?.rows ?? 0;
  }

  /** All outputs of one more chunk were written. */
  written(rows: number): void {
    this.#journal?.written(rows);
  }

  /** Opens the sink of an output; without a destination, in memory. */
  async open(data: OutputData | undefined, about: OutputShape): Promise<Sink> {
    const sink =
      data === undefined || isPinned(data) || ArrayBuffer.isView(data)
        ? this.#inMemory(data, about)
        : await this.#file(data, about);
    this.#sinks.push(sink);
    if (sink.sync !== undefined) this.#journal?.add(sink as Flushed);
    return sink;
  }

  /** Everything was written: gives all outputs their final names. `origin`: what they come from, where that is noted. */
  async publish(
    shapes: ReadonlyMap<Sink, readonly number[]>,
    origin?: Pick<Sums, 'job' | 'settings' | 'inputs'>,
  ): Promise<void> {
    await this.#journal?.stop();
    for (const sink of this.#sinks) await sink.finish(shapes.get(sink)!);
    for (const { sink, parts } of origin === undefined ? [] : this.#sums) {
      const text = sumsText({ bytes: parts.bytes, partBytes, sums: parts.sums, ...origin! });
      await sink.write(Buffer.from(text));
      await sink.finish([]);
    }
    this.#publish();
    await this.#journal?.remove();
  }

  /**
   * Gives final names. The checksums of a former output go before, and those of this one come after: there may be none
   * for a moment, but none of another output. Where that is to be so after a loss of power, each step is on the disk
   * before the next.
   */
  #publish(): void {
    const dropped = this.#files.filter(dropSums);
    if (this.#isLasting) for (const folder of new Set(dropped.map(dirname))) flushNames(folder);
    for (const sink of this.#sinks) sink.publish();
    if (this.#isLasting && this.#sums.length > 0) for (const sink of this.#sinks) sink.syncName?.();
    for (const { sink } of this.#sums) sink.publish();
  }

  /** Whether what is published is to survive a loss of power. */
  get #isLasting(): boolean {
    return this.#how.fsync || this.#journal !== undefined;
  }

  /** Ends what is written at this moment, so that nothing waits for it any more. Never throws. */
  interrupt(): Promise<void> {
    this.#interrupted = this.#interrupted.then(async () => {
      await this.#journal?.settle();
      const sinks = [...this.#sinks, ...this.#sums.map(({ sink }) => sink)];
      await Promise.allSettled(sinks.map((sink) => sink.abandon()));
    });
    return this.#interrupted;
  }

  /**
   * Removes what was not published, or leaves it to the next run. Once, and as the last of all: the files are
   * anybody's then, and nothing of this run may touch them.
   */
  async abandon(): Promise<void> {
    await this.interrupt();
    await this.#journal?.leave();
  }

  /** The outputs that are in memory. */
  get arrays(): Record<string, TypedArray> {
    return Object.fromEntries([...this.#memory].map(([name, sink]) => [name, sink.result()]));
  }

  /** Where the checksums of an output are written when it is complete: found now, if it cannot be. */
  async #openSums(file: string, output: Sink, parts: PartSums): Promise<void> {
    try {
      const options = { encoding: {}, shape: [], shapeKnown: true, ...this.#how, fsync: this.#isLasting };
      this.#sums.push({ sink: await openFileSink(sumsPath(file), options), parts });
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }

  #inMemory(
    array: TypedArray | PinnedArray | undefined,
    { parameter, element, shape, shapeKnown }: OutputShape,
  ): Sink {
    const length = shape.reduce((product, extent) => product * extent, 1);
    const sink =
      array === undefined
        ? collectingSink(parameter, element, shapeKnown ? length : undefined, this.#copy)
        : isPinned(array)
          ? new PinnedSink(parameter, element, array)
          : arraySink(parameter, element, array, this.#copy);
    this.#memory.set(parameter, sink);
    return sink;
  }

  async #file(data: string | OutputFile, about: OutputShape): Promise<Sink> {
    const { parameter, element, shape, shapeKnown } = about;
    const { file, format } = outputFile(data);
    const piece = this.#pieces?.get(parameter);
    if (piece !== undefined) return openPiece(file, piece, this.#how);
    const encoding = encodingOf(file, format, element);
    if (file !== '-') {
      const parts = this.#how.checksum ? new PartSums() : undefined;
      const partial = this.#journal?.partialOf(file);
      const sink = await openFileSink(file, { encoding, shape, shapeKnown, ...this.#how, partial, parts });
      this.#files.push(file);
      // A device or pipe keeps nothing that could be verified.
      if (parts !== undefined && sink.sync !== undefined) await this.#openSums(file, sink, parts);
      return sink;
    }
    if (encoding.needsShape && !shapeKnown) throw needsShape('standard output');
    return StreamSink.open('standard output', process.stdout, encoding, shape, false);
  }
}

/** The file of an output with the format that it is written in. Throws WS5012 where there is none. */
export function outputFile(data: string | OutputFile): { readonly file: string; readonly format: Format } {
  const { file, format: said } = typeof data === 'string' ? { file: data } : data;
  const format =
    said !== undefined
      ? formatNamed(said)
      : (formatOfName(file) ?? (isNameless(file) ? formatNamed('raw') : undefined));
  if (format?.encode !== undefined) return { file, format };
  const what = format?.name === undefined ? unsupportedName(file)?.what : `a ${format.name} file`;
  const stem = file.slice(0, file.length - extname(file).length);
  throw problem(
    'WS5012',
    what === undefined
      ? `the name ${file} does not say in which format to write it`
      : `${file} would be ${what} by its name, which is not written`,
    `name it ${stem}.npy, or ${stem}.bin for bare elements; to write those whatever the name, say --raw ` +
      `(format: 'raw' in a program)`,
  );
}

/** How a format writes an output. */
export function encodingOf(file: string, { encode }: Format, element: ElementType): Encoding {
  return encode!({ name: file, element });
}

/** Whether a path's name says nothing because it is no file's: standard output, a pipe, a device (or a folder, which is refused later). */
function isNameless(path: string): boolean {
  if (path === '-') return true;
  if (unsupportedName(path) !== undefined) return false;
  try {
    return !statSync(path).isFile();
  } catch {
    return false;
  }
}

function isByName(output: NonNullable<RunOptions['output']>): output is Readonly<Record<string, OutputData>> {
  return (
    typeof output === 'object' &&
    !Array.isArray(output) &&
    !ArrayBuffer.isView(output) &&
    !isPinned(output) &&
    typeof (output as Partial<OutputFile>).file !== 'string'
  );
}

function pathOf(data: OutputData): string | undefined {
  if (typeof data === 'string') return data;
  return 'file' in data ? data.file : undefined;
}
