// i64 and u64: bigints of JavaScript, wrapped at 64 bits, on every target; what prints or fails on those of the CPU.

import { describe, expect, test } from 'vitest';
import { deviceFunction, kernel, open } from 'warpstage';
import { kernelOf, mistakesIn, statementsOf, variablesOf } from '../compiler/support.ts';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets, newAmong } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const checkedTargets = newAmong([interpreter('eager'), wasm, wasmStates, ...nativeTargets]);
const targets = newAmong([...checkedTargets, ...cudaTargets]);
const schema = {
  a: 'i64[]',
  u: 'u64[]',
  b: 'readonly i64[]',
  s: 'i64',
  v: 'u64',
  i: 'i32',
  f: 'f32',
  I: 'i32[]',
} as const;
const body = (text: string) => `({ a, u, b, s, v, i, f, I }, cuda) => { ${text} }`;
const last = 2n ** 63n - 1n;

sayWithoutGpu();

describe.each(targets)('$name', (target) => {
  /** What the expressions are, each stored in turn in an array of i64 or u64. */
  const evaluate = (array: 'a' | 'u', expressions: readonly string[]) => {
    const text = expressions.map((one, at) => `${array}[${at}] = ${one};`).join('\n');
    const given = {
      a: new BigInt64Array(expressions.length),
      u: new BigUint64Array(expressions.length),
      b: new BigInt64Array([-7n, 5n, last, -(2n ** 63n)]),
      s: -3n,
      v: 2n ** 64n - 2n,
      i: -9,
      f: Math.fround(2 ** 40 + 0.5),
      I: new Int32Array(1),
    };
    const { fault } = runKernel(target, kernelOf(schema, body(text)), {
      grid: 1,
      block: 1,
      arguments: given,
    });
    expect(fault).toBeNull();
    return [...given[array]];
  };

  test('compute as JavaScript does, wrapped at 64 bits', () => {
    const cases: readonly (readonly [string, bigint])[] = [
      ['b[0] + b[1]', -2n],
      ['b[2] + 1n', -(2n ** 63n)],
      ['b[2] * 3n', BigInt.asIntN(64, last * 3n)],
      ['b[0] / 2n', -3n],
      ['b[0] % 4n', -3n],
      ['b[3] / -1n', -(2n ** 63n)],
      ['-b[3]', -(2n ** 63n)],
      ['~s', 2n],
      ['b[0] >> 1n', -4n],
      ['1n << 40n', 2n ** 40n],
      ['s & 255n', 253n],
      ['s ** 3n', -27n],
      ['b[0] < b[1] ? 1n : 0n', 1n],
      ['s < v ? 1n : 0n', 1n],
      ['v > s ? 1n : 0n', 1n],
      ['s < 2 ? 1n : 0n', 1n],
      ['i < s ? 1n : 0n', 1n],
      ['cuda.i64(i) * 2n', -18n],
      ['BigInt(i) + 1n', -8n],
      ['cuda.i64(f)', 2n ** 40n],
      ['cuda.i64(v)', -2n],
      ['BigInt.asIntN(8, 200n + s)', -59n],
      ['BigInt.asIntN(64, s - 1n)', -4n],
      ['cuda.i64(cuda.f64(b[1]) * 1.5)', 7n],
    ];
    expect(
      evaluate(
        'a',
        cases.map(([text]) => text),
      ),
    ).toEqual(cases.map(([, value]) => value));
  });

  test('without a sign too', () => {
    const cases: readonly (readonly [string, bigint])[] = [
      ['v + 3n', 1n],
      ['v / 3n', (2n ** 64n - 2n) / 3n],
      ['v % 1000n', (2n ** 64n - 2n) % 1000n],
      ['v >> 60n', 15n],
      ['cuda.u64(s)', 2n ** 64n - 3n],
      ['cuda.u64(s) >> 1n', (2n ** 64n - 3n) >> 1n],
      ['BigInt.asUintN(8, s)', 253n],
      ['cuda.u64(-1)', 2n ** 64n - 1n],
      ['0n - v', 2n],
      ['v > 9n ? v : 9n', 2n ** 64n - 2n],
    ];
    expect(
      evaluate(
        'u',
        cases.map(([text]) => text),
      ),
    ).toEqual(cases.map(([, value]) => value));
  });

  test('take part in loops, functions and atomics', () => {
    const mix = deviceFunction({ hash: 'u64', x: 'u64' }, ({ hash, x }) => (hash ^ x) * 0x100000001b3n);
    const hashing = kernel(
      { out: 'u64[]', x: 'readonly u64[]', total: 'u64[]', least: 'i64[]', rounds: 'constant u64 = 3n', mix },
      ({ out, x, total, least, rounds, mix }, cuda) => {
        const t = cuda.thisGrid().threadRank();
        let hash = 0xcbf29ce484222325n;
        for (let round = 0n; round < rounds; round++) hash = mix({ hash, x: x[t]! + round });
        out[t] = hash;
        cuda.atomicAdd(total, 0, x[t]!);
        cuda.atomicSub(total, 1, 2n);
        cuda.atomicMin(least, 0, cuda.i64(t) - 5n);
        cuda.atomicMax(total, 2, x[t]!);
        cuda.atomicCAS(total, 3, 0n, cuda.u64(7));
      },
    );
    const x = BigUint64Array.from({ length: 32 }, (_, i) => BigInt(i) << 58n);
    const given = {
      out: new BigUint64Array(32),
      x,
      total: new BigUint64Array(4),
      least: new BigInt64Array(1),
    };
    expect(runKernel(target, hashing, { grid: 2, block: 16, arguments: given }).fault).toBeNull();
    const hashOf = (value: bigint) => {
      let hash = 0xcbf29ce484222325n;
      for (let round = 0n; round < 3n; round++) {
        hash = BigInt.asUintN(64, (hash ^ BigInt.asUintN(64, value + round)) * 0x100000001b3n);
      }
      return hash;
    };
    expect([...given.out]).toEqual([...x].map(hashOf));
    const sum = BigInt.asUintN(
      64,
      [...x].reduce((a, b) => a + b),
    );
    expect([...given.total]).toEqual([sum, 2n ** 64n - 64n, 31n << 58n, 7n]);
    expect(given.least[0]).toBe(-5n);
  });
});

