// The seam between a target and a device's threads.
//
// The host side of a target turns a Program into an Executable: plain data that is posted to the
// threads of a device. There, the other side of the target turns it into a BlockRunner, which
// runs a range of the grid's blocks over the device's memory. Both targets of the CPU
// (WebAssembly and the interpreter) stand behind this seam, so that the device and the tests
// know no difference.
//
// Memory is one shared WebAssembly memory; addresses are bytes from its start. A launch is
// described by a launch record in that memory, in 16-byte slots:
//   slot 0:             gridDim.x, .y, .z as u32, then the bytes from one block's arena to the next's
//                       where blocks have one each
//   a slot a parameter: an array's address and length (u64 each), or a scalar's value in its own
//                       type (bool as u32) in the first 8 bytes
//   a slot each shared array: its offset in the arena and its length (u64 each)
// The record and the arenas lie below 4 GiB, whatever the memory has.
// An arena is the memory that a block needs beside the arrays: the shared arrays first, each
// aligned to 16 bytes, then `scratchBytes` for the target's own use. Every thread of the device
// that runs blocks has one arena at a time, aligned to 256 bytes, and its contents are undefined
// when a range of blocks begins. A program whose grid synchronises is run by one thread, all blocks in
// one range; there each block has an arena of its own, one after the other from the given address.

import type { ArrayReference, Group, Program, ValueType } from '../compiler/ir.ts';
import type { RankGroup } from '../compiler/ir-cohorts.ts';
import type { WarpOperator } from '../compiler/ir-warps.ts';
import type { Conversion } from '../compiler/printf.ts';
import type { Range } from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import type { InPlace } from './analysis/in-place.ts';
import type { StageClock } from './stage-marks.ts';

/** A program in the form that a device's threads run. Structured-cloneable. */
export type Executable =
  | {
      readonly target: 'interpreter';
      readonly program: Program;
      readonly scratchBytes: number;
      /** Seed and policy of the delivery of asynchronous copies. */
      readonly delivery: 'eager' | 'late' | number;
      /** How many times the threads of a block may go round in loops, all together, before that is a fault. */
      readonly steps: number;
    }
  | {
      readonly target: 'wasm';
      readonly program: Program;
      readonly scratchBytes: number;
      readonly module: WebAssembly.Module;
      /** How the block is run, and whether 4 lanes at a time: tests assert that the fast path ran. */
      readonly mode: 'regions' | 'states';
      readonly vectorised: boolean;
      /** Arrays that may lie in one place; absent: none. */
      readonly inPlace?: readonly InPlace[];
      /** How many blocks take turns at a loop, if any do. */
      readonly blocksInTurn?: number;
      /** What the numbers that the module reports in a fault mean. */
      readonly sites: readonly FaultSite[];
      /** The same code made for this processor, if it is wanted. */
      readonly native?: NativeCode;
    }
  | {
      readonly target: 'cuda';
      readonly program: Program;
      readonly scratchBytes: number;
      readonly entry: string;
      /** Machine code for one architecture. */
      readonly image: Uint8Array;
      /** How each pipeline is carried out. */
      readonly lowerings: readonly ('bulk' | 'roles' | 'groups' | 'barriers' | 'thread')[];
      /** Where a shared array lies; null where only the launch knows. */
      readonly shared: readonly ({ readonly offset: number; readonly length: number } | null)[];
      /** Arrays are passed as pointers alone, without their lengths: what a user wrote in CUDA C++. */
      readonly plainPointers?: boolean;
      /** Whether it tests what it accesses. */
      readonly checked?: boolean;
      /** What the numbers that the kernel tells mean; absent for one that tells nothing. */
      readonly sites?: readonly FaultSite[];
    };

/** A library that does what a module of WebAssembly does. */
export interface NativeCode {
  readonly path: string;
  /** One of `nativeStates`, shared by all threads. */
  readonly state: SharedArrayBuffer;
  /** The functions of the host that it calls, by number: which, and the types of operands and result. */
  readonly imports: readonly {
    readonly module: string;
    readonly name: string;
    readonly parameters: readonly string[];
    readonly results: readonly string[];
  }[];
  /** How many parameters each of its functions has. */
  readonly exports: Readonly<Record<string, number>>;
  /** What the numbers that it reports in a fault mean. */
  readonly sites: readonly FaultSite[];
  /** Where threads find the package that loads it. */
  readonly koffi: string;
}

/** A library is not there yet, or could not be made; lies there; or is what launches run from now on. */
export const nativeStates = { absent: 0, ready: 1, adopted: 2 } as const;

