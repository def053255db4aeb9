// Blocks that take turns at a loop that strides over the grid: each finds its own variables and arrays as it left them. WebAssembly gives
// what the interpreter gives, with this pass and without it, and what others could be told by runs one block after the other.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { compileWasm, explainWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  atomic,
  binary,
  compare,
  constant,
  convert,
  core,
  finish,
  leave,
  load,
  loop,
  multiply,
  ProgramBuilder,
  print,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const threads = 8;
const mostRounds = 14;

/** A loop at which blocks meet again and again, each for as many rounds as it has, with what it keeps from round to round. */
function randomStrides(tape: Tape): Program {
  const p = new ProgramBuilder('strides', [threads, 1, 1]);
  const [out, places, totals] = [p.array('out', 'i32'), p.array('places', 'i32'), p.array('totals', 'i32')];
  const input = p.array('input', 'i32', 'readonly');
  const n = p.scalar('n', 'i32');
  const [shared, sums] = [p.shared('shared', 'i32', threads), p.shared('sums', 'f64', threads)];
  const row = p.local('row', 'i32', 2);
  const rank = p.builtin('threadRank');
  const block = p.builtin('blockIdx.x');
  const next = binary('remainder', add(rank, p.index(1)), p.index(threads));
  const [round, limit, at] = [
    p.variable('round', 'i32'),
    p.variable('limit', 'i32'),
    p.variable('at', 'i32'),
  ];
  const first = p.variable('first', 'i32');
  const [kept, wide, real] = [
    p.variable('kept', 'i32'),
    p.variable('wide', 'i64'),
    p.variable('real', 'f64'),
  ];
  const place = add(at.value, rank);
  const label = p.label();
  // All blocks have the same rounds, and the same values of their own in each.
  const alike = tape.chance(1, 2);
  // But where a test is the block's, and what it leads to.
  const other = () => (tape.chance(1, 8) ? block : round.value);
  /** Of the block. */
  const ofBlock = (): Statement =>
    tape.pick<() => Statement>([
      () => wide.set(add(multiply(wide.value, constant('i64', 3n)), convert(round.value, 'i64'))),
      () => real.set(add(multiply(real.value, constant('f64', 0.5)), convert(round.value, 'f64'))),
      () => limit.set(binary('min', limit.value, add(round.value, p.index(6)))),
      () =>
        when(
          compare('equal', binary('and', add(round.value, alike ? other() : block), p.index(7)), p.index(6)),
          [
            alike
              ? wide.set(add(wide.value, constant('i64', 5n)))
              : tape.pick([() => leave('break', label), () => leave('continue', label), finish])(),
          ],
        ),
    ])();
  /** Of each thread: to its own elements. */
  const ofThread = (): Statement =>
    tape.pick<() => Statement>([
      () => kept.set(add(multiply(kept.value, p.index(5)), load(input, place))),
      () => store(shared, rank, add(load(shared, rank), add(kept.value, round.value))),
      () => store(sums, rank, add(load(sums, rank), real.value)),
      () => store(row, p.index(1), add(load(row, p.index(0)), load(row, p.index(1)))),
      () => store(places, place, add(load(places, place), add(kept.value, convert(wide.value, 'i32')))),
      () => atomic('add', [totals, rank], kept.value),
      // Outside of the array, in some rounds of some blocks.
      () => kept.set(load(input, add(place, multiply(round.value, p.index(tape.pick([0, 400])))))),
    ])();
  const several = (make: () => Statement, most: number) => Array.from({ length: 1 + tape.below(most) }, make);
  const begin = p.index(threads);
  const turn = [
    at.set(add(multiply(multiply(round.value, p.builtin('gridDim.x')), begin), first.value)),
    ...several(ofBlock, 2),
    ...several(ofThread, 3),
    sync(),
    kept.set(add(kept.value, load(shared, next))),
    sync(),
    ...several(ofThread, 2),
  ];
  const step = round.set(add(round.value, p.index(1)));
  const isAsked = tape.chance(1, 4);
  const sum = (...values: Expression[]) => values.reduce((a, b) => add(a, b));
  return p.build([
    kept.set(rank),
    store(row, p.index(0), add(block, rank)),
    store(row, p.index(1), n),
    store(shared, rank, multiply(rank, rank)),
    store(sums, rank, constant('f64', 1)),
    wide.set(convert(alike ? n : block, 'i64')),
    limit.set(add(n, binary('and', multiply(alike ? n : block, p.index(5)), p.index(7)))),
    round.set(p.index(0)),
    first.set(multiply(block, begin)),
    sync(),
    loop(label, compare('less', round.value, limit.value), turn, [step], !isAsked),
    store(
      out,
      p.gridRank(),
      sum(
        kept.value,
        load(shared, rank),
        load(row, p.index(1)),
        convert(wide.value, 'i32'),
        convert(add(load(sums, rank), real.value), 'i32'),
        round.value,
      ),
    ),
  ]);
}

