// merge: the pieces of an output, put together.
//
// They must be all of one work, of the same input files, each in its place, and are compared with their checksums as they
// are read. The output appears whole or not at all, as that of a run; pieces stay, unless they are to be removed once it is there.
// A merge that was stopped while it removed them is over: another finds its note (merge-note.ts), and removes the rest.

import { count } from '../../diagnostics/count.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { newArray, viewElements } from '../../formats/typed-arrays.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { componentOf } from '../../kernel/types.ts';
import { checkOutputs } from '../check-outputs.ts';
import type { TypedArray } from '../job.ts';
import type { OutputFile } from '../options.ts';
import { holdsSeveral, OpenOutputs } from '../outputs.ts';
import type { Sink } from '../sinks/sink.ts';
import { checkSameInputs } from './input-stamps.ts';
import { forgetMerged, mergedBefore, noteMerged } from './merge-note.ts';
import { type Piece, readPiece } from './piece.ts';
import {
  endingsBeside,
  type OpenPiece,
  openPieceFile,
  placeOfPart,
  placeOfPiece,
  removePiece,
} from './piece-files.ts';

export interface MergeOptions {
  readonly fsync?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
  readonly checksum?: boolean | undefined;
  /** Whether pieces go once the output is there. */
  readonly remove?: boolean | undefined;
  /** Whether pieces are taken from whichever input files they were computed. */
  readonly ignoreInputs?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** What was put together. */
export interface Merged {
  readonly output: string;
  readonly pieces: number;
  readonly bytes: number;
}

/**
 * Writes an output from its pieces, which lie beside it.
 *
 * @throws WarpstageError WS5016 where some are missing, WS5015 where they are not of one work or of the same inputs,
 * WS5014 where one is not as it was written
 */
export async function merge(output: OutputFile, options: MergeOptions): Promise<Merged> {
  const { signal, fsync = false, overwrite = true, checksum = false } = options;
  let parts: string[][];
  try {
    parts = await partsOf(output);
  } catch (error) {
    const before = isMissing(error) ? await mergedBefore(output) : undefined;
    if (before === undefined) throw error;
    if (options.remove) await removeMerged(output.file, before.left);
    return { output: output.file, pieces: before.pieces, bytes: before.bytes };
  }
  const paths = parts.flat();
  await checkOutputs(new Map([['', output]]), paths, { checksum });
  const read: Piece[][] = [];
  for (const ofPart of parts) read.push(await readTogether(ofPart));
  // Those of a part are of one work; so are then the first ones.
  checkSameWork(
    parts.map(([path]) => path!),
    read.map(([piece]) => piece!),
  );
  const pieces = read.flat();
  if (!options.ignoreInputs) {
    await checkSameInputs(pieces.map(({ inputs }, i) => ({ path: paths[i]!, inputs })));
  }
  const isShared = parts.length > 1;
  const outputs = new OpenOutputs({ fsync, overwrite, checksum, signal });
  try {
    const shapes = new Map<Sink, readonly number[]>();
    const sinks: Sink[] = [];
    for (const [piece] of read) {
      const { parameter, element, shape, rate } = piece!;
      const about = { parameter, element, shape, shapeKnown: true, rate: output.rate ?? rate, isShared };
      const sink = await outputs.open(output, about);
      shapes.set(sink, shape);
      sinks.push(sink);
    }
    for (const [part, ofPart] of parts.entries())
      for (const [i, path] of ofPart.entries()) await copy(path, read[part]![i]!, sinks[part]!, signal);
    await outputs.publish(shapes, { job: pieces[0]!.job, settings: {}, inputs: [] });
  } catch (error) {
    await outputs.abandon();
    throw error;
  }
  const bytes = read.reduce((sum, ofPart) => sum + bytesFrom(ofPart.at(-1)!, 0), 0);
  const merged = { output: output.file, pieces: parts[0]!.length, bytes };
  if (options.remove) {
    await noteMerged(output.file, merged, pieces, { fsync, signal });
    await removeMerged(output.file, paths);
  }
  return merged;
}

/** Removes pieces whose elements are in the output, and then the note that says so. */
async function removeMerged(output: string, pieces: readonly string[]): Promise<void> {
  for (const path of pieces) await removePiece(path);
  await forgetMerged(output);
}

function isMissing(error: unknown): boolean {
  return error instanceof WarpstageError && error.code === 'WS5016';
}

async function readTogether(paths: readonly string[]): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const path of paths) pieces.push(await readPiece(path));
  checkTogether(paths, pieces);
  return pieces;
}

