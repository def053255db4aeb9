// Every instruction that our encoder has, each as a function of a module: operands lie in memory, and so does the result.

import fc from 'fast-check';
import { operationOf } from '#warpstage/targets/native/operations.js';
import { Code, type WasmType } from '#warpstage/targets/wasm/encoder/code.js';
import { hasRelaxedSimd, ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import {
  type LaneInstruction,
  type LaneMemoryInstruction,
  laneMemoryOpcodes,
  laneOpcodes,
  type MemoryInstruction,
  memoryOpcodes,
  type PlainInstruction,
  plainOpcodes,
} from '#warpstage/targets/wasm/encoder/opcodes.js';

/** Where operands lie, 16 bytes each, and where the result is stored, in a memory of one page. */
export const operandsAt = 1024;
export const resultAt = 2048;
/** What loads, stores and atomics see. */
export const dataAt = 4096;

const letters: Readonly<Record<string, WasmType>> = { i: 'i32', l: 'i64', f: 'f32', d: 'f64', v: 'v128' };
const without = ['unreachable', 'return', 'drop', 'nop', 'select'];
const divisions = /\.(div|rem)_[su]$/;

export interface Case {
  readonly name: string;
  readonly operands: readonly WasmType[];
  readonly result: WasmType | null;
  readonly write: (code: Code) => void;
}

const plain = Object.keys(plainOpcodes).filter((name) => !without.includes(name));
const bytesOfAtomic = (name: string) => memoryOpcodes[name as MemoryInstruction][1];

export const cases: readonly Case[] = [
  ...plain.map((name): Case => {
    const [operands = '', result = ''] = operationOf(name as PlainInstruction)[0].split('>');
    return {
      name,
      operands: [...operands].map((letter) => letters[letter]!),
      result: letters[result]!,
      write: (code) => void code.op(name as PlainInstruction),
    };
  }),
  ...(['i32', 'i64', 'f32', 'f64', 'v128'] as const).map(
    (type): Case => ({
      name: `select ${type}`,
      operands: [type, type, 'i32'],
      result: type,
      write: (code) => void code.op('select'),
    }),
  ),
  ...(hasRelaxedSimd()
    ? [
        {
          name: 'select lanes by a mask',
          operands: ['v128', 'v128', 'v128', 'v128'],
          result: 'v128',
          write: (code) => void code.op('i32x4.lt_s').relaxed('i32x4.relaxed_laneselect'),
        } satisfies Case,
      ]
    : []),
  ...Object.keys(laneOpcodes).flatMap((name) =>
    Array.from({ length: name.startsWith('i64') ? 2 : 4 }, (_, lane): Case => {
      const type = name.slice(0, 3) as WasmType;
      const puts = name.includes('replace');
      return {
        name: `${name} ${lane}`,
        operands: puts ? ['v128', type] : ['v128'],
        result: puts ? 'v128' : type,
        write: (code) => void code.lane(name as LaneInstruction, lane),
      };
    }),
  ),
  {
    name: 'shuffle',
    operands: ['v128', 'v128'],
    result: 'v128',
    write: (code) => void code.shuffle([0, 31, 1, 30, 2, 29, 3, 28, 17, 4, 16, 5, 15, 6, 14, 7]),
  },
  // From and to addresses that are no multiples of anything, but those of atomics.
  ...Object.keys(memoryOpcodes).map((name): Case => {
    const type = name.split('.')[0] as WasmType;
    const offset = name.includes('atomic') ? 8 : 5;
    const stores = name.includes('.store');
    const count = /atomic\.load$/.test(name) || !/store|atomic/.test(name) ? 0 : /cmpxchg/.test(name) ? 2 : 1;
    return {
      name,
      operands: Array.from({ length: count }, () => type),
      result: stores ? null : type,
      write: (code) =>
        void code.memory(
          name as MemoryInstruction,
          dataAt + offset,
          name.includes('atomic') ? bytesOfAtomic(name) : 1,
        ),
    };
  }),
  // What C takes for one load or store of narrow lanes, and what is nearly that.
  ...(['s', 'u'] as const).flatMap((first) =>
    (['s', 'u'] as const).map(
      (second): Case => ({
        name: `loads of bytes, widened ${first} and ${second}`,
        operands: [],
        result: 'v128',
        write: (code) => {
          code.memory('v128.load32_zero', dataAt + 3, 1);
          code.op(`i16x8.extend_low_i8x16_${first}`, `i32x4.extend_low_i16x8_${second}`);
        },
      }),
    ),
  ),
  ...Object.entries({ low: [0, 4, 8, 12], other: [0, 4, 8, 13], halves: [0, 1, 4, 5, 8, 9, 12, 13] }).map(
    ([name, order]): Case => ({
      name: `stores of ${name} bytes`,
      operands: ['v128'],
      result: null,
      write: (code) => {
        const all = Array.from({ length: 16 }, (_, at) => order[at % order.length]!);
        code.withTemporary('v128', (value) => void code.tee(value).get(value).shuffle(all));
        const isHalf = order.length === 8;
        code.memoryLane(isHalf ? 'v128.store64_lane' : 'v128.store32_lane', 0, dataAt + 3, 1);
      },
    }),
  ),
  ...Object.keys(laneMemoryOpcodes).map(
    (name): Case => ({
      name,
      operands: ['v128'],
      result: name.includes('load') ? 'v128' : null,
      write: (code) => void code.memoryLane(name as LaneMemoryInstruction, 1, dataAt + 3, 1),
    }),
  ),
];

/** One function of no parameters for each case, called by its number. */
export function moduleOfCases(): Uint8Array<ArrayBuffer> {
  const writer = new ModuleWriter();
  for (const [number, { operands, result, write }] of cases.entries()) {
    const code = new Code();
    if (result !== null) code.i32(resultAt);
    const isMemory = operands.length === 0 || /load|store|atomic/.test(cases[number]!.name);
    if (isMemory) code.i32(0);
    for (const [i, type] of operands.entries())
      code.i32(operandsAt + 16 * i).memory(`${type}.load` as MemoryInstruction);
    write(code);
    if (result !== null) code.memory(`${result}.store` as MemoryInstruction);
    writer.function(`c${number}`, code, [], [], { exported: true });
  }
  return writer.encode();
}

/** Puts the operands of a case where it takes them. */
export function prepare(memory: ArrayBufferLike, { operands, name }: Case, values: Operands): void {
  const bytes = new Uint8Array(memory);
  bytes.set(values.data, dataAt);
  bytes.fill(0, resultAt, resultAt + 16);
  const view = new DataView(memory);
  for (const [i, type] of operands.entries()) writeOperand(view, operandsAt + 16 * i, type, values, i);
  if (divisions.test(name)) avoidTraps(view, operands[0]!);
}

/** What a case left in the memory. NaN has one form. */
export function outcomeOf(memory: ArrayBufferLike, { result, name }: Case) {
  const view = new DataView(memory);
  const wide = result === 'f64' || name.startsWith('f64x2');
  const isFloat = wide || result === 'f32' || name.startsWith('f32x4');
  const bits = isFloat ? canonical(view, wide) : [0, 8].map((at) => view.getBigUint64(resultAt + at, true));
  return { name, result: bits, data: new Uint8Array(memory).slice(dataAt, dataAt + 32) };
}

function canonical(view: DataView, wide: boolean): readonly bigint[] {
  const lanes = wide ? [0, 8] : [0, 4, 8, 12];
  return lanes.map((at) => {
    const value = wide ? view.getFloat64(resultAt + at, true) : view.getFloat32(resultAt + at, true);
    if (Number.isNaN(value)) return -1n;
    return wide ? view.getBigUint64(resultAt + at, true) : BigInt(view.getUint32(resultAt + at, true));
  });
}

/** WebAssembly traps where these meet, and kernels never let them. */
function avoidTraps(view: DataView, type: WasmType): void {
  if (type === 'i32') view.setInt32(operandsAt + 16, view.getInt32(operandsAt + 16, true) | 2, true);
  else view.setBigInt64(operandsAt + 16, view.getBigInt64(operandsAt + 16, true) | 2n, true);
  if (type === 'i32' && view.getInt32(operandsAt + 16, true) === -1) view.setInt32(operandsAt, 7, true);
  if (type === 'i64' && view.getBigInt64(operandsAt + 16, true) === -1n)
    view.setBigInt64(operandsAt, 7n, true);
}

const floats = [
  ...[
    0, -0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-45, -1e-45, 16777217, 2147483647, 2147483648, -2147483648,
    -2147483649,
  ],
  ...[2147483520, 4294967295, 4294967296, 2 ** 63, -(2 ** 63), 9.3e18, -9.3e18, 1.8e19],
  ...[3.4e38, 1e300, -1e300, 1e-310, Infinity, -Infinity, NaN],
];
const integers = [
  0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
  0xffff8001,
];

export interface Operands {
  readonly integers: readonly bigint[];
  readonly floats: readonly number[];
  readonly data: Uint8Array;
}

function writeOperand(view: DataView, at: number, type: WasmType, values: Operands, i: number): void {
  const integer = (lane: number) => values.integers[(4 * i + lane) % values.integers.length]!;
  const float = (lane: number) => values.floats[(4 * i + lane) % values.floats.length]!;
  const isFloat = integer(3) % 2n === 0n;
  if (type === 'f32' || (type === 'v128' && isFloat && integer(2) % 2n === 0n))
    for (let lane = 0; lane < 4; lane += 1) view.setFloat32(at + 4 * lane, float(lane), true);
  else if (type === 'f64' || (type === 'v128' && isFloat))
    for (let lane = 0; lane < 2; lane += 1) view.setFloat64(at + 8 * lane, float(lane), true);
  else if (type === 'v128')
    for (let lane = 0; lane < 4; lane += 1)
      view.setUint32(at + 4 * lane, Number(BigInt.asUintN(32, integer(lane))), true);
  else view.setBigUint64(at, integer(0), true);
}

const integer = fc.oneof(
  fc.constantFrom(...integers).map(BigInt),
  fc.constantFrom(...integers).map((value) => BigInt.asUintN(64, ~BigInt(value))),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
);
const float = fc.oneof(
  fc.constantFrom(...floats),
  fc.constantFrom(...floats).map((value) => -value),
  fc.double(),
  fc.float(),
);
export const operands: fc.Arbitrary<Operands> = fc.record({
  integers: fc.array(integer, { minLength: 16, maxLength: 16 }),
  floats: fc.array(float, { minLength: 16, maxLength: 16 }),
  data: fc.uint8Array({ minLength: 32, maxLength: 32 }),
});
