// An index wraps at its width on every target: positions that leave 32 bits on the way and come back are right,
// also where loads and loops are made of strides and ranges.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { runEverywhere } from '../support/everywhere.ts';
import { isForCompiler } from '../support/native.ts';
import { atLength } from '../support/thorough.ts';
import { randomLimit, randomRuns, type Tape, tapes } from './tape.ts';

const length = 64;
const schema = { y: 'i32[]', z: 'i32[]', x: 'readonly i32[]', n: 'index', m: 'index', k: 'i32' } as const;

/** Terms that add to nothing modulo 2^32, whatever the thread and the turn of the loop are. */
const cancelling = [
  ['t * n', '-(t * n)'],
  ['n', '-n'],
  ['m', 'm', '-(m * 2)'],
  ['i * m', '-(m * i)'],
  ['(t + n) * 3', '-(3 * t)', '-(n * 3)'],
  ['2147483647', '1', 'cuda.index(-2147483648)'],
  ['(t + 2147483647)', '-t', 'cuda.index(-2147483647)'],
  ['t * 65536 * 65536'],
  ['i * k', '-(k * i)'],
  ['(n + i) * t', '-(n * t)', '-(t * i)'],
];

/** A sum of the terms, in any order and nesting. */
function sum(tape: Tape, terms: readonly string[]): string {
  if (terms.length === 1) return terms[0]!;
  const at = 1 + tape.below(terms.length - 1);
  return `(${sum(tape, terms.slice(0, at))} + ${sum(tape, terms.slice(at))})`;
}

function shuffled(tape: Tape, terms: readonly string[]): string[] {
  const rest = [...terms];
  return terms.map(() => rest.splice(tape.below(rest.length), 1)[0]!);
}

function position(tape: Tape, own: string): string {
  const groups = Array.from({ length: 1 + tape.below(3) }, () => tape.pick(cancelling));
  return sum(tape, shuffled(tape, [own, ...groups.flat()]));
}

/** Any value, which wraps as it comes. */
function value(tape: Tape): string {
  return sum(
    tape,
    Array.from({ length: 1 + tape.below(3) }, () => tape.pick(cancelling)[0]!),
  );
}

const near = (tape: Tape) =>
  (tape.pick([2 ** 31 - 1, -(2 ** 31), 2 ** 30, 3, 2 ** 31 - 40]) + tape.below(7) - 3) | 0;

function random(tape: Tape) {
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => {
  const t = cuda.thisGrid().threadRank();
  for (let i = 0; i < 3; i++) {
    z[${position(tape, 't')}] = x[${position(tape, 't')}] + i;
    y[${position(tape, '63 - t')}] += ${position(tape, 't')} < ${value(tape)} ? z[t] : ${value(tape)} | 0;
    if (${value(tape)} > ${value(tape)}) y[63 - t] ^= x[${position(tape, '(t & 7)')}];
  }
}`;
  return { text, n: near(tape), m: near(tape), k: near(tape) };
}

test(
  'positions that wrap and come back',
  () => {
    fc.assert(
      fc.property(tapes(160), (tape) => {
        const { text, ...scalars } = random(tape);
        const made = kernel(schema, new Function(`return ${text}`)(), { name: 'wrapping' });
        const data = {
          ...scalars,
          x: Int32Array.from({ length }, (_, i) => i * i - 7),
          y: new Int32Array(length),
          z: new Int32Array(length),
        };
        const { fault, arguments: results } = runEverywhere(
          made,
          { grid: 2, block: length / 2, arguments: data },
          { native: isForCompiler(text) },
        );
        expect(fault, `${text} ${JSON.stringify(scalars)}`).toBeNull();
        expect(Array.from(results.z as Int32Array), text).toEqual(
          Array.from({ length }, (_, i) => i * i - 5),
        );
      }),
      randomRuns(atLength ? 60 : 30),
    );
  },
  randomLimit(60),
);
