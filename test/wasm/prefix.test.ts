// Branches that only the first threads of a block take: the loop over threads ends where they do, also where others stand before
// them in a region. WebAssembly gives what the interpreter gives, with this pass and without it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { explainWasm, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  binary,
  compare,
  constant,
  load,
  loop,
  multiply,
  ProgramBuilder,
  store,
  sync,
  unary,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const blocks = [
  [64, 1, 1],
  [40, 1, 1],
  [7, 1, 1],
  [16, 4, 1],
] as const;
const counts = [5, 0, 1, 16, 17, 40, 63, 64, 65, -3, 2 ** 31 - 1, -(2 ** 31)];

/** Regions with a branch for some threads, which exchange values and keep variables for later ones. */
function randomPrefixes(tape: Tape): Program {
  const p = new ProgramBuilder('prefixes', [...tape.pick(blocks)]);
  const out = p.array('out', 'i32');
  const other = p.array('other', 'i32');
  const table = p.array('table', 'i32', 'readonly');
  const shared = p.shared('shared', 'i32', p.blockSize);
  const n = p.scalar('n', 'i32');
  const [kept, half, own] = [p.variable('kept', 'i32'), p.variable('half', 'i32'), p.variable('own', 'i32')];
  const row = p.local('row', 'i32', 2);
  const rank = p.builtin('threadRank');
  const x = p.builtin('threadIdx.x');
  const last = p.index(p.blockSize - 1);
  const test = (bound: Expression): Expression => {
    const tested = tape.pick([rank, x]);
    const operator = tape.pick([
      'less',
      'lessEqual',
      'equal',
      'greater',
      'greaterEqual',
      'notEqual',
    ] as const);
    const compared = tape.chance(1, 3) ? compare(operator, bound, tested) : compare(operator, tested, bound);
    return tape.chance(1, 5) ? unary('not', compared) : compared;
  };
  /** What a thread may do beside the others: to its own elements, with what was there before. */
  const deed = (): Statement =>
    tape.pick<() => Statement>([
      () => store(shared, rank, add(load(shared, rank), n)),
      () => kept.set(add(multiply(kept.value, p.index(3)), load(shared, rank))),
      () => own.set(add(half.value, rank)),
      () => store(other, p.gridRank(), add(kept.value, own.value)),
      () => store(row, p.index(1), add(load(row, p.index(0)), load(shared, rank))),
      () => store(other, p.gridRank(), binary('xor', load(row, p.index(1)), rank)),
      // Outside the array for the last threads.
      () => kept.set(load(table, add(rank, p.index(tape.pick([0, 1, 9]))))),
    ])();
  const step = (bound: Expression): Statement[] => [
    // What all threads do before the branch, and what the branch may need of it.
    ...Array.from({ length: 2 - tape.below(3) }, deed),
    when(test(bound), Array.from({ length: 1 + tape.below(2) }, deed), tape.chance(1, 8) ? [deed()] : []),
    sync(),
  ];
  const literal = p.index(tape.pick([0, 1, 16, 20, 64]));
  const halves = loop(p.label(), compare('greater', half.value, p.index(0)), step(half.value), [
    half.set(binary('shiftRight', half.value, p.index(1))),
  ]);
  return p.build([
    kept.set(rank),
    store(row, p.index(0), n),
    store(row, p.index(1), rank),
    store(shared, rank, binary('subtract', last, rank)),
    sync(),
    ...step(tape.pick([n, literal])),
    half.set(p.index(p.blockSize >> 1)),
    ...(tape.chance(2, 3) ? [halves] : []),
    ...step(tape.pick([literal, n, constant('i32', 0)])),
    store(out, p.gridRank(), add(add(kept.value, own.value), load(shared, binary('subtract', last, rank)))),
  ]);
}

function outcome(target: Target, program: Program, n: number) {
  const threads = program.block[0] * program.block[1];
  const [out, other] = [new Int32Array(2 * threads), new Int32Array(2 * threads)];
  const table = Int32Array.from({ length: threads }, (_, i) => i * i);
  const { fault } = runProgram(target, program, { grid: 2, arguments: { out, other, table, n } });
  return {
    fault: fault && { kind: fault.kind, block: fault.block },
    results: fault === null ? [bitsOf(out), bitsOf(other)] : null,
  };
}

