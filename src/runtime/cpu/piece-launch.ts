// A kernel over files, from the main thread: what its threads are given, and the launches that deal pieces out.
//
// A launch takes some of the pieces. Several are issued one behind the other, so that who waits for them sees how
// far they are, and a fault, a file's error or a signal stops the rest.

import type { Program } from '../../compiler/ir.ts';
import { alignment } from '../allocator.ts';
import type { LaunchWork } from '../launch.ts';
import { encodeRecord } from '../launch-record.ts';
import type { FilePieces, PieceFile, PieceState } from './file-pieces.ts';

/** A streamed array parameter, and the file that its pieces are in. */
export type StreamedFile = Pick<PieceFile, 'use' | 'fd' | 'position' | 'bytes'> & {
  readonly parameter: string;
};

/** What a kernel is to be run over. */
export interface FilesOfKernel {
  readonly files: readonly StreamedFile[];
  /** The scalar parameter that is given the row which a piece begins with: that of the first piece, and the rows of a piece. */
  readonly row?: { readonly parameter: string; readonly first: number; readonly rows: number } | undefined;
  readonly state: PieceState;
}

/** What threads are given of a launch that was bound for one piece. */
export function piecesOf(work: LaunchWork, { files, row, state }: FilesOfKernel): FilePieces {
  const { executable, grid, values, shared, sharedBytes } = work;
  const { program } = executable;
  const record = encodeRecord(program, { grid, values, shared });
  let end = sharedBytes + executable.scratchBytes;
  const place = (bytes: number): number => {
    const begin = Math.ceil(end / alignment) * alignment;
    end = begin + bytes;
    return begin;
  };
  const recordOffset = place(record.length);
  const placed = files.map(({ parameter, use, fd, position, bytes }) => ({
    ...{ use, fd, position, bytes },
    slot: slotOf(program, parameter),
    offset: place(bytes),
  }));
  const scalar = program.parameters.find(({ name }) => name === row?.parameter);
  return {
    target: 'pieces',
    executable,
    blocks: grid[0] * grid[1] * grid[2],
    record,
    recordOffset,
    arenaBytes: end,
    files: placed,
    row:
      row === undefined || scalar?.kind !== 'scalar'
        ? null
        : { slot: slotOf(program, row.parameter), type: scalar.type, first: row.first, rows: row.rows },
    state: state.buffer,
  };
}

/** Where a parameter stands in a launch record. */
function slotOf({ parameters }: Program, name: string): number {
  return 16 * (1 + parameters.findIndex((parameter) => parameter.name === name));
}