/** The elements of each piece, where these are small. Throws what `merge` does. */
export async function readPieces(output: string, signal: AbortSignal): Promise<TypedArray[]> {
  const paths = await piecesOf(output);
  const pieces = await readTogether(paths);
  const arrays: TypedArray[] = [];
  for (const [i, piece] of pieces.entries()) {
    const array = newArray(piece.element, piece.end - piece.begin);
    let at = 0;
    const write = async (part: TypedArray) => {
      array.set(part as never, at);
      at += part.length;
    };
    await copy(paths[i]!, piece, { write: write as Sink['write'] }, signal);
    arrays.push(array);
  }
  return arrays;
}

/** Removes the pieces of an output that is cut into so many, as far as they are there. */
export async function removePieces(output: string, of: number): Promise<void> {
  const there = (await piecesBeside(output)).get(of) ?? [];
  for (const n of there) await removePiece(placeOfPiece(output, [n, of]));
}

/** The bytes of a piece's elements from one of the whole on. */
function bytesFrom({ element, end }: Piece, begin: number): number {
  return (end - begin) * bytesOf(element);
}

/** The pieces that lie beside an output: which there are, by the number that each is one of. */
export async function piecesBeside(output: string): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const found = new Map<number, Set<number>>();
  for (const ending of await endingsBeside(output)) {
    const [, n, of] = /^\.([1-9]\d{0,5})-of-([1-9]\d{0,5})$/.exec(ending) ?? [];
    if (n !== undefined) found.set(Number(of), (found.get(Number(of)) ?? new Set()).add(Number(n)));
  }
  return found;
}

/** The pieces of an output in their order; of a file of several outputs, those of each. */
async function partsOf(output: OutputFile): Promise<string[][]> {
  const together = holdsSeveral(output) ? await togetherIn(output.file) : undefined;
  if (together === undefined) return [await piecesOf(output.file)];
  const parts: string[][] = [];
  for (const name of together) parts.push(await piecesOf(placeOfPart(output.file, name)));
  return parts;
}

/** The outputs whose pieces lie beside a file that is to hold them all; undefined where none is a part of it. */
async function togetherIn(file: string): Promise<readonly string[] | undefined> {
  const endings = await endingsBeside(file);
  const alone = endings.find((ending) => /^\.[1-9]\d{0,5}-of-[1-9]\d{0,5}$/.test(ending));
  for (const ending of endings) {
    const [, name, n, of] = /^\.([^.]+)\.([1-9]\d{0,5})-of-([1-9]\d{0,5})$/.exec(ending) ?? [];
    if (name === undefined) continue;
    const path = placeOfPiece(placeOfPart(file, name), [Number(n), Number(of)]);
    const { together, parameter } = await readPiece(path);
    // Of a file whose name begins as this one's.
    if (together === undefined || parameter !== name) continue;
    if (alone === undefined) return together;
    throw problem(
      'WS5015',
      `${file} has pieces of one output (${file}${alone}) and of several (${path})`,
      'remove those that are not wanted',
    );
  }
  return undefined;
}

