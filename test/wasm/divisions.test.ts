// Integers that lanes divide as doubles: every edge of a quotient and of a remainder, by what lanes share and by what they
// do not; a divisor of zero is the fault of the thread that has it.

import { expect, test } from 'vitest';
import { compileWasm, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { interpreter } from '../support/interpreter.ts';
import { add, binary, compare, constant, load, ProgramBuilder, store, when } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const block = 48;
const edges = [-(2 ** 31), 1 - 2 ** 31, -7, -3, -1, 1, 2, 3, 10, 2 ** 31 - 2, 2 ** 31 - 1];

type Divisor = 'own' | 'shared' | 'literal';

/** Each thread divides its number by its own divisor, by the launch's, or by 7; only some do where `guarded`. */
function dividing(type: 'i32' | 'u32', divisor: Divisor, guarded = false) {
  const p = new ProgramBuilder('dividing', block);
  const [quotients, remainders] = [p.array('quotients', type), p.array('remainders', type)];
  const [x, by] = [p.array('x', type, 'readonly'), p.array('by', type, 'readonly')];
  const shared = p.scalar('shared', type);
  const [own, other] = [p.variable('own', type), p.variable('other', type)];
  const rank = p.gridRank();
  const right = () => ({ own: load(by, rank), shared, literal: constant(type, 7) })[divisor];
  const divides = [
    own.set(binary('divide', load(x, rank), right())),
    other.set(binary('remainder', load(x, rank), right())),
  ];
  return p.build([
    own.set(constant(type, 3)),
    ...(guarded ? [when(compare('notEqual', right(), constant(type, 0)), divides)] : divides),
    store(quotients, rank, add(own.value, constant(type, 1))),
    store(remainders, rank, other.value),
  ]);
}

interface Given {
  readonly type: 'i32' | 'u32';
  readonly divisor: Divisor;
  readonly shared?: number;
  readonly zeroAt?: number;
  readonly guarded?: boolean;
}

function outcome(target: Target, { type, divisor, shared = 5, zeroAt, guarded }: Given) {
  const View = type === 'i32' ? Int32Array : Uint32Array;
  const at = (i: number) => edges[i % edges.length]!;
  const [x, by] = [new View(3 * block), new View(3 * block)];
  for (let i = 0; i < 3 * block; i++) {
    x[i] = at(i);
    by[i] = at(Math.floor(i / edges.length) + 5 * i);
  }
  if (zeroAt !== undefined) by[zeroAt] = 0;
  const [quotients, remainders] = [new View(3 * block), new View(3 * block)];
  const given = type === 'u32' ? shared >>> 0 : shared;
  const { fault } = runProgram(target, dividing(type, divisor, guarded), {
    grid: 3,
    arguments: { quotients, remainders, x, by, shared: given },
  });
  const place = fault && { kind: fault.kind, block: fault.block, thread: 'thread' in fault && fault.thread };
  return { place, results: place === null ? [bitsOf(quotients), bitsOf(remainders)] : null };
}

const types = ['i32', 'u32'] as const;

test.each([wasm, wasmWithout('divisions')])('$name divides like the interpreter', (target) => {
  for (const type of types) {
    const cases: Given[] = [
      { type, divisor: 'own' },
      { type, divisor: 'literal' },
      ...[...edges, 0].map((shared) => ({ type, divisor: 'shared', shared }) as const),
      { type, divisor: 'own', zeroAt: block + 21, guarded: true },
    ];
    for (const given of cases) {
      const expected = outcome(interpreter('eager'), given);
      expect(outcome(target, given), JSON.stringify(given)).toEqual(expected);
    }
  }
});

test.each([0, 21, 47])('a divisor of zero is the fault of thread %i', (thread) => {
  for (const type of types) {
    expect(outcome(wasm, { type, divisor: 'own', zeroAt: block + thread }).place).toEqual({
      kind: 'division-by-zero',
      block: [1, 0, 0],
      thread: [thread, 0, 0],
    });
  }
});

test('the pass makes vectors of a region that divides', () => {
  for (const divisor of ['own', 'shared', 'literal'] as const) {
    const program = dividing('i32', divisor);
    expect(compileWasm(program).vectorised).toBe(true);
    expect(compileWasm(program, { without: ['divisions'] }).vectorised).toBe(false);
    expect(wasmBytes(program)).not.toEqual(wasmBytes(program, { without: ['divisions'] }));
  }
});
