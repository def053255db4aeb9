// What the interpreter promises of pipelines, copies and barriers, beyond that right programs are right.

import { describe, expect, test } from 'vitest';
import type { Group, Statement } from '#warpstage/compiler/ir.js';
import { poison } from '#warpstage/targets/interpreter/memory.js';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  binary,
  compare,
  constant,
  convert,
  finish,
  load,
  makePipeline,
  memcpyAsync,
  multiply,
  ProgramBuilder,
  pipelineCall,
  print,
  quit,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { runProgram } from '../support/run-program.ts';

const late = interpreter('late');
const eager = interpreter('eager');

/** A program that copies a block of `globalIn` to shared memory; `steps` says what follows the copy. */
function staged(
  steps: (p: ProgramBuilder, pipeline: number) => Statement[],
  { stages = 2, block = 8, group = { kind: 'block' } as Group } = {},
) {
  const p = new ProgramBuilder('staged', block);
  const out = p.array('out', 'i32');
  const globalIn = p.array('globalIn', 'i32', 'readonly');
  const shared = p.shared('shared', 'i32', block);
  const pipeline = p.pipeline('pipeline', stages);
  const rank = p.builtin('threadRank');
  const offset = group.kind === 'thread' ? rank : p.index(0);
  return p.build([
    makePipeline(pipeline),
    pipelineCall('producerAcquire', pipeline),
    memcpyAsync({
      group,
      to: [shared, offset],
      from: [globalIn, offset],
      count: p.index(group.kind === 'thread' ? 1 : block),
      pipeline,
    }),
    ...steps(p, pipeline),
    store(out, rank, load(shared, rank)),
  ]);
}

const input = () => Int32Array.from({ length: 8 }, (_, i) => i + 1);

describe('delivery', () => {
  test('late: without a wait, what was never delivered is poison', () => {
    const out = new Int32Array(8);
    const program = staged((_, pipeline) => [pipelineCall('producerCommit', pipeline)]);
    runProgram(late, program, { grid: 1, arguments: { out, globalIn: input() } });
    expect([...out]).toEqual(Array(8).fill(poison));
    runProgram(eager, program, { grid: 1, arguments: { out, globalIn: input() } });
    // Each thread copies its own element, so even without a wait eager delivery hides the mistake.
    expect(out).toEqual(input());
  });

  test('late: a copy that is not committed is not covered by a wait', () => {
    const p = new ProgramBuilder('uncommitted', 4);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 4);
    const pipeline = p.pipeline('pipeline', 0);
    const rank = p.builtin('threadRank');
    const program = p.build([
      makePipeline(pipeline),
      pipelineCall('producerCommit', pipeline),
      memcpyAsync({
        group: { kind: 'thread' },
        to: [shared, rank],
        from: [globalIn, rank],
        count: p.index(1),
        pipeline,
      }),
      pipelineCall('consumerWait', pipeline),
      store(out, rank, load(shared, rank)),
    ]);
    const out4 = new Int32Array(4);
    runProgram(late, program, { grid: 1, arguments: { out: out4, globalIn: input() } });
    expect([...out4]).toEqual(Array(4).fill(poison));
  });

  test('late: the source is read at delivery, so that changing it in flight shows', () => {
    const p = new ProgramBuilder('changed', 1);
    const a = p.array('a', 'i32');
    const shared = p.shared('shared', 'i32', 1);
    const pipeline = p.pipeline('pipeline', 1);
    const zero = p.index(0);
    const program = p.build([
      makePipeline(pipeline),
      pipelineCall('producerAcquire', pipeline),
      memcpyAsync({ to: [shared, zero], from: [a, zero], count: p.index(1), pipeline }),
      pipelineCall('producerCommit', pipeline),
      store(a, zero, constant('i32', 9)),
      pipelineCall('consumerWait', pipeline),
      store(a, zero, multiply(load(shared, zero), constant('i32', 10))),
    ]);
    const run = (target: typeof late) => {
      const array = Int32Array.of(1);
      runProgram(target, program, { grid: 1, arguments: { a: array } });
      return array[0];
    };
    expect(run(late)).toBe(90);
    expect(run(eager)).toBe(10);
  });

  test('a thread-scoped wait takes the oldest batch; the next one the next', () => {
    const p = new ProgramBuilder('pops', 1);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 2);
    const pipeline = p.pipeline('pipeline', 0);
    const copy = (i: number) => [
      memcpyAsync({
        group: { kind: 'thread' },
        to: [shared, p.index(i)],
        from: [globalIn, p.index(i)],
        count: p.index(1),
        pipeline,
      }),
      pipelineCall('producerCommit', pipeline),
    ];
    const see = (at: number) => [0, 1].map((i) => store(out, p.index(at + i), load(shared, p.index(i))));
    const program = p.build([
      makePipeline(pipeline),
      ...copy(0),
      ...copy(1),
      pipelineCall('consumerWait', pipeline),
      ...see(0),
      pipelineCall('consumerWait', pipeline),
      ...see(2),
      // Nothing is left to wait for, and thread scope never blocks.
      pipelineCall('consumerWait', pipeline),
    ]);
    const out4 = new Int32Array(4);
    const { fault } = runProgram(late, program, { grid: 1, arguments: { out: out4, globalIn: input() } });
    expect(fault).toBeNull();
    expect([...out4]).toEqual([1, poison, 1, 2]);
  });

  test('a block-scoped wait looks and does not take: twice is the same stage', () => {
    const out = new Int32Array(8);
    const program = staged((_, pipeline) => [
      pipelineCall('producerCommit', pipeline),
      pipelineCall('consumerWait', pipeline),
      pipelineCall('consumerWait', pipeline),
      pipelineCall('consumerRelease', pipeline),
    ]);
    expect(runProgram(late, program, { grid: 1, arguments: { out, globalIn: input() } }).fault).toBeNull();
    expect(out).toEqual(input());
  });

  test('a seed gives the same run again, and seeds differ', () => {
    const run = (seed: number) => {
      const out = new Int32Array(8);
      const program = staged(
        (_, pipeline) => [pipelineCall('producerCommit', pipeline), print(constant('i32', 1))],
        { group: { kind: 'thread' } },
      );
      const globalIn = input();
      runProgram(interpreter(seed), program, { grid: 1, arguments: { out, globalIn } });
      return out.join();
    };
    const seen = new Set(Array.from({ length: 20 }, (_, seed) => run(seed)));
    expect(run(3)).toBe(run(3));
    expect(seen.size).toBeGreaterThan(3);
  });
});

