// The sink of a piece that is an object of S3. It is created only where it is not there; where it is, the two are compared,
// as in sink.ts.

import { PartSums, partBytes } from '../../files/part-sums.ts';
import { refusedObject, type S3Object } from '../../formats/s3-client.ts';
import type { TypedArray } from '../job.ts';
import type { OutputShape } from '../output-data.ts';
import { lastBytes, openS3Sink } from '../sinks/s3.ts';
import { bytesOf, type Sink } from '../sinks/sink.ts';
import type { HowWritten, PieceOf } from '../surroundings.ts';
import { inputsText, pieceEnding } from './piece.ts';
import { piecePath } from './piece-files.ts';
import { isAnotherResult } from './sink.ts';

/** Opens the object of a piece of an output. */
export function openObjectPiece(
  output: string,
  piece: PieceOf,
  { signal, isLimited = false }: Pick<HowWritten, 'signal'> & Pick<OutputShape, 'isLimited'>,
): Promise<Sink> {
  const path = piecePath(output, piece.shard);
  const parts = new PartSums();
  let ending: Buffer;
  return openS3Sink(path, {
    encoding: {
      encode: (data: TypedArray) => {
        const bytes = bytesOf(data);
        parts.update(bytes);
        return bytes;
      },
      end: () => {
        ending = pieceEnding({ ...piece, partBytes, sums: parts.sums });
        return Buffer.concat([inputsText(piece), ending]);
      },
    },
    shape: [],
    shapeKnown: true,
    bytes: undefined,
    overwrite: false,
    signal,
    isLimited,
    isThere: async (object: S3Object) => {
      const found = await lastBytes(object, ending.length).catch((cause: unknown) => {
        throw refusedObject(path, cause, 'read');
      });
      if (!ending.equals(found)) throw isAnotherResult(path);
    },
  });
}
