// Barriers that a kernel makes, as mbarriers.
//
// They are the hardware's from sm_80 on. Before that, and where a function runs at the end of each
// phase, threads count down a word, and copies are done before their thread goes on. On sm_90 one
// thread copies the whole by the copy engine where addresses and size allow it.

import type { Call, Expression, Statement } from '../../compiler/ir.ts';
import type { BarrierCall } from '../../compiler/ir-barriers.ts';
import { type Copy, forEachCall, madeInLoops, returnsAmongCopies } from './calls.ts';
import type { CopyLegaliser } from './copies.ts';
import type { Decisions } from './decisions.ts';
import type { Frame } from './frame.ts';
import type { Meetings } from './meetings.ts';
import { Sharing } from './sharing.ts';
import type { Words } from './words.ts';

type CopyToBarrier = Extract<Copy, { barrier: number }>;

export class BarrierLegaliser {
  readonly #frame: Frame;
  readonly #decisions: Decisions;
  readonly #copies: CopyLegaliser;
  readonly #meetings: () => Meetings;
  /** Whether threads may return while copies are under way, which the engine's would outlive. */
  readonly #returnsAmongCopies: boolean;
  /** By the program's barriers: the mbarriers, and whether they are made, where they may be made again. */
  readonly #mbarriers: readonly number[];
  readonly #made: readonly (number | null)[];
  readonly #sharing: readonly Sharing[];
  /** Barriers that the copy engine arrives at. */
  readonly #bulk = new Set<number>();

