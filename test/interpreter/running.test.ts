// What the interpreter promises of copies, barriers and threads.

import { describe, expect, test } from 'vitest';
import type { Group } from '#warpstage/compiler/ir.js';
import { poison } from '#warpstage/targets/interpreter/memory.js';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  binary,
  compare,
  conditional,
  constant,
  finish,
  load,
  loop,
  makePipeline,
  memcpyAsync,
  multiply,
  ProgramBuilder,
  print,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { runProgram } from '../support/run-program.ts';

const late = interpreter('late');

describe('copies with wrong operands', () => {
  const faultOf = (
    to: number,
    from: number,
    count: number,
    { alignment = 4, within = false, batch = 16 } = {},
  ) => {
    const p = new ProgramBuilder('copies', 4);
    const a = p.array('a', 'i32');
    const shared = p.shared('shared', 'i32', batch);
    const pipeline = p.pipeline('pipeline', 1);
    const built = p.build([
      makePipeline(pipeline),
      memcpyAsync({
        to: [within ? a : shared, p.index(to)],
        from: [a, p.index(from)],
        count: p.index(count),
        alignment,
        pipeline,
      }),
    ]);
    return runProgram(late, built, { grid: 1, arguments: { a: new Int32Array(32) } }).fault;
  };

  test.each([
    [0, 30, 4, 'a', 30, 32],
    [0, -1, 4, 'a', -1, 32],
    [14, 0, 4, 'shared', 14, 16],
    [0, 33, 0, 'a', 33, 32],
  ])('out of range: to %i from %i, %i elements', (to, from, count, array, index, length) => {
    expect(faultOf(to, from, count)).toMatchObject({
      kind: 'out-of-range',
      access: 'copy',
      array,
      index,
      count,
      length,
    });
  });

  test('an empty copy at the end is in range', () => {
    expect(faultOf(16, 32, 0)).toBeNull();
  });

  test('a negative count', () => {
    expect(faultOf(0, 0, -1)).toMatchObject({
      code: 'WS3005',
      message: 'memcpyAsync of -1 elements from `a` to `shared`: the count is negative',
    });
  });

  test('an overlap', () => {
    expect(faultOf(2, 0, 4, { within: true })).toMatchObject({
      code: 'WS3005',
      message: 'memcpyAsync of 4 elements from `a` at 0 to `a` at 2: the two overlap',
    });
    expect(faultOf(4, 0, 4, { within: true })).toBeNull();
  });

  test('a promise of alignment that is not kept', () => {
    expect(faultOf(0, 1, 4, { alignment: 16 })).toMatchObject({
      code: 'WS3005',
      message:
        'memcpyAsync promises an alignment of 16 bytes, but element 1 of `a` lies at an address that is a multiple of 4 only',
    });
    expect(faultOf(0, 0, 5, { alignment: 16 })).toMatchObject({
      message: 'memcpyAsync promises an alignment of 16 bytes, but copies 20',
      hint: 'Copy a multiple of 4 elements, or promise less.',
    });
  });
});

describe('barriers', () => {
  test('threads that returned are not waited for', () => {
    const p = new ProgramBuilder('exits', 8);
    const out = p.array('out', 'i32');
    const shared = p.shared('shared', 'i32', 8);
    const rank = p.builtin('threadRank');
    const program = p.build([
      store(shared, rank, rank),
      when(compare('less', rank, p.index(3)), [finish()]),
      sync(),
      store(out, rank, load(shared, binary('subtract', p.index(7), rank))),
    ]);
    for (const target of [late, interpreter(1), interpreter(2)]) {
      const array = new Int32Array(8);
      expect(runProgram(target, program, { grid: 1, arguments: { out: array } }).fault).toBeNull();
      expect([...array]).toEqual([0, 0, 0, 4, 3, 2, 1, 0]);
    }
  });

  test('syncs at different places of the program meet', () => {
    const p = new ProgramBuilder('meet', 8);
    const low = compare('less', p.builtin('threadRank'), p.index(4));
    const program = p.build([when(low, [sync()], [sync()])]);
    expect(runProgram(late, program, { grid: 1, arguments: {} }).fault).toBeNull();
  });

  test('a tile that some of its threads do not sync is a deadlock that names it', () => {
    const p = new ProgramBuilder('tile', 8);
    const tile: Group = { kind: 'tile', size: 4 };
    const rank = p.builtin('threadRank');
    const program = p.build([when(compare('less', rank, p.index(6)), [sync(tile)]), sync()]);
    expect(runProgram(late, program, { grid: 1, arguments: {} }).fault).toMatchObject({
      kind: 'deadlock',
      waiting: [
        { what: 'sync of the block: 6 of 8 threads have arrived', threads: [0, 1, 2, 3, 6, 7] },
        { what: 'sync of tile 1: 2 of 4 threads have arrived', threads: [4, 5] },
      ],
    });
  });
});