interface Launch {
  readonly grid: number;
  readonly n: number;
}

function outcome(target: Target, program: Program, { grid, n }: Launch) {
  const all = grid * threads;
  const [out, places] = [new Int32Array(all), new Int32Array(all * mostRounds)];
  const totals = new Int32Array(threads);
  const input = Int32Array.from({ length: all * mostRounds }, (_, i) => Math.imul(i, 40_503) >> 9);
  const { fault } = runProgram(target, program, { grid, arguments: { out, places, totals, input, n } });
  return {
    fault: fault && { kind: fault.kind, block: fault.block },
    results: fault === null ? [bitsOf(out), bitsOf(places), bitsOf(totals)] : null,
  };
}

const blocksInTurn = (program: Program) => compileWasm(program).blocksInTurn ?? 1;
const goAbreast = (program: Program) => explainWasm(program).done.some((each) => each.includes('abreast'));

test.each([wasm, wasmWithout('turns')])('random loops of blocks, by $name', (target) => {
  let [runs, inTurn, abreast, faults] = [0, 0, 0, 0];
  fc.assert(
    fc.property(tapes(60), fc.nat(23), fc.nat(6), (tape, more, n) => {
      const program = randomStrides(tape);
      const launch = { grid: 1 + more, n };
      const expected = outcome(interpreter('eager'), program, launch);
      expect(outcome(target, program, launch), printProgram(program)).toEqual(expected);
      runs += 1;
      if (expected.fault !== null) faults += 1;
      if (blocksInTurn(program) > 1) inTurn += 1;
      if (goAbreast(program)) abreast += 1;
    }),
    randomRuns(80),
  );
  expect(faults).toBeGreaterThan(0);
  expect(faults).toBeLessThan(runs / 2);
  expect(inTurn).toBeGreaterThan(runs / 3);
  expect(abreast).toBeGreaterThan(runs / 6);
  expect(abreast).toBeLessThan(inTurn);
});

/** A loop that strides, with something in it. */
function striding(what: (p: ProgramBuilder, flags: ReturnType<ProgramBuilder['array']>) => Statement[]) {
  const p = new ProgramBuilder('striding', [threads, 1, 1]);
  const [out, flags] = [p.array('out', 'i32'), p.array('flags', 'i32')];
  const round = p.variable('round', 'i32');
  const at = multiply(
    add(multiply(round.value, p.builtin('gridDim.x')), p.builtin('blockIdx.x')),
    p.index(threads),
  );
  return p.build([
    round.set(p.index(0)),
    loop(
      p.label(),
      compare('less', round.value, p.index(9)),
      [store(out, add(at, p.builtin('threadRank')), round.value), ...what(p, flags), sync()],
      [round.set(add(round.value, p.index(1)))],
    ),
  ]);
}

