// Pipelines that the whole block uses together: all that is left of one is two counters.
//
// All threads commit and release together, so that a wait is over as soon as it begins, unless
// it can never be: an acquire when every stage is taken, a wait when nothing was committed.
// Those are deadlocks, and one comparison of the counters finds them.

import type { Call, Expression, Statement } from '../../../compiler/ir.ts';
import { isStageCall, pipelineVerbs, verbOf } from '../../../compiler/ir-pipelines.ts';
import { pipelineStates } from '../../pipeline-misuse.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { surelyMade } from './surely-made.ts';

/** Variables of the block. */
interface Counters {
  readonly committed: number;
  readonly released: number;
  /** One of `pipelineStates`; null where the pipeline is surely there. */
  readonly state: number | null;
}

type OfPipeline = Extract<Call, { pipeline: number }>;

export class PipelineCounters {
  readonly #frame: Frame;
  readonly #counters: readonly (Counters | null)[];

  constructor(frame: Frame) {
    const { pipelines, body } = frame.program;
    const surely = surelyMade(body, 'pipeline');
    this.#frame = frame;
    this.#counters = pipelines.map(({ name, scope }, id) => {
      if (scope === 'thread') return null;
      return {
        committed: frame.variable(`${name}.committed`, 'i32'),
        released: frame.variable(`${name}.released`, 'i32'),
        state: surely.has(id) ? null : frame.variable(`${name}.state`, 'i32'),
      };
    });
  }

  /** The start of a block: no pipeline is made. */
  begin(words: Words): Statement[] {
    return this.#counters.flatMap((counters) => {
      if (counters === null || counters.state === null) return [];
      return [words.assign(counters.state, words.constant('i32', pipelineStates.absent))];
    });
  }

  /** A call that all threads of the block make together. */
  lower(call: OfPipeline, words: Words): Statement[] {
    const { committed, released, state } = this.#counters[call.pipeline]!;
    const number = (value: number) => words.constant('i32', value);
    const read = (variable: number) => words.read(variable, 'i32');
    const inUse = () => words.binary('subtract', read(committed), read(released));
    const setState = (to: keyof typeof pipelineStates) =>
      state === null ? [] : [words.assign(state, number(pipelineStates[to]))];
    const addOne = (counter: number) => words.assign(counter, words.binary('add', read(counter), number(1)));
    const { stages } = this.#frame.program.pipelines[call.pipeline]!;
    const stuckIf = (test: Expression, counter: number) => {
      const stage = words.binary('remainder', words.convert(read(counter), 'u32'), words.u32(stages));
      const { pipeline, intrinsic: verb } = call;
      return words.when(test, [words.core({ kind: 'stuckAtStage', pipeline, verb, stage })]);
    };
    switch (call.intrinsic) {
      case 'makePipeline':
        return [words.assign(committed, number(0)), words.assign(released, number(0)), ...setState('made')];
      case 'quit':
        return [...this.presence(call, words), ...setState('quit')];
      default: {
        if (!isStageCall(call))
          throw new TypeError(`${verbOf(call)} is not what all threads of a block do together`);
        const { role, waits } = pipelineVerbs[call.intrinsic];
        const counter = role === 'producer' ? committed : released;
        if (!waits) return [...this.presence(call, words), addOne(counter)];
        const isStuck =
          role === 'producer'
            ? words.compare('greaterEqual', inUse(), number(stages))
            : words.compare('lessEqual', inUse(), number(0));
        return [...this.presence(call, words), stuckIf(isStuck, counter)];
      }
    }
  }

  /** Stops a thread or the block if the call's pipeline has not been made or has been quit. */
  presence(call: OfPipeline, words: Words): Statement[] {
    const { pipeline } = call;
    const verb = verbOf(call);
    const state = this.#counters[pipeline]?.state ?? null;
    if (state === null) return [];
    const read = () => words.read(state, 'i32');
    const isAbsent = words.compare('notEqual', read(), words.constant('i32', pipelineStates.made));
    return [words.when(isAbsent, [words.core({ kind: 'pipelineMisused', pipeline, verb, state: read() })])];
  }
}
