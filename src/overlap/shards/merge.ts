// merge: the pieces of an output, put together.
//
// They must be all of one work, of the same input files, each in its place, and are compared with their checksums as they
// are read. The output appears whole or not at all, as that of a run; pieces stay, unless they are to be removed once it is there.

import { count } from '../../diagnostics/count.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { Checksum } from '../../files/checksum.ts';
import { newArray, viewElements } from '../../formats/typed-arrays.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { componentOf } from '../../kernel/types.ts';
import type { TypedArray } from '../job.ts';
import type { OutputFile } from '../options.ts';
import { checkOutputs, OpenOutputs } from '../outputs.ts';
import type { Sink } from '../sinks/sink.ts';
import { checkSameInputs } from './input-stamps.ts';
import { type Piece, readPiece } from './piece.ts';
import { endingsBeside, type OpenPiece, openPieceFile, placeOfPiece, removePiece } from './piece-files.ts';

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
  const paths = await piecesOf(output.file);
  await checkOutputs([output], paths, { checksum });
  const pieces: Piece[] = [];
  for (const path of paths) pieces.push(await readPiece(path));
  checkTogether(paths, pieces);
  if (!options.ignoreInputs) {
    await checkSameInputs(pieces.map(({ inputs }, i) => ({ path: paths[i]!, inputs })));
  }
  const { parameter, element, shape, job, rate } = pieces[0]!;
  const outputs = new OpenOutputs({ fsync, overwrite, checksum, signal });
  try {
    const about = { parameter, element, shape, shapeKnown: true, rate: output.rate ?? rate };
    const sink = await outputs.open(output, about);
    for (const [i, path] of paths.entries()) await copy(path, pieces[i]!, sink, signal);
    await outputs.publish(new Map([[sink, shape]]), { job, settings: {}, inputs: [] });
  } catch (error) {
    await outputs.abandon();
    throw error;
  }
  if (options.remove) for (const path of paths) await removePiece(path);
  return { output: output.file, pieces: paths.length, bytes: bytesFrom(pieces.at(-1)!, 0) };
}

/** The elements of each piece, where these are small. Throws what `merge` does. */
export async function readPieces(output: string, signal: AbortSignal): Promise<TypedArray[]> {
  const paths = await piecesOf(output);
  const pieces: Piece[] = [];
  for (const path of paths) pieces.push(await readPiece(path));
  checkTogether(paths, pieces);
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

/** Removes the pieces of an output. */
export async function removePieces(output: string): Promise<void> {
  for (const path of await piecesOf(output)) await removePiece(path);
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

/** Refuses pieces that are of different works, or not in their places. */
function checkTogether(paths: readonly string[], pieces: readonly Piece[]): void {
  const first = pieces[0]!;
  const length = first.shape.reduce((product, extent) => product * extent, 1);
  const about = ({ work, element, shape, shard }: Piece): Readonly<Record<string, string>> => ({
    ...work,
    'the type of elements': element,
    'the shape of the output': `(${shape.join(', ')})`,
    'the number of pieces': String(shard[1]),
  });
  for (const [i, piece] of pieces.entries()) {
    const [before, now] = [about(first), about(piece)];
    const differing = Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
    if (differing.length > 0) {
      throw new WarpstageError(
        differing.map((name) => ({
          code: 'WS5015' as const,
          message: `${paths[i]} is of another work than ${paths[0]}: ${name} is ${now[name]}, and there ${before[name]}`,
          hint: 'remove the one that is not wanted, and run its shard again',
        })),
      );
    }
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
  const buffer = new Uint8Array(Math.min(partBytes, bytes));
  let file: OpenPiece | undefined;
  try {
    file = await openPieceFile(path);
    for (const [part, sum] of sums.entries()) {
      signal.throwIfAborted();
      const begin = part * partBytes;
      const length = Math.min(partBytes, bytes - begin);
      const bytesRead = await file.read(buffer.subarray(0, length), begin);
      const checksum = new Checksum();
      checksum.update(buffer.subarray(0, bytesRead));
      if (checksum.value !== sum) {
        throw problem(
          'WS5014',
          `bytes ${count(begin)} to ${count(begin + length)} of ${path} are not what they were`,
          'remove it, and run its shard again',
        );
      }
      await sink.write(viewElements(component, buffer.buffer, 0, length / bytesOf(component)));
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw unreadable(path, cause);
  } finally {
    await file?.close().catch(() => {});
  }
}
