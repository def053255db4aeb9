// Blocks that take turns at a loop that strides over the grid: each finds its own variables and arrays as it left them. WebAssembly gives
// what the interpreter gives, with this pass and without it, and what others could be told by runs one block after the other.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { compileWasm, explainWasm } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  atomic,
  binary,
  compare,
  constant,
  core,
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
import { runProgram } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';
import { outcome, randomStrides, threads } from './random-turns.ts';

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

test('the first block that faults is the one that is reported, though a later one does so in an earlier round', () => {
  const p = new ProgramBuilder('faulting', [threads, 1, 1]);
  const out = p.array('out', 'i32');
  const [round, limit] = [p.variable('round', 'i32'), p.variable('limit', 'i32')];
  const block = p.builtin('blockIdx.x');
  const at = multiply(add(multiply(round.value, p.builtin('gridDim.x')), block), p.index(threads));
  // The rounds 10, 7, 4 and 1 of blocks 7 to 10, which begin together. Blocks differ in their rounds: none goes abreast.
  const isFaulty = compare('equal', add(round.value, multiply(block, p.index(3))), p.index(31));
  const program = p.build([
    round.set(p.index(0)),
    limit.set(add(binary('and', block, p.index(1)), p.index(12))),
    loop(
      p.label(),
      compare('less', round.value, limit.value),
      [
        store(out, add(at, p.builtin('threadRank')), round.value),
        when(isFaulty, [store(out, p.index(2 ** 24), round.value)]),
        sync(),
      ],
      [round.set(add(round.value, p.index(1)))],
    ),
  ]);
  expect(blocksInTurn(program)).toBeGreaterThan(1);
  expect(goAbreast(program)).toBe(false);
  const arrays = () => ({ out: new Int32Array(16 * 40 * threads) });
  for (const target of [interpreter('eager'), wasm, wasmWithout('turns')]) {
    const { fault } = runProgram(target, program, { grid: 16, arguments: arrays() });
    expect(fault, target.name).toMatchObject({ block: [7, 0, 0] });
  }
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

test('what a block counts by its number it keeps to itself, though all have the same rounds', () => {
  const p = new ProgramBuilder('own', [threads, 1, 1]);
  const [out, shared] = [p.array('out', 'i32'), p.shared('shared', 'i32', threads)];
  const [round, own] = [p.variable('round', 'i32'), p.variable('own', 'i32')];
  const [rank, block] = [p.builtin('threadRank'), p.builtin('blockIdx.x')];
  const at = multiply(add(multiply(round.value, p.builtin('gridDim.x')), block), p.index(threads));
  const isIts = compare('equal', binary('and', add(round.value, block), p.index(3)), p.index(0));
  const program = p.build([
    own.set(p.index(0)),
    round.set(p.index(0)),
    loop(
      p.label(),
      compare('less', round.value, p.index(9)),
      [
        when(isIts, [own.set(add(own.value, p.index(1)))]),
        store(shared, rank, own.value),
        sync(),
        store(out, add(at, rank), add(load(shared, rank), own.value)),
        sync(),
      ],
      [round.set(add(round.value, p.index(1)))],
    ),
  ]);
  expect(blocksInTurn(program)).toBeGreaterThan(1);
  expect(goAbreast(program)).toBe(false);
  const [expected, actual] = [interpreter('eager'), wasm].map((target) => {
    const written = new Int32Array(9 * 20 * threads);
    runProgram(target, program, { grid: 20, arguments: { out: written } });
    return written;
  });
  expect(actual).toEqual(expected);
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
