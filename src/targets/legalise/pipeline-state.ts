// What a pipeline has at run time, and the code that makes it.
//
// With mbarriers these are cursors for its head and tail, and the mbarriers of its stages, which one thread of the
// group initialises between two syncs. With groups of copies it is one counter a thread. A pipeline that is made in a
// loop gives its mbarriers up before they are made again.

import type { ArrayReference, Expression, Statement } from '../../compiler/ir.ts';
import { isStageCall, type PipelineCall } from '../../compiler/ir-pipelines.ts';
import { forEachIndex } from './barriers.ts';
import { forEachCall, madeInLoops } from './calls.ts';
import type { Calm } from './calm.ts';
import { Cursor } from './cursor.ts';
import type { Decisions, Lowering } from './decisions.ts';
import type { Frame } from './frame.ts';
import type { Meetings } from './meetings.ts';
import { Sharing } from './sharing.ts';
import { stageStepOf } from './verbs.ts';
import type { Words } from './words.ts';

type MakeCall = Extract<PipelineCall, { intrinsic: 'makePipeline' }>;

/** What a pipeline has at run time. */
export interface PipelineState {
  readonly lowering: Lowering;
  readonly stages: number;
  readonly sharing: Sharing;
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

/** The state of each pipeline of a program, in the program's order. */
export function pipelineStates(frame: Frame, decisions: Decisions, calm: Calm): readonly PipelineState[] {
  const { body, pipelines } = frame.program;
  const remade = madeInLoops(body, 'pipeline');
  const quits = new Set<number>();
  const stirred = new Set<number>();
  forEachCall(body, (call) => {
    if (call.intrinsic === 'quit' && call.result !== null) quits.add(call.pipeline);
    if (isStageCall(call) && stageStepOf(call) === 'commit' && !calm.afterBarrier.has(call))
      stirred.add(call.pipeline);
  });
  return pipelines.map(({ name, stages, group }, id): PipelineState => {
    const lowering = decisions.lowerings[id]!;
    const barriers = copiesInBulk(lowering) || lowering === 'barriers';
    const sharing = new Sharing(frame, name, group, remade.has(id));
    const mbarriers = (what: string) =>
      frame.mbarriers({ name: `${name}_${what}`, count: stages, group: sharing.group });
    const all = frame.wholeWarps ? 'warps' : 'threads';
    return {
      lowering,
      stages,
      sharing,
      head: barriers ? new Cursor(frame, `${name}_head`, stages) : null,
      tail: barriers ? new Cursor(frame, `${name}_tail`, stages) : null,
      full: barriers ? mbarriers('full') : -1,
      empty: barriers && lowering !== 'bulk' ? mbarriers('empty') : -1,
      filled: barriers ? -1 : frame.variable(`${name}_filled`, 'u32'),
      bytes: copiesInBulk(lowering) ? frame.variable(`${name}_bytes`, 'u32') : -1,
      // One thread arrives for all where nothing that others did since the last barrier of the block has
      // to be ordered; else each warp does, behind what its lanes did.
      arrivals: stirred.has(id) && !decisions.onlyCopiesMeet() ? all : 'one',
      made: barriers && remade.has(id) ? frame.variable(`${name}_made`, 'bool') : null,
      members: quits.has(id) ? frame.shared(`${name}_members`, 'u32', sharing.count) : null,
    };
  });
}

/** Whether the copy engine makes a pipeline's copies. */
export function copiesInBulk(lowering: Lowering): boolean {
  return lowering === 'bulk' || lowering === 'roles';
}

export class PipelineMaking {
  readonly #frame: Frame;
  readonly #meetings: Meetings;

  constructor(frame: Frame, meetings: Meetings) {
    this.#frame = frame;
    this.#meetings = meetings;
  }