/** A place in the program that can fault. */
export interface FaultSite {
  readonly range: Range;
  /** Name of the array, for an access. */
  readonly array?: string;
  readonly access?: 'read' | 'write' | 'copy';
  /** Of an array of several dimensions: which one is tested, counted from 1, the outermost. */
  readonly dimension?: number;
  /** The operands of a copy. */
  readonly copy?: {
    readonly destination: ArrayReference;
    readonly source: ArrayReference;
    readonly alignment: number;
  };
  /** Where the code is that of a rank group: the ranks that its first, second … thread has in the block. */
  readonly rankGroup?: RankGroup;
  /** The access is one of a lane's values: its index says which lane gives none. */
  readonly exchanges?: boolean;
  /** The threads that meet there. */
  readonly group?: Group;
  /** What lanes of a warp meet for, and whether masks say which. */
  readonly meeting?: WarpOperator | 'sync';
  readonly byMask?: boolean;
  /** What is done there with which of the program's pipelines. */
  readonly pipeline?: number;
  readonly verb?: string;
  /** Which of the program's barriers is used there. */
  readonly barrier?: number;
  /** Threads let others go on there: they sleep, or wait with a limit. */
  readonly sleeps?: boolean;
  /** The parts of a printed line; null stands for a value. */
  readonly texts?: readonly (string | null)[];
  /** How its values are written; null as console.log does. Absent: all of them so. */
  readonly formats?: readonly (Conversion | null)[] | undefined;
  /** The types of its values, where they come as bits. */
  readonly values?: readonly ValueType[];
}

/** Why a running kernel stopped. Plain data; the host makes the error of it. */
export type Fault =
  | {
      readonly kind: 'out-of-range';
      readonly range: Range;
      readonly array: string;
      readonly access: 'read' | 'write' | 'copy';
      readonly index: number;
      /** Elements of the access: 1, or the count of a copy. */
      readonly count: number;
      /** Elements of the array, or the extent of the dimension. */
      readonly length: number;
      /** Of an array of several dimensions: which one the index is outside of, counted from 1, the outermost. */
      readonly dimension?: number;
      readonly thread: Extent3;
      readonly block: Extent3;
    }
  | {
      readonly kind: 'division-by-zero';
      readonly range: Range;
      readonly thread: Extent3;
      readonly block: Extent3;
    }
  | {
      readonly kind: 'deadlock';
      readonly block: Extent3;
      /** The threads that wait, grouped by the place and what they wait for. */
      readonly waiting: readonly {
        readonly range: Range;
        /** In words, for example `consumerWait on stage 1 of pipeline: 255 of 256 threads have committed`. */
        readonly what: string;
        /** Ranks of the threads, ascending. */
        readonly threads: readonly number[];
      }[];
    }
  | {
      readonly kind: 'misuse';
      /** One sentence with the values, for a wrong use that the target itself notices. */
      readonly message: string;
      readonly hint?: string;
      readonly code: 'WS3005' | 'WS3006' | 'WS3007' | 'WS3009' | 'WS3010' | 'WS3011' | 'WS3012';
      readonly range: Range;
      readonly thread: Extent3;
      readonly block: Extent3;
    };

/** Runs the blocks `first` to `end` (exclusive; linear, x fastest) of the launch at `record`. Null if all went well. */
export interface BlockRunner {
  (record: number, arena: number, first: number, end: number): Fault | null;
  /** Called by one thread before each launch, while no thread runs blocks: better code may be taken up then. */
  readonly begins?: () => void;
  /** Lets go of what it has; it is not called any more. */
  readonly ends?: () => void;
}

/** What a target gives a thread of the device to run with. */
export interface RunnerContext {
  readonly memory: WebAssembly.Memory;
  /** A line that a kernel printed. */
  readonly print: (line: string, thread: Extent3, block: Extent3) => void;
  /** For an executable that tells of the stages of its pipelines: where to. */
  readonly stages?: StageRecording;
  /**
   * Two words: not zero from when running code is to end, for code that nothing else could end; and how many threads are where
   * they may not be ended.
   */
  readonly stop?: Int32Array;
}

/** Takes down what one block does with the stages of its pipelines. */
export interface StageRecording {
  /** The block, by its linear number. */
  readonly block: number;
  readonly clock: StageClock;
}

/** Bytes of a launch record of this program. */
export function launchRecordBytes(program: Program): number {
  return 16 * (1 + program.parameters.length + program.sharedArrays.length);
}
