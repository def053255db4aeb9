// Rank groups: threads that part by their ranks alone have programs of their own, in lanes; whatever they
// report, they report by their ranks in the block.

import { describe, expect, test } from 'vitest';
import type { Expression, Group, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { prepare } from '#warpstage/targets/legalise/cpu/prepare.js';
import { programOf, rankGroupsOf } from '#warpstage/targets/legalise/cpu/rank-groups.js';
import { counting, expectStates } from '../support/agreement.ts';
import {
  add,
  atomic,
  binary,
  compare,
  conditional,
  constant,
  convert,
  load,
  makePipeline,
  memcpyAsync,
  multiply,
  ProgramBuilder,
  pipelineCall,
  print,
  store,
  subtract,
  sync,
  when,
} from '../support/ir.ts';
import { stagingSpecialized } from '../support/programs.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

describe('which threads are rank groups', () => {
  const rankGroups = (block: number, test: (rank: Expression, p: ProgramBuilder) => Expression[]) => {
    const p = new ProgramBuilder('rankGroups', block);
    const tests = test(p.builtin('threadRank'), p);
    return rankGroupsOf(p.build(tests.map((each) => when(each, [sync()], [sync()]))));
  };

  test('even and odd', () => {
    expect(rankGroupsOf(stagingSpecialized())).toEqual([
      { first: 0, stride: 2, count: 32 },
      { first: 1, stride: 2, count: 32 },
    ]);
  });

  test('the first one, the first warp, and the others', () => {
    const found = rankGroups(96, (rank, p) => [
      compare('equal', rank, p.index(0)),
      compare('less', rank, p.index(32)),
    ]);
    expect(found).toEqual([
      { first: 0, stride: 1, count: 1 },
      { first: 1, stride: 1, count: 31 },
      { first: 32, stride: 1, count: 64 },
    ]);
  });

  test('ranks at different distances, and too many ways, are left to the threads', () => {
    const all = [{ first: 0, stride: 1, count: 64 }];
    const odd = (rank: Expression, p: ProgramBuilder) =>
      compare('equal', binary('and', rank, p.index(3)), p.index(3));
    expect(rankGroups(64, (rank, p) => [odd(rank, p)])).toEqual(all);
    const isAt = (rank: Expression, p: ProgramBuilder, n: number) => compare('less', rank, p.index(8 * n));
    expect(rankGroups(64, (rank, p) => [1, 2, 3, 4].map((n) => isAt(rank, p, n)))).toEqual(all);
  });

  test('a test that fails for a thread fails in that thread', () => {
    const p = new ProgramBuilder('fails', 8);
    const rank = p.builtin('threadRank');
    const program = p.build([
      when(compare('less', binary('divide', p.index(8), rank), p.index(3)), [sync()], [sync()]),
    ]);
    expect(rankGroupsOf(program)).toHaveLength(1);
    const { fault } = expectStates(program, { grid: 1, arguments: {} }, wasm);
    expect(fault).toMatchObject({ kind: 'division-by-zero', thread: [0, 0, 0] });
  });

  test('a value that is known however it fails is not taken for one that cannot fail', () => {
    const p = new ProgramBuilder('fails', 8);
    const y = p.array('y', 'i32');
    const zero = p.index(0);
    const failing = multiply(load(y, p.length(y)), zero);
    const dividing = multiply(binary('divide', p.index(1), subtract(p.length(y), p.length(y))), zero);
    for (const value of [failing, dividing, binary('and', failing, zero)]) {
      const own = [sync(), store(y, p.builtin('threadRank'), value)];
      const program = p.build([when(compare('less', p.builtin('threadRank'), p.index(4)), own, [sync()])]);
      const { fault } = expectStates(program, { grid: 1, arguments: { y: counting(8) } }, wasm);
      expect(fault?.kind).toBe(value === dividing ? 'division-by-zero' : 'out-of-range');
    }
  });

  test('0 and -0 are two values', () => {
    const p = new ProgramBuilder('zeros', 8);
    const y = p.array('y', 'f32');
    const rank = p.builtin('threadRank');
    const odd = compare('equal', binary('and', rank, p.index(1)), p.index(1));
    const zero = conditional(odd, constant('f32', -0), constant('f32', 0));
    const own = [sync(), store(y, rank, binary('divide', constant('f32', 1), zero))];
    const program = p.build([when(compare('less', rank, p.index(4)), own, [sync()])]);
    const { arguments: arrays } = expectStates(
      program,
      { grid: 1, arguments: { y: new Float32Array(8) } },
      wasm,
    );
    expect([...(arrays.y as Float32Array)].slice(0, 4)).toEqual([Infinity, -Infinity, Infinity, -Infinity]);
  });

  test('of a rank group’s program there is left what it does', () => {
    const program = prepare(stagingSpecialized(), 'counted');
    const [even, odd] = rankGroupsOf(program).map((rankGroup) => printProgram(programOf(program, rankGroup)));
    expect(even).toContain('makePipeline(producers: true)');
    expect(even).toContain('memcpyAsync(thread, shared.subarray(batch % 2 * 32 + threadRank)');
    expect(even).not.toContain('consumerWait');
    expect(odd).toContain('makePipeline(producers: false)');
    expect(odd).toContain('shared[batch % 2 * 32 + threadRank] * 3 + 1');
    expect(odd).not.toContain('producerAcquire');
  });
});

test.each([
  ['role', 64],
  ['count', 256],
  ['role', 34],
] as const)('specialised by %s, %i threads: in lanes', (partition, block) => {
  const n = 3 * (block / 2) * 5;
  const { executable, arguments: arrays } = expectStates(
    stagingSpecialized({ block, partition }),
    { grid: 3, arguments: { globalOut: new Int32Array(n), globalIn: counting(n), batchCount: 5 } },
    wasmWithout('zip'),
  );
  expect(executable.vectorised).toBe(true);
  expect(arrays.globalOut).toEqual(counting(n).map((x) => x * 3 + 1));
});

test('warps with roles in a block of three dimensions, each in its own way', () => {
  const p = new ProgramBuilder('planes', [8, 2, 4], { indexType: 'i64' });
  const out = p.array('out', 'i32');
  const globalIn = p.array('globalIn', 'i32', 'readonly');
  const count = p.scalar('count', 'i64');
  const shared = p.shared('shared', 'i32', 128);
  const pipeline = p.pipeline('pipeline', 2, 'role');
  const rank = p.builtin('threadRank');
  const z = p.builtin('threadIdx.z');
  const produces = compare('equal', z, p.index(1));
  const i = p.variable('i', 'i64');
  const own = p.local('own', 'i32', 2);
  const x = convert(p.builtin('threadIdx.x'), 'i32');
  const y = convert(p.builtin('threadIdx.y'), 'i32');
  const rounds = (body: Statement[]) => p.countUp(i, p.index(0), compare('less', i.value, count), body);
  const member = add(p.builtin('threadIdx.x'), multiply(p.builtin('threadIdx.y'), p.index(8)));
  const stage = multiply(binary('and', i.value, p.index(1)), p.index(16));
  const program = p.build([
    makePipeline(pipeline, produces),
    store(own, p.index(1), add(multiply(x, constant('i32', 10)), y)),
    when(
      produces,
      rounds([
        pipelineCall('producerAcquire', pipeline),
        memcpyAsync({
          group: { kind: 'thread' },
          to: [shared, add(stage, member)],
          from: [globalIn, add(multiply(i.value, p.index(16)), member)],
          count: p.index(1),
          pipeline,
        }),
        pipelineCall('producerCommit', pipeline),
      ]),
      rounds([
        pipelineCall('consumerWait', pipeline),
        store(out, rank, add(add(load(out, rank), load(shared, add(stage, member))), load(own, p.index(1)))),
        pipelineCall('consumerRelease', pipeline),
      ]),
    ),
    sync(),
    atomic('add', [out, p.index(64)], convert(z, 'i32')),
  ]);
  const launch = { grid: 1, arguments: { out: new Int32Array(65), globalIn: counting(96), count: 6n } };
  expectStates(program, launch, wasm);
});

test('tiles of a rank group: some whole, some of which the rank group has a part', () => {
  const p = new ProgramBuilder('tiles', 40);
  const out = p.array('out', 'i32');
  const tile: Group = { kind: 'tile', size: 16 };
  const pipeline = p.pipeline('pipeline', 1, 'unified', tile);
  const shared = p.shared('shared', 'i32', 40);
  const rank = p.builtin('threadRank');
  const first = multiply(binary('divide', rank, p.index(16)), p.index(16));
  const early = compare('less', rank, p.index(24));
  const count = conditional(compare('less', first, p.index(32)), p.index(16), p.index(8));
  const stages = () => [
    pipelineCall('producerAcquire', pipeline),
    memcpyAsync({ group: tile, to: [shared, first], from: [out, first], count, pipeline }),
    pipelineCall('producerCommit', pipeline),
    pipelineCall('consumerWait', pipeline),
  ];
  const program = p.build([
    makePipeline(pipeline),
    when(early, [...stages(), sync(tile)], [sync(tile), ...stages()]),
    store(out, rank, multiply(load(shared, binary('xor', rank, p.index(7))), constant('i32', 3))),
  ]);
  // Tile 1 belongs to both rank groups, and they wait for each other; the others get through.
  const { fault } = expectStates(program, { grid: 1, arguments: { out: counting(40) } }, wasm);
  expect(fault).toMatchObject({
    kind: 'deadlock',
    waiting: [
      {
        what: 'consumerWait on stage 0 of `pipeline`: 8 of 16 threads have committed',
        threads: { length: 8 },
      },
      { what: 'sync of tile 1: 8 of 16 threads have arrived', threads: { length: 8 } },
    ],
  });
});

describe('ranks in reports', () => {
  const roles = (
    produce: (p: ProgramBuilder) => Statement[],
    consume: (p: ProgramBuilder) => Statement[],
  ) => {
    const p = new ProgramBuilder('reports', [4, 4, 1]);
    const isEven = compare('equal', binary('and', p.builtin('threadRank'), p.index(1)), p.index(0));
    return p.build([when(isEven, [...produce(p), sync()], [...consume(p), sync()])]);
  };

  test('of a thread that reads beyond the end', () => {
    let values: ReturnType<ProgramBuilder['array']>;
    const program = roles(
      (p) => {
        values = p.array('values', 'i32');
        return [];
      },
      (p) => [store(values, p.builtin('threadRank'), constant('i32', 1))],
    );
    const { fault } = expectStates(program, { grid: 1, arguments: { values: new Int32Array(11) } }, wasm);
    expect(fault).toMatchObject({ kind: 'out-of-range', index: 11, thread: [3, 2, 0] });
  });

  test('of a line that a thread prints', () => {
    const line = (p: ProgramBuilder) => [
      print('thread ', p.builtin('threadIdx.x'), ', ', p.builtin('threadIdx.y')),
    ];
    const program = roles(line, line);
    const { printed } = expectStates(program, { grid: 1, arguments: {} }, wasm);
    expect(printed).toContain('thread 3, 2');
    expect(printed).toHaveLength(16);
  });

  test('of threads that wait', () => {
    let pipeline = 0;
    const program = roles(
      (p) => {
        pipeline = p.pipeline('pipeline', 1);
        return [makePipeline(pipeline), pipelineCall('consumerWait', pipeline)];
      },
      () => [makePipeline(pipeline), pipelineCall('producerCommit', pipeline)],
    );
    const { fault } = expectStates(program, { grid: 1, arguments: {} }, wasm);
    expect(fault).toMatchObject({
      waiting: [
        {
          what: 'consumerWait on stage 0 of `pipeline`: 8 of 16 threads have committed',
          threads: [0, 2, 4, 6, 8, 10, 12, 14],
        },
        { what: 'sync of the block: 8 of 16 threads have arrived', threads: [1, 3, 5, 7, 9, 11, 13, 15] },
      ],
    });
  });
});
