// Integers of 8 and 16 bits compute as JavaScript's numbers do, on every target, as long as i32 holds the results.
//
// The expressions know between which values they lie, so that none wraps where JavaScript does not; no `| 0`
// hides the sign of a difference.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { runEverywhere } from '../support/everywhere.ts';
import { isForCompiler } from '../support/native.ts';
import { atLength } from '../support/thorough.ts';
import { randomLimit, randomRuns, type Tape, tapes } from './tape.ts';

const length = 64;

const schema = {
  exact: 'f64[]',
  quotient: 'f64[]',
  single: 'f32[]',
  low: 'u8[]',
  whole: 'i32[]',
  u8: 'readonly u8[]',
  i8: 'readonly i8[]',
  u16: 'readonly u16[]',
  i16: 'readonly i16[]',
  small: 'u8',
  minus: 'i16',
} as const;

/** A part of an expression, with the least and the most that it can be. */
interface Part {
  readonly text: string;
  readonly least: number;
  readonly most: number;
}

const fits = ({ least, most }: Part) => least >= -(2 ** 31) && most < 2 ** 31;

const leaves: readonly Part[] = [
  { text: 'u8[t]', least: 0, most: 255 },
  { text: 'u8[63 - t]', least: 0, most: 255 },
  { text: 'u16[t]', least: 0, most: 65_535 },
  { text: 'i8[t]', least: -128, most: 127 },
  { text: 'i16[t]', least: -32_768, most: 32_767 },
  { text: 'small', least: 0, most: 255 },
  { text: 'minus', least: -32_768, most: 32_767 },
  { text: 'cuda.u8(i16[t])', least: 0, most: 255 },
  { text: 'cuda.u16(i8[t])', least: 0, most: 65_535 },
  { text: 'cuda.i8(u16[t])', least: -128, most: 127 },
  { text: '128', least: 128, most: 128 },
  { text: '-3', least: -3, most: -3 },
];

function part(tape: Tape, depth: number): Part {
  if (depth === 0 || tape.chance(1, 6)) return tape.pick(leaves);
  const [a, b] = [part(tape, depth - 1), part(tape, depth - 1)];
  const ends = (of: (x: number, y: number) => number) =>
    [a.least, a.most].flatMap((x) => [of(x, b.least), of(x, b.most)]);
  const between = (text: string, values: readonly number[]): Part => ({
    text,
    least: Math.min(...values),
    most: Math.max(...values),
  });
  const far = Math.max(...[a.least, a.most, b.least, b.most].map((x) => Math.abs(x)));
  // A bit operation leaves the values between the powers of two around its operands.
  const bits = 2 ** Math.ceil(Math.log2(far + 1));
  const one = tape.pick<() => Part>([
    () =>
      between(
        `(${a.text} - ${b.text})`,
        ends((x, y) => x - y),
      ),
    () =>
      between(
        `(${a.text} + ${b.text})`,
        ends((x, y) => x + y),
      ),
    () =>
      between(
        `(${a.text} * ${b.text})`,
        ends((x, y) => x * y),
      ),
    () => between(`Math.abs(${a.text})`, [0, far]),
    () => between(`(-(${a.text}))`, [-far, far]),
    () => between(`(~${a.text})`, [-far - 1, far]),
    () => between(`Math.min(${a.text}, ${b.text})`, [-far, far]),
    () => between(`Math.max(${a.text}, ${b.text})`, [-far, far]),
    () => between(`(${a.text} % (${b.text} | 1))`, [-far, far]),
    () => between(`Math.trunc(${a.text} / (${b.text} | 1))`, [-far, far]),
    () => between(`Math.floor(${a.text} / 4)`, [-far - 1, far]),
    () => between(`Math.sign(${a.text})`, [-1, 1]),
    () => between(`(${a.text} ${tape.pick(['&', '|', '^'])} ${b.text})`, [-bits, bits]),
    () => between(`(${a.text} >> ${tape.below(9)})`, [-far - 1, far]),
    () => between(`((${a.text} << ${tape.below(32)}) >> 16)`, [-32_768, 32_767]),
    () => between(`((${a.text} >>> ${tape.below(32)}) & 4095 | 0)`, [0, 4095]),
    () =>
      between(
        `(${a.text} ${tape.pick(['<', '<=', '===', '>=', '!=='])} ${b.text} ? cuda.i32(1) : 0)`,
        [0, 1],
      ),
    () => between(`(${a.text} < ${b.text} ? ${a.text} : ${b.text})`, [-far, far]),
    () => between(`cuda.u8(${a.text})`, [0, 255]),
    () => between(`cuda.i16(${a.text})`, [-32_768, 32_767]),
  ])();
  return fits(one) ? one : a;
}

