// Runs a Program on a target of the CPU without a device: plain typed arrays in, the same typed
// arrays changed, the fault and what was printed. Arrays that share a buffer share memory.
//
// Memory is laid out as src/targets/executable.ts says. Between and around the arrays, the
// launch record and the arena lie guard bytes; a target that writes where it may not is found.

import type { Value } from '#warpstage/compiler/arithmetic.js';
import { evaluateAtLaunch } from '#warpstage/compiler/evaluate.js';
import type { Program } from '#warpstage/compiler/ir.js';
import { verifyProgram } from '#warpstage/compiler/verify.js';
import { hostForm, layoutOf } from '#warpstage/kernel/layout.js';
import type { Element, Extent, Extent3, HostArrays } from '#warpstage/kernel/types.js';
import {
  type BlockRunner,
  type Executable,
  type Fault,
  launchRecordBytes,
  type RunnerContext,
} from '#warpstage/targets/executable.js';
import { synchronisesGrid } from '#warpstage/targets/grid.js';
import { arraysBegin, hasWideAddresses, memoryOf } from './addresses.ts';

/** How a program gets to run. */
export interface Target {
  readonly name: string;
  /** What it makes of the program first, where that is another program. */
  lower?(program: Program): Program;
  compile(program: Program): Executable;
  createRunner(executable: Executable, context: RunnerContext): BlockRunner;
}

export type HostArray = HostArrays[keyof HostArrays];

/** The arrays whose elements are no bigints. */
export type NumberArray = Exclude<HostArray, BigInt64Array | BigUint64Array>;

/** The elements of these arrays, but for floats of 16 bits and vectors. */
export type PlainElement = 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'f32' | 'f64';

export interface ProgramLaunch {
  readonly grid: Extent;
  /** By name: a typed array of the parameter's element type, or a scalar. */
  readonly arguments: Readonly<Record<string, HostArray | Value>>;
  /** Blocks to run, linear; all by default. */
  readonly blocks?: readonly [first: number, end: number];
}

export interface ProgramResult {
  readonly fault: Fault | null;
  readonly printed: readonly string[];
  readonly executable: Executable;
}

const guardByte = 0xa5;
const undefinedByte = 0xcd;
const guardBytes = 64;

/** Runs a program; the arrays of `launch.arguments` hold the results. */
export function runProgram(target: Target, original: Program, launch: ProgramLaunch): ProgramResult {
  verifyProgram(original);
  const program = target.lower?.(original) ?? original;
  if (program !== original) verifyProgram(program);
  const executable = target.compile(program);
  const grid = extent3(launch.grid);
  const layout = new Layout(arraysBegin);
  const ofLaunch = hasWideAddresses ? new Layout(64) : layout;

  // Arrays of one buffer overlap as they do there.
  const buffers = new Map<ArrayBufferLike, number>();
  const placeOf = ({ buffer, byteOffset }: HostArray): number => {
    const address = buffers.get(buffer) ?? layout.place(buffer.byteLength, 16);
    buffers.set(buffer, address);
    return address + byteOffset;
  };
  const arrays = program.parameters.map((parameter) => {
    const argument = launch.arguments[parameter.name];
    if (argument === undefined) throw new Error(`no argument for ${parameter.name}`);
    if (parameter.kind === 'scalar') return null;
    if (typeof argument !== 'object') throw new Error(`${parameter.name} must be a typed array`);
    if (argument.BYTES_PER_ELEMENT !== bytesOfHost(parameter.element)) {
      throw new Error(`${parameter.name} must have elements of type ${parameter.element}`);
    }
    const length = argument.byteLength / layoutOf(parameter.element).bytes;
    return { argument, length, address: placeOf(argument) };
  });
  const scalars = program.parameters.map((parameter) => {
    const argument = launch.arguments[parameter.name];
    return typeof argument === 'object' ? undefined : argument;
  });

  let arenaBytes = 0;
  const shared = program.sharedArrays.map(({ element, count }) => {
    const length = Number(evaluateAtLaunch(count, { scalars, grid }));
    const offset = arenaBytes;
    arenaBytes += Math.ceil((length * layoutOf(element).bytes) / 16) * 16;
    return { offset, length };
  });
  arenaBytes += executable.scratchBytes;
  const record = ofLaunch.place(launchRecordBytes(program), 16);
  // Blocks that wait for each other have an arena each.
  const arenaStride = Math.ceil(arenaBytes / 64) * 64;
  const arenas = synchronisesGrid(program) ? grid[0] * grid[1] * grid[2] : 1;
  const arena = ofLaunch.place(arenas === 1 ? arenaBytes : arenaStride * arenas, 64);

  const memory = memoryOf(layout.end);
  const bytes = new Uint8Array(memory.buffer);
  if (ofLaunch === layout) bytes.fill(guardByte);
  else for (const { begin, end } of [ofLaunch, layout]) bytes.fill(guardByte, begin, end);
  for (const array of arrays) {
    if (array !== null) bytes.set(bytesOf(array.argument), array.address);
  }
  bytes.fill(undefinedByte, arena, arena + (arenas === 1 ? arenaBytes : arenaStride * arenas));
  const view = new DataView(memory.buffer);
  bytes.fill(0, record, record + launchRecordBytes(program));
  grid.forEach((extent, axis) => {
    view.setUint32(record + 4 * axis, extent, true);
  });
  view.setUint32(record + 12, arenaStride, true);
  program.parameters.forEach((parameter, id) => {
    const slot = record + 16 * (1 + id);
    const array = arrays[id];
    if (array) {
      setPair(view, slot, array.address, array.length);
    } else if (parameter.kind === 'scalar') {
      writeScalar(view, slot, parameter.type, scalars[id]!);
    }
  });
  shared.forEach(({ offset, length }, id) => {
    const slot = record + 16 * (1 + program.parameters.length + id);
    setPair(view, slot, offset, length);
  });

  const printed: string[] = [];
  const recordBefore = bytes.slice(record, record + launchRecordBytes(program));
  const runner = target.createRunner(executable, { memory, print: (line) => printed.push(line) });
  const [first, end] = launch.blocks ?? [0, grid[0] * grid[1] * grid[2]];
  const fault = runner(record, arena, first, end);

  layout.checkGuards(bytes);
  if (ofLaunch !== layout) ofLaunch.checkGuards(bytes);
  if (!recordBefore.every((byte, i) => byte === bytes[record + i])) {
    throw new Error('the launch record was overwritten');
  }
  for (const array of arrays) {
    if (array === null) continue;
    const { argument, address } = array;
    bytesOf(argument).set(bytes.subarray(address, address + argument.byteLength));
  }
  return { fault, printed, executable };
}

