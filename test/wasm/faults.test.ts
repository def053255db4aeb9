// Every fault, with its place and its values, as the interpreter reports it.

import { describe, expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { expectAgreement } from '../support/agreement.ts';
import {
  add,
  atomic,
  binary,
  compare,
  constant,
  load,
  makePipeline,
  memcpyAsync,
  ProgramBuilder,
  pipelineCall,
  print,
  quit,
  store,
  sync,
  when,
} from '../support/ir.ts';

type Make = (p: ProgramBuilder, y: ReturnType<ProgramBuilder['array']>) => Statement[];

/** Runs a kernel on a 2 x 1 grid of blocks of 8 x 2 threads, with an array `y` of 40 elements that count up. */
function run(make: Make, indexType: 'i32' | 'i64' = 'i32') {
  const p = new ProgramBuilder('k', [8, 2, 1], { indexType });
  const y = p.array('y', 'i32');
  const program: Program = p.build(make(p, y));
  const { fault } = expectAgreement(program, {
    grid: 2,
    arguments: { y: Int32Array.from({ length: 40 }, (_, i) => i) },
  });
  return fault;
}

const second = (p: ProgramBuilder) => compare('equal', p.builtin('blockIdx.x'), p.index(1));
const at = (p: ProgramBuilder, rank: number) => compare('equal', p.builtin('threadRank'), p.index(rank));

describe.each(['i32', 'i64'] as const)('with indices of %s', (indexType) => {
  test('a read', () => {
    const read: Make = (p, y) => [store(y, p.gridRank(), load(y, add(p.gridRank(), p.index(20))))];
    expect(run(read, indexType)).toMatchObject({
      kind: 'out-of-range',
      array: 'y',
      access: 'read',
      index: 40,
      count: 1,
      length: 40,
      thread: [4, 0, 0],
      block: [1, 0, 0],
    });
  });

  test('a write at a negative index', () => {
    const write: Make = (p, y) => [
      store(y, binary('subtract', p.gridRank(), p.index(1)), constant('i32', 7)),
    ];
    expect(run(write, indexType)).toMatchObject({ access: 'write', index: -1, thread: [0, 0, 0] });
  });

  test('a write under a condition', () => {
    const write: Make = (p, y) => [when(second(p), [when(at(p, 11), [store(y, p.index(40), p0)])])];
    expect(run(write, indexType)).toMatchObject({ index: 40, thread: [3, 1, 0], block: [1, 0, 0] });
  });

  test('an atomic', () => {
    const change: Make = (p, y) => [atomic('add', [y, add(p.gridRank(), p.index(9))], p0)];
    expect(run(change, indexType)).toMatchObject({ access: 'write', index: 40, thread: [7, 1, 0] });
  });

  test('an array of the thread', () => {
    const read: Make = (p, y) => {
      const own = p.local('own', 'i32', 10);
      return [store(y, p.gridRank(), load(own, p.builtin('threadRank')))];
    };
    expect(run(read, indexType)).toMatchObject({ array: 'own', index: 10, length: 10, thread: [2, 1, 0] });
  });

  test('a shared array', () => {
    const read: Make = (p, y) => {
      const shared = p.shared('shared', 'i32', 16);
      const rank = p.builtin('threadRank');
      return [store(shared, rank, p0), sync(), store(y, p.gridRank(), load(shared, add(rank, p.index(3))))];
    };
    expect(run(read, indexType)).toMatchObject({ array: 'shared', index: 16, length: 16, thread: [5, 1, 0] });
  });
});

const p0 = constant('i32', 0);

describe('copies', () => {
  function copy(
    operands: (p: ProgramBuilder) => {
      to?: Expression;
      from?: Expression;
      count?: Expression;
      alignment?: number;
    },
    { within = false }: { within?: boolean } = {},
  ) {
    return run((p, y) => {
      const shared = p.shared('shared', 'i32', 16);
      const pipeline = p.pipeline('pipeline', 2);
      const { to = p.index(0), from = p.index(0), count = p.index(4), alignment = 4 } = operands(p);
      return [
        makePipeline(pipeline),
        pipelineCall('producerAcquire', pipeline),
        memcpyAsync({ to: [within ? y : shared, to], from: [y, from], count, alignment, pipeline }),
        pipelineCall('producerCommit', pipeline),
        pipelineCall('consumerWait', pipeline),
      ];
    });
  }

  test('from beyond the end', () => {
    expect(copy((p) => ({ from: p.index(38) }))).toMatchObject({
      kind: 'out-of-range',
      array: 'y',
      access: 'copy',
      index: 38,
      count: 4,
      length: 40,
      thread: [0, 0, 0],
    });
  });

  test('to beyond the end', () => {
    expect(copy((p) => ({ to: p.index(15) }))).toMatchObject({ array: 'shared', index: 15, length: 16 });
  });

  test('from a negative offset', () => {
    expect(copy((p) => ({ from: p.index(-1) }))).toMatchObject({ array: 'y', index: -1 });
  });

  test('up to the very end is right', () => {
    expect(copy((p) => ({ to: p.index(12), from: p.index(36) }))).toBeNull();
    expect(copy((p) => ({ to: p.index(16), from: p.index(40), count: p.index(0) }))).toBeNull();
  });

  test('of a negative count', () => {
    expect(copy((p) => ({ count: p.index(-2) }))).toMatchObject({
      kind: 'misuse',
      code: 'WS3005',
      message: 'memcpyAsync of -2 elements from `y` to `shared`: the count is negative',
    });
  });

  test('onto itself', () => {
    expect(copy((p) => ({ to: p.index(3) }), { within: true })).toMatchObject({
      kind: 'misuse',
      message: 'memcpyAsync of 4 elements from `y` at 0 to `y` at 3: the two overlap',
    });
    expect(copy((p) => ({ to: p.index(4) }), { within: true })).toBeNull();
  });

  test('less aligned than promised', () => {
    expect(copy((p) => ({ from: p.index(2), alignment: 16 }))).toMatchObject({
      message: expect.stringContaining('multiple of 8 only'),
    });
    expect(copy((p) => ({ count: p.index(6), alignment: 16 }))).toMatchObject({
      message: 'memcpyAsync promises an alignment of 16 bytes, but copies 24',
    });
    expect(copy(() => ({ alignment: 16 }))).toBeNull();
  });

  test('of one thread', () => {
    const fault = run((p, y) => {
      const shared = p.shared('shared', 'i32', 16);
      const pipeline = p.pipeline('pipeline', 0);
      const rank = p.builtin('threadRank');
      return [
        makePipeline(pipeline),
        memcpyAsync({
          group: { kind: 'thread' },
          to: [shared, rank],
          from: [y, add(p.gridRank(), p.index(10))],
          count: p.index(1),
          pipeline,
        }),
      ];
    });
    expect(fault).toMatchObject({
      array: 'y',
      access: 'copy',
      index: 40,
      thread: [6, 1, 0],
      block: [1, 0, 0],
    });
  });
});

describe('pipelines', () => {
  test('an acquire with every stage taken', () => {
    const fault = run((p) => {
      const pipeline = p.pipeline('pipeline', 2);
      const fill = () => [
        pipelineCall('producerAcquire', pipeline),
        pipelineCall('producerCommit', pipeline),
      ];
      return [makePipeline(pipeline), ...fill(), ...fill(), ...fill()];
    });
    expect(fault).toMatchObject({
      kind: 'deadlock',
      waiting: [
        {
          what: 'producerAcquire on stage 0 of `pipeline`: 0 of 16 threads have released it',
          threads: Array.from({ length: 16 }, (_, rank) => rank),
        },
      ],
    });
  });

  test('a wait with nothing committed', () => {
    const fault = run((p) => {
      const pipeline = p.pipeline('pipeline', 3);
      return [
        makePipeline(pipeline),
        pipelineCall('producerAcquire', pipeline),
        pipelineCall('producerCommit', pipeline),
        pipelineCall('consumerWait', pipeline),
        pipelineCall('consumerRelease', pipeline),
        pipelineCall('consumerWait', pipeline),
      ];
    });
    expect(fault).toMatchObject({
      kind: 'deadlock',
      waiting: [{ what: 'consumerWait on stage 1 of `pipeline`: 0 of 16 threads have committed' }],
    });
  });

  test('a use before it is made, and after it was quit', () => {
    const make = (when: 'before' | 'after'): Make => {
      return (p) => {
        const pipeline = p.pipeline('pipeline', 2);
        const use = pipelineCall('producerAcquire', pipeline);
        return when === 'before'
          ? [use, makePipeline(pipeline)]
          : [makePipeline(pipeline), quit(pipeline), use];
      };
    };
    expect(run(make('before'))).toMatchObject({
      kind: 'misuse',
      code: 'WS3006',
      message: '`pipeline` is used by a thread that did not make it',
    });
    expect(run(make('after'))).toMatchObject({
      message: 'producerAcquire of `pipeline` by a thread that has quit it',
    });
  });

  test('quit tells one thread that it is the last', () => {
    const p = new ProgramBuilder('k', 8);
    const y = p.array('y', 'i32');
    const pipeline = p.pipeline('pipeline', 2);
    const last = p.variable('last', 'bool');
    const program = p.build([
      makePipeline(pipeline),
      quit(pipeline, last),
      when(last.value, [store(y, p.builtin('threadRank'), constant('i32', 1))]),
    ]);
    const result = expectAgreement(program, { grid: 1, arguments: { y: new Int32Array(8) } });
    expect(result.arguments.y).toEqual(Int32Array.of(0, 0, 0, 0, 0, 0, 0, 1));
  });
});

test.each(['divide', 'remainder'] as const)('%s by zero', (operator) => {
  const divide: Make = (p, y) => [
    store(y, p.gridRank(), binary(operator, p0, binary('subtract', load(y, p.gridRank()), p.index(25)))),
  ];
  expect(run(divide)).toMatchObject({ kind: 'division-by-zero', thread: [1, 1, 0], block: [1, 0, 0] });
});

test('printed lines have their values', () => {
  const p = new ProgramBuilder('k', 2);
  const values = [
    constant('i32', -1),
    constant('u32', 4_294_967_295),
    constant('i64', -(2n ** 40n)),
    constant('u64', 2n ** 64n - 1n),
    constant('f32', Math.fround(0.1)),
    constant('f64', -0),
    constant('bool', true),
  ];
  const program = p.build([
    print('thread ', p.builtin('threadRank'), ...values.flatMap((value) => [' ', value])),
  ]);
  const { printed } = expectAgreement(program, { grid: 1, arguments: {} });
  expect(printed[1]).toBe(
    'thread 1 -1 4294967295 -1099511627776 18446744073709551615 0.10000000149011612 -0 true',
  );
});
