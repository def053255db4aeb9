// A kernel over files, piece by piece.
//
// Each thread reads a piece of the inputs into its own part of the device's memory, runs the kernel over it and writes
// what came out, all by itself: so a piece stays in the caches of one processor from the file to the file, and nothing
// is copied between. Pieces are as good as chunks for every kernel whose rows are computed from the same rows of the
// inputs; the thread that takes a piece, and when, decides nothing. What a thread needs lies in its arena: what the
// kernel's blocks have there, then the launch record of a piece, then its arrays.
//
// A file that cannot be read or written stops the launch. Which one, and why, stands in `PieceState`.

import type { ValueType } from '../../compiler/ir.ts';
import type { Executable } from '../../targets/executable.ts';
import { sharedBytes } from '../../targets/shared-bytes.ts';

/** A streamed array of the kernel, and the part of a file that it is read from or written to. */
export interface PieceFile {
  readonly use: 'read' | 'write';
  readonly fd: number;
  /** Where the first piece begins, in bytes. */
  readonly position: number;
  /** Of a piece. */
  readonly bytes: number;
  /** Of its address in the launch record. */
  readonly slot: number;
  /** From the arena's beginning. */
  readonly offset: number;
}

/** What threads run over the pieces, announced to them like an executable. Structured-cloneable. */
export interface FilePieces {
  readonly target: 'pieces';
  readonly executable: Executable;
  /** Of a piece's grid. */
  readonly blocks: number;
  /** The launch record of a piece; the addresses of the files' arrays are filled in. */
  readonly record: Uint8Array;
  /** From the arena's beginning. */
  readonly recordOffset: number;
  /** All that a thread needs. */
  readonly arenaBytes: number;
  readonly files: readonly PieceFile[];
  /** The scalar that is given the row which a piece begins with: that of the first piece, and the rows of a piece. */
  readonly row: {
    readonly slot: number;
    readonly type: ValueType;
    readonly first: number;
    readonly rows: number;
  } | null;
  readonly state: SharedArrayBuffer;
}

/** What a launch may name. */
export type Runnable = Executable | FilePieces;

/** Some of the pieces, as one launch. */
export interface PieceRange {
  readonly pieces: FilePieces;
  readonly first: number;
  readonly count: number;
}

/** The record of such a launch: which piece is its first. */
export function encodePieceRange({ first }: PieceRange): Uint8Array {
  return new Uint8Array(Float64Array.of(first).buffer);
}

/** What kept a file from being read or written. */
export interface PieceFailure {
  /** Its position among the files. */
  readonly file: number;
  /** The system's number of the error; null where the file ended too early. */
  readonly errno: number | null;
  /** Bytes behind the first piece's beginning that were there. */
  readonly bytes: number;
}

export const pieceStages = ['read', 'compute', 'write'] as const;
export type PieceStage = (typeof pieceStages)[number];

const stateBytes = 64;

/** What the threads note for the main thread: what failed first, and what each stage took of all threads' time. */
export class PieceState {
  readonly buffer: SharedArrayBuffer;
  readonly #failed: Int32Array;
  readonly #bytes: Float64Array;
  readonly #times: BigInt64Array;
  readonly #pieces: Int32Array;

  constructor(buffer: SharedArrayBuffer = sharedBytes(stateBytes)) {
    this.buffer = buffer;
    this.#failed = new Int32Array(buffer, 0, 2);
    this.#bytes = new Float64Array(buffer, 8, 1);
    this.#times = new BigInt64Array(buffer, 16, pieceStages.length);
    this.#pieces = new Int32Array(buffer, 16 + this.#times.byteLength, 1);
  }

  /** Notes what failed, unless something has before. */
  fail({ file, errno, bytes }: PieceFailure): void {
    // 1 while it is noted, then the file's number and 2.
    if (Atomics.compareExchange(this.#failed, 0, 0, 1) !== 0) return;
    this.#failed[1] = errno ?? 0;
    this.#bytes[0] = bytes;
    Atomics.store(this.#failed, 0, file + 2);
  }

  /** What failed; asked when no thread is at work any more. */
  get failure(): PieceFailure | null {
    const noted = Atomics.load(this.#failed, 0);
    if (noted < 2) return null;
    const errno = this.#failed[1]!;
    return { file: noted - 2, errno: errno === 0 ? null : errno, bytes: this.#bytes[0]! };
  }

  /** Adds so many pieces: milliseconds of each stage, of all of them. */
  add(milliseconds: Readonly<Record<PieceStage, number>>, pieces: number): void {
    for (const [position, stage] of pieceStages.entries())
      Atomics.add(this.#times, position, BigInt(Math.round(milliseconds[stage] * 1e6)));
    Atomics.add(this.#pieces, 0, pieces);
  }

  /** Pieces so far. */
  get pieces(): number {
    return Atomics.load(this.#pieces, 0);
  }

  /** Milliseconds of a stage so far, of all threads together. */
  took(stage: PieceStage): number {
    return Number(Atomics.load(this.#times, pieceStages.indexOf(stage))) / 1e6;
  }
}
