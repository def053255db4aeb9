// Advice about divergence: random kernels whose threads stay together get none, whatever calls of syncs
// and exchanges they make in which branches and loops; the same statements in both branches of a
// condition that threads part at do.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from '#warpstage/checker/check.js';
import { type Kernel, kernel } from '#warpstage/kernel/kernel.js';
import { warpKernelText } from '../differential/random-warps.ts';
import { randomLimit, randomRuns, type Tape, tapes } from '../differential/tape.ts';

function kernelOf(text: string): Kernel {
  const schema = { out: 'i32[]', x: 'readonly i32[]' } as const;
  return kernel(schema, new Function(`return ${text}`)()) as unknown as Kernel;
}

/** The codes of the advice about divergence, once each. */
function adviceOf(text: string, launch: { readonly grid: number; readonly block: number }): string[] {
  const lengths = { out: { length: 128 }, x: { length: 128 } };
  const options = { schedules: 3, advice: true, outputs: { out: 'any' } } as const;
  const result = check(kernelOf(text), { ...launch, arguments: lengths } as never, options);
  expect(result.verdict, `${text}\n${result.report()}`).toBe('clean');
  const codes = result.findings.map(({ code }) => code);
  return [...new Set(codes)].filter((code) => code === 'WS7105' || code === 'WS7106').sort();
}

/** Statements that every thread of the block comes to, or none. */
class Uniform {
  readonly #tape: Tape;
  #names = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  statements(depth: number): string {
    const statements: string[] = [];
    do statements.push(this.#statement(depth));
    while (!this.#tape.ended && this.#tape.chance(depth === 0 ? 5 : 2, 6));
    return statements.join('\n');
  }

  #statement(depth: number): string {
    const number = 1 + this.#tape.below(3);
    switch (this.#tape.below(depth < 2 ? 9 : 6)) {
      case 0:
        return 'cuda.syncthreads();';
      case 1:
        return 'v = met(v);';
      case 2:
        return `v += cuda.shflXorSync(0xffffffff, v, ${number});`;
      case 3:
        return `v += cuda.cg.reduce(tile, v & 7, '${this.#tape.pick(['plus', 'less'])}');`;
      case 4:
        return `while (cuda.anySync(0xffffffff, v % 5 > ${number})) v -= v % 5 > ${number} ? 1 : 0;`;
      case 5:
        return `v = cuda.popc(cuda.ballotSync(0xffffffff, v > ${number})) > 3 && t < 20 ? v + t : v;`;
      case 6:
        return `if (${this.#condition()}) { ${this.statements(depth + 1)} } else { ${this.statements(depth + 1)} }`;
      case 7: {
        const round = `r${this.#names++}`;
        const body = `${this.#jump(round)} ${this.statements(depth + 1)}`;
        return `for (let ${round} = 0; ${round} < ${number}; ${round}++) { ${body} }`;
      }
      default: {
        const [one, other] = [this.statements(depth + 1), this.statements(depth + 1)];
        return `switch (cuda.blockIdx.x) { case 0: ${one} ${this.#tape.pick(['', 'break;'])} default: ${other} }`;
      }
    }
  }

  #condition(): string {
    return this.#tape.pick(['cuda.blockIdx.x === 0', 'x.length > 100', 'x[3] > 1']);
  }

  #jump(round: string): string {
    const jump = this.#tape.pick(['continue', 'break', '']);
    return jump === '' ? '' : `if (${round} === cuda.blockIdx.x) ${jump};`;
  }
}

const around = (body: string) => `({ out, x }, cuda) => {
  const t = cuda.threadIdx.x;
  const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 8);
  const met = (value) => { cuda.syncthreads(); return cuda.shflSync(0xffffffff, value, t) | 0; };
  let v = t & 15;
  ${body}
  out[cuda.blockIdx.x * 64 + t] = v;
}`;

test(
  'threads that stay together get no advice, and those that part do',
  () => {
    fc.assert(
      fc.property(
        tapes(40),
        fc.constantFrom(
          ['cuda.syncthreads();', 'WS7105'],
          ['v = cuda.shflXorSync(0xffffffff, v, 1);', 'WS7106'],
        ),
        (tape, [first, code]) => {
          const body = new Uniform(tape).statements(0);
          expect(adviceOf(around(body), { grid: 2, block: 64 })).toEqual([]);
          const parted = `${body} if (t % 2 === 0) { ${first} v += 1; } else { v += 2; ${first} }`;
          expect(adviceOf(around(parted), { grid: 2, block: 64 })).toEqual([code]);
        },
      ),
      randomRuns(12),
    );
  },
  randomLimit(12),
);

test(
  'lanes that part and name exactly those that are there get no advice, but where some have returned',
  () => {
    fc.assert(
      fc.property(tapes(60), (tape) => {
        const text = warpKernelText(tape);
        expect(adviceOf(text, { grid: 1, block: 64 })).toEqual(text.includes('return;') ? ['WS7106'] : []);
      }),
      randomRuns(12),
    );
  },
  randomLimit(12),
);

test('a shuffle that reads from a lane that has returned is an error, and no advice beside it', () => {
  const text = `({ out, x }, cuda) => {
    const t = cuda.threadIdx.x;
    if (t >= 31) return;
    out[t] = cuda.shflSync(0xffffffff, x[t], 31);
  }`;
  const launch = { grid: 1, block: 32, arguments: { out: { length: 32 }, x: { length: 32 } } };
  const { findings } = check(kernelOf(text), launch as never, { schedules: 2, advice: true });
  expect(findings.map(({ code }) => code)).toEqual(['WS3010']);
});