test.each(checkedTargets)('$name prints them as JavaScript does', (target) => {
  const text = `console.log('s', s, \`is \${s}\`);`;
  const given = { a: new BigInt64Array(1), u: new BigUint64Array(1), b: new BigInt64Array(1) };
  const { printed } = runKernel(target, kernelOf(schema, body(text)), {
    grid: 1,
    block: 1,
    arguments: { ...given, s: -3n, v: 1n, i: 0, f: 0, I: new Int32Array(1) },
  });
  expect(printed).toEqual(['s -3n is -3']);
});

describe('types', () => {
  test.each([
    ['let x = 0n; x += v;', { x: 'u64' }],
    ['let x = 0n; x += 2n;', { x: 'i64' }],
    ['let x = 1n; x++;', { x: 'i64' }],
    ['let x; x = b[0];', { x: 'i64' }],
    ['let x = 0n; if (v > x) x = 3n;', { x: 'u64' }],
    ['let x = i > 2 ? 1n : 2n; x = x + v;', { x: 'u64' }],
  ])('%s', (text, expected) => {
    expect(variablesOf(schema, body(text))).toMatchObject(expected);
  });

  test('a kernel that is compiled says what it is', () => {
    expect(statementsOf(schema, body('a[0] = b[1] * 2n; u[0] = v + 1n;'))).toBe(
      'a[0] = b[1] * 2n\nu[0] = v + 1un',
    );
  });
});

