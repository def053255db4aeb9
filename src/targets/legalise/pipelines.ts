// Pipelines as mbarriers or groups of copies, by the lowering that was chosen for each (lowering.ts).
//
// A pipeline keeps a few counters in registers: with mbarriers its head and its tail, with groups how
// many stages are committed and not yet released. A light kernel has some fifty instructions a batch
// before it falls behind the memory, so every one counts: what only the copying thread needs stands
// in its own branch.

import type { ArrayReference, Call, Expression, Group, Statement } from '../../compiler/ir.ts';
import type { PipelineCall as AnyPipelineCall } from '../../compiler/ir-pipelines.ts';
import { forEachIndex } from './barriers.ts';
import type { Calm } from './calm.ts';
import type { CopyLegaliser } from './copies.ts';
import { Cursor, type Position } from './cursor.ts';
import type { Decisions } from './decisions.ts';
import type { Frame } from './frame.ts';
import { type Copy, forEachCall, type Lowering, madeInLoops } from './lowering.ts';
import type { Meetings } from './meetings.ts';
import type { Words } from './words.ts';

type PipelineCopy = Extract<Copy, { pipeline: number }>;
type PipelineCall = Exclude<AnyPipelineCall, { intrinsic: 'memcpyAsync' }>;
type VerbCall = Extract<
  PipelineCall,
  { intrinsic: 'producerAcquire' | 'producerCommit' | 'consumerWait' | 'consumerRelease' }
>;
type TimedWait = Extract<PipelineCall, { intrinsic: 'consumerWaitFor' | 'consumerWaitUntil' }>;

/** More groups than this are not distinguished when a thread waits. */
const mostGroups = 8;

/** What a pipeline has at run time. */
interface State {
  readonly lowering: Lowering;
  readonly stages: number;
  readonly group: Group;
  /** With mbarriers. */
  readonly head: Cursor | null;
  readonly tail: Cursor | null;
  readonly full: number;
  readonly empty: number;
  /** With groups: stages that are committed and not released, a u32. */
  readonly filled: number;
  /** With bulk copies: bytes that the next commit expects, a u32; and who arrives. */
  readonly bytes: number;
  readonly arrivals: 'one' | 'warps' | 'threads';
  /** Whether it was made before; null where it is made once. */
  readonly made: number | null;
  /** Threads that have not quit, one word for each group; null where nobody asks who is the last. */
  readonly members: ArrayReference | null;
}

export class PipelineLegaliser {
  readonly #frame: Frame;
  readonly #decisions: Decisions;
  readonly #copies: CopyLegaliser;
  readonly #meetings: Meetings;
  readonly #states: readonly State[];
  readonly #calm: Calm;
  /** Whether a thread's warp is the one that copies for the block, a bool; null where no warp does. */
  readonly #copying: number | null;
  /** Whether the thread is the one that was elected of its warp last, a bool. */
  #elect: number | null = null;

  constructor(frame: Frame, decisions: Decisions, copies: CopyLegaliser, meetings: Meetings, calm: Calm) {
    this.#frame = frame;
    this.#decisions = decisions;
    this.#copies = copies;
    this.#meetings = meetings;
    const bulk = decisions.lowerings.includes('bulk');
    this.#calm = calm;
    this.#copying = bulk && frame.wholeWarps ? frame.variable('copying_warp', 'bool') : null;
    this.#states = this.#newStates();
  }

  #newStates(): readonly State[] {
    const { body, pipelines } = this.#frame.program;
    const remade = madeInLoops(body, 'pipeline');
    const quits = new Set<number>();
    const stirred = new Set<number>();
    forEachCall(body, (call) => {
      if (call.intrinsic === 'quit' && call.result !== null) quits.add(call.pipeline);
      if (call.intrinsic === 'producerCommit' && !this.#calm.afterBarrier.has(call))
        stirred.add(call.pipeline);
    });
    return pipelines.map(({ name, stages, group }, id): State => {
      const lowering = this.#decisions.lowerings[id]!;
      const frame = this.#frame;
      const barriers = lowering === 'bulk' || lowering === 'barriers';
      const mbarriers = (what: string) => frame.mbarriers({ name: `${name}_${what}`, count: stages, group });
      const all = frame.wholeWarps ? 'warps' : 'threads';
      return {
        lowering,
        stages,
        group,
        head: barriers ? new Cursor(frame, `${name}_head`, stages) : null,
        tail: barriers ? new Cursor(frame, `${name}_tail`, stages) : null,
        full: barriers ? mbarriers('full') : -1,
        empty: lowering === 'barriers' ? mbarriers('empty') : -1,
        filled: barriers ? -1 : frame.variable(`${name}_filled`, 'u32'),
        bytes: lowering === 'bulk' ? frame.variable(`${name}_bytes`, 'u32') : -1,
        // One thread arrives for all where nothing that others did since the last barrier of the block has
        // to be ordered; else each warp does, behind what its lanes did.
        arrivals: stirred.has(id) && !this.#decisions.onlyCopiesMeet() ? all : 'one',
        made: barriers && remade.has(id) ? frame.variable(`${name}_made`, 'bool') : null,
        members: quits.has(id) ? frame.shared(`${name}_members`, 'u32', this.#instances(group)) : null,
      };
    });
  }

  #instances(group: Group): number {
    return group.kind === 'tile' ? Math.ceil(this.#frame.blockSize / group.size) : 1;
  }

  #instance(group: Group, words: Words): Expression {
    if (group.kind !== 'tile') return words.index(0);
    return words.binary('divide', words.threadRank, words.index(group.size));
  }

