// makePipeline: the threads of a group meet, and the first that goes on sets up what they share.
//
// Where threads have roles, they part before they meet, and producers are counted. Where each brings a count, it
// notes it; all must have noted the same. Lanes have met, and will again: they bring what they agreed on, and the lowest
// of them sets up.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import type { PipelineCall } from '../../../compiler/ir-pipelines.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { groupSize } from './groups.ts';
import { Meeting } from './meetings.ts';
import type { Sharing } from './sharing.ts';

type MakeCall = Extract<PipelineCall, { intrinsic: 'makePipeline' }>;

/** Makes a count that was noted differ from 0, which says that none was. */
const noted = -(2 ** 63);

export class Making {
  readonly #frame: Frame;
  readonly #pipeline: number;
  readonly #sharing: Sharing;
  /** Null for lanes. */
  readonly #meeting: Meeting | null;
  /** How often a group has set it up; null for lanes. */
  readonly #opened: ArrayReference | null;
  /** How many producers a group has, and is about to have; null where all threads are. */
  readonly #producers: ArrayReference | null;
  readonly #brought: ArrayReference | null;
  /** By rank, the count that a thread has noted; of lanes, those that two brought which do not agree. */
  readonly #notes: ArrayReference | null;

  constructor(frame: Frame, pipeline: number, sharing: Sharing) {
    const { name, partition } = frame.program.pipelines[pipeline]!;
    const { group, count: groups } = sharing;
    this.#frame = frame;
    this.#pipeline = pipeline;
    this.#sharing = sharing;
    const ofLanes = group === null;
    this.#meeting = ofLanes ? null : new Meeting(frame, `${name}.made`, group);
    this.#opened = ofLanes ? null : frame.counts(`${name}.opened`, 'i32', groups);
    this.#producers = partition === 'unified' ? null : frame.counts(`${name}.producers`, 'i32', groups);
    const tellsRoles = partition === 'role' && !ofLanes;
    this.#brought = tellsRoles ? frame.counts(`${name}.brought`, 'i32', groups) : null;
    const notes = ofLanes ? 2 * frame.blockSize : frame.blockSize;
    this.#notes = partition === 'count' ? frame.counts(`${name}.notes`, 'i64', notes) : null;
  }