/** The pieces that lie beside an output, all of them, in their order. */
async function piecesOf(output: string): Promise<string[]> {
  const found = await piecesBeside(output);
  const [first, ...others] = [...found];
  if (first === undefined) {
    throw problem(
      'WS5016',
      `there are no pieces of ${output}`,
      `they are written by warpstage run … --shard 1/10`,
    );
  }
  if (others.length > 0) {
    const counts = [...found.keys()].map(count).join(' and ');
    throw problem(
      'WS5015',
      `${output} has pieces of cuts into ${counts}`,
      'remove those that are not wanted',
    );
  }
  const [of, there] = first;
  const all = Array.from({ length: of }, (_, i) => i + 1);
  const missing = all.filter((n) => !there.has(n));
  if (missing.length > 0) {
    const shown = missing.slice(0, 10).join(', ') + (missing.length > 10 ? ', …' : '');
    throw problem(
      'WS5016',
      `${count(missing.length)} of the ${count(of)} pieces of ${output} are missing: ${shown}`,
      `wait for them, or run them again, for example with --shard ${missing[0]}/${of}`,
    );
  }
  return all.map((n) => placeOfPiece(output, [n, of]));
}

/** Refuses pieces that are of different works. */
function checkSameWork(paths: readonly string[], pieces: readonly Piece[], more = nothingMore): void {
  const about = (piece: Piece): Readonly<Record<string, string>> => ({
    ...piece.work,
    'the number of pieces': String(piece.shard[1]),
    'what is one file': (piece.together ?? [piece.parameter]).join(', '),
    ...more(piece),
  });
  for (const [i, piece] of pieces.entries()) {
    const [before, now] = [about(pieces[0]!), about(piece)];
    const differing = Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
    if (differing.length === 0) continue;
    throw new WarpstageError(
      differing.map((name) => ({
        code: 'WS5015' as const,
        message: `${paths[i]} is of another work than ${paths[0]}: ${name} is ${now[name]}, and there ${before[name]}`,
        hint: 'remove the one that is not wanted, and run its shard again',
      })),
    );
  }
}

function nothingMore(_: Piece): Readonly<Record<string, string>> {
  return {};
}

/** Refuses pieces that are of different works, or not in their places. */
function checkTogether(paths: readonly string[], pieces: readonly Piece[]): void {
  checkSameWork(paths, pieces, ({ element, shape }) => ({
    'the type of elements': element,
    'the shape of the output': `(${shape.join(', ')})`,
  }));
  const length = pieces[0]!.shape.reduce((product, extent) => product * extent, 1);
  for (const [i, piece] of pieces.entries()) {
    const begin = pieces[i - 1]?.end ?? 0;
    const isLast = i === pieces.length - 1;
    if (piece.shard[0] === i + 1 && piece.begin === begin && (!isLast || piece.end === length)) continue;
    throw problem(
      'WS5015',
      `${paths[i]} is not piece ${i + 1}, by what it says of itself`,
      'was it renamed?',
    );
  }
}

/** Bytes that are read, looked at and written while they are in the processor's caches. */
const copiedAtOnce = 2 ** 20;

/** Copies the elements of a piece, part by part, as far as they are what was written. */
async function copy(
  path: string,
  piece: Piece,
  sink: Pick<Sink, 'write'>,
  signal: AbortSignal,
): Promise<void> {
  const { element, partBytes, sums } = piece;
  const component = componentOf(element);
  const bytes = bytesFrom(piece, piece.begin);
  const buffer = new Uint8Array(Math.min(copiedAtOnce, partBytes, bytes));
  let file: OpenPiece | undefined;
  try {
    file = await openPieceFile(path);
    for (const [part, sum] of sums.entries()) {
      const begin = part * partBytes;
      const end = Math.min(begin + partBytes, bytes);
      const checksum = new Checksum();
      for (let at = begin; at < end; at += buffer.length) {
        signal.throwIfAborted();
        const some = buffer.subarray(0, Math.min(buffer.length, end - at));
        const bytesRead = await file.read(some, at);
        checksum.update(some.subarray(0, bytesRead));
        // The output has a name only if all parts are what they were.
        await sink.write(viewElements(component, buffer.buffer, 0, some.length / bytesOf(component)));
      }
      if (checksum.value === sum) continue;
      throw problem(
        'WS5014',
        `bytes ${count(begin)} to ${count(end)} of ${path} are not what they were`,
        'remove it, and run its shard again',
      );
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw unreadable(path, cause);
  } finally {
    await file?.close().catch(() => {});
  }
}
