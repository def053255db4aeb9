// Deadlocks, and wrong uses of pipelines: the words of the interpreter.

import { describe, expect, test } from 'vitest';
import type { Expression, Group, Statement } from '#warpstage/compiler/ir.js';
import { counting, expectStates } from '../support/agreement.ts';
import {
  add,
  binary,
  compare,
  constant,
  finish,
  load,
  makePipeline,
  memcpyAsync,
  multiply,
  ProgramBuilder,
  pipelineCall,
  quit,
  sync,
  when,
} from '../support/ir.ts';
import { leavesEarly } from '../support/programs.ts';
import { wasm } from '../support/wasm.ts';

describe('wrong uses', () => {
  const fails = (build: (p: ProgramBuilder) => Statement[]) => {
    const p = new ProgramBuilder('wrong', 8);
    const { fault } = expectStates(p.build(build(p)), { grid: 1, arguments: {} });
    return fault;
  };
  const firstIs = (p: ProgramBuilder) => compare('equal', p.builtin('threadRank'), p.index(0));

  test('a pipeline that a thread has not made', () => {
    const fault = fails((p) => {
      const pipeline = p.pipeline('pipeline', 2);
      return [when(firstIs(p), [pipelineCall('producerCommit', pipeline)], [makePipeline(pipeline)])];
    });
    expect(fault).toMatchObject({
      code: 'WS3006',
      message: '`pipeline` is used by a thread that did not make it',
      thread: [0, 0, 0],
    });
  });

  test.each([
    ['producerAcquire', 'consumer', [1, 0, 0]],
    ['producerCommit', 'consumer', [1, 0, 0]],
    ['consumerWait', 'producer', [0, 0, 0]],
    ['consumerRelease', 'producer', [0, 0, 0]],
  ] as const)('%s by a %s', (verb, role, thread) => {
    const fault = fails((p) => {
      const pipeline = p.pipeline('pipeline', 1, 'role');
      return [
        makePipeline(pipeline, firstIs(p)),
        when(compare('equal', p.builtin('threadRank'), p.index(thread[0])), [pipelineCall(verb, pipeline)]),
      ];
    });
    expect(fault).toMatchObject({ code: 'WS3006', message: `${verb} of \`pipeline\` by a ${role}`, thread });
  });

  test('a copy by a consumer, under a condition of its own', () => {
    const p = new ProgramBuilder('wrong', 8);
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 8);
    const pipeline = p.pipeline('pipeline', 1, 'role');
    const rank = p.builtin('threadRank');
    const program = p.build([
      makePipeline(pipeline, firstIs(p)),
      when(compare('equal', load(globalIn, rank), constant('i32', 9)), [
        memcpyAsync({
          group: { kind: 'thread' },
          to: [shared, rank],
          from: [globalIn, rank],
          count: p.index(1),
          pipeline,
        }),
      ]),
    ]);
    const { fault } = expectStates(program, { grid: 1, arguments: { globalIn: counting(8) } });
    expect(fault).toMatchObject({ message: 'memcpyAsync of `pipeline` by a consumer', thread: [2, 0, 0] });
  });

  test('after quit', () => {
    const fault = fails((p) => {
      const pipeline = p.pipeline('pipeline', 1);
      return [
        makePipeline(pipeline),
        when(firstIs(p), [], [quit(pipeline), pipelineCall('consumerRelease', pipeline)]),
      ];
    });
    expect(fault).toMatchObject({
      message: 'consumerRelease of `pipeline` by a thread that has quit it',
      thread: [1, 0, 0],
    });
  });

  test('no producers, no consumers', () => {
    expect(
      fails((p) => [makePipeline(p.pipeline('pipeline', 1, 'role'), constant('bool', true))]),
    ).toMatchObject({ message: '`pipeline` has 8 producers among 8 threads', thread: [0, 0, 0] });
    expect(fails((p) => [makePipeline(p.pipeline('pipeline', 1, 'count'), p.index(-1))])).toMatchObject({
      message: '`pipeline` has -1 producers among 8 threads',
    });
    expect(
      fails((p) => [makePipeline(p.pipeline('pipeline', 1, 'count', { kind: 'tile', size: 1 }), p.index(1))]),
    ).toMatchObject({ message: '`pipeline` has 1 producer among 1 thread' });
  });

  test('different counts of producers', () => {
    const fault = fails((p) => {
      const rank = p.builtin('threadRank');
      return [
        when(compare('less', rank, p.index(2)), [finish()]),
        makePipeline(
          p.pipeline('pipeline', 1, 'count'),
          add(p.index(1), binary('remainder', rank, p.index(5))),
        ),
      ];
    });
    expect(fault).toMatchObject({
      message: 'the threads make `pipeline` with different counts of producers: 1, 2, 3, 4, 5',
      thread: [2, 0, 0],
    });
  });
});

