// Pipelines in uniform control flow: all that is left of them is two counters.
//
// All threads commit and release together, so that a wait is over as soon as it begins, unless
// it can never be: an acquire when every stage is taken, a wait when nothing was committed.
// Those are deadlocks, and one comparison of the counters finds them.

import type { Call, Program } from '../../compiler/ir.ts';
import { forEachStatement } from '../analysis/walk.ts';
import type { Code, Local } from './encoder/code.ts';
import type { ThreadContext } from './thread-context.ts';

/** What a pipeline is at a moment, to a thread; made with roles, it is a producer's or a consumer's. */
export const pipelineStates = { absent: 0, made: 1, quit: 2, producer: 3, consumer: 4 } as const;

interface Counters {
  readonly committed: Local;
  readonly released: Local;
  /** One of `pipelineStates`; null where the pipeline is surely there. */
  readonly state: Local | null;
}

/** Waits that may end otherwise for one thread than for another have no place here. */
type PipelineCall = Exclude<
  Extract<Call, { pipeline: number }>,
  { intrinsic: 'consumerWaitFor' | 'consumerWaitUntil' | 'consumerWaitPrior' }
>;

export class BlockPipelines {
  readonly #counters = new Map<number, Counters>();
  readonly #surelyMade: ReadonlySet<number>;

  constructor(program: Program) {
    this.#surelyMade = surelyMade(program);
  }

  /** Writes the start of a block: no pipeline is made. */
  writeStart(code: Code): void {
    for (const { state } of this.#counters.values()) {
      if (state !== null) code.i32(pipelineStates.absent).set(state);
    }
  }

  /** Writes a call that all threads of the block make together. */
  write(context: ThreadContext, call: PipelineCall): void {
    const { code } = context;
    const { committed, released, state } = this.#of(context, call.pipeline);
    if (call.intrinsic === 'makePipeline') {
      code.i32(0).set(committed).i32(0).set(released);
      if (state !== null) code.i32(pipelineStates.made).set(state);
      return;
    }
    this.writePresence(context, call);
    switch (call.intrinsic) {
      case 'producerAcquire': {
        const { stages } = context.unit.program.pipelines[call.pipeline]!;
        code.get(committed).get(released).op('i32.sub').i32(stages).op('i32.ge_s');
        writeDeadlock(context, call, committed);
        return;
      }
      case 'producerCommit':
        code.get(committed).i32(1).op('i32.add').set(committed);
        return;
      case 'consumerWait':
        code.get(committed).get(released).op('i32.sub').i32(0).op('i32.le_s');
        writeDeadlock(context, call, released);
        return;
      case 'consumerRelease':
        code.get(released).i32(1).op('i32.add').set(released);
        return;
      case 'quit':
        if (state !== null) code.i32(pipelineStates.quit).set(state);
        return;
      case 'memcpyAsync':
        return;
      default:
        call satisfies never;
    }
  }

  /** Stops the kernel if a call's pipeline has not been made or has been quit. */
  writePresence(context: ThreadContext, call: PipelineCall): void {
    const { code, unit, launch, frame } = context;
    if (unit.program.pipelines[call.pipeline]!.scope === 'thread') return;
    const { state } = this.#of(context, call.pipeline);
    if (state === null) return;
    code
      .get(state)
      .i32(pipelineStates.made)
      .op('i32.ne')
      .if(() => {
        code.i32(unit.pipelineSite(call.range, call.pipeline, call.intrinsic));
        frame.pushRank();
        code.get(launch.block).get(state).call(unit.host('fault', 'pipeline'));
        frame.fail();
      });
  }

  #of({ code, unit }: ThreadContext, pipeline: number): Counters {
    const known = this.#counters.get(pipeline);
    if (known !== undefined) return known;
    const { name } = unit.program.pipelines[pipeline]!;
    const counters = {
      committed: code.local('i32', `${name}.committed`),
      released: code.local('i32', `${name}.released`),
      state: this.#surelyMade.has(pipeline) ? null : code.local('i32', `${name}.state`),
    };
    this.#counters.set(pipeline, counters);
    return counters;
  }
}

/** If the condition on the stack holds, all threads wait for ever for the stage that a counter is at. */
function writeDeadlock(context: ThreadContext, call: PipelineCall, counter: Local): void {
  const { code, unit, launch, frame } = context;
  const { stages } = unit.program.pipelines[call.pipeline]!;
  code.if(() => {
    code.i32(unit.pipelineSite(call.range, call.pipeline, call.intrinsic));
    code.get(launch.block).get(counter).i32(stages).op('i32.rem_u');
    code.call(unit.host('fault', 'deadlock'));
    frame.fail();
  });
}

/** The pipelines that every thread makes before anything is done with them, and that none quits. */
function surelyMade({ body }: Program): Set<number> {
  const made = new Set<number>();
  const excluded = new Set<number>();
  for (const statement of body) {
    if (statement.kind === 'call' && statement.intrinsic === 'makePipeline') {
      made.add(statement.pipeline);
      continue;
    }
    forEachStatement([statement], (each) => {
      if (each.kind !== 'call' || !('pipeline' in each)) return;
      if (each.intrinsic === 'quit' || !made.has(each.pipeline)) excluded.add(each.pipeline);
    });
  }
  return new Set([...made].filter((pipeline) => !excluded.has(pipeline)));
}
