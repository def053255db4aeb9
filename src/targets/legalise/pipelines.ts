// The verbs of pipelines as mbarriers or groups of copies, by the lowering that was chosen for each (lowering.ts).
//
// A pipeline keeps a few counters in registers: with mbarriers its head and its tail, with groups how
// many stages are committed and not yet released. A light kernel has some fifty instructions a batch
// before it falls behind the memory, so every one counts: what only the copying thread needs stands
// in its own branch.

import type { Call, Expression, Statement } from '../../compiler/ir.ts';
import {
  type PipelineCall as AnyPipelineCall,
  isTimedWait,
  type StageCall,
  type TimedWait,
  verbOf,
  withoutLimit,
} from '../../compiler/ir-pipelines.ts';
import { type Copy, forEachCall } from './calls.ts';
import type { Calm } from './calm.ts';
import { Copier } from './copier.ts';
import type { CopyLegaliser } from './copies.ts';
import type { Position } from './cursor.ts';
import type { Decisions, Lowering } from './decisions.ts';
import type { Frame } from './frame.ts';
import type { Meetings } from './meetings.ts';
import { copiesInBulk, PipelineMaking, type PipelineState, pipelineStates } from './pipeline-state.ts';
import type { Words } from './words.ts';

type PipelineCopy = Extract<Copy, { pipeline: number }>;
type PipelineCall = Exclude<AnyPipelineCall, { intrinsic: 'memcpyAsync' }>;

/** Who meets at the verbs of pipelines of all threads. */
const ofBlock = { kind: 'block' } as const;

/** More groups than this are not distinguished when a thread waits. */
const mostGroups = 8;

export class PipelineLegaliser {
  readonly #frame: Frame;
  readonly #decisions: Decisions;
  readonly #copies: CopyLegaliser;
  readonly #meetings: Meetings;
  readonly #states: readonly PipelineState[];
  readonly #calm: Calm;
  readonly #copier: Copier;
  readonly #making: PipelineMaking;
  /** What is prefetched behind the commit that comes next. */
  readonly #hints: Statement[] = [];

  constructor(frame: Frame, decisions: Decisions, copies: CopyLegaliser, meetings: Meetings, calm: Calm) {
    this.#frame = frame;
    this.#decisions = decisions;
    this.#copies = copies;
    this.#meetings = meetings;
    this.#calm = calm;
    this.#copier = new Copier(frame);
    this.#states = pipelineStates(frame, decisions, calm);
    this.#making = new PipelineMaking(frame, meetings);
  }

  /** What the kernel begins with. */
  begin(): Statement[] {
    return this.#copier.begin();
  }

