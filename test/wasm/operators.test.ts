// Every operator and conversion on every type, on edge values and random ones, to the bit as
// compiler/arithmetic.ts defines them. (The bits of a NaN are not specified.)

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  binaryOperation,
  compareOperation,
  convertOperation,
  hasBinaryOperation,
  hasUnaryOperation,
  mathOperation,
  unaryOperation,
  type Value,
} from '#warpstage/compiler/arithmetic.js';
import type { Expression, MathFunction, ValueType } from '#warpstage/compiler/ir.js';
import {
  type ArrayHandle,
  add,
  binary,
  compare,
  constant,
  convert,
  load,
  math,
  multiply,
  ProgramBuilder,
  store,
  unary,
} from '../support/ir.ts';
import { type HostArray, runProgram } from '../support/run-program.ts';
import { wasm } from '../support/wasm.ts';

const types: readonly ValueType[] = ['bool', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'];
/** Threads of a block: as many as fill lanes, and too few for any. */
const blocks = [32, 3] as const;

const integerEdges = [0n, 1n, 2n, 3n, 7n, 31n, 32n, 33n, 63n, 64n, 255n, 65536n, 0x7fffffffn, 0x80000000n];
const floatEdges = [
  ...[0, -0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2.5, 3, -3, 7.25, 1e-45, 1e-310, 16777217, 2147483647, 2147483648],
  ...[-2147483648, -2147483649, 4294967295, 4294967296, 1e10, -1e10, 2 ** 53 + 2, 9.3e18, -9.3e18, 1.8e19],
  ...[1e30, -1e300, 3.5e38, Infinity, -Infinity, NaN],
];

/** Edge values of a type, and random ones. */
function valuesOf(type: ValueType): Value[] {
  const random = <T>(arbitrary: fc.Arbitrary<T>) => fc.sample(arbitrary, { numRuns: 12, seed: 7 });
  switch (type) {
    case 'bool':
      return [false, true];
    case 'f32':
      return [...floatEdges.map(Math.fround), ...random(fc.float())];
    case 'f64':
      return [...floatEdges, ...random(fc.double())];
    default: {
      const width = type === 'i64' || type === 'u64' ? 64 : 32;
      const wrap = type[0] === 'i' ? BigInt.asIntN : BigInt.asUintN;
      const all = [...integerEdges, 1n << 63n, (1n << 62n) - 1n, 0x1_0000_0001n, 1n << 53n, (1n << 53n) + 3n];
      const wrapped = [...all, ...all.map((value) => -value), ...random(fc.bigInt({ max: 1n << 64n }))].map(
        (value) => wrap(width, value),
      );
      return [...new Set(wrapped)].map((value) => (width === 64 ? value : Number(value)));
    }
  }
}

/** An array whose elements hold values of a type, whichever, in one or two words. */
class Lane {
  readonly type: ValueType;
  readonly #array: ArrayHandle;

  constructor(p: ProgramBuilder, name: string, type: ValueType) {
    this.type = type;
    this.#array = p.array(name, type === 'f32' || type === 'f64' || type === 'i32' ? type : 'u32');
  }

  static host(type: ValueType, values: readonly Value[]): HostArray {
    if (type === 'f32') return Float32Array.from(values as number[]);
    if (type === 'f64') return Float64Array.from(values as number[]);
    if (type === 'i32') return Int32Array.from(values as number[]);
    if (type === 'u32' || type === 'bool') return Uint32Array.from(values, Number);
    return new Uint32Array(BigInt64Array.from(values as bigint[]).buffer);
  }

  static read(type: ValueType, host: HostArray): Value[] {
    if (type === 'bool') return [...host].map((word) => word !== 0);
    if (type === 'i64') return [...new BigInt64Array(host.buffer)];
    if (type === 'u64') return [...new BigUint64Array(host.buffer)];
    return [...host];
  }

  get(p: ProgramBuilder, i: Expression): Expression {
    const { type } = this;
    if (type === 'bool') return convert(load(this.#array, i), 'bool');
    if (type !== 'i64' && type !== 'u64') return load(this.#array, i);
    const word = (offset: number) =>
      convert(load(this.#array, add(multiply(i, p.index(2)), p.index(offset))), type);
    return binary('or', word(0), binary('shiftLeft', word(1), constant(type, 32n)));
  }

  set(p: ProgramBuilder, i: Expression, value: Expression) {
    const { type } = this;
    if (type === 'bool') return [store(this.#array, i, convert(value, 'u32'))];
    if (type !== 'i64' && type !== 'u64') return [store(this.#array, i, value)];
    return [0, 1].map((offset) =>
      store(
        this.#array,
        add(multiply(i, p.index(2)), p.index(offset)),
        convert(binary('shiftRight', value, constant(type, BigInt(32 * offset))), 'u32'),
      ),
    );
  }
}

/** What WebAssembly makes of tuples of operands, in lanes where it can and thread by thread. */
function computed(
  operandTypes: readonly ValueType[],
  type: ValueType,
  make: (...operands: Expression[]) => Expression,
  tuples: readonly (readonly Value[])[],
): Value[] {
  const [inLanes, byThreads] = blocks.map((block) => computedIn(block, operandTypes, type, make, tuples));
  expectEach(inLanes!, tuples, (tuple) => byThreads![tuples.indexOf(tuple)]!);
  return inLanes!;
}

function computedIn(
  block: number,
  operandTypes: readonly ValueType[],
  type: ValueType,
  make: (...operands: Expression[]) => Expression,
  tuples: readonly (readonly Value[])[],
): Value[] {
  const p = new ProgramBuilder('operator', block);
  const operands = operandTypes.map((operandType, k) => new Lane(p, `operand${k}`, operandType));
  const result = new Lane(p, 'result', type);
  const program = p.build(
    result.set(p, p.gridRank(), make(...operands.map((operand) => operand.get(p, p.gridRank())))),
  );
  const grid = Math.ceil(tuples.length / block);
  const padded = Array.from({ length: grid * block }, (_, i) => tuples[i % tuples.length]!);
  const host = Lane.host(
    type,
    padded.map(() => (type === 'i64' || type === 'u64' ? 0n : 0)),
  );
  const { fault } = runProgram(wasm, program, {
    grid,
    arguments: {
      ...Object.fromEntries(
        operandTypes.map((operandType, k) => [
          `operand${k}`,
          Lane.host(
            operandType,
            padded.map((tuple) => tuple[k]!),
          ),
        ]),
      ),
      result: host,
    },
  });
  expect(fault).toBeNull();
  return Lane.read(type, host).slice(0, tuples.length);
}

function pairsOf(type: ValueType): [Value, Value][] {
  const values = valuesOf(type);
  return values.flatMap((a) => values.map((b): [Value, Value] => [a, b]));
}

function expectEach(
  actual: Value[],
  tuples: readonly (readonly Value[])[],
  expected: (tuple: readonly Value[]) => Value,
) {
  const described = (results: Value[]) =>
    results.map((result, i) => `${tuples[i]!.map(text).join(', ')} → ${text(result)}`);
  expect(described(actual)).toEqual(described(tuples.map(expected)));
}

const text = (value: Value) => (Object.is(value, -0) ? '-0' : String(value));

const binaryOperators = [
  ...(['add', 'subtract', 'multiply', 'divide', 'remainder', 'and', 'or', 'xor'] as const),
  ...(['shiftLeft', 'shiftRight', 'min', 'max'] as const),
];
const unaryOperators = [
  ...(['negate', 'not', 'complement', 'abs', 'sqrt', 'floor', 'ceil', 'trunc', 'clz32'] as const),
];
const compareOperators = ['equal', 'notEqual', 'less', 'lessEqual', 'greater', 'greaterEqual'] as const;
const mathFunctions: readonly MathFunction[] = [
  ...([
    'sin',
    'cos',
    'tan',
    'asin',
    'acos',
    'atan',
    'sinh',
    'cosh',
    'tanh',
    'asinh',
    'acosh',
    'atanh',
  ] as const),
  ...(['exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'cbrt', 'round', 'sign'] as const),
];

describe.each(types)('%s', (type) => {
  test.each(binaryOperators.filter((operator) => hasBinaryOperation(operator, type)))('%s', (operator) => {
    const divides = (operator === 'divide' || operator === 'remainder') && type !== 'f32' && type !== 'f64';
    const tuples = pairsOf(type).filter(([, b]) => !divides || Number(b) !== 0);
    const actual = computed([type, type], type, (a, b) => binary(operator, a!, b!), tuples);
    const operation = binaryOperation(operator, type);
    expectEach(actual, tuples, ([a, b]) => operation(a!, b!));
  });

  test.each(unaryOperators.filter((operator) => hasUnaryOperation(operator, type)))('%s', (operator) => {
    const tuples = valuesOf(type).map((value) => [value]);
    const actual = computed([type], type, (a) => unary(operator, a!), tuples);
    const operation = unaryOperation(operator, type);
    expectEach(actual, tuples, ([a]) => operation(a!));
  });

  test.each(compareOperators)('%s', (operator) => {
    const tuples = pairsOf(type);
    const actual = computed([type, type], 'bool', (a, b) => compare(operator, a!, b!), tuples);
    expectEach(actual, tuples, ([a, b]) => compareOperation(operator)(a!, b!));
  });

  test.each(types)('to %s', (target) => {
    const tuples = valuesOf(type).map((value) => [value]);
    const actual = computed([type], target, (a) => convert(a!, target), tuples);
    expectEach(actual, tuples, ([a]) => convertOperation(type, target)(a!));
  });
});

describe.each(['f32', 'f64'] as const)('Math on %s', (type) => {
  test.each(mathFunctions)('%s', (name) => {
    const tuples = valuesOf(type).map((value) => [value]);
    const actual = computed([type], type, (a) => math(name, a!), tuples);
    expectEach(actual, tuples, ([a]) => mathOperation(name, type)(a as number));
  });

  test.each(['atan2', 'pow', 'hypot'] as const)('%s', (name) => {
    const tuples = pairsOf(type);
    const actual = computed([type, type], type, (a, b) => math(name, a!, b!), tuples);
    expectEach(actual, tuples, ([a, b]) => mathOperation(name, type)(a as number, b as number));
  });
});

describe('constant divisors', () => {
  test.each(['i32', 'u32', 'i64', 'u64'] as const)('%s', (type) => {
    const wide = type === 'i64' || type === 'u64';
    for (const divisor of type[0] === 'i' ? [1, -1, 3, -7, 2 ** 31 - 1] : [1, 3, 2 ** 31 - 1]) {
      const value = wide ? BigInt(divisor) : divisor;
      for (const operator of ['divide', 'remainder'] as const) {
        const tuples = valuesOf(type).map((a) => [a]);
        const actual = computed([type], type, (a) => binary(operator, a!, constant(type, value)), tuples);
        expectEach(actual, tuples, ([a]) => binaryOperation(operator, type)(a!, value));
      }
    }
  });
});