describe('deadlocks', () => {
  test('some sync the block, others make a pipeline', () => {
    const p = new ProgramBuilder('partial', 8);
    const pipeline = p.pipeline('pipeline', 1);
    const low = compare('less', p.builtin('threadRank'), p.index(3));
    const program = p.build([when(low, [sync()], [makePipeline(pipeline), sync()])]);
    const { fault } = expectStates(program, { grid: 3, arguments: {}, blocks: [1, 2] }, wasm);
    expect(fault).toMatchObject({
      kind: 'deadlock',
      block: [1, 0, 0],
      waiting: [
        { what: 'sync of the block: 3 of 8 threads have arrived', threads: [0, 1, 2] },
        { what: 'makePipeline of `pipeline`: 5 of 8 threads have called it', threads: [3, 4, 5, 6, 7] },
      ],
    });
  });

  test('a tile that some of its threads do not sync, and one that they left', () => {
    const p = new ProgramBuilder('tile', 10);
    const tile: Group = { kind: 'tile', size: 4 };
    const rank = p.builtin('threadRank');
    const program = p.build([
      when(compare('equal', rank, p.index(8)), [finish()]),
      when(compare('less', rank, p.index(6)), [sync(tile)]),
      sync(),
    ]);
    const { fault } = expectStates(program, { grid: 1, arguments: {} }, wasm);
    expect(fault).toMatchObject({
      waiting: [
        {
          what: 'sync of the block: 7 of 9 threads have arrived; 1 thread has returned',
          threads: [0, 1, 2, 3, 6, 7, 9],
        },
        { what: 'sync of tile 1: 2 of 4 threads have arrived', threads: [4, 5] },
      ],
    });
  });

  test('a producer that stops early leaves the consumers waiting, and they the other producers', () => {
    const p = new ProgramBuilder('stops', 8);
    const pipeline = p.pipeline('pipeline', 2, 'role');
    const i = p.variable('i', 'i32');
    const rank = p.builtin('threadRank');
    const produces = compare('less', rank, p.index(3));
    const rounds = (limit: Expression, body: Statement[]) =>
      p.countUp(i, p.index(0), compare('less', i.value, limit), body);
    const program = p.build([
      makePipeline(pipeline, produces),
      when(
        produces,
        rounds(add(p.index(3), multiply(rank, p.index(5))), [
          pipelineCall('producerAcquire', pipeline),
          pipelineCall('producerCommit', pipeline),
        ]),
        rounds(p.index(12), [
          pipelineCall('consumerWait', pipeline),
          pipelineCall('consumerRelease', pipeline),
        ]),
      ),
    ]);
    const { fault } = expectStates(program, { grid: 1, arguments: {} }, wasm);
    expect(fault).toMatchObject({
      waiting: [
        {
          what: 'producerAcquire on stage 1 of `pipeline`: 0 of 5 consumers have released it; 1 thread has returned',
          threads: [1, 2],
        },
        {
          what: 'consumerWait on stage 1 of `pipeline`: 2 of 3 producers have committed; 1 thread has returned',
          threads: [3, 4, 5, 6, 7],
        },
      ],
    });
  });

  test('a thread that leaves early', () => {
    const { fault } = expectStates(leavesEarly(), { grid: 1, arguments: {} }, wasm);
    expect(fault).toMatchObject({ kind: 'deadlock' });
  });
});