test.each([wasm, wasmWithout('prefix')])('random branches of the first threads, by $name', (target) => {
  let [runs, changed, cut, faults] = [0, 0, 0, 0];
  fc.assert(
    fc.property(tapes(40), fc.constantFrom(...counts), (tape, n) => {
      const program = randomPrefixes(tape);
      const expected = outcome(interpreter('eager'), program, n);
      expect(outcome(target, program, n), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.fault !== null) faults += 1;
      if (target !== wasm) return;
      const without = wasmBytes(program, { without: ['prefix'] });
      if (!Buffer.from(wasmBytes(program)).equals(without)) changed += 1;
      if (explainWasm(program).done.some((line) => line.includes('cut in front'))) cut += 1;
    }),
    randomRuns(60),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs / 2);
  if (target !== wasm) return;
  expect(changed).toBeGreaterThan(runs / 3);
  expect(cut).toBeGreaterThan(runs / 6);
});

/** Threads for which `operator` holds write to an element that is `offset` behind their own. */
function marking(operator: 'less' | 'lessEqual' | 'equal', offset = 0) {
  const p = new ProgramBuilder('marking', [64, 1, 1]);
  const out = p.array('out', 'i32');
  const [n, rank] = [p.scalar('n', 'i32'), p.builtin('threadRank')];
  const bound = operator === 'equal' ? p.index(0) : n;
  return p.build([
    when(compare(operator, rank, bound), [store(out, add(rank, p.index(offset)), add(rank, p.index(100)))]),
  ]);
}

test.each(['less', 'lessEqual', 'equal'] as const)('threads whose rank is %s', (operator) => {
  for (const n of counts) {
    const [found, expected] = [wasm, interpreter('eager')].map((target) => {
      const out = new Int32Array(64);
      runProgram(target, marking(operator), { grid: 1, arguments: { out, n } });
      return bitsOf(out);
    });
    expect(found, `${n}`).toEqual(expected);
  }
});

test('the thread that fails is named, in vectors and behind them', () => {
  // With 20 threads, the first of which fail in the vectors, or the last alone behind them.
  for (const [length, thread] of [
    [27, 19],
    [15, 7],
  ] as const) {
    const { fault } = runProgram(wasm, marking('less', 8), {
      grid: 1,
      arguments: { out: new Int32Array(length), n: 20 },
    });
    expect(fault).toMatchObject({ kind: 'out-of-range', block: [0, 0, 0], thread: [thread, 0, 0] });
  }
});

test.each([
  ['assigned beside it', 0],
  ['assigned before the last meeting', 1],
])('a branch of the first threads finds its own variable, %s', (_, meets) => {
  const p = new ProgramBuilder('carried', [64, 1, 1]);
  const [out, beside] = [p.array('out', 'i32'), p.array('beside', 'i32')];
  const [rank, own] = [p.builtin('threadRank'), p.variable('own', 'i32')];
  const program = p.build([
    own.set(multiply(rank, rank)),
    ...(meets === 1 ? [sync()] : []),
    store(beside, rank, rank),
    when(compare('less', rank, p.index(13)), [store(out, rank, own.value)]),
  ]);
  const cuts = explainWasm(program).done.some((line) => line.includes('cut in front'));
  expect(cuts).toBe(meets === 1);
  const [found, expected] = [wasm, interpreter('eager')].map((target) => {
    const given = { out: new Int32Array(64), beside: new Int32Array(64) };
    runProgram(target, program, { grid: 1, arguments: given });
    return bitsOf(given.out);
  });
  expect(found).toEqual(expected);
});

test('what the other threads do instead is done', () => {
  const p = new ProgramBuilder('either', [64, 1, 1]);
  const out = p.array('out', 'i32');
  const [n, rank] = [p.scalar('n', 'i32'), p.builtin('threadRank')];
  const [first, other] = [store(out, rank, p.index(1)), store(out, rank, add(rank, p.index(2)))];
  const program = p.build([when(compare('less', rank, n), [first], [other])]);
  for (const count of counts) {
    const [found, expected] = [wasm, interpreter('eager')].map((target) => {
      const out = new Int32Array(64);
      runProgram(target, program, { grid: 1, arguments: { out, n: count } });
      return [...out];
    });
    expect(found, `${count}`).toEqual(expected);
  }
});
