// Loops that lanes leave one by one, whose turns are counted for all of them: WebAssembly gives what the interpreter gives, with this pass
// and without it, and what is asked before the count may still fail.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { explainWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const threads = 64;
const schema = { out: 'i32[]', counts: 'i32[]', x: 'readonly i32[]' } as const;

/** A loop with a count, and other ways out of it. */
function counted(tape: Tape): string {
  const [start, limit, by] = [tape.below(9) - 4, tape.below(40), 1 + tape.below(3)];
  const others = [
    'v > 1',
    '(v & 31) !== 7',
    'x[t] > w',
    // The last elements may not be there.
    `x[t + steps + ${4 + tape.below(3)}] > v - 900`,
  ];
  const asked = [tape.pick(others), `steps < ${limit}`];
  if (tape.chance(1, 2)) asked.reverse();
  if (tape.chance(1, 3)) asked.push(tape.pick(others));
  const step = `steps${by === 1 ? '++' : ` += ${by}`};`;
  const work = [
    tape.pick(['v = (v & 1) === 1 ? 3 * v + 1 : v >> 1;', 'v = v - 3;', 'w = w + v; v = v ^ 5;']),
    tape.pick(['', '', 'if (v === 19) break;', 'if ((v & 7) === 3) continue;']),
    tape.pick(['', 'w = w + steps;', `for (let k = 0; (w & 3) !== 1 && k < 5; k++) w = w + k;`]),
    tape.pick(['', '', 'if (w > 900) steps++;']),
  ];
  const inBody = tape.chance(1, 2);
  if (inBody) work.splice(tape.below(work.length), 0, step);
  return `({ out, counts, x }, cuda) => {
    const t = cuda.threadIdx.x;
    let [v, w] = [x[t], t];
    let steps = ${tape.pick([String(start), String(start), 't & 3'])};
    for (; ${asked.join(' && ')}; ${inBody ? '' : step.slice(0, -1)}) { ${work.join(' ')} }
    out[t] = v + w;
    ${tape.pick(['counts[t] = steps;', ''])}
  }`;
}

function outcome(target: Target, text: string) {
  const [out, counts] = [new Int32Array(threads), new Int32Array(threads)];
  const x = Int32Array.from({ length: threads + 24 }, (_, i) => (Math.imul(i, 40_503) >> 3) & 1023);
  const { fault } = runKernel(target, compiled(text), {
    grid: 1,
    block: threads,
    arguments: { out, counts, x },
  });
  return {
    fault: fault && { ...fault, thread: null, index: null },
    results: fault ? null : `${out} ${counts}`,
  };
}

const compiled = (text: string) => kernel(schema, new Function(`return ${text}`)());

function told(text: string): boolean {
  const what = { block: [threads, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;
  const { program } = specialise(compiled(text) as unknown as Kernel, what);
  return explainWasm(program).done.some((each) => each.startsWith('rounds:'));
}

test.each([wasm, ...(['rounds', 'dead', 'structure'] as const).map(wasmWithout)])(
  'random loops, by $name',
  (target) => {
    let [runs, faults, rounds] = [0, 0, 0];
    fc.assert(
      fc.property(tapes(24), (tape) => {
        const text = counted(tape);
        const expected = outcome(interpreter('eager'), text);
        expect(outcome(target, text), text).toEqual(expected);
        runs += 1;
        if (expected.fault !== null) faults += 1;
        if (target === wasm && told(text)) rounds += 1;
      }),
      randomRuns(60),
    );
    expect(faults).toBeGreaterThan(0);
    expect(faults).toBeLessThan(runs / 2);
    if (target === wasm) expect(rounds).toBeGreaterThan(runs / 8);
  },
);

test('what is asked before the count is asked once more than there are turns', () => {
  const text = (asked: string) => `({ out, counts, x }, cuda) => {
    const t = cuda.threadIdx.x;
    let steps = 0;
    while (${asked}) steps++;
    out[t] = steps;
  }`;
  // In its 26th turn the last thread reads behind the array, and asks so behind the 25th.
  for (const [asked, fails] of [
    ['x[t + steps] >= 0 && steps < 25', true],
    ['x[t + steps] >= 0 && steps < 24', false],
    ['steps < 26 && x[t + steps] >= 0', true],
    ['steps < 25 && x[t + steps] >= 0', false],
  ] as const) {
    const expected = outcome(interpreter('eager'), text(asked));
    expect(expected.fault !== null, asked).toBe(fails);
    expect(outcome(wasm, text(asked)), asked).toEqual(expected);
  }
});

test('turns that threads count differently are counted by each of them', () => {
  const text = (turn: string) => `({ out, counts, x }, cuda) => {
    const t = cuda.threadIdx.x;
    let [v, steps] = [x[t], 0];
    while (v > 1 && steps < 20) { ${turn} }
    out[t] = v;
    counts[t] = steps;
  }`;
  const halve = 'v = (v & 1) === 1 ? 3 * v + 1 : v >> 1;';
  for (const [turn, isCounted] of [
    [`steps++; ${halve}`, true],
    [`steps++; ${halve} if ((v & 3) === 1) steps++;`, false],
    [`steps++; ${halve} if ((v & 3) === 1) steps--;`, false],
    [`${halve} if ((v & 3) === 1) { if (t > 40) break; continue; } steps++;`, false],
    [`${halve} if ((v & 3) === 1) continue; steps++;`, false],
  ] as const) {
    expect(told(text(turn)), turn).toBe(isCounted);
    const expected = outcome(interpreter('eager'), text(turn));
    // Turns that end early have no `continue` where loops are given a structure.
    for (const target of [wasm, wasmWithout('structure')])
      expect(outcome(target, text(turn)), `${target.name}: ${turn}`).toEqual(expected);
  }
});
