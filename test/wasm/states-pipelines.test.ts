// Pipelines whose threads are not together: of tiles, with roles, made anew, left early.

import { describe, expect, test } from 'vitest';
import type { Expression, Group, Statement } from '#warpstage/compiler/ir.js';
import { counting, expectStates } from '../support/agreement.ts';
import {
  type ArrayHandle,
  add,
  atomic,
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
  quit,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { wasm } from '../support/wasm.ts';

/** How far each thread has come: `out[rank] = value`, in its own elements. */
const own = (p: ProgramBuilder, slot: number, slots = 4) =>
  add(multiply(p.gridRank(), p.index(slots)), p.index(slot));

describe('pipelines', () => {
  const copyOwn = (p: ProgramBuilder, pipeline: number, to: ArrayHandle, from: ArrayHandle, at: Expression) =>
    memcpyAsync({ group: { kind: 'thread' }, to: [to, at], from: [from, at], count: p.index(1), pipeline });

  test('a pipeline for each tile, some of which go on longer', () => {
    const p = new ProgramBuilder('tiles', 12);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 12);
    const tile: Group = { kind: 'tile', size: 4 };
    const pipeline = p.pipeline('pipeline', 2, 'unified', tile);
    const rank = p.builtin('threadRank');
    const tileRank = binary('divide', rank, p.index(4));
    const base = multiply(tileRank, p.index(4));
    const i = p.variable('i', 'i32');
    const program = p.build([
      makePipeline(pipeline),
      ...p.countUp(i, p.index(0), compare('less', i.value, multiply(tileRank, p.index(3))), [
        pipelineCall('producerAcquire', pipeline),
        memcpyAsync({ group: tile, to: [shared, base], from: [globalIn, base], count: p.index(4), pipeline }),
        pipelineCall('producerCommit', pipeline),
        pipelineCall('consumerWait', pipeline),
        store(
          out,
          rank,
          add(load(out, rank), multiply(load(shared, binary('xor', rank, p.index(3))), i.value)),
        ),
        pipelineCall('consumerRelease', pipeline),
      ]),
    ]);
    const launch = { grid: 1, arguments: { out: new Int32Array(12), globalIn: counting(12) } };
    expectStates(program, launch, wasm);
    expectStates(program, launch);
  });

  test('two pipelines at once: what one role hands on, the other passes back', () => {
    const p = new ProgramBuilder('pingPong', 8);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const there = p.shared('there', 'i32', 8);
    const back = p.shared('back', 'i32', 8);
    const [first, second] = [p.pipeline('first', 1, 'role'), p.pipeline('second', 2, 'role')];
    const rank = p.builtin('threadRank');
    const half = p.index(4);
    const low = compare('less', rank, half);
    const i = p.variable('i', 'i32');
    const rounds = (body: Statement[]) =>
      p.countUp(i, p.index(0), compare('less', i.value, p.index(5)), body);
    const hand = (pipeline: number, work: Statement[]) => [
      pipelineCall('producerAcquire', pipeline),
      ...work,
      pipelineCall('producerCommit', pipeline),
    ];
    const take = (pipeline: number, work: Statement[]) => [
      pipelineCall('consumerWait', pipeline),
      ...work,
      pipelineCall('consumerRelease', pipeline),
    ];
    const program = p.build([
      makePipeline(first, low),
      makePipeline(second, compare('greaterEqual', rank, half)),
      when(
        low,
        rounds([
          ...hand(first, [
            store(there, rank, add(load(globalIn, rank), i.value)),
            copyOwn(p, first, there, globalIn, add(rank, half)),
          ]),
          ...take(second, [store(out, own(p, 0), add(load(out, own(p, 0)), load(back, add(rank, half))))]),
        ]),
        rounds([
          ...take(first, [store(out, own(p, 1), load(there, binary('subtract', rank, half)))]),
          ...hand(second, [store(back, rank, multiply(load(out, own(p, 1)), constant('i32', 7)))]),
        ]),
      ),
    ]);
    const launch = { grid: 2, arguments: { out: new Int32Array(64), globalIn: counting(8) } };
    expectStates(program, launch, wasm);
  });

  test('made anew with other roles, after quit and a sync', () => {
    const p = new ProgramBuilder('anew', 8);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const shared = p.shared('shared', 'i32', 8);
    const pipeline = p.pipeline('pipeline', 2, 'role');
    const rank = p.builtin('threadRank');
    const round = p.variable('round', 'i32');
    const last = p.variable('last', 'bool');
    const lasts = p.variable('lasts', 'i32');
    const produces = compare(
      'equal',
      binary('and', binary('shiftRight', rank, round.value), p.index(1)),
      p.index(0),
    );
    const bit = binary('shiftLeft', p.index(1), round.value);
    const program = p.build([
      ...p.countUp(round, p.index(0), compare('less', round.value, p.index(3)), [
        makePipeline(pipeline, produces),
        when(
          produces,
          [
            pipelineCall('producerAcquire', pipeline),
            copyOwn(p, pipeline, shared, globalIn, rank),
            pipelineCall('producerCommit', pipeline),
          ],
          [
            pipelineCall('consumerWait', pipeline),
            store(out, rank, add(load(out, rank), load(shared, binary('xor', rank, bit)))),
            pipelineCall('consumerRelease', pipeline),
          ],
        ),
        quit(pipeline, last),
        lasts.set(add(lasts.value, convert(last.value, 'i32'))),
        sync(),
      ]),
      atomic('add', [out, p.index(8)], lasts.value),
    ]);
    const launch = { grid: 1, arguments: { out: new Int32Array(9), globalIn: counting(8) } };
    const { arguments: arrays } = expectStates(program, launch, wasm);
    // One thread a round.
    expect((arrays.out as Int32Array)[8]).toBe(3);
  });

  test('made a second time by threads that are ahead of the others', () => {
    const p = new ProgramBuilder('ahead', 8);
    const out = p.array('out', 'i32');
    const pipeline = p.pipeline('pipeline', 1);
    const i = p.variable('i', 'i32');
    const program = p.build([
      ...p.countUp(i, p.index(0), compare('less', i.value, p.index(3)), [makePipeline(pipeline)]),
      when(
        compare('less', p.builtin('threadRank'), p.index(3)),
        [pipelineCall('producerCommit', pipeline), pipelineCall('consumerWait', pipeline)],
        [pipelineCall('producerCommit', pipeline)],
      ),
      store(out, p.gridRank(), i.value),
    ]);
    expectStates(program, { grid: 1, arguments: { out: new Int32Array(8) } }, wasm);
  });

  test('quit in some threads and return in the others: true in exactly one', () => {
    const p = new ProgramBuilder('quits', 16);
    const last = p.array('last', 'i32');
    const pipeline = p.pipeline('pipeline', 2);
    const result = p.variable('result', 'bool');
    const rank = p.builtin('threadRank');
    const program = p.build([
      makePipeline(pipeline),
      when(compare('less', rank, p.index(4)), [finish()]),
      sync(),
      when(compare('less', rank, p.index(9)), [quit(pipeline, result)], [sync(), quit(pipeline, result)]),
      when(compare('less', rank, p.index(9)), [sync()]),
      store(last, rank, convert(result.value, 'i32')),
    ]);
    const { arguments: arrays } = expectStates(
      program,
      { grid: 1, arguments: { last: new Int32Array(16) } },
      wasm,
    );
    expect((arrays.last as Int32Array).reduce((a, b) => a + b)).toBe(1);
  });

  test('a block copy that only some threads come to copies their shares', () => {
    const p = new ProgramBuilder('shares', 8);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const pipeline = p.pipeline('pipeline', 1);
    const odd = compare('equal', binary('and', p.builtin('threadRank'), p.index(1)), p.index(1));
    const copy = memcpyAsync({
      to: [out, p.index(1)],
      from: [globalIn, p.index(2)],
      count: p.index(20),
      pipeline,
    });
    const program = p.build([
      makePipeline(pipeline),
      when(
        odd,
        [copy, pipelineCall('producerCommit', pipeline), sync()],
        [pipelineCall('producerCommit', pipeline), sync()],
      ),
    ]);
    const launch = { grid: 1, arguments: { out: new Int32Array(24), globalIn: counting(24) } };
    const { arguments: arrays } = expectStates(program, launch, wasm);
    expect(arrays.out).toMatchObject({ 1: 0, 2: 16, 3: 0, 4: 30 });
  });

  test('thread scope under varying conditions waits for nothing', () => {
    const p = new ProgramBuilder('own', 8);
    const out = p.array('out', 'i32');
    const globalIn = p.array('globalIn', 'i32', 'readonly');
    const pipeline = p.pipeline('pipeline', 0);
    const last = p.variable('last', 'bool');
    const rank = p.builtin('threadRank');
    const program = p.build([
      makePipeline(pipeline),
      when(
        compare('less', rank, p.index(5)),
        [
          pipelineCall('producerAcquire', pipeline),
          copyOwn(p, pipeline, out, globalIn, rank),
          pipelineCall('producerCommit', pipeline),
          pipelineCall('consumerWait', pipeline),
          sync(),
          quit(pipeline, last),
        ],
        [sync()],
      ),
      store(out, add(rank, p.index(8)), convert(last.value, 'i32')),
    ]);
    const launch = { grid: 1, arguments: { out: new Int32Array(16), globalIn: counting(8) } };
    expectStates(program, launch, wasm);
  });
});
