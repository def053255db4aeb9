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
  const pairs = executable.target === 'wasm' && grid[1] * grid[2] === 1 ? executable.inPlace : [];
  const placed: PieceFile[] = [];
  /** Inputs whose place no output has taken. */
  const free = new Map<number, PieceFile>();
  for (const { parameter, use, fd, position, bytes } of files) {
    const number = numberOf(program, parameter);
    const isFree = (input: number) => free.get(input)?.bytes === bytes;
    const pair = pairs?.find(({ input, output }) => output === number && isFree(input));
    const offset = pair === undefined ? place(bytes) : free.get(pair.input)!.offset;
    if (pair !== undefined) free.delete(pair.input);
    const at = { use, fd, position, bytes, slot: slotOf(number), offset };
    if (use === 'read') free.set(number, at);
    placed.push(at);
  }
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
        : {
            slot: slotOf(numberOf(program, row.parameter)),
            type: scalar.type,
            first: row.first,
            rows: row.rows,
          },
    state: state.buffer,
  };
}

function numberOf({ parameters }: Program, name: string): number {
  return parameters.findIndex((parameter) => parameter.name === name);
}

/** Where a parameter stands in a launch record. */
function slotOf(number: number): number {
  return 16 * (1 + number);
}