  /** Sets the cursors back, and the mbarriers to the numbers of threads that will arrive at them. */
  make(call: MakeCall, state: PipelineState, words: Words): Statement[] {
    const { lowering, sharing, head, tail, filled, members, made } = state;
    const { group } = sharing;
    const reset =
      head === null ? [words.assign(filled, words.u32(0))] : [...head.reset(words), ...tail!.reset(words)];
    if (lowering === 'thread') return reset;
    // Lanes meet by syncs of their own.
    const meet = () => (group.kind === 'lanes' ? [] : this.#meetings.sync(group, words));
    if (lowering === 'groups' && members === null) return [...reset, ...meet()];
    const { counting, full, empty } = this.#expected(call, state, words);
    const first: Statement[] = [
      ...(lowering === 'groups' ? [] : this.#initialise(state, full, empty, words)),
      ...(members === null ? [] : [words.store(members, sharing.instance(words), sharing.size(call, words))]),
      ...(copiesInBulk(lowering) ? [words.core({ kind: 'proxyFence', space: 'shared' })] : []),
    ];
    // Of lanes only the lowest has made what is kept by its rank.
    const noted = made === null ? [] : [words.assign(made, words.constant('bool', true))];
    const ofLanes = group.kind === 'lanes';
    return [
      ...reset,
      ...counting,
      ...meet(),
      ...sharing.join(call, words),
      words.when(sharing.isFirst(call, words), ofLanes ? [...first, ...noted] : first),
      ...(ofLanes ? [] : noted),
      ...meet(),
    ];
  }

  /** How many threads arrive at a stage's mbarriers, u32. */
  #expected(
    { pipeline, producers, masks, agreed }: MakeCall,
    { lowering, sharing, arrivals }: PipelineState,
    words: Words,
  ): { counting: Statement[]; full: Expression; empty: Expression } {
    const size = () => sharing.size(masks === undefined ? {} : { masks }, words);
    const { partition } = this.#frame.program.pipelines[pipeline]!;
    if (partition === 'unified') {
      const warps = words.u32(this.#frame.blockSize / 32);
      const one =
        lowering === 'bulk' && arrivals !== 'threads' ? (arrivals === 'one' ? words.u32(1) : warps) : size();
      return { counting: [], full: one, empty: size() };
    }
    // One thread copies.
    if (lowering === 'roles') {
      const consumers = words.binary('subtract', size(), words.convert(producers!, 'u32'));
      return { counting: [], full: words.u32(1), empty: consumers };
    }
    const { group } = sharing;
    if (group.kind === 'lanes') {
      const full = words.convert(agreed!, 'u32');
      return { counting: [], full, empty: words.binary('subtract', size(), full) };
    }
    const counted = this.#frame.variable('producers', 'u32');
    const full = words.read(counted, 'u32');
    const empty = words.binary('subtract', size(), full);
    if (partition === 'count')
      return { counting: [words.assign(counted, words.convert(producers!, 'u32'))], full, empty };
    const waiting = { verb: 'makePipeline', pipeline };
    const count = words.core({ kind: 'groupCount', group, value: producers!, waiting }, counted);
    return { counting: [count], full, empty };
  }

  /** One thread makes all mbarriers. Those that were made before must be given up first. */
  #initialise(
    { lowering, stages, sharing, full, empty, made }: PipelineState,
    ofFull: Expression,
    ofEmpty: Expression,
    words: Words,
  ): Statement[] {
    const both =
      lowering === 'bulk' ? [[full, ofFull] as const] : [[full, ofFull] as const, [empty, ofEmpty] as const];
    const at = (index: Expression) => ({ index, ...sharing.operand(words) });
    const discard = (index: Expression) =>
      both.map(([mbarrier]) => words.core({ kind: 'mbarrierInvalidate', mbarrier, ...at(index) }));
    const init = (index: Expression) =>
      both.map(([mbarrier, expected]) =>
        words.core({ kind: 'mbarrierInit', mbarrier, ...at(index), expected }),
      );
    return [
      ...(made === null
        ? []
        : [words.when(words.read(made, 'bool'), forEachIndex(this.#frame, stages, discard, words))]),
      ...forEachIndex(this.#frame, stages, init, words),
    ];
  }
}