  begin(words: Words): Statement[] {
    return [...(this.#meeting?.begin(words) ?? []), ...this.#sharing.begin(words)];
  }

  leave(words: Words): Statement[] {
    return this.#meeting?.leave(words) ?? [];
  }

  /** Whether the thread has made it. */
  isMade(words: Words): Expression {
    const times = this.#meeting?.times(words) ?? this.#sharing.times(words);
    return words.compare('notEqual', times, words.constant('i32', 0));
  }

  /** Threads of the group, an i32. */
  size(words: Words): Expression {
    return this.#sharing.size(words);
  }

  producers(words: Words): Expression {
    return this.#producers === null ? this.size(words) : this.#word(this.#producers, words);
  }

  consumers(words: Words): Expression {
    const size = this.size(words);
    return this.#producers === null ? size : words.binary('subtract', size, this.producers(words));
  }

  /** `setUp` is done for the group by the first that goes on; `enter` by each thread that has a role. */
  make(
    call: MakeCall,
    enter: (role: 'producer' | 'consumer') => Statement[],
    setUp: readonly Statement[],
    words: Words,
  ): Statement[] {
    const [meeting, opened] = [this.#meeting, this.#opened];
    if (meeting === null || opened === null) return this.#makeOfLanes(call, enter, setUp, words);
    const waiting = { verb: 'makePipeline', pipeline: this.#pipeline };
    const times = () => meeting.times(words);
    const isFirst = words.compare('notEqual', this.#word(opened, words), times());
    return [
      ...this.#bring(call.producers, enter, words),
      ...meeting.arrive(words),
      meeting.wait(waiting, words),
      words.when(isFirst, [words.store(opened, this.#at(words), times()), ...setUp, ...this.#count(words)]),
    ];
  }

  #makeOfLanes(
    call: MakeCall,
    enter: (role: 'producer' | 'consumer') => Statement[],
    setUp: readonly Statement[],
    words: Words,
  ): Statement[] {
    const { producers, agreed } = call;
    const isRole = producers?.type === 'bool';
    const parted = isRole ? [words.when(producers, enter('producer'), enter('consumer'))] : [];
    const wide = this.#producers === null ? null : this.#frame.variable('producers', 'i64');
    const counted = wide === null ? [] : [words.assign(wide, words.convert(agreed!, 'i64'))];
    const count =
      wide === null
        ? []
        : [
            ...this.#refuseOneSided(wide, words),
            this.#store(this.#producers!, words.read(wide, 'i64'), words),
          ];
    const differing = this.#notes === null ? [] : this.#refuseOther(producers!, agreed!, words);
    return [
      ...this.#sharing.join(call, words),
      ...parted,
      ...differing,
      ...counted,
      words.when(this.#sharing.isFirst(call, words), [...setUp, ...count]),
    ];
  }

  /** A lane that brings another count than the lowest one notes both, and stops. */
  #refuseOther(own: Expression, agreed: Expression, words: Words): Statement[] {
    const notes = this.#notes!;
    const place = (which: number) => {
      const first = words.binary('multiply', words.threadRank, words.index(2));
      return which === 0 ? first : words.binary('add', first, words.index(which));
    };
    const note = (which: number, count: Expression) =>
      words.store(
        notes,
        place(which),
        words.binary('xor', words.convert(count, 'i64'), words.constant('i64', noted)),
      );
    const stop = words.core({
      kind: 'countsDiffer',
      pipeline: this.#pipeline,
      array: notes,
      index: place(0),
      threads: words.constant('i32', 2),
    });
    return [words.when(words.compare('notEqual', own, agreed), [note(0, agreed), note(1, own), stop])];
  }

  #bring(
    producers: Expression | null,
    enter: (role: 'producer' | 'consumer') => Statement[],
    words: Words,
  ): Statement[] {
    const [brought, notes] = [this.#brought, this.#notes];
    if (brought !== null) {
      const one = words.constant('i32', 1);
      const add = words.core({
        kind: 'post',
        array: brought,
        index: this.#at(words),
        by: one,
        phase: null,
      });
      return [words.when(producers!, [...enter('producer'), add], enter('consumer'))];
    }
    if (notes === null) return [];
    const note = words.binary('xor', words.convert(producers!, 'i64'), words.constant('i64', noted));
    return [words.store(notes, words.threadRank, note)];
  }

  /** How many producers there are is now known: at least one, and not all. */
  #count(words: Words): Statement[] {
    const producers = this.#producers;
    if (producers === null) return [];
    const counted = this.#frame.variable('producers', 'i64');
    const brought = this.#brought;
    const read =
      brought === null
        ? this.#agree(counted, words)
        : [
            words.assign(counted, words.convert(this.#word(brought, words), 'i64')),
            words.store(brought, this.#at(words), words.constant('i32', 0)),
          ];
    return [
      ...read,
      ...this.#refuseOneSided(counted, words),
      this.#store(producers, words.read(counted, 'i64'), words),
    ];
  }

  #refuseOneSided(counted: number, words: Words): Statement[] {
    const value = () => words.read(counted, 'i64');
    const others = words.convert(words.binary('subtract', this.size(words), words.constant('i32', 1)), 'i64');
    const before = words.binary('subtract', value(), words.constant('i64', 1));
    const isOneSided = words.compare(
      'greaterEqual',
      words.convert(before, 'u64'),
      words.convert(others, 'u64'),
    );
    const stop = words.core({
      kind: 'oneSided',
      pipeline: this.#pipeline,
      producers: value(),
      threads: this.size(words),
    });
    return [words.when(isOneSided, [stop])];
  }

  #store(array: ArrayReference, value: Expression, words: Words): Statement {
    return words.store(array, this.#at(words), words.convert(value, 'i32'));
  }

  /** Reads what was noted, and leaves no note behind. */
  #agree(counted: number, words: Words): Statement[] {
    const notes = this.#notes!;
    const { indexType } = words;
    const [rank, end] = ['rank', 'end'].map((name) => this.#frame.variable(name, indexType));
    const [agreed, differs] = [
      this.#frame.variable('agreed', 'i64'),
      this.#frame.variable('differs', 'bool'),
    ];
    const wide = (count: number) => words.constant('i64', count);
    const at = () => words.read(rank!, indexType);
    const note = () => words.load(notes, at(), 'i64');
    const first = () =>
      words.binary('multiply', this.#at(words), words.index(groupSize(this.#frame, this.#sharing.group!)));
    const known = () => words.read(agreed, 'i64');
    const forEachNote = (body: readonly Statement[]) => [
      words.assign(rank!, first()),
      words.loop(this.#frame.label(), words.compare('less', at(), words.read(end!, indexType)), body, [
        words.assign(rank!, words.binary('add', at(), words.index(1))),
      ]),
    ];
    const isOther = words.compare('notEqual', note(), known());
    const compared = words.when(
      words.compare('equal', known(), wide(0)),
      [words.assign(agreed, note())],
      [words.when(isOther, [words.assign(differs, words.constant('bool', true))])],
    );
    const stop = words.core({
      kind: 'countsDiffer',
      pipeline: this.#pipeline,
      array: notes,
      index: first(),
      threads: this.size(words),
    });
    return [
      words.assign(end!, words.binary('add', first(), words.convert(this.size(words), indexType))),
      words.assign(agreed, wide(0)),
      words.assign(differs, words.constant('bool', false)),
      ...forEachNote([words.when(words.compare('notEqual', note(), wide(0)), [compared])]),
      words.when(words.read(differs, 'bool'), [stop]),
      ...forEachNote([words.store(notes, at(), wide(0))]),
      words.assign(counted, words.binary('xor', known(), wide(noted))),
    ];
  }

  #word(array: ArrayReference, words: Words): Expression {
    return words.load(array, this.#at(words), 'i32');
  }

  #at(words: Words): Expression {
    return this.#sharing.instance(words);
  }
}
