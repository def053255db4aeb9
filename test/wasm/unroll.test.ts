// Loops from a literal to a literal, whose turns stand one after the other: WebAssembly gives what the interpreter gives,
// with this pass and without it, and the counter has its value behind the loop.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { unrollLoops } from '#warpstage/targets/legalise/cpu/unroll.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  atomic,
  binary,
  compare,
  load,
  loop,
  multiply,
  ProgramBuilder,
  store,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmStates, wasmWithout } from '../support/wasm.ts';

const edge = 2 ** 31 - 1;

function randomLoops(tape: Tape): Program {
  const p = new ProgramBuilder('loops', [
    ...tape.pick([
      [16, 1, 1],
      [8, 4, 1],
      [5, 1, 1],
    ] as const),
  ]);
  const out = p.array('out', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const counts = p.array('counts', 'i32');
  const [sum, own] = [p.variable('sum', 'i32'), p.variable('own', 'i32')];
  const rank = p.gridRank();
  const lists = (depth: number, outer: readonly Expression[]): Statement[] => {
    const counter = p.variable(`k${depth}${tape.below(2)}`, 'i32');
    const k = counter.value;
    const step = 1 + tape.below(4);
    const [from, turns] = [tape.pick([0, 0, 3, -7, edge - 40]), tape.pick([3, 0, 1, 7, 16, 31, 40, 64])];
    const operator = tape.pick(['less', 'lessEqual'] as const);
    // The counter never wraps, by little now and then.
    const to = Math.min(from + turns * step - tape.below(step), edge - step);
    const near = (base: Expression) => add(base, binary('and', k, p.index(tape.chance(1, 8) ? 63 : 7)));
    const deed = (): Statement =>
      tape.pick<() => Statement>([
        () => sum.set(add(multiply(sum.value, p.index(5)), load(x, near(rank)))),
        () => sum.set(add(sum.value, multiply(k, tape.pick([k, own.value, ...outer])))),
        () => own.set(binary('xor', own.value, k)),
        () => when(compare('less', own.value, k), [sum.set(add(sum.value, p.index(1)))], [own.set(k)]),
        () => store(out, rank, add(sum.value, k)),
        () => atomic('add', [counts, binary('and', own.value, p.index(3))], k),
      ])();
    const body = Array.from({ length: 1 + tape.below(3) }, deed);
    if (depth < 1 && tape.chance(1, 3)) body.push(...lists(depth + 1, [...outer, k]));
    return [
      counter.set(p.index(from)),
      ...(tape.chance(1, 6) ? [sum.set(add(sum.value, k))] : []),
      loop(
        p.label(),
        compare(operator, k, p.index(to)),
        body,
        [counter.set(add(k, p.index(step)))],
        !tape.chance(1, 8),
      ),
      sum.set(binary('xor', sum.value, k)),
    ];
  };
  return p.build([
    own.set(rank),
    ...lists(0, []),
    ...lists(0, []),
    store(out, rank, add(sum.value, own.value)),
  ]);
}

function outcome(target: Target, program: Program) {
  const threads = 2 * program.block[0] * program.block[1];
  const [out, counts] = [new Int32Array(threads), new Int32Array(4)];
  const x = Int32Array.from({ length: threads + 8 }, (_, i) => (i * 2_654_435_761) >> (i % 32));
  const { fault } = runProgram(target, program, { grid: 2, arguments: { out, x, counts } });
  const place = fault && { kind: fault.kind, block: fault.block };
  return { place, results: place === null ? [bitsOf(out), bitsOf(counts)] : null };
}

test.each([wasm, wasmStates, wasmWithout('unroll')])('random loops of known length, by $name', (target) => {
  let [runs, changed, faults] = [0, 0, 0];
  fc.assert(
    fc.property(tapes(40), (tape) => {
      const program = randomLoops(tape);
      const expected = outcome(interpreter('eager'), program);
      expect(outcome(target, program), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.place !== null) faults += 1;
      if (target !== wasm) return;
      const without = wasmBytes(program, { without: ['unroll'] });
      if (!Buffer.from(wasmBytes(program)).equals(without)) changed += 1;
    }),
    randomRuns(140),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs / 2);
  if (target === wasm) expect(changed).toBeGreaterThan(runs / 2);
});

test('a turn that reads outside is the fault of its thread', () => {
  const p = new ProgramBuilder('reading', 16);
  const out = p.array('out', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const [sum, k] = [p.variable('sum', 'i32'), p.variable('k', 'i32')];
  const rank = p.builtin('threadRank');
  const read = load(x, add(rank, k.value));
  const program = p.build([
    ...p.countUp(k, p.index(0), compare('less', k.value, p.index(4)), [sum.set(add(sum.value, read))]),
    store(out, rank, sum.value),
  ]);
  const [found, expected] = [wasm, interpreter('eager')].map(
    (target) =>
      runProgram(target, program, {
        grid: 1,
        arguments: { out: new Int32Array(16), x: new Int32Array(18) },
      }).fault,
  );
  expect(found).toMatchObject({ kind: 'out-of-range', thread: [15, 0, 0], index: 18 });
  expect(found).toEqual(expected);
});

test('indices of all turns lie a literal apart', () => {
  const p = new ProgramBuilder('columns', 16);
  const out = p.array('out', 'i32');
  const x = p.array('x', 'i32', 'readonly');
  const [sum, k] = [p.variable('sum', 'i32'), p.variable('k', 'i32')];
  const rank = p.builtin('threadRank');
  const read = load(x, add(multiply(k.value, p.index(16)), rank));
  const program = p.build([
    ...p.countUp(k, p.index(0), compare('less', k.value, p.index(4)), [sum.set(add(sum.value, read))]),
    store(out, rank, sum.value),
  ]);
  const text = printProgram(unrollLoops(program));
  for (const distance of [0, 16, 32, 48]) expect(text).toContain(`x[${distance} + threadRank]`);
});