test('where something could tell how far others are, no block takes turns', () => {
  const found = (p: ProgramBuilder) => p.variable('found', 'i32');
  const zero = (p: ProgramBuilder) => p.index(0);
  expect(blocksInTurn(striding(() => []))).toBeGreaterThan(1);
  expect(blocksInTurn(striding((p, flags) => [atomic('add', [flags, zero(p)], p.index(1))]))).toBeGreaterThan(
    1,
  );
  const ofBlock = (p: ProgramBuilder) =>
    atomic('add', [p.shared('sums', 'f32', 1), zero(p)], constant('f32', 1));
  expect(blocksInTurn(striding((p) => [ofBlock(p)]))).toBeGreaterThan(1);
  const telling: Parameters<typeof striding>[0][] = [
    (p, flags) => [atomic('add', [flags, zero(p)], p.index(1), { result: found(p) })],
    () => [print('here')],
    () => [core({ kind: 'fence', scope: 'device' })],
    (p, flags) => [atomic('exch', [flags, zero(p)], p.builtin('blockIdx.x'))],
    (p) => [atomic('add', [p.array('sums', 'f32'), zero(p)], constant('f32', 0.1))],
    (p, flags) => [loop(p.label(), compare('less', load(flags, zero(p)), zero(p)), [found(p).set(zero(p))])],
    (p, flags) => {
      const goesOn = p.variable('goesOn', 'bool');
      const isThere = compare('notEqual', load(flags, zero(p)), zero(p));
      return [
        goesOn.set(constant('bool', true)),
        loop(p.label(), goesOn.value, [when(isThere, [goesOn.set(constant('bool', false))])]),
      ];
    },
    (p, flags) => {
      const seen = found(p);
      const label = p.label();
      return [
        loop(label, null, [
          seen.set(load(flags, zero(p))),
          when(compare('equal', seen.value, zero(p)), [leave('break', label)]),
        ]),
      ];
    },
  ];
  for (const what of telling) expect(blocksInTurn(striding(what)), String(what)).toBe(1);
});

test('what an earlier round left is found, whoever goes between', () => {
  const build = (isLeft: boolean) => {
    const p = new ProgramBuilder('left', [threads, 1, 1]);
    const [out, shared] = [p.array('out', 'i32'), p.shared('shared', 'i32', 2 * threads)];
    const [round, rank] = [p.variable('round', 'i32'), p.builtin('threadRank')];
    const at = multiply(
      add(multiply(round.value, p.builtin('gridDim.x')), p.builtin('blockIdx.x')),
      p.index(threads),
    );
    const beyond = add(rank, p.index(isLeft ? threads : 0));
    const isFirst = compare('equal', binary('and', round.value, p.index(1)), p.index(0));
    return p.build([
      round.set(p.index(0)),
      loop(
        p.label(),
        compare('less', round.value, p.index(9)),
        [
          store(shared, rank, add(at, rank)),
          when(isFirst, [store(shared, add(rank, p.index(threads)), multiply(add(at, rank), p.index(3)))]),
          sync(),
          store(out, add(at, rank), load(shared, beyond)),
          sync(),
        ],
        [round.set(add(round.value, p.index(1)))],
      ),
    ]);
  };
  for (const isLeft of [false, true]) {
    const program = build(isLeft);
    const arena = explainWasm(program).done.some((each) => each.endsWith('in one arena'));
    expect(arena).toBe(!isLeft);
    const [expected, actual] = [interpreter('eager'), wasm].map((target) => {
      const out = new Int32Array(9 * 20 * threads);
      runProgram(target, program, { grid: 20, arguments: { out } });
      return out;
    });
    expect(actual).toEqual(expected);
  }
});

test('of blocks that fault, the first is named, whichever comes to it first', () => {
  const p = new ProgramBuilder('faults', [threads, 1, 1]);
  const [out, round] = [p.array('out', 'i32'), p.variable('round', 'i32')];
  const block = p.builtin('blockIdx.x');
  const at = multiply(add(multiply(round.value, p.builtin('gridDim.x')), block), p.index(threads));
  // Later blocks in earlier rounds: block 3 in its 10th, block 9 in its first.
  const isTime = compare('greaterEqual', add(round.value, block), p.index(12));
  const program = p.build([
    round.set(p.index(0)),
    loop(
      p.label(),
      compare('less', round.value, p.index(10)),
      [
        store(out, add(at, p.builtin('threadRank')), round.value),
        when(isTime, [store(out, p.index(-1), block)]),
        sync(),
      ],
      [round.set(add(round.value, p.index(1)))],
    ),
  ]);
  expect(blocksInTurn(program)).toBeGreaterThan(1);
  for (const grid of [4, 12, 40]) {
    const { fault } = runProgram(wasm, program, { grid, arguments: { out: new Int32Array(400 * threads) } });
    expect(fault).toMatchObject({ kind: 'out-of-range', block: [3, 0, 0], index: -1 });
  }
});