  /**
   * What the kernel ends with: the block's memory may be another's by the time that bytes come, so each of its threads
   * waits for all that the copy engine was given.
   */
  end(): Statement[] {
    const { body } = this.#frame.program;
    const words = this.#frame.words();
    return this.#states.flatMap((state, pipeline): Statement[] => {
      const { lowering, made } = state;
      if (lowering !== 'bulk' || made !== null || this.#decisions.schedule.settled.has(pipeline)) return [];
      const makes = (each: Statement) =>
        each.kind === 'call' && each.intrinsic === 'makePipeline' && each.pipeline === pipeline;
      return body.some(makes) ? this.#land(pipeline, state, words) : [];
    });
  }

  /** Commits what is open, and waits until each stage that was filled last is there. */
  #land(pipeline: number, state: PipelineState, words: Words): Statement[] {
    const { bytes, full, stages } = state;
    const head = state.head!;
    const commit: StageCall = { kind: 'call', intrinsic: 'producerCommit', pipeline, range: words.range };
    const isOpen = words.compare('notEqual', words.read(bytes, 'u32'), words.u32(0));
    const closed = words.when(isOpen, [...this.#commit(commit, state, words), ...head.advance(words)]);
    const landed = Array.from({ length: stages }, (_, stage) =>
      this.#await(state, full, head.last(words, stage), { intrinsic: 'consumerWait', pipeline }, words),
    );
    return [closed, ...landed];
  }

  /** Where the head is at a call: at a known distance from the tail, or where its cursor says. */
  #headAt(call: Call & { pipeline: number }, words: Words): Position {
    const { head, tail } = this.#states[call.pipeline]!;
    const distance = this.#decisions.schedule.distance.get(call);
    return distance === undefined ? head!.position(words) : tail!.position(words, distance);
  }

  lower(call: AnyPipelineCall, words: Words): Statement[] {
    const state = this.#states[call.pipeline]!;
    const { schedule } = this.#decisions;
    const known = schedule.distance.has(call);
    switch (call.intrinsic) {
      case 'makePipeline':
        return this.#making.make(call, state, words);
      case 'producerAcquire':
        return schedule.released.has(call) ? [] : this.#acquire(call, state, words);
      case 'producerCommit':
        return [...this.#commit(call, state, words), ...(known ? [] : this.#advanceHead(state, words))];
      case 'consumerWait':
        return isTimedWait(call) ? this.#timedWait(call, state, words) : this.#wait(call, state, words);
      case 'pipelineConsumerWaitPrior':
        return this.#waitPrior(call.prior, state, words);
      case 'consumerRelease':
        return this.#release(state, words, known);
      case 'quit':
        if (call.landed) return this.#land(call.pipeline, state, words);
        return this.#quit(call.result, state, words);
      case 'memcpyAsync':
        return this.#copy(call, state, words);
      default:
        return call satisfies never;
    }
  }

  #acquire(call: StageCall, state: PipelineState, words: Words): Statement[] {
    if (state.lowering === 'thread') return [];
    // All threads have released, and so read, the stage that is filled next.
    if (state.lowering === 'bulk' || state.lowering === 'groups') return this.#meetings.sync(ofBlock, words);
    // A stage that was never filled counts as released.
    const { stage, parity, phase } = this.#headAt(call, words);
    const before = {
      stage,
      parity: words.binary('xor', parity, words.u32(1)),
      phase: words.binary('subtract', phase, words.constant('i32', 1)),
    };
    return [this.#await(state, state.empty, before, call, words)];
  }

  #await(
    { sharing }: PipelineState,
    mbarrier: number,
    { stage, parity, phase }: Position,
    call: Pick<PipelineCall, 'intrinsic' | 'pipeline'>,
    words: Words,
    {
      converged = false,
      limit = null as Expression | null,
      until = false,
      result = null as number | null,
    } = {},
  ): Statement {
    const awaited = { by: 'parity', awaited: parity, phase } as const;
    const waiting = { verb: verbOf(call), pipeline: call.pipeline };
    const at = { index: stage, ...sharing.operand(words) };
    return words.core(
      { kind: 'mbarrierWait', mbarrier, ...at, ...awaited, limit, until, converged, waiting },
      result,
    );
  }

  #arrive(
    { sharing }: PipelineState,
    mbarrier: number,
    index: Expression,
    words: Words,
    bytes: Expression | null = null,
  ): Statement {
    const plain = { count: null, drop: false, order: 'release' } as const;
    return words.core({
      kind: 'mbarrierArrive',
      mbarrier,
      index,
      ...sharing.operand(words),
      bytes,
      ...plain,
    });
  }

  #commit(call: StageCall, state: PipelineState, words: Words): Statement[] {
    const { lowering, full } = state;
    // The copy is what others wait for: hints come behind it.
    const hints = this.#hints.splice(0);
    if (lowering === 'thread' || lowering === 'groups') return [words.core({ kind: 'copyCommit' }), ...hints];
    if (lowering === 'bulk') {
      const bytes = words.read(state.bytes, 'u32');
      const { stage } = this.#headAt(call, words);
      return [
        ...this.#arriveExpecting(state, stage, bytes, words),
        ...hints,
        words.assign(state.bytes, words.u32(0)),
      ];
    }
    if (lowering === 'roles') {
      const arrival = this.#arrive(
        state,
        full,
        this.#headAt(call, words).stage,
        words,
        words.read(state.bytes, 'u32'),
      );
      return [arrival, words.assign(state.bytes, words.u32(0)), ...hints];
    }
    const { stage } = this.#headAt(call, words);
    const afterCopies = (noIncrement: boolean) =>
      words.core({
        kind: 'mbarrierArriveAfterCopies',
        mbarrier: full,
        index: stage,
        ...state.sharing.operand(words),
        noIncrement,
      });
    if (this.#onlyAsynchronous(call.pipeline)) return [afterCopies(true)];
    return [afterCopies(false), this.#arrive(state, full, stage, words)];
  }

  /** Arrivals at a stage that is filled by bulk copies; one of them expects their bytes. */
  #arriveExpecting(state: PipelineState, stage: Expression, bytes: Expression, words: Words): Statement[] {
    const { arrivals, full } = state;
    const none = words.u32(0);
    switch (arrivals) {
      case 'one':
        return [this.#copier.run(words, [this.#arrive(state, full, stage, words, bytes)])];
      case 'warps': {
        const ofWarp = words.choose(words.read(this.#copier.warp!, 'bool'), bytes, none);
        const arrival = this.#arrive(state, full, stage, words, ofWarp);
        return [words.sync({ kind: 'tile', size: 32 }), ...this.#copier.elected(words, [arrival])];
      }
      case 'threads': {
        const first = words.isFirst({ kind: 'block' });
        return [this.#arrive(state, full, stage, words, words.choose(first, bytes, none))];
      }
      default:
        return arrivals satisfies never;
    }
  }

  #advanceHead({ head, filled }: PipelineState, words: Words): Statement[] {
    return head === null ? [this.#count(filled, 'add', words)] : head.advance(words);
  }

  #count(filled: number, operator: 'add' | 'subtract', words: Words): Statement {
    return words.assign(filled, words.binary(operator, words.read(filled, 'u32'), words.u32(1)));
  }

  #wait(call: StageCall, state: PipelineState, words: Words): Statement[] {
    const { lowering, stages, tail, full, filled } = state;
    if (copiesInBulk(lowering) || lowering === 'barriers') {
      const converged = lowering !== 'barriers' && this.#frame.wholeWarps;
      return [this.#await(state, full, tail!.position(words), call, words, { converged })];
    }
    const distance = this.#decisions.schedule.distance.get(call);
    const meeting = lowering === 'groups' ? this.#meetings.sync(ofBlock, words) : [];
    if (distance !== undefined)
      return [this.#waitForAllBut(words.u32(distance - 1), distance - 1, words), ...meeting];
    const later = words.binary('subtract', words.read(filled, 'u32'), words.u32(1));
    if (lowering === 'groups') {
      return [this.#waitForAllBut(later, Math.min(stages - 1, mostGroups), words), ...meeting];
    }
    const some = words.compare('greater', words.read(filled, 'u32'), words.u32(0));
    const wait = this.#waitForAllBut(later, mostGroups, words);
    return [words.when(some, [wait, this.#count(filled, 'subtract', words)])];
  }

  #waitForAllBut(allBut: Expression, most: number, words: Words): Statement {
    return words.core({ kind: 'copyWait', allBut, most });
  }

  #waitPrior(prior: number, { filled }: PipelineState, words: Words): Statement[] {
    const most = Math.min(prior, mostGroups);
    const more = words.compare('greater', words.read(filled, 'u32'), words.u32(prior));
    return [
      this.#waitForAllBut(words.u32(most), most, words),
      words.when(more, [words.assign(filled, words.u32(prior))]),
    ];
  }

  /** With thread scope the time is not looked at; all others have mbarriers. */
  #timedWait(call: TimedWait, state: PipelineState, words: Words): Statement[] {
    const { result, limit, until } = call;
    if (state.lowering === 'thread') {
      const wait = this.#wait(withoutLimit(call), state, words);
      return result === null ? wait : [...wait, words.assign(result, words.constant('bool', true))];
    }
    return [
      this.#await(state, state.full, state.tail!.position(words), call, words, { limit, until, result }),
    ];
  }

  #release(state: PipelineState, words: Words, known: boolean): Statement[] {
    const { lowering, tail, empty, filled } = state;
    if (lowering === 'thread') return [];
    if (lowering === 'groups') return known ? [] : [this.#count(filled, 'subtract', words)];
    const advance = tail!.advance(words);
    if (lowering === 'bulk') return advance;
    return [this.#arrive(state, empty, tail!.position(words).stage, words), ...advance];
  }

  /** Counts the thread off, where somebody asks who is the last; that one knows what the others did before. */
  #quit(result: number | null, { lowering, sharing, members }: PipelineState, words: Words): Statement[] {
    if (lowering === 'thread')
      return result === null ? [] : [words.assign(result, words.constant('bool', true))];
    if (members === null) return [];
    const { range } = words;
    const fence = () => words.core({ kind: 'fence', scope: 'block' });
    const left = result === null ? null : this.#frame.variable('left', 'u32');
    const counted: Statement = {
      kind: 'call',
      intrinsic: 'atomic',
      operator: 'sub',
      array: members,
      index: sharing.instance(words),
      value: words.u32(1),
      compare: null,
      result: left,
      range,
    };
    if (result === null || left === null) return [fence(), counted];
    const isLast = words.compare('equal', words.read(left, 'u32'), words.u32(1));
    return [fence(), counted, fence(), words.assign(result, isLast)];
  }

  /** Whether asynchronous copies into a stage are all that its commit has to order before the wait for it. */
  #onlyAsynchronous(pipeline: number): boolean {
    let only = this.#decisions.onlyCopiesMeet();
    forEachCall(this.#frame.program.body, (call) => {
      if (call.intrinsic === 'memcpyAsync' && 'pipeline' in call && call.pipeline === pipeline)
        only &&= this.#copies.isAsynchronous(call) && call.zeroFill === null;
    });
    return only;
  }

  #copy(copy: PipelineCopy, state: PipelineState, words: Words): Statement[] {
    const { lowering } = state;
    this.#hints.push(...this.#prefetch(copy, lowering, words));
    if (!copiesInBulk(lowering)) return this.#copies.byThreads(copy, words);
    const { destination, source, count, alignment: promised, group } = copy;
    const index = this.#headAt(copy, words).stage;
    const bytes = words.binary('add', words.read(state.bytes, 'u32'), this.#copies.bytes(copy, words));
    const known = this.#calm.afterBarrier.has(copy) || this.#decisions.onlyCopiesMeet();
    const steps = [
      this.#copies.check(copy, words),
      // What threads read or wrote there before lies before what the engine writes.
      ...(this.#calm.fenced.has(copy) ? [] : [words.core({ kind: 'proxyFence', space: 'shared' })]),
      words.core({ kind: 'bulkCopy', mbarrier: state.full, index, destination, source, count, promised }),
    ];
    return [
      // The copying thread copies for all: it must know of what they did to the stage.
      ...(known ? [] : this.#meetings.sync(group, words)),
      words.assign(state.bytes, bytes),
      ...this.#byCopier(lowering, steps, words),
    ];
  }

  /** A hint to have the source of a later copy in the L2 cache by then. */
  #prefetch(copy: Copy, lowering: Lowering, words: Words): Statement[] {
    const prefetch = this.#decisions.schedule.prefetches.get(copy);
    if (prefetch === undefined) return [];
    const source = { array: copy.source.array, offset: prefetch.offset };
    if (this.#copies.alignmentOf({ ...copy, source }) < 16) return [];
    const give = words.core({ kind: 'prefetch', source, count: copy.count });
    const hint = prefetch.when === null ? give : words.when(prefetch.when, [give]);
    return this.#byCopier(lowering, [hint], words);
  }

  /** What one thread does for all; with roles nobody else comes there. */
  #byCopier(lowering: Lowering, steps: Statement[], words: Words): Statement[] {
    return lowering === 'roles' ? steps : [this.#copier.run(words, steps)];
  }

  /** What a loop that filled pipelines leaves to do: to commit nothing as often as there was nothing to fetch. */
  afterFill(statement: Statement, words: Words): Statement[] {
    const filling = this.#decisions.schedule.fills.get(statement);
    return (filling?.pipelines ?? []).flatMap((pipeline) => {
      const { lowering, filled } = this.#states[pipeline]!;
      if (lowering !== 'thread' && lowering !== 'groups') return [];
      const less = words.compare('less', words.read(filled, 'u32'), words.u32(filling!.stages));
      const commit = words.core({ kind: 'copyCommit' });
      return [words.loop(this.#frame.label(), less, [commit], [this.#count(filled, 'add', words)])];
    });
  }

  /** What a refill does where nothing is left to fetch: it commits nothing, so that every turn commits once. */
  insteadOfRefill(statement: Statement, words: Words): Statement[] {
    const pipelines = this.#decisions.schedule.refills.get(statement) ?? [];
    const counts = pipelines.some((pipeline) => {
      const { lowering } = this.#states[pipeline]!;
      return lowering === 'thread' || lowering === 'groups';
    });
    return counts ? [words.core({ kind: 'copyCommit' })] : [];
  }
}
