// Pipelines whose producers do nothing but copy: one thread copies for all of them.
//
//   for (c, f = 0; c < n; ++c) {                      leader = the first rank of the warp
//     for (; f < n && f < c + S; ++f)                 if (leader === 0) if (elected)
//       if (producer) { acquire; copy; commit }   →     for (; f < n; ++f) { acquire; copy all; commit }
//     if (consumer) { wait; use; release }            else if (leader >= producers)
//   }                                                   for (; c < n; ++c) { wait; use; release }
//
// What stands between the first and the last verb of the pipeline is written twice: as that thread goes
// through it whose copies come first, with all copies in one (neighbours.ts), and as the consumers do. The
// other producers have nothing to do there. Warps have one role each, if need be because the threads of
// the hardware change places (thread-order.ts).
//
// It is done where the role of each thread is known from its rank, all producers come to the same verbs
// together, and so do all consumers; where copies are all that has to be ordered (only-copies.ts); and
// where nothing that is assigned there is read afterwards. In a kernel that is checked, a copy for all tells of the
// thread whose part is wrong (`parts`); its producers may do nothing else that is tested.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import type { ThreadOrder } from '../../compiler/ir-core.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { elementOf } from '../analysis/elements.ts';
import { type FactOf, factsOf } from '../analysis/facts.ts';
import { canFail } from '../analysis/failing.ts';
import { mapStatements } from '../analysis/map.ts';
import { anyStatement, assignedIn, forEachStatement, listsOf, readIn } from '../analysis/walk.ts';
import { type Copy, copyAlignment, returnsAmongCopies } from './calls.ts';
import { Frame } from './frame.ts';
import { copyStatements, newLabels, newLoopSchedule } from './loop-schedule.ts';
import { asThread, type Together, together } from './neighbours.ts';
import { flattened, partOf, withoutDead } from './parts.ts';
import { asksForWarps, orderOf, rankIn, withRank } from './thread-order.ts';
import { waitsForAll } from './turns.ts';
import { stageStepOf, type Verb } from './verbs.ts';
import { Words } from './words.ts';

/** Threads of a warp. */
const warp = 32;

/** The program with the parts of a pipeline's producers and consumers written apart, or why they cannot be. */
export type Parted = { readonly program: Program } | { readonly obstacle: string };

export interface PartingOptions {
  /** For each parameter, by which power of two bytes its array's address is divisible. */
  readonly alignments: readonly number[];
  /** Whether what threads access and copy is tested. */
  readonly checked: boolean;
}

export function partRoles(program: Program, pipeline: number, options: PartingOptions): Parted {
  try {
    return { program: new Parting(program, pipeline, options).parted() };
  } catch (error) {
    if (error instanceof Obstacle) return { obstacle: error.message };
    throw error;
  }
}

class Obstacle extends Error {}

/** Which threads come to a place, by rank. */
type Threads = readonly boolean[];

class Parting {
  readonly #program: Program;
  readonly #pipeline: number;
  readonly #options: PartingOptions;
  readonly #size: number;
  readonly #inThread = new Map<number, FactOf>();
  /** The statements from the first to the last that has a verb of the pipeline, and where they stand. */
  readonly #begin: number;
  readonly #end: number;
  readonly #span: readonly Statement[];