  #groupSize(group: Group): number {
    if (group.kind === 'tile') return group.size;
    return group.kind === 'block' ? this.#frame.blockSize : 1;
  }

  /** What the kernel begins with. */
  begin(): Statement[] {
    if (this.#copying === null) return [];
    const words = this.#frame.words();
    const leader = this.#frame.variable('first_of_warp', 'i32');
    return [
      {
        kind: 'call',
        intrinsic: 'warp',
        operator: 'shfl',
        group: { kind: 'tile', size: 32 },
        mask: words.u32(0xffffffff),
        value: words.convert(words.threadRank, 'i32'),
        lane: words.constant('i32', 0),
        width: 32,
        result: leader,
        range: words.range,
      },
      words.assign(
        this.#copying,
        words.compare('equal', words.read(leader, 'i32'), words.constant('i32', 0)),
      ),
    ];
  }

  /** What the one thread does that gives work to the copy engine. */
  #inCopier(words: Words, statements: Statement[]): Statement {
    if (this.#copying === null) return words.when(words.isFirst({ kind: 'block' }), statements);
    // A branch that whole warps take costs the others one instruction; a thread elected in it, none.
    return words.when(words.read(this.#copying, 'bool'), this.#elected(words, statements));
  }

  #elected(words: Words, statements: Statement[]): Statement[] {
    this.#elect ??= this.#frame.variable('elected', 'bool');
    const elected = words.read(this.#elect, 'bool');
    return [words.core({ kind: 'elect' }, this.#elect), words.when(elected, statements)];
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
        return this.#make(call, state, words);
      case 'producerAcquire':
        return schedule.released.has(call) ? [] : this.#acquire(call, state, words);
      case 'producerCommit':
        return [...this.#commit(call, state, words), ...(known ? [] : this.#advanceHead(state, words))];
      case 'consumerWait':
        return this.#wait(call, state, words);
      case 'consumerWaitPrior':
        return this.#waitPrior(call.prior, state, words);
      case 'consumerWaitFor':
      case 'consumerWaitUntil':
        return this.#timedWait(call, state, words);
      case 'consumerRelease':
        return this.#release(state, words, known);
      case 'quit':
        return call.result === null ? [] : this.#quit(call.result, state, words);
      case 'memcpyAsync':
        return this.#copy(call, state, words);
      default:
        return call satisfies never;
    }
  }

  #acquire(call: VerbCall, state: State, words: Words): Statement[] {
    if (state.lowering === 'thread') return [];
    // All threads have released, and so read, the stage that is filled next.
    if (state.lowering !== 'barriers') return this.#meetings.sync(state.group, words);
    // A stage that was never filled counts as released.
    const { stage, parity, phase } = this.#headAt(call, words);
    const before = {
      stage,
      parity: words.binary('xor', parity, words.u32(1)),
      phase: words.binary('subtract', phase, words.constant('i32', 1)),
    };
    return [this.#await(state.empty, before, call, words)];
  }

  #await(
    mbarrier: number,
    { stage, parity, phase }: Position,
    { intrinsic: verb, pipeline }: Pick<PipelineCall, 'intrinsic' | 'pipeline'>,
    words: Words,
    {
      converged = false,
      limit = null as Expression | null,
      until = false,
      result = null as number | null,
    } = {},
  ): Statement {
    const awaited = { by: 'parity', awaited: parity, phase } as const;
    const waiting = { verb, pipeline };
    return words.core(
      { kind: 'mbarrierWait', mbarrier, index: stage, ...awaited, limit, until, converged, waiting },
      result,
    );
  }

  #arrive(mbarrier: number, stage: Expression, words: Words, bytes: Expression | null = null): Statement {
    const plain = { count: null, drop: false, order: 'release' } as const;
    return words.core({ kind: 'mbarrierArrive', mbarrier, index: stage, bytes, ...plain });
  }

  #commit(call: VerbCall, state: State, words: Words): Statement[] {
    const { lowering, full } = state;
    if (lowering === 'thread' || lowering === 'groups') return [words.core({ kind: 'copyCommit' })];
    if (lowering === 'bulk') {
      const bytes = words.read(state.bytes, 'u32');
      const { stage } = this.#headAt(call, words);
      return [...this.#arriveExpecting(state, stage, bytes, words), words.assign(state.bytes, words.u32(0))];
    }
    const { stage } = this.#headAt(call, words);
    const afterCopies = (noIncrement: boolean) =>
      words.core({ kind: 'mbarrierArriveAfterCopies', mbarrier: full, index: stage, noIncrement });
    if (this.#onlyAsynchronous(call.pipeline)) return [afterCopies(true)];
    return [afterCopies(false), this.#arrive(full, stage, words)];
  }

  /** Arrivals at a stage that is filled by bulk copies; one of them expects their bytes. */
  #arriveExpecting(
    { arrivals, full }: State,
    stage: Expression,
    bytes: Expression,
    words: Words,
  ): Statement[] {
    const none = words.u32(0);
    switch (arrivals) {
      case 'one':
        return [this.#inCopier(words, [this.#arrive(full, stage, words, bytes)])];
      case 'warps': {
        const ofWarp = words.choose(words.read(this.#copying!, 'bool'), bytes, none);
        const arrival = this.#arrive(full, stage, words, ofWarp);
        return [words.sync({ kind: 'tile', size: 32 }), ...this.#elected(words, [arrival])];
      }
      case 'threads': {
        const first = words.isFirst({ kind: 'block' });
        return [this.#arrive(full, stage, words, words.choose(first, bytes, none))];
      }
      default:
        return arrivals satisfies never;
    }
  }

  #advanceHead({ head, filled }: State, words: Words): Statement[] {
    return head === null ? [this.#count(filled, 'add', words)] : head.advance(words);
  }

  #count(filled: number, operator: 'add' | 'subtract', words: Words): Statement {
    return words.assign(filled, words.binary(operator, words.read(filled, 'u32'), words.u32(1)));
  }

  #wait(call: VerbCall, { lowering, stages, group, tail, full, filled }: State, words: Words): Statement[] {
    if (lowering === 'bulk' || lowering === 'barriers') {
      const converged = lowering === 'bulk' && this.#frame.wholeWarps;
      return [this.#await(full, tail!.position(words), call, words, { converged })];
    }
    const distance = this.#decisions.schedule.distance.get(call);
    const meeting = lowering === 'groups' ? this.#meetings.sync(group, words) : [];
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

  #waitPrior(prior: number, { filled }: State, words: Words): Statement[] {
    const most = Math.min(prior, mostGroups);
    const more = words.compare('greater', words.read(filled, 'u32'), words.u32(prior));
    return [
      this.#waitForAllBut(words.u32(most), most, words),
      words.when(more, [words.assign(filled, words.u32(prior))]),
    ];
  }

  /** With thread scope the time is not looked at; all others have mbarriers. */
  #timedWait(call: TimedWait, state: State, words: Words): Statement[] {
    const { intrinsic, pipeline, range, result, time: limit } = call;
    if (state.lowering === 'thread') {
      const wait = this.#wait({ kind: 'call', intrinsic: 'consumerWait', pipeline, range }, state, words);
      return result === null ? wait : [...wait, words.assign(result, words.constant('bool', true))];
    }
    const until = intrinsic === 'consumerWaitUntil';
    return [this.#await(state.full, state.tail!.position(words), call, words, { limit, until, result })];
  }

  #release({ lowering, tail, empty, filled }: State, words: Words, known: boolean): Statement[] {
    if (lowering === 'thread') return [];
    if (lowering === 'groups') return known ? [] : [this.#count(filled, 'subtract', words)];
    const advance = tail!.advance(words);
    if (lowering === 'bulk') return advance;
    return [this.#arrive(empty, tail!.position(words).stage, words), ...advance];
  }

  /** Counts the thread off; the last one knows what the others did before. */
  #quit(result: number, { lowering, group, members }: State, words: Words): Statement[] {
    if (lowering === 'thread') return [words.assign(result, words.constant('bool', true))];
    const left = this.#frame.variable('left', 'u32');
    const fence = () => words.core({ kind: 'fence', scope: 'block' });
    return [
      fence(),
      {
        kind: 'call',
        intrinsic: 'atomic',
        operator: 'sub',
        array: members!,
        index: this.#instance(group, words),
        value: words.u32(1),
        compare: null,
        result: left,
        range: words.range,
      },
      fence(),
      words.assign(result, words.compare('equal', words.read(left, 'u32'), words.u32(1))),
    ];
  }

  /** Sets the cursors back, and the mbarriers to the numbers of threads that will arrive at them. */
  #make(call: Extract<PipelineCall, { intrinsic: 'makePipeline' }>, state: State, words: Words): Statement[] {
    const { lowering, group, head, tail, filled, members, made } = state;
    const reset =
      head === null ? [words.assign(filled, words.u32(0))] : [...head.reset(words), ...tail!.reset(words)];
    if (lowering === 'thread') return reset;
    const meet = () => this.#meetings.sync(group, words);
    if (lowering === 'groups' && members === null) return [...reset, ...meet()];
    const { counting, full, empty } = this.#expected(call, state, words);
    const first: Statement[] = [
      ...(lowering === 'groups' ? [] : this.#initialise(state, full, empty, words)),
      ...(members === null
        ? []
        : [words.store(members, this.#instance(group, words), words.u32(this.#groupSize(group)))]),
      ...(lowering === 'bulk' ? [words.core({ kind: 'proxyFence', space: 'shared' })] : []),
    ];
    return [
      ...reset,
      ...counting,
      ...meet(),
      words.when(words.isFirst(group), first),
      ...(made === null ? [] : [words.assign(made, words.constant('bool', true))]),
      ...meet(),
    ];
  }

  /** How many threads arrive at a stage's mbarriers, u32. */
  #expected(
    { pipeline, producers }: Extract<PipelineCall, { intrinsic: 'makePipeline' }>,
    { lowering, group, arrivals }: State,
    words: Words,
  ): { counting: Statement[]; full: Expression; empty: Expression } {
    const size = this.#groupSize(group);
    const { partition } = this.#frame.program.pipelines[pipeline]!;
    if (partition === 'unified') {
      const one = lowering === 'bulk' && arrivals !== 'threads' ? (arrivals === 'one' ? 1 : size / 32) : size;
      return { counting: [], full: words.u32(one), empty: words.u32(size) };
    }
    const counted = this.#frame.variable('producers', 'u32');
    const full = words.read(counted, 'u32');
    const empty = words.binary('subtract', words.u32(size), full);
    if (partition === 'count')
      return { counting: [words.assign(counted, words.convert(producers!, 'u32'))], full, empty };
    const waiting = { verb: 'makePipeline', pipeline };
    const count = words.core({ kind: 'groupCount', group, value: producers!, waiting }, counted);
    return { counting: [count], full, empty };
  }

  /** One thread makes all mbarriers. Those that were made before must be given up first. */
  #initialise(
    { lowering, stages, full, empty, made }: State,
    ofFull: Expression,
    ofEmpty: Expression,
    words: Words,
  ): Statement[] {
    const both =
      lowering === 'barriers'
        ? [[full, ofFull] as const, [empty, ofEmpty] as const]
        : [[full, ofFull] as const];
    const discard = (index: Expression) =>
      both.map(([mbarrier]) => words.core({ kind: 'mbarrierInvalidate', mbarrier, index }));
    const init = (index: Expression) =>
      both.map(([mbarrier, expected]) => words.core({ kind: 'mbarrierInit', mbarrier, index, expected }));
    return [
      ...(made === null
        ? []
        : [words.when(words.read(made, 'bool'), forEachIndex(this.#frame, stages, discard, words))]),
      ...forEachIndex(this.#frame, stages, init, words),
    ];
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

  #copy(copy: PipelineCopy, state: State, words: Words): Statement[] {
    if (state.lowering !== 'bulk') return this.#copies.byThreads(copy, words);
    const { destination, source, count, alignment: promised, group } = copy;
    const index = this.#headAt(copy, words).stage;
    const bytes = words.binary('add', words.read(state.bytes, 'u32'), this.#copies.bytes(copy, words));
    const known = this.#calm.afterBarrier.has(copy) || this.#decisions.onlyCopiesMeet();
    return [
      ...this.#prefetch(copy, words),
      // The copying thread copies for all: it must know of what they did to the stage.
      ...(known ? [] : this.#meetings.sync(group, words)),
      this.#inCopier(words, [
        this.#copies.check(copy, words),
        // What threads read or wrote there before lies before what the engine writes.
        ...(this.#calm.fenced.has(copy) ? [] : [words.core({ kind: 'proxyFence', space: 'shared' })]),
        words.core({ kind: 'bulkCopy', mbarrier: state.full, index, destination, source, count, promised }),
      ]),
      words.assign(state.bytes, bytes),
    ];
  }

  /** A hint to have the source of a later copy in the L2 cache by then. */
  #prefetch(copy: Copy, words: Words): Statement[] {
    const prefetch = this.#decisions.schedule.prefetches.get(copy);
    if (prefetch === undefined) return [];
    const source = { array: copy.source.array, offset: prefetch.offset };
    if (this.#copies.alignmentOf({ ...copy, source }) < 16) return [];
    const hint = this.#inCopier(words, [words.core({ kind: 'prefetch', source, count: copy.count })]);
    return prefetch.when === null ? [hint] : [words.when(prefetch.when, [hint])];
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
