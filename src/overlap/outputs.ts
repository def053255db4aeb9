// The outputs of a run in Node: files as well as arrays and streams. They appear together when all are complete, or not
// at all; then a journal may say how far they are, for the next run. What opens other outputs than files is loaded with the
// first of its kind.

import { statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { problem } from '../diagnostics/problem.ts';
import { PartSums, partBytes } from '../files/part-sums.ts';
import type { Archive, Encoding, Format } from '../formats/format.ts';
import { formatNamed, formatOfFile, formatOfName } from '../formats/registry.ts';
import { unsupportedName } from '../formats/unsupported.ts';
import { isObject, isUrl, shownUrl } from '../formats/url.ts';
import { layoutOf } from '../kernel/layout.ts';
import { type CopyBytes, copyHere } from './copy-here.ts';
import type { TypedArray } from './job.ts';
import type { Target } from './journal/former.ts';
import { type Flushed, Journal, type Kept } from './journal/journal.ts';
import type { Begin, Facts } from './journal/text.ts';
import type { OutputData, OutputFile } from './options.ts';
import { isTaken, type OutputShape, TakenOutputs } from './output-data.ts';
import type { ArchiveFile } from './sinks/archive.ts';
import { flushNames, needsShape, openFileSink } from './sinks/file.ts';
import type { Sink } from './sinks/sink.ts';
import { StreamSink } from './sinks/stream.ts';
import { dropSums, type Sums, sumsPath, sumsText } from './sums.ts';
import type { HowWritten, Outputs, PieceOf } from './surroundings.ts';

/** Sinks that were opened for a run. */
export class OpenOutputs implements Outputs {
  readonly #sinks: Sink[] = [];
  /** The files among the outputs, and those that hold several. */
  readonly #files: string[] = [];
  readonly #archives = new Map<string, { readonly archive: Archive; readonly file: ArchiveFile }>();
  /** Where the checksums of outputs go, and what they are. */
  readonly #sums: { readonly sink: Sink; readonly parts: PartSums }[] = [];
  readonly #how: HowWritten;
  readonly #taken: TakenOutputs;
  /** Of each pass that has begun; outputs are of the last. */
  readonly #journals: Journal[] = [];
  /** What the pieces are of, by output, where these are pieces. */
  #pieces: ReadonlyMap<string, PieceOf> | undefined;
  #interrupted = Promise.resolve();

  /** `how` files are written, `copy`: how typed arrays are filled. */
  constructor(how: HowWritten, copy: CopyBytes = copyHere) {
    this.#how = how;
    this.#taken = new TakenOutputs(copy);
  }

  /** Keeps a journal from now on, and goes on where that of a former run ends. All outputs are files. */
  async keepJournal(facts: Facts, targets: readonly Target[], kept: Kept): Promise<Begin> {
    const journal = await Journal.open(facts, targets, kept);
    this.#journals.push(journal);
    return { ...journal.begin, state: journal.takeState() };
  }

  async opened(): Promise<void> {
    await this.#journal?.opened();
  }

  get #journal(): Journal | undefined {
    return this.#journals.at(-1);
  }

  get isStateDue(): boolean {
    return this.#journal?.isStateDue ?? false;
  }

  keepState(state: Uint8Array): void {
    this.#journal?.keepState(state);
  }

  async stateKept(): Promise<void> {
    await this.#journal?.stop();
  }

  /** Has the outputs be pieces from now on. All are files. */
  cut(pieces: ReadonlyMap<string, PieceOf>): void {
    this.#pieces = pieces;
  }

  /** Rows that the next run need not compute. */
  get keptRows(): number {
    return Math.max(0, ...this.#journals.map(({ rows }) => rows));
  }

  /** All outputs of one more chunk were written. */
  written(rows: number, kept?: number): void {
    this.#journal?.written(rows, kept);
  }

  /** Opens the sink of an output; without a destination, in memory. */
  async open(data: OutputData | undefined, about: OutputShape): Promise<Sink> {
    const sink = isTaken(data) ? this.#taken.open(data, about) : await this.#file(data, about);
    this.#sinks.push(sink);
    if (sink.sync !== undefined) this.#journal?.add(sink as Flushed);
    return sink;
  }

  /** Everything was written: gives all outputs their final names. `origin`: what they come from, where that is noted. */
  async publish(
    shapes: ReadonlyMap<Sink, readonly number[]>,
    origin?: Pick<Sums, 'job' | 'settings' | 'inputs'>,
  ): Promise<void> {
    for (const journal of this.#journals) await journal.stop();
    for (const sink of this.#sinks) await sink.finish(shapes.get(sink)!);
    for (const { sink, parts } of origin === undefined ? [] : this.#sums) {
      const inputs = origin!.inputs.map(({ path, ...content }) => ({
        path: isUrl(path) ? shownUrl(path) : resolve(path),
        ...content,
      }));
      const text = sumsText({ bytes: parts.bytes, partBytes, sums: parts.sums, ...origin!, inputs });
      await sink.write(Buffer.from(text));
      await sink.finish([]);
    }
    // What may be refused comes first; of several objects one appears before the next.
    for (const sink of this.#sinks) await sink.complete?.();
    this.#publish();
    // The last first: what is left of one begins with its first.
    for (const journal of [...this.#journals].reverse()) await journal.remove();
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
      for (const journal of this.#journals) await journal.settle();
      // A file of several outputs is there before the first of them.
      const files = [...this.#archives.values()].map(({ file }) => file);
      const sinks = [...this.#sinks, ...files, ...this.#sums.map(({ sink }) => sink)];
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
    for (const journal of this.#journals) await journal.leave();
  }

  /** The outputs that are in memory. */
  get arrays(): Record<string, TypedArray> {
    return this.#taken.arrays;
  }

  /** Where the checksums of an output are written when it is complete: found now, if it cannot be. */
  async #openSums(file: string, output: Pick<Sink, 'abandon'>, parts: PartSums): Promise<void> {
    try {
      const options = { encoding: {}, shape: [], shapeKnown: true, ...this.#how, fsync: this.#isLasting };
      this.#sums.push({ sink: await openFileSink(sumsPath(file), options), parts });
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }

  async #file(data: string | OutputFile, about: OutputShape): Promise<Sink> {
    const { parameter, shape, shapeKnown } = about;
    const { file, format } = outputFile(data);
    const piece = this.#pieces?.get(parameter);
    if (piece !== undefined) {
      checkWhole(data, about);
      if (!isObject(file)) return (await import('./shards/sink.ts')).openPiece(file, piece, this.#how);
      const { openObjectPiece } = await import('./shards/object-sink.ts');
      return openObjectPiece(file, piece, { ...this.#how, ...about });
    }
    if (about.isShared) return this.#part(file, format, about);
    const encoding = encodingOf(file, format, about);
    const { folder } = encoding;
    if (isObject(file)) {
      const { overwrite, signal } = this.#how;
      const { isLimited = false } = about;
      if (folder !== undefined) {
        const { openObjectFolder } = await import('./sinks/s3-folder.ts');
        return openObjectFolder(file, folder, { shape, signal, isLimited });
      }
      const { openS3Sink } = await import('./sinks/s3.ts');
      const kept = this.#journal?.partialOf({ path: file });
      const bytes = bytesOfWhole(encoding, about);
      return openS3Sink(file, { encoding, shape, shapeKnown, bytes, overwrite, signal, isLimited, kept });
    }
    if (file !== '-') {
      const parts = this.#how.checksum ? new PartSums() : undefined;
      const partial = this.#journal?.partialOf({ path: file });
      const sink =
        folder === undefined
          ? await openFileSink(file, { encoding, shape, shapeKnown, ...this.#how, partial, parts })
          : await (await import('./sinks/folder.ts')).openFolderSink(file, folder, {
              shape,
              ...this.#how,
              partial,
              parts,
              isLimited: about.isLimited ?? false,
            });
      this.#files.push(file);
      // A device or pipe keeps nothing that could be verified.
      const isKept = folder !== undefined || sink.sync !== undefined;
      if (parts !== undefined && isKept) await this.#openSums(file, sink, parts);
      return sink;
    }
    if (folder !== undefined) throw isStream('standard output', format.name);
    if (encoding.needsShape && !shapeKnown) throw needsShape('standard output');
    return StreamSink.open('standard output', process.stdout, encoding, shape, false);
  }

  /** An output that is a part of a file. */
  async #part(path: string, format: Format, about: OutputShape): Promise<Sink> {
    const { parameter, element, rate, shape, shapeKnown } = about;
    let opened = this.#archives.get(path);
    if (opened === undefined) {
      if (isObject(path)) throw (await import('./sinks/s3.ts')).needsPlaces(path);
      const { ArchiveFile } = await import('./sinks/archive.ts');
      const parts = this.#how.checksum ? new PartSums() : undefined;
      const archive = format.archive!();
      const how = { ...this.#how, fsync: this.#isLasting, parts };
      opened = { archive, file: await ArchiveFile.open(path, archive, how) };
      this.#archives.set(path, opened);
      this.#files.push(path);
      if (parts !== undefined) await this.#openSums(path, opened.file, parts);
    }
    const encoding = opened.archive.part({ name: path, parameter, element, rate });
    const bytes = shape.reduce((product, extent) => product * extent, layoutOf(element).bytes);
    const kept = this.#journal?.partialOf({ path, part: parameter });
    return opened.file.add(encoding, shape, shapeKnown ? bytes : undefined, kept);
  }
}

/** The error of an output that is a folder, and goes to where there are none. */
function isStream(name: string, format: string): Error {
  return problem(
    'WS5006',
    `${name} cannot be written in the format '${format}', which is a folder of files`,
    'give a name, or write .npy',
  );
}

/** Whether a file may hold several outputs, by the format of its name or what was said of it. */
export function holdsSeveral(data: OutputData): boolean {
  return !isTaken(data) && outputFile(data).format.archive !== undefined;
}

/** The file of an output with the format that it is written in. Throws WS5012 where there is none. */
export function outputFile(data: string | OutputFile): { readonly file: string; readonly format: Format } {
  const { file, format: said } = typeof data === 'string' ? { file: data } : data;
  if (isUrl(file) && !isObject(file)) {
    throw problem(
      'WS5012',
      `the output ${shownUrl(file)} is a URL, and outputs are written to files, or to s3://bucket/key`,
      'write it to a file first, and send that',
    );
  }
  const format =
    said !== undefined
      ? formatOfFile(said, file)
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

/** Bytes that an output has in all, where that is known before it is written. */
export function bytesOfWhole(
  { begin, encode }: Encoding,
  { element, shape, shapeKnown }: Pick<OutputShape, 'element' | 'shape' | 'shapeKnown'>,
): number | undefined {
  if (!shapeKnown || encode !== undefined) return undefined;
  const head = begin?.(shape).length ?? 0;
  return shape.reduce((product, extent) => product * extent, layoutOf(element).bytes) + head;
}

/** How a format writes an output. */
export function encodingOf(
  file: string,
  { encode }: Format,
  { parameter, element, rate }: Pick<OutputShape, 'parameter' | 'element' | 'rate'>,
): Encoding {
  return encode!({ name: file, parameter, element, rate });
}

/** Refuses an output whose format cannot hold it, also where pieces of it are computed, which are in none. */
export function checkWhole(
  data: string | OutputFile,
  about: Pick<OutputShape, 'parameter' | 'element' | 'rate' | 'shape'>,
): void {
  const { file, format } = outputFile(data);
  encodingOf(file, format, about).begin?.(about.shape);
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
