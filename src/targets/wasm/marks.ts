// Modules that tell of the stages of their pipelines: a program with a mark at each point of a
// stage's use, and how a mark is written.
//
// The batches are counted in variables of the program, so that they are a thread's own, uniform where its
// threads go the same way, as everything that analyses see. Marks of a pipeline that the whole
// block shares, or of those that its threads have one by one, are reported once for threads that come
// together; where that would cut up code that threads otherwise run alone, each may tell them
// for itself.

import type { Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import { isTimedWait, pipelineVerbs } from '../../compiler/ir-pipelines.ts';
import { replaceCalls } from '../analysis/map.ts';
import { Frame } from '../legalise/frame.ts';
import type { Words } from '../legalise/words.ts';
import { marksOf } from '../stage-marks.ts';
import { pushExpression } from './expressions.ts';
import type { ThreadContext } from './thread-context.ts';

type MarkCall = Extract<Call, { intrinsic: 'mark' }>;

/** The same program with marks; reported once by threads that come together, or by each thread. */
export function withStageMarks(program: Program, reported: 'together' | 'apart'): Program {
  return new Marking(program, reported).program();
}

/** Writes a mark, for the thread or threads of a context. */
export function writeMark(context: ThreadContext, { at, of, made, batch }: MarkCall): void {
  const { code, unit, frame } = context;
  code.i32(at).i32(of);
  pushExpression(context, made);
  pushExpression(context, batch);
  frame.pushRank();
  unit.writeRankInBlock(code);
  code.call(unit.host('stages', 'mark'));
}

/** The variables that count a pipeline's uses. */
interface Counters {
  /** How many times it was made here, how many batches were committed, and released. */
  readonly made: number;
  readonly head: number;
  readonly tail: number;
}

class Marking {
  readonly #frame: Frame;
  readonly #reported: 'together' | 'apart';
  readonly #counters: readonly Counters[];

  constructor(program: Program, reported: 'together' | 'apart') {
    const frame = new Frame(program);
    this.#frame = frame;
    this.#reported = reported;
    this.#counters = program.pipelines.map(({ name }) => ({
      made: frame.variable(`${name}.made`, 'i32'),
      head: frame.variable(`${name}.head`, 'i32'),
      tail: frame.variable(`${name}.tail`, 'i32'),
    }));
  }

  program(): Program {
    return this.#frame.finish(replaceCalls(this.#frame.program.body, (call) => this.#call(call)));
  }

  #call(call: Call): readonly Statement[] {
    if (!('pipeline' in call) || call.intrinsic === 'quit') return [call];
    const { pipeline } = call;
    const { made, head, tail } = this.#counters[pipeline]!;
    const isOwn = this.#frame.program.pipelines[pipeline]!.scope === 'thread';
    const words = this.#frame.words(call.range);
    const number = (value: number) => words.constant('i32', value);
    const read = (counter: number) => words.read(counter, 'i32');
    const plus = (counter: number, value: number) => words.binary('add', read(counter), number(value));
    const add = (counter: number) => words.assign(counter, plus(counter, 1));
    if (call.intrinsic === 'makePipeline') {
      return [call, add(made), words.assign(head, number(0)), words.assign(tail, number(0))];
    }
    const { begins, ends } = marksOf(call.intrinsic);
    const mark = (at: number, batch: Expression) => this.#mark(at, pipeline, batch, words);
    /** The batch before the one that the tail is at, or the first. */
    const lastBefore = () =>
      words.choose(words.compare('less', number(0), read(tail)), plus(tail, -1), number(0));
    const { step } = pipelineVerbs[call.intrinsic];
    switch (step) {
      case 'acquire':
      case 'copy':
        return [mark(begins, read(head)), call, mark(ends, read(head))];
      case 'commit':
        return [call, add(head)];
      case 'wait': {
        const began = mark(begins, read(tail));
        if ('prior' in call) {
          const oldest = plus(head, -call.prior);
          const isLater = words.compare('less', read(tail), oldest);
          return [began, call, words.when(isLater, [words.assign(tail, oldest)]), mark(ends, lastBefore())];
        }
        // In thread scope it is the wait that moves on, if there is something to wait for.
        const isThere = words.compare('less', read(tail), read(head));
        const ended = [mark(ends, read(tail)), ...(isOwn ? [words.when(isThere, [add(tail)])] : [])];
        if (!isTimedWait(call)) return [began, call, ...ended];
        const result = call.result ?? this.#frame.variable('waited', 'bool');
        return [began, { ...call, result }, words.when(words.read(result, 'bool'), ended)];
      }
      case 'release': {
        const batch = isOwn ? lastBefore() : read(tail);
        const marked = [mark(begins, batch), call, mark(ends, batch)];
        return isOwn ? marked : [...marked, add(tail)];
      }
      default:
        return step satisfies never;
    }
  }

  #mark(at: number, pipeline: number, batch: Expression, words: Words): MarkCall {
    const { group } = this.#frame.program.pipelines[pipeline]!;
    return {
      kind: 'call',
      intrinsic: 'mark',
      at,
      of: pipeline,
      made: words.read(this.#counters[pipeline]!.made, 'i32'),
      batch,
      once: this.#reported === 'together' && group.kind !== 'tile',
      range: words.range,
    };
  }
}