function random(tape: Tape) {
  const [x, y, divisor] = [part(tape, 3), part(tape, 3), part(tape, 2)];
  // `| 0`: among integers there is no -0 to divide by.
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => {
  const t = cuda.thisGrid().threadRank();
  exact[t] = ${x.text};
  quotient[t] = ${y.text} / (${divisor.text} | 0);
  single[t] = (${y.text}) * 0.5;
  low[t] = ${x.text};
  whole[t] = ${y.text};
}`;
  return { text };
}

const values = (from: number) => Array.from({ length }, (_, i) => Math.imul(i + from, 2_654_435_761) >> 7);

function outputs() {
  return {
    exact: new Float64Array(length),
    quotient: new Float64Array(length),
    single: new Float32Array(length),
    low: new Uint8Array(length),
    whole: new Int32Array(length),
  };
}

const inputs = {
  // The least and the most of each type are among them.
  u8: Uint8Array.from([0, 255, 10, 15, ...values(1).slice(4)]),
  i8: Int8Array.from([-128, 127, -1, 0, ...values(2).slice(4)]),
  u16: Uint16Array.from([0, 65_535, 10, 15, ...values(3).slice(4)]),
  i16: Int16Array.from([-32_768, 32_767, -1, 0, ...values(4).slice(4)]),
  small: 200,
  minus: -32_768,
};

/** The same text run by JavaScript itself, a thread after another. */
function inJavaScript(text: string) {
  const body = new Function(`return ${text}`)() as (data: object, cuda: object) => void;
  const written = outputs();
  for (let rank = 0; rank < length; rank += 1) {
    body(
      { ...inputs, ...written },
      {
        thisGrid: () => ({ threadRank: () => rank }),
        i32: (x: number) => x | 0,
        u8: (x: number) => x & 0xff,
        u16: (x: number) => x & 0xffff,
        i8: (x: number) => (x << 24) >> 24,
        i16: (x: number) => (x << 16) >> 16,
      },
    );
  }
  return written;
}

function expectAgreement(text: string, native = true) {
  const made = kernel(schema, new Function(`return ${text}`)(), { name: 'small' });
  const data = { ...inputs, ...outputs() };
  const { arguments: results, fault } = runEverywhere(
    made,
    { grid: 2, block: length / 2, arguments: data },
    { native },
  );
  expect(fault).toBeNull();
  const written = inJavaScript(text);
  // A zero of integers has no sign, in JavaScript it may.
  const plain = (array: unknown) => Array.from(array as ArrayLike<number>, (x) => x + 0);
  for (const [name, expected] of Object.entries(written)) {
    expect(plain(results[name]), `${name} of ${text}`).toEqual(plain(expected));
  }
}

describe('integers of 8 and 16 bits', () => {
  test.each([
    ['a difference below zero', 'exact[t] = Math.abs(u8[t] - u8[63 - t]);'],
    ['stored to a float', 'single[t] = u8[t] - u16[t];'],
    ['halved', 'single[t] = (u8[t] - small) * 0.5;'],
    ['compared with zero', 'whole[t] = u8[t] - 128 < 0 ? 1 : 2;'],
    ['counted down', 'let n = 0; for (let k = u8[t] - 250; k >= 0; k--) n++; whole[t] = n;'],
    ['negated', 'exact[t] = -u16[t];'],
    ['a quotient', 'quotient[t] = (u8[t] - 128) / 128.0;'],
    ['centred', 'single[t] = (u8[t] - 128) / 128;'],
    ['divided by zero', 'quotient[t] = i8[t] / u8[t];'],
  ])('%s', (_, statement) => {
    const head = `({ ${Object.keys(schema).join(', ')} }, cuda) => { const t = cuda.thisGrid().threadRank();`;
    expectAgreement(`${head} ${statement} }`);
  });

  test(
    'random expressions compute what JavaScript does, on every target',
    () => {
      fc.assert(
        fc.property(tapes(120), (tape) => {
          const { text } = random(tape);
          expectAgreement(text, isForCompiler(text));
        }),
        randomRuns(atLength ? 40 : 20),
      );
    },
    randomLimit(40),
  );
});
