// The functions that a module takes from JavaScript: one table, read by the compiler, which
// declares what it calls, and by the runner, which provides it.
//
// - `math`: what Math computes, in f64, named `function/operands`;
// - `exact`: operations on floats that WebAssembly lacks and JavaScript defines;
// - `fault`: how a kernel stops. The function only notes what happened; the code returns then;
// - `clock`: the time;
// - `stages`: that threads are at a point of a stage's use, in modules that tell it;
// - `print`: the values of a line, one call each, and then the line; or the message of an assertion.

import { type MathFunction, mathFunctions } from '../../compiler/functions.ts';
import type { WasmType } from './encoder/code.ts';

/** Parameters and results of the functions that are not of `math`. */
export const hostSignatures = {
  exact: {
    remainder: [['f64', 'f64'], ['f64']],
    toInt32: [['f64'], ['i32']],
    toInt64: [['f64'], ['i64']],
  },
  fault: {
    /** Site, thread rank, block, index, count, length. */
    outOfRange: [['i32', 'i32', 'i32', 'i64', 'i64', 'i64'], []],
    /** Site, thread rank, block. */
    divisionByZero: [['i32', 'i32', 'i32'], []],
    /** Site, thread rank, block, destination's offset, source's offset, count, how many of them are zeros. */
    copy: [['i32', 'i32', 'i32', 'i64', 'i64', 'i64', 'i64'], []],
    /** A pipeline that all threads wait for in vain: site, block, stage. */
    deadlock: [['i32', 'i32', 'i32'], []],
    /** A pipeline that is not there (0), was quit (2), or is a producer's (3) or a consumer's (4): site, thread rank, block, state. */
    pipeline: [['i32', 'i32', 'i32', 'i32'], []],
    /** A pipeline that is made with too few producers or consumers: site, thread rank, block, producers, threads. */
    producers: [['i32', 'i32', 'i32', 'i64', 'i32'], []],
    /** A pipeline that is made with different counts: each in turn, then site, thread rank, block. */
    count: [['i64'], []],
    counts: [['i32', 'i32', 'i32'], []],
    /** Threads that wait for different things: each in turn (site, thread rank, group or stage, arrived, expected, returned), then the block. */
    waits: [['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], []],
    /** The same at a barrier: site, thread rank, which of the array, phase, arrived, expected, returned. */
    waitsAtBarrier: [['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], []],
    /** A thread that sleeps, or waits with a limit: site, thread rank. */
    sleeps: [['i32', 'i32'], []],
    stuck: [['i32'], []],
    /** A phase of a barrier that all threads wait for in vain: site, block, which of the array, phase. */
    deadlockAtBarrier: [['i32', 'i32', 'i32', 'i32'], []],
    /** A wrong use of a barrier: site, thread rank, block, one of `barrierFaults`, which of the array, and two values. */
    barrier: [['i32', 'i32', 'i32', 'i32', 'i32', 'i64', 'i64'], []],
  },
  clock: {
    /** Nanoseconds. */
    now: [[], ['f64']],
    /** All threads of a block rest: where what they meet at lies, its bytes, the block. Whether it is too much. */
    rests: [['i32', 'i32', 'i32'], ['i32']],
  },
  stages: {
    /** Threads are at a point of a stage's use: which point, pipeline, how often it was made, batch, thread rank. */
    mark: [['i32', 'i32', 'i32', 'i32', 'i32'], []],
  },
  print: {
    i32: [['i32'], []],
    u32: [['i32'], []],
    i64: [['i64'], []],
    u64: [['i64'], []],
    f32: [['f32'], []],
    f64: [['f64'], []],
    bool: [['i32'], []],
    /** Number of the line, thread rank, block. */
    line: [['i32', 'i32', 'i32'], []],
    /** An assertion that does not hold: number of its message, thread rank, block. */
    assertion: [['i32', 'i32', 'i32'], []],
  },
} as const satisfies Record<
  string,
  Record<string, readonly [parameters: readonly WasmType[], results: readonly WasmType[]]>
>;

export type HostSignatures = typeof hostSignatures;

/** What a wasm type is in JavaScript. */
type HostValue<T> = T extends 'i64' ? bigint : number;
type HostValues<T extends readonly WasmType[]> = { -readonly [I in keyof T]: HostValue<T[I]> };

/** The functions that a runner provides, of the types that the table says. */
export type HostFunctions = {
  readonly [M in keyof HostSignatures]: {
    readonly [F in keyof HostSignatures[M]]: HostSignatures[M][F] extends readonly [
      infer P extends readonly WasmType[],
      infer R extends readonly WasmType[],
    ]
      ? (...values: HostValues<P>) => R extends readonly [infer T] ? HostValue<T> : void
      : never;
  };
};

/** `exact`, as JavaScript defines it. */
export const exactFunctions: HostFunctions['exact'] = {
  remainder: (a, b) => a % b,
  toInt32: (a) => a | 0,
  toInt64: (a) => (Number.isFinite(a) ? BigInt.asIntN(64, BigInt(Math.trunc(a))) : 0n),
};

/** Nanoseconds of Unix time: one clock for all workers. It ticks in quarters of a microsecond or more. */
export const now: HostFunctions['clock']['now'] = () => (performance.timeOrigin + performance.now()) * 1e6;

/** The name under which a function of Math with so many operands is imported. */
export function mathImportName(name: MathFunction, operands: number): string {
  return `${name}/${operands}`;
}

/** The function of Math that an import's name means. */
export function mathImport(importName: string): (...operands: number[]) => number {
  return mathFunctions[importName.split('/')[0] as MathFunction];
}