  constructor(program: Program, pipeline: number, options: PartingOptions) {
    const [x, y, z] = program.block;
    this.#program = program;
    this.#pipeline = pipeline;
    this.#options = options;
    this.#size = x * y * z;
    const holds = (statement: Statement) => anyStatement([statement], (each) => this.#isVerb(each));
    this.#begin = program.body.findIndex(holds);
    this.#end = program.body.findLastIndex(holds) + 1;
    this.#span = program.body.slice(this.#begin, this.#end);
  }

  parted(): Program {
    this.#refuseOthers();
    const verbs = this.#verbs();
    const producers = this.#producersOf(verbs);
    const order = this.#order(producers);
    const copies = this.#copiesOf(verbs);
    const [first] = [...copies.values()].map((one) => one.first);
    const program = this.#written(
      order,
      this.#ofCopier(first!, order.count, copies),
      this.#ofConsumers(producers),
    );

    const alignmentOf = copyAlignment(program, this.#options.alignments);
    forEachStatement(program.body, (statement) => {
      if (statement.kind !== 'call' || statement.intrinsic !== 'memcpyAsync') return;
      const known = alignmentOf(statement);
      if (known < 16)
        throw new Obstacle(`what its producers copy is known to be aligned to ${known} bytes, and not to 16`);
    });
    return program;
  }

  #isVerb(statement: Statement): statement is Verb {
    if (statement.kind !== 'call' || !('pipeline' in statement)) return false;
    return statement.pipeline === this.#pipeline && statement.intrinsic !== 'makePipeline';
  }