  constructor(frame: Frame, decisions: Decisions, copies: CopyLegaliser, meetings: () => Meetings) {
    this.#frame = frame;
    this.#decisions = decisions;
    this.#copies = copies;
    this.#meetings = meetings;
    const { body, barriers } = frame.program;
    this.#returnsAmongCopies = returnsAmongCopies(body);
    const remade = madeInLoops(body, 'barrier');
    this.#sharing = barriers.map(({ name, group }, id) => new Sharing(frame, name, group, remade.has(id)));
    this.#mbarriers = barriers.map(({ name, count, completes }, barrier) => {
      const made = this.#isSoftware(barrier) ? 'software' : 'hardware';
      const { group } = this.#sharing[barrier]!;
      return frame.mbarriers({ name, count: count ?? 1, group, made, completes, barrier });
    });
    this.#made = barriers.map(({ name }, id) =>
      remade.has(id) ? frame.variable(`${name}_made`, 'bool') : null,
    );
    forEachCall(body, (call) => {
      if (call.intrinsic === 'memcpyAsync' && 'barrier' in call && this.isBulk(call))
        this.#bulk.add(call.barrier);
    });
  }

  #isSoftware(barrier: number): boolean {
    return this.#decisions.architecture < 80 || this.#frame.program.barriers[barrier]!.completes;
  }

  /** Whether the copy engine makes a copy. */
  isBulk(copy: CopyToBarrier): boolean {
    const { source, destination } = copy;
    if (this.#decisions.architecture < 90 || this.#isSoftware(copy.barrier)) return false;
    if (this.#returnsAmongCopies) return false;
    if (source.array.space !== 'global' || destination.array.space !== 'shared') return false;
    // What a kernel writes itself would have to be fenced before the copy engine reads it.
    const parameter = this.#frame.program.parameters[source.array.id]!;
    return parameter.kind === 'array' && parameter.readonly && this.#copies.alignmentOf(copy) === 16;
  }

  lower(call: BarrierCall, words: Words): Statement[] {
    switch (call.intrinsic) {
      case 'makeBarrier':
        return this.#make(call, words);
      case 'barrierArrive':
        return this.#arrive(call, words);
      case 'barrierComplete':
        return [words.core({ kind: 'mbarrierComplete', ...this.#at(call, words) })];
      case 'barrierBind':
        return [this.#bind(call, words)];
      case 'barrierWait':
        return [this.#wait(call, words)];
      case 'memcpyAsync':
        return this.#copy(call, words);
      default:
        return call satisfies never;
    }
  }

  #at({ barrier, index }: { readonly barrier: number; readonly index: Expression }, words: Words) {
    return { mbarrier: this.#mbarriers[barrier]!, index, ...this.#sharing[barrier]!.operand(words) };
  }

  #make(call: Extract<BarrierCall, { intrinsic: 'makeBarrier' }>, words: Words): Statement[] {
    const { group, count } = this.#frame.program.barriers[call.barrier]!;
    const made = this.#made[call.barrier]!;
    const sharing = this.#sharing[call.barrier]!;
    const wanted = call.agreed ?? call.expected;
    const expected = () => (wanted === null ? sharing.size(call, words) : words.convert(wanted, 'u32'));
    const at = (index: Expression) => this.#at({ barrier: call.barrier, index }, words);
    const each = (index: Expression): Statement[] => [
      ...(made === null || this.#isSoftware(call.barrier)
        ? []
        : [words.when(words.read(made, 'bool'), [words.core({ kind: 'mbarrierInvalidate', ...at(index) })])]),
      words.core({ kind: 'mbarrierInit', ...at(index), expected: expected() }),
    ];
    const all = count === null ? each(words.index(0)) : this.#forEach(count, each, words);
    const fence = this.#bulk.has(call.barrier) ? [words.core({ kind: 'proxyFence', space: 'shared' })] : [];
    // Lanes meet by syncs of their own, and only the lowest has made what is kept by its rank.
    const noted = made === null ? [] : [words.assign(made, words.constant('bool', true))];
    const ofLanes = group.kind === 'lanes';
    const meet = () => (ofLanes ? [] : this.#meetings().sync(group, words));
    return [
      ...(made === null ? [] : meet()),
      ...sharing.join(call, words),
      words.when(sharing.isFirst(call, words), [...all, ...fence, ...(ofLanes ? noted : [])]),
      ...(ofLanes ? [] : noted),
      ...meet(),
    ];
  }

  #forEach(count: number, each: (index: Expression) => Statement[], words: Words): Statement[] {
    return forEachIndex(this.#frame, count, each, words);
  }

  #arrive(call: Extract<BarrierCall, { intrinsic: 'barrierArrive' }>, words: Words): Statement[] {
    const { count, drop, result } = call;
    const arrival = {
      kind: 'mbarrierArrive',
      ...this.#at(call, words),
      count: count === null ? null : words.convert(count, 'u32'),
      bytes: null,
      drop,
      order: 'release',
    } as const;
    return [...this.#meetings().fenceWrites(words), words.core(arrival, result)];
  }

  #wait(call: Extract<BarrierCall, { intrinsic: 'barrierWait' }>, words: Words): Statement {
    const { by, phase, limit, until, result, barrier } = call;
    return words.core(
      {
        kind: 'mbarrierWait',
        ...this.#at(call, words),
        by,
        awaited: phase,
        phase: null,
        limit,
        until,
        converged: false,
        waiting: { verb: 'wait', barrier },
      },
      result,
    );
  }

  /** The phase is over only when the copies that this thread issued so far are complete. */
  #bind(call: { readonly barrier: number; readonly index: Expression }, words: Words): Statement {
    if (this.#isSoftware(call.barrier)) return words.core({ kind: 'copyWaitAll' });
    return words.core({ kind: 'mbarrierArriveAfterCopies', ...this.#at(call, words), noIncrement: false });
  }

  #copy(copy: CopyToBarrier, words: Words): Statement[] {
    if (!this.isBulk(copy)) {
      const byThreads = this.#copies.byThreads(copy, words);
      return this.#copies.isAsynchronous(copy) ? [...byThreads, this.#bind(copy, words)] : byThreads;
    }
    const { destination, source, count, alignment: promised } = copy;
    const at = this.#at(copy, words);
    const some = words.compare('greater', count, words.index(0));
    const first = words.isFirst(copy.group);
    // What threads read or wrote there before lies before what the engine writes. The phase must expect the
    // bytes before any can come, or it may end without them.
    const steps = [
      words.core({ kind: 'proxyFence', space: 'shared' }),
      words.core({ kind: 'mbarrierExpect', ...at, bytes: this.#copies.bytes(copy, words) }),
      words.core({ kind: 'bulkCopy', ...at, destination, source, count, promised }),
    ];
    return [
      ...this.#meetings().before(copy, words),
      words.when(first, [this.#copies.check(copy, words), words.when(some, steps)]),
    ];
  }
}

const mostInRow = 8;

/** `each` for every index of an array of mbarriers: one after the other if they are few. */
export function forEachIndex(
  frame: Frame,
  count: number,
  each: (index: Expression) => Statement[],
  words: Words,
): Statement[] {
  if (count <= mostInRow) return Array.from({ length: count }, (_, i) => each(words.index(i))).flat();
  const variable = frame.variable('each', words.indexType);
  const index = () => words.read(variable, words.indexType);
  return [
    words.assign(variable, words.index(0)),
    words.loop(frame.label(), words.compare('less', index(), words.index(count)), each(index()), [
      words.assign(variable, words.binary('add', index(), words.index(1))),
    ]),
  ];
}

/** Whether a call is a barrier's. */
export function isOfBarrier(call: Call): call is BarrierCall {
  return 'barrier' in call;
}
