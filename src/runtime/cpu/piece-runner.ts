// A thread's side of a kernel over files: reads a piece, runs the kernel, writes the piece. See file-pieces.ts.
//
// It reads and writes as the system calls do, at once, since the thread has nothing else to do.

import { readSync, writeSync } from 'node:fs';
import type { BlockRunner, Executable, RunnerContext } from '../../targets/executable.ts';
import { setScalar } from '../scalar-bytes.ts';
import type { RunnerFactory } from './computing.ts';
import { type FilePieces, type PieceFile, PieceState } from './file-pieces.ts';
import { MemoryView } from './linear-memory.ts';

/** Makes runners of one target's executables. */
export type ExecutableFactory = (executable: Executable, context: RunnerContext) => BlockRunner;

/** Makes runners of kernels over files, too. */
export function withPieces(create: ExecutableFactory): RunnerFactory {
  return (runnable, context) =>
    runnable.target === 'pieces'
      ? pieceRunner(runnable, create(runnable.executable, context), context.memory)
      : create(runnable, context);
}

/** Runs pieces as if they were blocks. */
function pieceRunner(pieces: FilePieces, run: BlockRunner, memory: WebAssembly.Memory): BlockRunner {
  const { files, record, recordOffset, arenaBytes, blocks, row } = pieces;
  const device = new MemoryView(memory);
  const state = new PieceState(pieces.state);
  const inputs = files.filter(({ use }) => use === 'read');
  const outputs = files.filter(({ use }) => use === 'write');
  const transfer = (some: readonly PieceFile[], bytes: Uint8Array, arena: number, piece: number) => {
    for (const file of some)
      transferPiece(file, files.indexOf(file), bytes, arena + file.offset, piece, state);
  };
  const runPieces: BlockRunner = (range, arena, first, end) => {
    const bytes = device.upTo(arena + arenaBytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const before = view.getFloat64(range, true);
    const at = arena + recordOffset;
    bytes.set(record, at);
    for (const { slot, offset } of files) view.setBigUint64(at + slot, BigInt(arena + offset), true);
    // Noted once: between two pieces each line of a program comes from memory again.
    let [read, compute, write] = [0, 0, 0];
    for (let piece = before + first; piece < before + end; ++piece) {
      const began = performance.now();
      transfer(inputs, bytes, arena, piece);
      const readEnded = performance.now();
      if (row !== null) setScalar(view, at + row.slot, row.type, row.first + piece * row.rows);
      const fault = run(at, arena, 0, blocks);
      if (fault !== null) return fault;
      const computed = performance.now();
      transfer(outputs, bytes, arena, piece);
      read += readEnded - began;
      compute += computed - readEnded;
      write += performance.now() - computed;
    }
    state.add({ read, compute, write }, end - first);
    return null;
  };
  const { begins, ends } = run;
  return Object.assign(runPieces, { ...(begins && { begins }), ...(ends && { ends }) });
}

/** Reads or writes a file's part of a piece, whole. */
function transferPiece(
  { use, fd, position, bytes: length }: PieceFile,
  file: number,
  memory: Uint8Array,
  address: number,
  piece: number,
  state: PieceState,
): void {
  const before = piece * length;
  let done = 0;
  while (done < length) {
    let moved: number;
    try {
      const operands = [memory, address + done, length - done, position + before + done] as const;
      moved = use === 'read' ? readSync(fd, ...operands) : writeSync(fd, ...operands);
    } catch (error) {
      state.fail({ file, errno: (error as NodeJS.ErrnoException).errno ?? null, bytes: before + done });
      throw error;
    }
    if (moved === 0) {
      state.fail({ file, errno: null, bytes: before + done });
      throw new Error('the file ended too early');
    }
    done += moved;
  }
}