describe('mistakes', () => {
  test.each([
    ['a[0] = s + 1;', "WS1004 1:48 s + 1: '+' combines a bigint of type i64 with the number 1 (write 1n)"],
    [
      'a[0] = s * i;',
      "WS1004 1:48 s * i: '*' combines a bigint of type i64 with a number of type i32 (cast one of them: cuda.i64(i) or cuda.i32(s))",
    ],
    [
      'a[0] = s * f;',
      "WS1004 1:48 s * f: '*' combines a bigint of type i64 with a number of type f32 (cast one of them: cuda.f32(s))",
    ],
    [
      'a[0] = s + v;',
      "WS1004 1:48 s + v: '+' combines an i64 and a u64 (cast one of them: cuda.u64(s) or cuda.i64(v))",
    ],
    ['a[0] = 0;', "WS1004 1:48 0: an element of 'a' is i64, and is given the number 0 (write 0n)"],
    [
      'I[0] = s;',
      "WS1004 1:48 s: an element of 'I' is i32, and is given a bigint of type i64 (cast it: cuda.i32(s))",
    ],
    [
      'I[0] = Math.abs(s);',
      'WS1004 1:57 s: x of Math.abs must be a number, and is a bigint of type i64 (cast it: cuda.f64(s))',
    ],
    [
      'a[0] = Math.max(s, 1n);',
      'WS1004 1:57 s: numbers of Math.max must be a number, and is a bigint of type i64 (choose by a comparison: a < b ? a : b)',
    ],
    [
      'a[s] = 1n;',
      "WS1004 1:43 s: an index of 'a' must be a number, and is a bigint of type i64 (cast it: cuda.index(s))",
    ],
    [
      'if (s === 1) I[0] = 1;',
      "WS1004 1:45 s === 1: '===' compares a bigint of type i64 with the number 1, which are never equal (write 1n)",
    ],
    [
      'a[0] = s >>> 1n;',
      "WS1004 1:48 s >>> 1n: bigints have no '>>>', for they have no leftmost bit (write cuda.u64(s) >> 1n, which shifts zeros in)",
    ],
    [
      'a[0] = s << 64n;',
      'WS1004 1:53 64n: a bigint of 64 bits is shifted by 0n to 63n, and this by 64n (write a count within 64 bits)',
    ],
    ['I[0] = +s;', "WS1004 1:48 +s: '+' makes numbers, and takes no bigints (write Number(s))"],
    [
      'a[0] = BigInt(f);',
      'WS1004 1:55 f: BigInt takes integers, and is given a number of type f32 (cast it: cuda.i64(f) drops a fraction)',
    ],
    ['let x = 0; x += s;', "WS1004 1:49 0: 'x' is i64, and is assigned the number 0 (write 0n)"],
    [
      'a[0] = 1n / 0n;',
      'WS1004 1:48 1n / 0n: these bigints have no result: Division by zero (write another operation)',
    ],
    [
      'cuda.atomicAdd(a, 0, 1);',
      "WS1004 1:62 1: an element of 'a' is i64, and is given the number 1 (write 1n)",
    ],
  ])('%s', (text, expected) => {
    expect(mistakesIn(schema, body(text))).toEqual([expected]);
  });
});

test('division by zero ends the launch', () => {
  const text = 'a[0] = b[0] / b[1];';
  for (const target of checkedTargets) {
    const given = { a: new BigInt64Array(1), u: new BigUint64Array(1), b: new BigInt64Array(2) };
    const { fault } = runKernel(target, kernelOf(schema, body(text)), {
      grid: 1,
      block: 1,
      arguments: { ...given, s: 0n, v: 0n, i: 0, f: 0, I: new Int32Array(1) },
    });
    expect(fault).toMatchObject({ kind: 'division-by-zero' });
  }
});

test('a device takes bigints, and says what is none', async () => {
  const shift = kernel({ y: 'i64[]', by: 'i64' }, ({ y, by }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = y[i]! + by;
  });
  await using device = await open('cpu', { threads: 1 });
  using y = device.alloc('i64', 4);
  const host = BigInt64Array.of(1n, 2n, 3n, 4n);
  device.defaultStream.memcpyAsync(y, host);
  device.defaultStream.launch(shift, { grid: 1, block: 4 }, { y, by: 2n ** 40n });
  device.defaultStream.memcpyAsync(host, y);
  await device.defaultStream.synchronize();
  expect([...host]).toEqual([1n, 2n, 3n, 4n].map((x) => x + 2n ** 40n));
  const wrong = () =>
    device.defaultStream.launch(shift, { grid: 1, block: 4 }, { y, by: 5 as unknown as bigint });
  expect(wrong).toThrow('argument `by` must be a bigint (i64), and is the number 5; write 5n');
});
