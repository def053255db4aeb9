// The program as it is analysed: what means nothing here is gone, what is implicit is said.
//
// - A sync of a thread with itself, and everything a thread-scope pipeline does, disappears: its
//   copies are done when they are issued.
// - What `quit` gives is an assignment where all threads quit together: true in the last thread of
//   the pipeline's group. Where they do not, the threads are counted as they quit.
// - Where threads run as state machines, a wait that may time out is a loop: it looks, and lets others
//   go on. What is left of the call is the look, which waits for no time at all.
// - A variable that may be read before it is assigned is assigned its zero at the beginning.

import { zeroOf } from '../../../compiler/arithmetic.ts';
import type { Call, Expression, Program, SharingGroup, Statement } from '../../../compiler/ir.ts';
import { isStageCall, isTimedWait, type TimedWait, withoutLimit } from '../../../compiler/ir-pipelines.ts';
import { analyseLiveness, has } from '../../analysis/liveness.ts';
import { replaceCalls } from '../../analysis/map.ts';
import { Frame } from '../frame.ts';
import type { Words } from '../words.ts';

/** Whether all threads of a group quit its pipelines together. */
type Quitting = 'together' | 'counted';

export function prepare(program: Program, quitting: Quitting): Program {
  const frame = new Frame(program);
  const preparation = new Preparation(frame, quitting);
  const body = replaceCalls(program.body, (call) => preparation.call(call));
  const prepared = frame.finish(body);
  const { atStart } = analyseLiveness(body);
  const words = frame.words(program.body[0]?.range);
  const zeros = prepared.variables.flatMap(({ type }, variable): Statement[] => {
    if (!has(atStart, variable)) return [];
    const value: Expression = { kind: 'constant', type, value: zeroOf(type), range: words.range };
    return [words.assign(variable, value)];
  });
  return { ...prepared, body: [...zeros, ...body] };
}

class Preparation {
  readonly #frame: Frame;
  readonly #quitting: Quitting;

  constructor(frame: Frame, quitting: Quitting) {
    this.#frame = frame;
    this.#quitting = quitting;
  }

  call(call: Call): readonly Statement[] {
    const words = this.#frame.words(call.range);
    const always = words.constant('bool', true);
    const assigned = (variable: number | null, value: Expression) =>
      variable === null ? [] : [words.assign(variable, value)];
    switch (call.intrinsic) {
      case 'sync':
        return call.group.kind === 'thread' ? [] : [call];
      case 'pipelineConsumerWaitPrior':
        return [];
      case 'makePipeline':
        return this.#isOwn(call.pipeline) ? [] : [call];
      case 'memcpyAsync':
        return 'pipeline' in call && this.#isOwn(call.pipeline) ? [words.copyNow(call)] : [call];
      case 'barrierWait':
        if (call.limit === null) return [call];
        if (isForEver(call.limit)) {
          return [{ ...call, limit: null, result: null }, ...assigned(call.result, always)];
        }
        if (this.#quitting === 'together') return [call];
        if (call.limit.kind === 'constant' && !call.until && !(Number(call.limit.value) > 0)) {
          return [call, letOthersGoOn(words)];
        }
        return this.#timedWait(call, call.limit, words);
      case 'quit': {
        const { result, pipeline } = call;
        if (this.#isOwn(pipeline)) return assigned(result, always);
        if (this.#quitting === 'counted') return [call];
        const { group } = this.#frame.program.pipelines[pipeline]!;
        return [{ ...call, result: null }, ...assigned(result, this.#isLast(group, words))];
      }
      default:
        if (isTimedWait(call)) {
          if (this.#isOwn(call.pipeline)) return assigned(call.result, always);
          if (isForEver(call.limit)) return [withoutLimit(call), ...assigned(call.result, always)];
          return this.#quitting === 'counted' ? this.#timedWait(call, call.limit, words) : [call];
        }
        return isStageCall(call) && this.#isOwn(call.pipeline) ? [] : [call];
    }
  }

  #isOwn(pipeline: number): boolean {
    return this.#frame.program.pipelines[pipeline]!.scope === 'thread';
  }

  /**
   * A look at the stage or barrier, a look at the clock, and so on until one of them says that the wait is
   * over. Others go on in between, so that a kernel may wait again and again for no time at all.
   */
  #timedWait(
    call: TimedWait | Extract<Call, { intrinsic: 'barrierWait' }>,
    time: Expression,
    words: Words,
  ): Statement[] {
    const { range } = call;
    const [limit, start, now] = ['limit', 'start', 'now'].map((name) => this.#frame.variable(name, 'f64'));
    const ready = call.result ?? this.#frame.variable('ready', 'bool');
    const label = this.#frame.label();
    const clock = (result: number): Statement => ({ kind: 'call', intrinsic: 'globaltimer', result, range });
    const value = (variable: number | undefined) => words.read(variable!, 'f64');
    const leaveIf = (test: Expression) => words.when(test, [{ kind: 'break', label, range }]);
    // Differences of times are more exact than sums.
    const passed = call.until ? value(now) : words.binary('subtract', value(now), value(start));
    const early = words.compare('less', passed, value(limit));
    const isLate: Expression = { kind: 'unary', operator: 'not', operand: early, type: 'bool', range };
    const zero = words.constant('f64', 0);
    // A look at a stage keeps the name that reports have for the call.
    const until = call.intrinsic === 'barrierWait' ? false : call.until;
    const look: Call = { ...call, limit: zero, until, result: ready };
    const body = [
      look,
      leaveIf(words.read(ready, 'bool')),
      letOthersGoOn(words),
      clock(now!),
      leaveIf(isLate),
    ];
    return [
      words.assign(limit!, time),
      ...(call.until ? [] : [clock(start!)]),
      { kind: 'loop', label, test: null, testFirst: true, body, update: [], range },
    ];
  }

  /** Whether a thread is the last of its group. */
  #isLast(group: SharingGroup, words: Words): Expression {
    const always = words.constant('bool', true);
    const isAt = (rank: Expression, last: number) => words.compare('equal', rank, words.index(last));
    const lastOfBlock = isAt(words.threadRank, this.#frame.blockSize - 1);
    if (group.kind === 'thread') return always;
    if (group.kind !== 'tile') return lastOfBlock;
    return words.choose(isAt(words.rank(group), group.size - 1), always, lastOfBlock);
  }
}

/** A wait without an end is one that can be found to be a deadlock. */
function isForEver(time: Expression): boolean {
  return time.kind === 'constant' && time.value === Number.POSITIVE_INFINITY;
}

function letOthersGoOn(words: Words): Statement {
  const duration = words.constant('f64', 0);
  return { kind: 'call', intrinsic: 'nanosleep', duration, range: words.range };
}
