// What a merge that removes pieces notes beside its output before it removes the first: that the output is whole, and of which
// pieces. A merge that was stopped then has left some of them, and the next one would wait for the others for ever.
//
// Pieces are known by what they end with, which has the checksums of their elements. So a piece of a later work, which the output
// does not have, is never taken for one that may go.

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isObject } from '../../formats/url.ts';
import type { OutputFile } from '../options.ts';
import { OpenOutputs, outputFile } from '../outputs.ts';
import type { HowWritten } from '../surroundings.ts';
import { type Piece, pieceEnding, readPiece } from './piece.ts';
import { endingsBeside, openPieceFile, placeOfPart, placeOfPiece, removePiece } from './piece-files.ts';

/** What is noted. */
interface Note {
  /** Of each part. */
  readonly pieces: number;
  /** Of the output. */
  readonly bytes: number;
  /** The parts of the file, where it holds several outputs. */
  readonly together?: readonly string[] | undefined;
  /** The pieces by their places among all, with what they end with. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Longer ones are no notes. */
const longest = 2 ** 28;

const noteOf = (output: string) => `${output}.merged`;
const keyOf = ({ parameter, shard: [n] }: Piece) => `${parameter} ${n}`;
const checkOf = (piece: Piece) => createHash('sha256').update(pieceEnding(piece)).digest('hex').slice(0, 32);

/** Notes that an output is there, and has these pieces. */
export async function noteMerged(
  output: string,
  merged: { readonly pieces: number; readonly bytes: number },
  pieces: readonly Piece[],
  { fsync, signal }: Pick<HowWritten, 'fsync' | 'signal'>,
): Promise<void> {
  const note: Note = {
    pieces: merged.pieces,
    bytes: merged.bytes,
    together: pieces[0]!.together,
    checks: Object.fromEntries(pieces.map((piece) => [keyOf(piece), checkOf(piece)])),
  };
  const text = Buffer.from(JSON.stringify(note));
  const outputs = new OpenOutputs({ fsync, overwrite: true, signal });
  try {
    const about = { parameter: 'note', element: 'u8', shape: [text.length], shapeKnown: true } as const;
    const sink = await outputs.open({ file: noteOf(output), format: 'raw' }, about);
    await sink.write(new Uint8Array(text));
    await outputs.publish(new Map([[sink, about.shape]]));
  } catch (error) {
    await outputs.abandon();
    throw error;
  }
}

/** Forgets it: nothing is left to be removed. */
export async function forgetMerged(output: string): Promise<void> {
  await removePiece(noteOf(output));
}

/**
 * What a merge before has put together, and the pieces of it that it has not removed; undefined where none has, or there are others,
 * or the output is gone.
 */
export async function mergedBefore(
  output: OutputFile,
): Promise<
  { readonly pieces: number; readonly bytes: number; readonly left: readonly string[] } | undefined
> {
  const note = await readNote(output.file);
  if (note === undefined || !(await isThere(output))) return undefined;
  const left: string[] = [];
  for (const ending of await endingsBeside(output.file)) {
    const [, part, n, of] = /^(?:\.([^.]+))?\.([1-9]\d{0,5})-of-([1-9]\d{0,5})$/.exec(ending) ?? [];
    if (n === undefined || (part === undefined) !== (note.together === undefined)) continue;
    if (part !== undefined && !note.together!.includes(part)) continue;
    const base = part === undefined ? output.file : placeOfPart(output.file, part);
    const path = placeOfPiece(base, [Number(n), Number(of)]);
    const piece = await readPiece(path);
    if (note.checks[keyOf(piece)] !== checkOf(piece)) return undefined;
    left.push(path);
  }
  return { pieces: note.pieces, bytes: note.bytes, left };
}

async function readNote(output: string): Promise<Note | undefined> {
  try {
    const file = await openPieceFile(noteOf(output));
    try {
      if (file.size > longest) return undefined;
      const bytes = Buffer.alloc(file.size);
      await file.read(bytes, 0);
      const note = JSON.parse(bytes.toString()) as Partial<Note> | null;
      const isNote =
        Number.isSafeInteger(note?.pieces) &&
        Number.isSafeInteger(note?.bytes) &&
        typeof note?.checks === 'object' &&
        note.checks !== null &&
        (note.together === undefined || Array.isArray(note.together));
      return isNote ? (note as Note) : undefined;
    } finally {
      await file.close();
    }
  } catch {
    // None, or nothing that could be trusted.
    return undefined;
  }
}

/** Whether an output is there; of one that is a folder, the file that makes it one. */
async function isThere(output: OutputFile): Promise<boolean> {
  const { file, format } = outputFile(output);
  const path = format.mark === undefined ? file : `${file}/${format.mark}`;
  try {
    if (!isObject(path)) await stat(path);
    else await (await openPieceFile(path)).close();
    return true;
  } catch {
    return false;
  }
}
