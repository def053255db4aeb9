// cuda.pipelined: what is copied of each batch and what is done with it, written as the verbs that say so.
//
//   pipeline = makePipeline(group, state[, role | producers])
//   for (c = 0, f = 0; c < batches; ++c) {
//     for (; f < batches && f < c + stages; ++f) [if (producer)] { acquire; copy(f); commit }
//     [if (consumer)] { wait; use(stage of c, c); release }
//   }
//   pipeline.quit()
//
// With one stage there is one loop. Every verb is lowered as a call of it in the kernel is, at the place of `copy`
// or `use`, so that nothing later knows of this. A stage has room for each group of the block, one beside the other.

import type { Node } from 'acorn';
import type { IntrinsicName } from '../../kernel/intrinsics.ts';
import { binary, compare, conditional, numberConstant, variable } from '../build.ts';
import { textCode } from '../comparisons.ts';
import { branch } from '../conditional.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { memberNode } from '../nodes.ts';
import {
  describe,
  literal,
  number,
  type ObjectValue,
  undefinedValue,
  type Value,
  type ViewValue,
} from '../values.ts';
import type { SomeHandlers } from './handler.ts';
import { newSharedArray } from './memory.ts';
import { type Copy, copyForm, membersOf, type Options, optionsOf } from './pipelined-options.ts';

export const pipelinedHandlers = {
  'cuda.pipelined': (call) => {
    const { lowering, node, at } = call;
    const place = (member: string) => memberNode(at('options'), member);
    new Schedule(lowering, optionsOf(call, place), place).lower(node);
    return undefinedValue;
  },
} satisfies SomeHandlers;

/** One array of the stages, in shared memory. */
interface Staged {
  readonly array: ViewValue;
  /** Elements of one group's part of a stage. */
  readonly room: Expression;
}

/** Batches on their way through the stages. */
class Schedule {
  readonly #lowering: Lowering;
  readonly #options: Options;
  readonly #place: (member: string) => Node;
  /** By the name of the copy; null where `copy` gives one alone. */
  readonly #staged = new Map<string | null, Staged>();

  constructor(lowering: Lowering, options: Options, place: (member: string) => Node) {
    this.#lowering = lowering;
    this.#options = options;
    this.#place = place;
  }