describe('running', () => {
  test('an endless loop ends with a fault', () => {
    const p = new ProgramBuilder('endless', 4);
    const endless = loop(p.label(), null, []);
    const { fault } = runProgram(interpreter('late', { steps: 1000 }), p.build([endless]), {
      grid: 1,
      arguments: {},
    });
    expect(fault).toMatchObject({
      kind: 'misuse',
      code: 'WS3007',
      range: endless.range,
      message: 'a block went round its loops more than 1000 times',
    });
  });

  test('threads and blocks count x first', () => {
    const p = new ProgramBuilder('places', [2, 3, 2]);
    const out = p.array('out', 'i32');
    const digits = [
      'blockIdx.z',
      'blockIdx.y',
      'blockIdx.x',
      'threadIdx.z',
      'threadIdx.y',
      'threadIdx.x',
    ] as const;
    const code = digits.reduce((sum, name) => add(multiply(sum, p.index(10)), p.builtin(name)), p.index(0));
    const linear = [p.builtin('blockIdx.z'), p.builtin('blockIdx.y'), p.builtin('blockIdx.x')].reduce(
      (sum, index, axis) =>
        axis === 0 ? index : add(multiply(sum, p.builtin(axis === 1 ? 'gridDim.y' : 'gridDim.x')), index),
    );
    const program = p.build([store(out, add(multiply(linear, p.index(12)), p.builtin('threadRank')), code)]);
    const array = new Int32Array(24 * 12);
    expect(runProgram(late, program, { grid: [2, 3, 4], arguments: { out: array } }).fault).toBeNull();
    expect(array[0]).toBe(0);
    expect(array[1]).toBe(1);
    expect(array[2]).toBe(10);
    expect(array[6]).toBe(100);
    expect(array[12]).toBe(1000);
    expect(array[24]).toBe(10000);
    expect(array[24 * 12 - 1]).toBe(321121);
  });

  test('local arrays are a thread’s own and start poisoned', () => {
    const p = new ProgramBuilder('locals', 4);
    const out = p.array('out', 'i32');
    const own = p.local('own', 'i32', 3);
    const rank = p.builtin('threadRank');
    const program = p.build([
      store(out, rank, load(own, p.index(2))),
      store(own, p.index(1), rank),
      sync(),
      store(out, add(rank, p.index(4)), load(own, p.index(1))),
    ]);
    const array = new Int32Array(8);
    expect(runProgram(late, program, { grid: 1, arguments: { out: array } }).fault).toBeNull();
    expect([...array]).toEqual([poison, poison, poison, poison, 0, 1, 2, 3]);
  });

  test('a conditional evaluates only the branch that is taken', () => {
    const p = new ProgramBuilder('lazy', 4);
    const y = p.array('y', 'i32');
    const rank = p.builtin('threadRank');
    const program = p.build([
      store(
        y,
        p.index(0),
        conditional(compare('less', rank, p.length(y)), load(y, rank), constant('i32', 5)),
      ),
    ]);
    const array = Int32Array.of(3);
    expect(runProgram(late, program, { grid: 1, arguments: { y: array } }).fault).toBeNull();
    expect(array[0]).toBe(5);
  });

  test('prints numbers as console.log does', () => {
    const p = new ProgramBuilder('prints', 1);
    const program = p.build([
      print(
        'x ',
        constant('f64', 0.5),
        ' ',
        constant('i64', 7n),
        constant('bool', true),
        constant('f64', -0),
      ),
    ]);
    expect(runProgram(late, program, { grid: 1, arguments: {} }).printed).toEqual(['x 0.5 7true-0']);
  });
});
