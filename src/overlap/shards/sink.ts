// The sink of a piece: its elements, and behind them what they are of. Where the piece is there already, as another run
// was faster or has been this one before, the two are compared.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { PartSums, partBytes } from '../../files/part-sums.ts';
import { type FileSinkOptions, openFileSink } from '../sinks/file.ts';
import type { Sink } from '../sinks/sink.ts';
import { inputsText, type Piece, pieceEnding } from './piece.ts';
import { piecePath, placeOfPart } from './piece-files.ts';

/** Opens the file of a piece of an output. */
export function openPiece(
  output: string,
  piece: Omit<Piece, 'partBytes' | 'sums'>,
  how: Pick<FileSinkOptions, 'fsync' | 'signal'>,
): Promise<Sink> {
  const place = piece.together === undefined ? output : placeOfPart(output, piece.parameter);
  const path = piecePath(place, piece.shard);
  const parts = new PartSums();
  let ending: Buffer;
  return openFileSink(path, {
    encoding: {
      end: () => {
        ending = pieceEnding({ ...piece, partBytes, sums: parts.sums });
        return Buffer.concat([inputsText(piece), ending]);
      },
    },
    shape: [],
    shapeKnown: true,
    ...how,
    overwrite: false,
    parts,
    isThere: () => {
      if (!endsWith(path, ending)) throw isAnotherResult(path);
    },
  });
}

/** The error of a piece that is there, and not what this run has computed. */
export function isAnotherResult(path: string): Error {
  return problem(
    'WS5015',
    `${path} is there already, and is another result than this run's`,
    'run it once more to see which is right, remove the other, and run its shard again',
  );
}

/** Whether a piece is the one with that ending, which has the checksums of all before it. */
function endsWith(path: string, ending: Buffer): boolean {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = Buffer.alloc(ending.length);
      const begin = Math.max(0, fstatSync(file).size - ending.length);
      return readSync(file, found, 0, found.length, begin) === found.length && found.equals(ending);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
