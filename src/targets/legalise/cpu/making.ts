// makePipeline: the threads of a group meet, and the first that goes on sets up what they share.
//
// Where threads have roles, they part before they meet, and producers are counted. Where each brings a count, it
// notes it; all must have noted the same.

import type { ArrayReference, Expression, Group, Statement } from '../../../compiler/ir.ts';
import type { PipelineCall } from '../../../compiler/ir-pipelines.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { groupSize, instanceOf, instances, sizeOf } from './groups.ts';
import { Meeting } from './meetings.ts';

type MakeCall = Extract<PipelineCall, { intrinsic: 'makePipeline' }>;

/** Makes a count that was noted differ from 0, which says that none was. */
const noted = -(2 ** 63);

export class Making {
  readonly #frame: Frame;
  readonly #pipeline: number;
  readonly #group: Group;
  readonly #meeting: Meeting;
  /** How often a group has set it up. */
  readonly #opened: ArrayReference;
  /** How many producers a group has, and is about to have; null where all threads are. */
  readonly #producers: ArrayReference | null;
  readonly #brought: ArrayReference | null;
  /** By rank, the count that a thread has noted. */
  readonly #notes: ArrayReference | null;

  constructor(frame: Frame, pipeline: number) {
    const { name, group, partition } = frame.program.pipelines[pipeline]!;
    const groups = instances(frame, group);
    this.#frame = frame;
    this.#pipeline = pipeline;
    this.#group = group;
    this.#meeting = new Meeting(frame, `${name}.made`, group);
    this.#opened = frame.counts(`${name}.opened`, 'i32', groups);
    this.#producers = partition === 'unified' ? null : frame.counts(`${name}.producers`, 'i32', groups);
    this.#brought = partition === 'role' ? frame.counts(`${name}.brought`, 'i32', groups) : null;
    this.#notes = partition === 'count' ? frame.counts(`${name}.notes`, 'i64', frame.blockSize) : null;
  }

  begin(words: Words): Statement[] {
    return this.#meeting.begin(words);
  }

  leave(words: Words): Statement[] {
    return this.#meeting.leave(words);
  }

  /** Whether the thread has made it. */
  isMade(words: Words): Expression {
    return words.compare('notEqual', this.#meeting.times(words), words.constant('i32', 0));
  }

  /** Threads of the group, an i32. */
  size(words: Words): Expression {
    return sizeOf(this.#frame, this.#group, words);
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
    { producers }: MakeCall,
    enter: (role: 'producer' | 'consumer') => Statement[],
    setUp: readonly Statement[],
    words: Words,
  ): Statement[] {
    const waiting = { verb: 'makePipeline', pipeline: this.#pipeline };
    const times = () => this.#meeting.times(words);
    const isFirst = words.compare('notEqual', this.#word(this.#opened, words), times());
    return [
      ...this.#bring(producers, enter, words),
      ...this.#meeting.arrive(words),
      this.#meeting.wait(waiting, words),
      words.when(isFirst, [
        words.store(this.#opened, this.#at(words), times()),
        ...setUp,
        ...this.#count(words),
      ]),
    ];
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
    const value = () => words.read(counted, 'i64');
    const wide = (count: number) => words.constant('i64', count);
    const others = words.convert(words.binary('subtract', this.size(words), words.constant('i32', 1)), 'i64');
    const before = words.binary('subtract', value(), wide(1));
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
      words.when(isOneSided, [stop]),
      words.store(producers, this.#at(words), words.convert(value(), 'i32')),
    ];
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
      words.binary('multiply', this.#at(words), words.index(groupSize(this.#frame, this.#group)));
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
    return instanceOf(this.#frame, this.#group, words);
  }
}