describe('quit', () => {
  test('is true in exactly one thread; a thread that returned has quit', () => {
    const p = new ProgramBuilder('quits', 16);
    const last = p.array('last', 'i32');
    const pipeline = p.pipeline('pipeline', 2);
    const result = p.variable('result', 'bool');
    const rank = p.builtin('threadRank');
    const program = p.build([
      makePipeline(pipeline),
      when(compare('less', rank, p.index(4)), [finish()]),
      sync(),
      quit(pipeline, result),
      store(last, rank, convert(result.value, 'i32')),
    ]);
    for (const target of [late, eager, interpreter(5)]) {
      const array = new Int32Array(16);
      expect(runProgram(target, program, { grid: 1, arguments: { last: array } }).fault).toBeNull();
      expect(array.reduce((a, b) => a + b)).toBe(1);
    }
  });

  test('a pipeline is not used after it', () => {
    const program = staged((_, pipeline) => [quit(pipeline), pipelineCall('producerCommit', pipeline)]);
    const { fault } = runProgram(late, program, {
      grid: 1,
      arguments: { out: new Int32Array(8), globalIn: input() },
    });
    expect(fault).toMatchObject({
      kind: 'misuse',
      code: 'WS3006',
      message: 'producerCommit of `pipeline` by a thread that has quit it',
      thread: [0, 0, 0],
    });
  });
});