/** Places things in memory with guard bytes around each. */
class Layout {
  readonly #guards: [begin: number, end: number][] = [];
  readonly begin: number;
  end: number;

  constructor(begin: number) {
    this.begin = begin;
    this.end = begin;
  }

  place(byteLength: number, alignment: number): number {
    const guard = this.end;
    const address = Math.ceil((guard + guardBytes) / alignment) * alignment;
    this.#guards.push([guard, address]);
    this.end = address + byteLength;
    // After the last thing lies the rest of the page, never smaller than this.
    this.end += guardBytes;
    this.#guards.push([address + byteLength, this.end]);
    return address;
  }

  checkGuards(bytes: Uint8Array): void {
    for (const [begin, end] of this.#guards) {
      for (let address = begin; address < end; address += 1) {
        if (bytes[address] !== guardByte)
          throw new Error(`memory outside all arrays was written at ${address}`);
      }
    }
  }
}

function setPair(view: DataView, slot: number, first: number, second: number): void {
  view.setBigUint64(slot, BigInt(first), true);
  view.setBigUint64(slot + 8, BigInt(second), true);
}

function writeScalar(view: DataView, slot: number, type: string, value: Value): void {
  switch (type) {
    case 'i64':
    case 'u64':
      view.setBigInt64(slot, BigInt(value), true);
      return;
    case 'f32':
      view.setFloat32(slot, Number(value), true);
      return;
    case 'f64':
      view.setFloat64(slot, Number(value), true);
      return;
    default:
      view.setUint32(slot, Number(value), true);
  }
}

function bytesOf(array: HostArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** An array's bits in words, but every NaN alike: what two targets must agree on. */
export function bitsOf(array: HostArray): string {
  if (!(array instanceof Float32Array || array instanceof Float64Array)) return array.join();
  return Array.from(array, (x) => (Object.is(x, -0) ? '-0' : String(x))).join();
}

export function extent3(extent: Extent): Extent3 {
  if (typeof extent === 'number') return [extent, 1, 1];
  return [extent[0], extent[1] ?? 1, extent[2] ?? 1];
}

/** The width of the numbers by which the host holds elements. */
function bytesOfHost(element: Element): number {
  return layoutOf(element).bytes / hostForm(element).numbers;
}