  #factOf = (rank: number): FactOf => {
    const known = this.#inThread.get(rank) ?? factsOf(this.#program).inThread(rank);
    this.#inThread.set(rank, known);
    return known;
  };

  /** What may stand between the verbs has no effect on when threads come to them. */
  #refuseOthers(): void {
    const { body } = this.#program;
    const isMade = body
      .slice(0, Math.max(0, this.#begin))
      .some((each) => each.kind === 'call' && each.intrinsic === 'makePipeline');
    if (!isMade) throw new Obstacle('it is not made once for all threads before it is used');
    if (factsOf(this.#program).among('block').returnsDivergently || returnsAmongCopies(body))
      throw new Obstacle('threads may return while copies are under way');
    const meets = anyStatement(this.#span, (each) => {
      if (each.kind === 'return') return true;
      return each.kind === 'call' && each.intrinsic === 'sync' && each.group.kind !== 'tile';
    });
    if (meets) throw new Obstacle('threads meet otherwise between its verbs');
    const assigned = assignedIn(this.#span);
    const outside = readIn([...body.slice(0, this.#begin), ...body.slice(this.#end)]);
    if ([...assigned].some((variable) => outside.has(variable)))
      throw new Obstacle('what is assigned between its verbs is read elsewhere');
  }

  /** The threads that come to each verb; all of them come together. */
  #verbs(): ReadonlyMap<Verb, Threads> {
    const { isUniform, divergent } = factsOf(this.#program).among('block');
    const verbs = new Map<Verb, Threads>();
    const visit = (statements: readonly Statement[], here: Threads | null): void => {
      for (const statement of statements) {
        if (this.#isVerb(statement)) {
          if (here === null) throw new Obstacle('which threads come to its verbs is not known');
          verbs.set(statement, here);
        }
        if (statement.kind === 'if' && !isUniform(statement.test)) {
          visit(statement.then, this.#passing(statement.test, true, here));
          visit(statement.otherwise, this.#passing(statement.test, false, here));
        } else {
          const inside = divergent.has(statement) ? null : here;
          for (const list of listsOf(statement)) visit(list, inside);
        }
      }
    };
    visit(this.#span, Array<boolean>(this.#size).fill(true));
    return verbs;
  }

  #passing(test: Expression, wanted: boolean, here: Threads | null): Threads | null {
    if (here === null) return null;
    const passing: boolean[] = [];
    for (const [rank, isHere] of here.entries()) {
      const { value } = isHere ? this.#factOf(rank)(test) : { value: false };
      if (value === null) return null;
      passing.push(isHere && value === wanted);
    }
    return passing;
  }

  /** Checks that all threads that have a role come to all of its verbs; gives which are producers. */
  #producersOf(verbs: ReadonlyMap<Verb, Threads>): Threads {
    const at = (step: ReturnType<typeof stageStepOf>) =>
      [...verbs].filter(([verb]) => stageStepOf(verb) === step).map(([, threads]) => threads);
    const roles = {
      producer: [...at('acquire'), ...at('commit')],
      consumer: [...at('wait'), ...at('release')],
    };
    const [producers] = roles.producer;
    if (producers === undefined || roles.consumer.length === 0 || at('copy').length === 0)
      throw new Obstacle('it has no copies, or nobody to wait for them');
    const apart =
      roles.producer.every((threads) => threads.every((one, rank) => one === producers[rank])) &&
      roles.consumer.every((threads) => threads.every((one, rank) => one !== producers[rank]));
    if (!apart || !this.#isCounted(producers))
      throw new Obstacle('not all threads of a role come to its verbs');
    for (const verb of verbs.keys()) {
      if ('time' in verb || ('result' in verb && verb.result !== null))
        throw new Obstacle('a thread asks it for more than a stage');
    }
    return producers;
  }

  /** Whether the pipeline is made for as many producers as there are. */
  #isCounted(producers: Threads): boolean {
    const make = this.#program.body.find(
      (each) => each.kind === 'call' && each.intrinsic === 'makePipeline' && each.pipeline === this.#pipeline,
    );
    if (make?.kind !== 'call' || make.intrinsic !== 'makePipeline' || make.producers === null) return false;
    const count = producers.filter((one) => one).length;
    const { partition } = this.#program.pipelines[this.#pipeline]!;
    return producers.every((one, rank) => {
      const { value } = this.#factOf(rank)(make.producers!);
      return value !== null && (partition === 'count' ? Number(value) === count : value === one);
    });
  }

  #order(producers: Threads): ThreadOrder {
    const order = orderOf(producers);
    if (order === null) throw new Obstacle('its producers are at no regular distance');
    if (this.#size % warp !== 0 || order.count % warp !== 0)
      throw new Obstacle('its roles do not fill whole warps');
    if (!order.isSame && asksForWarps(this.#program))
      throw new Obstacle('its roles part warps, and the kernel asks for warps');
    return order;
  }

  /** What the threads' copies are together. */
  #copiesOf(verbs: ReadonlyMap<Verb, Threads>): ReadonlyMap<Copy, Together> {
    const copies = new Map<Copy, Together>();
    for (const [verb, here] of verbs) {
      if (verb.intrinsic !== 'memcpyAsync') continue;
      const threads = [...here.keys()].filter((rank) => here[rank]);
      const one = together(verb, threads, this.#program, this.#factOf);
      if (one === null) throw new Obstacle('its producers copy other than one part of an array');
      if (this.#options.checked) this.#refuseUntold(verb, one);
      copies.set(verb, one);
    }
    if (new Set([...copies.values()].map(({ first }) => first)).size !== 1)
      throw new Obstacle('its copies do not begin in the same thread');
    return copies;
  }

  /** Where parts are as the whole is, the first that is wrong is that of the lowest rank. */
  #refuseUntold({ source, alignment }: Copy, { count, parts, inOrder }: Together): void {
    if (!inOrder) throw new Obstacle('each copy is tested, and their order is not that of the ranks');
    const bytes = bytesOf(elementOf(this.#program, source.array));
    if (count !== null && ((count / parts) * bytes) % alignment !== 0)
      throw new Obstacle('each copy is tested, and copies other than it promises');
  }

  /** What the thread of a rank does that copies for all producers. */
  #ofCopier(rank: number, producers: number, copies: ReadonlyMap<Copy, Together>): readonly Statement[] {
    const factOf = this.#factOf(rank);
    const { isUniform } = factsOf(this.#program).among('block');
    const passes = (test: Expression) => {
      const { value } = isUniform(test) ? { value: null } : factOf(test);
      return value === null ? null : value === true;
    };
    const own = assignedIn(this.#span);
    const words = new Words(this.#span[0]!.range, this.#program.indexType);
    const part = mapStatements(partOf(this.#span, passes), {
      expression: (each) => {
        const isLeaf = each.kind === 'variable' || each.kind === 'builtin';
        const written = isLeaf ? asThread(each, this.#program, factOf, own) : each;
        if (written === null) throw new Obstacle('its producers use what is known to each of them alone');
        return written;
      },
      statement: (each, original) => {
        if (each.kind !== 'call' || each.intrinsic !== 'memcpyAsync') return each;
        const { count, parts } = copies.get(original as Copy)!;
        return {
          ...each,
          group: { kind: 'block' },
          count: count === null ? each.count : words.index(count),
          ...(this.#options.checked ? { parts: { count: parts, threads: producers / parts } } : {}),
        };
      },
    });
    const isTheirs = (each: Statement) => {
      if (each.kind !== 'call') return each.kind !== 'store' && each.kind !== 'return';
      const step = stageStepOf(each);
      return this.#isVerb(each) && step !== 'wait' && step !== 'release';
    };
    const alive = withoutDead(flattened(withoutDead(part), this.#program.body.slice(0, this.#begin)));
    if (anyStatement(alive, (each) => !isTheirs(each))) throw new Obstacle('its producers do more than copy');
    if (this.#options.checked && alive.some(canFail))
      throw new Obstacle('what its producers read or divide by is tested in each of them');
    // The consumers' part has the same labels.
    return copyStatements(alive, newLoopSchedule(), newLabels(this.#program.body));
  }

  #ofConsumers(producers: Threads): readonly Statement[] {
    const { isUniform } = factsOf(this.#program).among('block');
    const consumers = [...producers.keys()].filter((rank) => !producers[rank]);
    const passes = (test: Expression) => {
      if (isUniform(test)) return null;
      const values = new Set(consumers.map((rank) => this.#factOf(rank)(test).value));
      return values.size > 1 || values.has(null) ? null : values.has(true);
    };
    return withoutDead(partOf(this.#span, passes));
  }

  /** The program with both parts. */
  #written(order: ThreadOrder, copier: readonly Statement[], consumers: readonly Statement[]): Program {
    const { body, block, pipelines } = this.#program;
    const pipeline = this.#pipeline;
    const frame = new Frame(this.#program);
    const words = frame.words(this.#span[0]!.range);
    const leader = frame.variable('first_of_warp', 'i32');
    const elected = frame.variable('elected', 'bool');
    const first = words.read(leader, 'i32');
    // Others may end while bytes are on their way that none of them waits for.
    const landed: Statement[] = waitsForAll(copier, consumers, body.slice(0, this.#begin))
      ? []
      : [{ kind: 'call', intrinsic: 'quit', pipeline, result: null, landed: true, range: words.range }];
    const isCopying = words.compare('equal', first, words.constant('i32', 0));
    const isConsuming = words.compare('greaterEqual', first, words.constant('i32', order.count));
    const before = body.slice(0, this.#begin).map((each): Statement => {
      if (each.kind !== 'call' || each.intrinsic !== 'makePipeline') return each;
      return { ...each, producers: words.index(order.count) };
    });
    const all = [
      ...before,
      // One branch, not two in a row: where the copying warp comes together again costs a third of the speed.
      words.when(
        isCopying,
        [
          words.core({ kind: 'elect' }, elected),
          words.when(words.read(elected, 'bool'), [...copier, ...landed]),
        ],
        [words.when(isConsuming, consumers)],
      ),
      ...body.slice(this.#end),
    ];
    const begin = [words.firstOfWarp(leader)];
    let rest: readonly Statement[] = all;
    if (!order.isSame) {
      const rank = frame.variable('rank', this.#program.indexType);
      begin.push(words.assign(rank, rankIn(order, words)));
      rest = withRank(all, words.read(rank, this.#program.indexType), block, words);
    }
    const counted = { ...pipelines[this.#pipeline]!, partition: 'count' } as const;
    return {
      ...frame.finish([...begin, ...rest]),
      ...(order.isSame ? {} : { threadOrder: order }),
      pipelines: pipelines.map((each, id) => (id === this.#pipeline ? counted : each)),
    };
  }
}