describe('makePipeline', () => {
  const program = (
    producers: (p: ProgramBuilder) => ReturnType<typeof constant>,
    partition: 'role' | 'count',
  ) => {
    const p = new ProgramBuilder('makes', 8);
    const pipeline = p.pipeline('pipeline', 2, partition);
    return p.build([makePipeline(pipeline, producers(p))]);
  };
  const faultOf = (built: ReturnType<typeof program>) =>
    runProgram(late, built, { grid: 1, arguments: {} }).fault;

  test('needs producers and consumers', () => {
    expect(faultOf(program(() => constant('bool', true), 'role'))).toMatchObject({
      code: 'WS3006',
      message: '`pipeline` has 8 producers among 8 threads',
      hint: 'A partitioned pipeline needs at least one producer and one consumer.',
    });
    expect(faultOf(program((p) => p.index(0), 'count'))).toMatchObject({
      message: '`pipeline` has 0 producers among 8 threads',
    });
  });

  test('needs the same count in all threads', () => {
    const mixed = program(
      (p) => add(p.index(1), binary('remainder', p.builtin('threadRank'), p.index(3))),
      'count',
    );
    expect(faultOf(mixed)).toMatchObject({
      code: 'WS3006',
      message: 'the threads make `pipeline` with different counts of producers: 1, 2, 3',
    });
  });

  test('waits for the whole group', () => {
    const p = new ProgramBuilder('partial', 8);
    const pipeline = p.pipeline('pipeline', 1);
    const built = p.build([
      when(
        compare('less', p.builtin('threadRank'), p.index(3)),
        [sync({ kind: 'block' })],
        [makePipeline(pipeline), sync()],
      ),
    ]);
    const fault = faultOf(built);
    expect(fault).toMatchObject({
      kind: 'deadlock',
      waiting: [
        { what: 'sync of the block: 3 of 8 threads have arrived', threads: [0, 1, 2] },
        { what: 'makePipeline of `pipeline`: 5 of 8 threads have called it', threads: [3, 4, 5, 6, 7] },
      ],
    });
  });

  test('can be reached again: the state is new', () => {
    const p = new ProgramBuilder('again', 8);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 8);
    const pipeline = p.pipeline('pipeline', 2);
    const round = p.variable('round', 'i32');
    const at = (n: ReturnType<typeof constant>) => add(multiply(n, p.index(8)), p.builtin('threadRank'));
    const built = p.build([
      ...p.countUp(round, p.index(0), compare('less', round.value, p.index(3)), [
        makePipeline(pipeline),
        pipelineCall('producerAcquire', pipeline),
        memcpyAsync({
          to: [shared, p.index(0)],
          from: [globalIn, multiply(round.value, p.index(8))],
          count: p.index(8),
          pipeline,
        }),
        pipelineCall('producerCommit', pipeline),
        pipelineCall('consumerWait', pipeline),
        store(out, at(round.value), load(shared, p.builtin('threadRank'))),
      ]),
    ]);
    const data = Int32Array.from({ length: 24 }, (_, i) => i * i);
    for (const target of [late, eager, interpreter(7)]) {
      const result = new Int32Array(24);
      expect(
        runProgram(target, built, { grid: 1, arguments: { out: result, globalIn: data } }).fault,
      ).toBeNull();
      expect(result).toEqual(data);
    }
  });

  test('a pipeline of tiles: each tile has its own', () => {
    const p = new ProgramBuilder('tiles', 12);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 12);
    const tile: Group = { kind: 'tile', size: 4 };
    const pipeline = p.pipeline('pipeline', 1);
    const rank = p.builtin('threadRank');
    const base = multiply(binary('divide', rank, p.index(4)), p.index(4));
    const built = p.build([
      makePipeline(pipeline),
      // The last tile does nothing more; the others need it not.
      when(compare('greaterEqual', rank, p.index(8)), [finish()]),
      pipelineCall('producerAcquire', pipeline),
      memcpyAsync({ group: tile, to: [shared, base], from: [globalIn, base], count: p.index(4), pipeline }),
      pipelineCall('producerCommit', pipeline),
      pipelineCall('consumerWait', pipeline),
      store(out, rank, load(shared, binary('xor', rank, p.index(3)))),
    ]);
    const tiled = { ...built, pipelines: [{ ...built.pipelines[0]!, group: tile }] };
    for (const target of [late, eager, interpreter(7)]) {
      const result = new Int32Array(12);
      const globalIn12 = Int32Array.from({ length: 12 }, (_, i) => i);
      const { fault } = runProgram(target, tiled, {
        grid: 1,
        arguments: { out: result, globalIn: globalIn12 },
      });
      expect(fault).toBeNull();
      expect([...result]).toEqual([3, 2, 1, 0, 7, 6, 5, 4, 0, 0, 0, 0]);
    }
  });
});

describe('roles', () => {
  test('a consumer does not produce', () => {
    const p = new ProgramBuilder('roles', 4);
    const pipeline = p.pipeline('pipeline', 1, 'role');
    const program = p.build([
      makePipeline(pipeline, compare('equal', p.builtin('threadRank'), p.index(0))),
      pipelineCall('producerAcquire', pipeline),
    ]);
    expect(runProgram(late, program, { grid: 1, arguments: {} }).fault).toMatchObject({
      code: 'WS3006',
      message: 'producerAcquire of `pipeline` by a consumer',
      hint: "Call producerAcquire() only in threads that made the pipeline as 'producer'.",
      thread: [1, 0, 0],
    });
  });
});