  lower(node: Node): void {
    const lowering = this.#lowering;
    const { stages } = this.#options;
    const range = lowering.range(node);
    const batches = lowering.settleExpression(this.#options.batches, 'batches');
    const pipeline = this.#makePipeline(node);
    const isProducer = this.#isProducer();
    const fetch = (batch: Expression) =>
      this.#asRole(isProducer, true, this.#place('copy'), () => this.#fetch(pipeline, batch));
    const consume = (batch: Expression) =>
      this.#asRole(isProducer, false, this.#place('use'), () => this.#consume(pipeline, batch));

    const computed = this.#counter(stages === 1 ? 'batch' : 'computeBatch', node);
    const fetched = stages === 1 ? computed : this.#counter('fetchBatch', node);
    this.#loop(computed, compare('less', computed, batches, range), node, () => {
      if (stages === 1) fetch(computed);
      else {
        const limit = binary('add', computed, lowering.indexConstant(stages, node), range);
        const isFree = compare('less', fetched, limit, range);
        const isThere = compare('less', fetched, batches, range);
        const more = conditional(isThere, isFree, lowering.boolConstant(false, node), range);
        this.#loop(fetched, more, this.#place('copy'), () => fetch(fetched));
      }
      consume(computed);
    });
    lowering.markUnused(node);
    this.#verb('pipeline.quit', pipeline, node);
  }

  #makePipeline(node: Node): Value {
    const { group, stages, role, producers } = this.#options;
    // It refuses a number of stages that no pipeline has; that of a thread's own pipeline as well.
    const scope: Value = { kind: 'text', text: 'block' };
    const state = this.#verb('cuda.pipelineSharedState', null, this.#place('stages'), scope, literal(stages));
    if (group.kind === 'group' && group.group.kind === 'thread')
      return this.#verb('cuda.makePipeline', null, node);
    if (role !== undefined) return this.#verb('cuda.makePipeline', null, node, group, state, role);
    if (producers === undefined) return this.#verb('cuda.makePipeline', null, node, group, state);
    const count = number('index', producers);
    return this.#verb('cuda.makePipeline', null, this.#place('producers'), group, state, count);
  }

  /** Whether a thread is a producer; null where all are both. */
  #isProducer(): Expression | null {
    const lowering = this.#lowering;
    const { group, role, producers } = this.#options;
    if (role !== undefined) {
      const node = this.#place('role');
      const range = lowering.range(node);
      const producer = numberConstant('i32', lowering.textCode('producer'), range);
      return this.#kept(compare('equal', textCode(lowering, role, node), producer, range));
    }
    if (producers === undefined) return null;
    const node = this.#place('producers');
    const rank = this.#verb(rankIn(group), group, node);
    if (rank.kind !== 'number') return lowering.broken();
    return this.#kept(compare('less', rank.expression, producers, lowering.range(node)));
  }

  /** What follows from a rank stays as it is: who lowers roles looks for the rank in it. */
  #kept(isProducer: Expression): Expression {
    const lowering = this.#lowering;
    return lowering.isStable(isProducer) ? isProducer : lowering.settleExpression(isProducer, 'isProducer');
  }

  #asRole(isProducer: Expression | null, wanted: boolean, node: Node, inside: () => void): void {
    if (isProducer === null) inside();
    else branch(this.#lowering, isProducer, wanted ? inside : () => {}, wanted ? null : inside, node);
  }

  #fetch(pipeline: Value, batch: Expression): void {
    const lowering = this.#lowering;
    const node = this.#place('copy');
    this.#verb('pipeline.producerAcquire', pipeline, node);
    const given = lowering.call(this.#options.copy, [{ value: number('index', batch), node }], node);
    for (const [name, object] of this.#copiesOf(given, node)) {
      const what = name === null ? 'what copy gives' : `'${name}' of what copy gives`;
      const copy = membersOf(lowering, what, object, copyForm, () => node, node) as Copy;
      this.#copy(pipeline, name, copy, batch, node);
    }
    this.#verb('pipeline.producerCommit', pipeline, node);
  }

  /** What `copy` gives: one copy, or several with their names. */
  #copiesOf(given: Value, node: Node): readonly (readonly [string | null, ObjectValue])[] {
    const lowering = this.#lowering;
    if (given.kind === 'broken') return lowering.broken();
    if (given.kind === 'object') {
      if (given.members.get('source')?.kind !== 'object' && given.members.has('source'))
        return [[null, given]];
      const named = [...given.members].flatMap(([name, value]) =>
        value.kind === 'object' ? [[name, value] as const] : [],
      );
      if (named.length > 0 && named.length === given.members.size) return named;
    }
    return lowering.fail(
      node,
      'WS1009',
      `copy of cuda.pipelined must give what it copies, and gives ${describe(given)}`,
      'give one copy, { source, count }, or several by their names: { a: { source, count }, b: { source, count } }',
    );
  }

  #copy(pipeline: Value, name: string | null, copy: Copy, batch: Expression, node: Node): void {
    const lowering = this.#lowering;
    const { group, role, producers } = this.#options;
    const isParted = role !== undefined || producers !== undefined;
    if (copy.by === undefined && isParted) {
      lowering.fail(
        node,
        'WS1009',
        'where threads have roles, a copy says which of them make it together',
        'add by: cuda.thisThread() where each producer copies its own part, or the tile of the producers',
      );
    }
    const { array, room } = this.#roomFor(name, copy, node);
    const stage = this.#stage({ array, room }, batch, node);
    const range = lowering.range(node);
    const offset = copy.at === undefined ? stage.offset : binary('add', stage.offset, copy.at, range);
    const destination: ViewValue = { ...stage, offset };
    this.#verb(
      'cuda.memcpyAsync',
      null,
      node,
      copy.by ?? group,
      destination,
      copy.source,
      copy.count,
      pipeline,
    );
  }

  /** The stages of what is copied, made where it is copied first. */
  #roomFor(name: string | null, { source, count, room: given }: Copy, node: Node): Staged {
    const known = this.#staged.get(name);
    if (known !== undefined) return known;
    const lowering = this.#lowering;
    const room = lowering.expanded(given ?? count.count);
    const size = this.#times(this.#times(room, this.#groups(), node), this.#options.stages, node);
    const array = newSharedArray(
      lowering,
      { name: name ?? 'staged', element: source.element, count: size },
      node,
      {
        node,
        message: `how many elements of '${source.name}' a stage has room for must be the same for all threads and known at the launch`,
        hint: 'where batches differ, give the room of the largest beside count: { source, count, room: … }',
      },
    );
    const staged = { array, room };
    this.#staged.set(name, staged);
    return staged;
  }

  #consume(pipeline: Value, batch: Expression): void {
    const lowering = this.#lowering;
    const node = this.#place('use');
    const stages = [...this.#staged].map(
      ([name, staged]) => [name, this.#stage(staged, batch, node)] as const,
    );
    const alone = stages.find(([name]) => name === null);
    const members = new Map(stages.map(([name, stage]) => [name ?? '', stage]));
    const staged: Value = alone?.[1] ?? { kind: 'object', name: 'the stage', members };
    this.#verb('pipeline.consumerWait', pipeline, node);
    lowering.call(
      this.#options.use,
      [
        { value: staged, node },
        { value: number('index', batch), node },
      ],
      node,
    );
    this.#verb('pipeline.consumerRelease', pipeline, node);
  }

  /** The group's part of the stage that a batch is in. */
  #stage({ array, room }: Staged, batch: Expression, node: Node): ViewValue {
    const lowering = this.#lowering;
    const { stages } = this.#options;
    const range = lowering.range(node);
    const groups = this.#groups();
    const turn = stages === 1 ? lowering.indexConstant(0, node) : this.#remainder(batch, stages, node);
    const begin = binary('multiply', turn, this.#times(room, groups, node), range);
    if (groups === 1) return { ...array, offset: begin, length: room };
    const own = binary('multiply', this.#groupRank(node), room, range);
    return { ...array, offset: binary('add', begin, own, range), length: room };
  }

  /** How many such groups a block has; a grid is no group of threads that share stages, and is refused before. */
  #groups(): number {
    const [x, y, z] = this.#lowering.block;
    const size = this.#groupSize();
    return size === null ? 1 : Math.ceil((x * y * z) / size);
  }

  /** The threads of a group, of which the block's last one may have fewer; null for the block. */
  #groupSize(): number | null {
    const { group } = this.#options;
    if (group.kind === 'lanes') return group.tile!.size;
    if (group.group.kind === 'block') return null;
    return group.group.kind === 'tile' ? group.group.size : 1;
  }

  /** The place of the group among those of the block. */
  #groupRank(node: Node): Expression {
    const lowering = this.#lowering;
    const size = this.#groupSize()!;
    const block: Value = { kind: 'group', group: { kind: 'block' }, metaGroupSize: 1 };
    const rank = this.#verb('block.threadRank', block, node);
    if (rank.kind !== 'number') return lowering.broken();
    if (size === 1) return rank.expression;
    const shift = lowering.indexConstant(Math.log2(size), node);
    return binary('shiftRight', rank.expression, shift, lowering.range(node));
  }

  #times(value: Expression, times: number, node: Node): Expression {
    const lowering = this.#lowering;
    return binary('multiply', value, lowering.indexConstant(times, node), lowering.range(node));
  }

  #remainder(value: Expression, by: number, node: Node): Expression {
    const lowering = this.#lowering;
    return binary('remainder', value, lowering.indexConstant(by, node), lowering.range(node));
  }

  /** A variable that counts from 0. */
  #counter(name: string, node: Node): Expression & { readonly kind: 'variable' } {
    const lowering = this.#lowering;
    const range = lowering.range(node);
    const id = lowering.newVariable(name, lowering.indexType);
    lowering.emit({ kind: 'assign', variable: id, value: lowering.indexConstant(0, node), range });
    return variable(id, lowering.indexType, range);
  }

  /** Counts as long as the test holds. */
  #loop(
    counter: Expression & { readonly kind: 'variable' },
    test: Expression,
    node: Node,
    inside: () => void,
  ): void {
    const lowering = this.#lowering;
    const range = lowering.range(node);
    const label = lowering.newLabel();
    const body = lowering.collect(inside);
    const next = binary('add', counter, lowering.indexConstant(1, node), range);
    const update = [{ kind: 'assign', variable: counter.id, value: next, range } as const];
    lowering.emit({ kind: 'loop', label, test, testFirst: true, body, update, range });
  }

  #verb(name: IntrinsicName, receiver: Value | null, node: Node, ...values: Value[]): Value {
    const given = values.map((value) => ({ value, node }));
    return this.#lowering.call({ kind: 'intrinsic', name, receiver }, given, node);
  }
}

function rankIn(group: Options['group']): 'block.threadRank' | 'tile.threadRank' | 'coalesced.threadRank' {
  if (group.kind === 'lanes') return 'coalesced.threadRank';
  return group.group.kind === 'tile' ? 'tile.threadRank' : 'block.threadRank';
}
