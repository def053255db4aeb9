// Barriers at which threads arrive one by one, said by words: for each barrier how many phases are over, how many
// arrivals the current one still awaits, and how many the next will.
//
// Threads arrive in regions, and who arrives last begins the next phase. What was done before an arrival is published
// in its phase, at the word of those that are awaited, which only arrivals and the beginning of a phase change. What a
// thread waits for it keeps in variables of its own.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import { type Barrier, type BarrierCall, mostArrivals } from '../../../compiler/ir-barriers.ts';
import { constantOf } from '../../analysis/elements.ts';
import { forEachIndex } from '../barriers.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { BarrierChecks, type IndexedCall, type WaitCall } from './barrier-checks.ts';
import { Meeting } from './meetings.ts';
import { Sharing } from './sharing.ts';

type MakeCall = Extract<BarrierCall, { intrinsic: 'makeBarrier' }>;
type ArriveCall = Extract<BarrierCall, { intrinsic: 'barrierArrive' }>;

/** Makes a token negative. */
const last = -(2 ** 63);

export class BarrierRecords {
  readonly #frame: Frame;
  readonly #id: number;
  readonly #declaration: Barrier;
  readonly #sharing: Sharing;
  readonly #checks: BarrierChecks;
  /** Null for lanes, which meet by syncs of their own. */
  readonly #meeting: Meeting | null;
  readonly #surelyMade: boolean;
  /** Of lanes that have made it: how many have returned; null for others. */
  readonly #gone: ArrayReference | null;
  /** What the threads of a group want a phase to expect, and how often the group has set its barriers up. */
  readonly #proposed: ArrayReference;
  readonly #opened: ArrayReference;
  readonly #over: ArrayReference;
  readonly #pending: ArrayReference;
  readonly #expected: ArrayReference;
  /** The barrier of an array that a thread waits at. */
  readonly #at: number;

  constructor(frame: Frame, id: number, surelyMade: boolean) {
    const declaration = frame.program.barriers[id]!;
    const { name, group, count } = declaration;
    const sharing = new Sharing(frame, name, group);
    const groups = sharing.count;
    const words = (what: string, each: number) => frame.counts(`${name}.${what}`, 'i32', groups * each);
    this.#frame = frame;
    this.#id = id;
    this.#declaration = declaration;
    this.#sharing = sharing;
    this.#checks = new BarrierChecks(frame, id);
    this.#meeting = sharing.group === null ? null : new Meeting(frame, `${name}.made`, sharing.group);
    this.#gone = sharing.group === null ? words('gone', 1) : null;
    this.#surelyMade = surelyMade;
    this.#proposed = words('proposed', 1);
    this.#opened = words('opened', 1);
    this.#over = words('over', count ?? 1);
    this.#pending = words('pending', count ?? 1);
    this.#expected = words('expected', count ?? 1);
    this.#at = frame.variable(`${name}.at`, frame.program.indexType);
  }

  begin(words: Words): Statement[] {
    return [...(this.#meeting?.begin(words) ?? []), ...this.#sharing.begin(words)];
  }

  leave(words: Words): Statement[] {
    const gone = this.#gone;
    if (gone === null) return this.#meeting!.leave(words);
    const made = words.compare('notEqual', this.#sharing.times(words), words.constant('i32', 0));
    return [words.when(made, [this.#sharing.post(gone, this.#sharing.instance(words), 1, words)])];
  }

  lower(call: BarrierCall, words: Words): Statement[] {
    switch (call.intrinsic) {
      case 'makeBarrier':
        return this.#make(call, words);
      case 'barrierArrive':
        return [...this.#presence(call, words), words.block(this.#frame.label(), this.#arrive(call, words))];
      case 'barrierComplete':
        return [...this.#presence(call, words), ...this.#next(call.index, 'published', words)];
      case 'barrierWait':
        return [...this.#presence(call, words), ...this.#wait(call, words)];
      // Copies are done when they are issued.
      case 'barrierBind':
        return this.#presence(call, words);
      case 'memcpyAsync':
        return [...this.#presence(call, words), words.copyNow(call)];
      default:
        return call satisfies never;
    }
  }

  #presence(call: IndexedCall, words: Words): Statement[] {
    const isMissing = this.#surelyMade
      ? null
      : words.compare(
          'equal',
          this.#meeting?.times(words) ?? this.#sharing.times(words),
          words.constant('i32', 0),
        );
    return this.#checks.presence(call, isMissing, words);
  }

  /** The group meets, and the first that goes on sets the barriers up. */
  #make(call: MakeCall, words: Words): Statement[] {
    const { expected } = call;
    const meeting = this.#meeting;
    const zero = () => words.constant('i32', 0);
    const at = () => this.#sharing.instance(words);
    const initial = this.#frame.variable('expected', 'i32');
    const setUp = (index: Expression) => [
      words.store(this.#over, this.#slot(index, words), zero()),
      words.store(this.#pending, this.#slot(index, words), words.read(initial, 'i32')),
      words.store(this.#expected, this.#slot(index, words), words.read(initial, 'i32')),
    ];
    const setUpAll = () => forEachIndex(this.#frame, this.#declaration.count ?? 1, setUp, words);
    if (meeting === null) {
      const agreed = call.agreed ?? null;
      const size = this.#sharing.size(words);
      return [
        ...this.#sharing.join(call, words),
        ...(expected === null || agreed === null ? [] : this.#refuseOther(expected, agreed, words)),
        words.when(this.#sharing.isFirst(call, words), [
          words.store(this.#gone!, at(), zero()),
          words.assign(initial, agreed === null ? size : words.convert(agreed, 'i32')),
          ...setUpAll(),
        ]),
      ];
    }
    const times = () => meeting.times(words);
    const wanted = expected === null ? this.#sharing.size(words) : words.load(this.#proposed, at(), 'i32');
    return [
      ...(expected === null ? [] : this.#propose(expected, words)),
      ...meeting.arrive(words),
      meeting.wait({ verb: 'makeBarrier', barrier: this.#id }, words),
      words.when(words.compare('notEqual', words.load(this.#opened, at(), 'i32'), times()), [
        words.store(this.#opened, at(), times()),
        words.assign(initial, wanted),
        words.store(this.#proposed, at(), zero()),
        ...setUpAll(),
      ]),
    ];
  }

  /** Lanes that do not expect what the lowest of them does. */
  #refuseOther(expected: Expression, agreed: Expression, words: Words): Statement[] {
    const zero = words.constant('i32', 0);
    const isWrong = this.#isNotWithin(expected, words.index(mostArrivals), words);
    return [
      words.when(isWrong, [this.#checks.misused('wrongExpected', zero, [expected], words)]),
      words.when(words.compare('notEqual', expected, agreed), [
        this.#checks.misused('differentExpected', zero, [agreed, expected], words),
      ]),
    ];
  }

  /** Before a thread meets the others: all must expect the same. */
  #propose(expected: Expression, words: Words): Statement[] {
    const zero = () => words.constant('i32', 0);
    const at = () => this.#sharing.instance(words);
    const proposed = () => words.load(this.#proposed, at(), 'i32');
    const variable = this.#frame.variable('proposed', words.indexType);
    const given = () => words.read(variable, words.indexType);
    const own = () => words.convert(given(), 'i32');
    const isWrong = this.#isNotWithin(given(), words.index(mostArrivals), words);
    const isOther = words.compare('notEqual', proposed(), own());
    return [
      words.assign(variable, expected),
      words.when(isWrong, [this.#checks.misused('wrongExpected', zero(), [given()], words)]),
      // One statement: a cohort's threads come to it one by one, and each finds what those before it want.
      words.when(
        words.compare('equal', proposed(), zero()),
        [words.store(this.#proposed, at(), own())],
        [
          words.when(isOther, [
            this.#checks.misused('differentExpected', zero(), [proposed(), given()], words),
          ]),
        ],
      ),
    ];
  }

  #arrive({ index, count, drop, result }: ArriveCall, words: Words): Statement[] {
    const one = words.constant('i32', 1);
    const load = (array: ArrayReference) => words.load(array, this.#slot(index, words), 'i32');
    const variable = count === null ? null : this.#frame.variable('arrivals', words.indexType);
    const given = () => (variable === null ? words.index(1) : words.read(variable, words.indexType));
    const pending = () => load(this.#pending);
    const isWrong = this.#isNotWithin(given(), words.convert(pending(), words.indexType), words);
    const wrong = this.#checks.misused(
      'wrongCount',
      words.convert(index, 'i32'),
      [given(), pending()],
      words,
    );
    const by = words.binary('subtract', words.constant('i32', 0), words.convert(given(), 'i32'));
    const less = words.binary('subtract', load(this.#expected), one);
    return [
      ...(variable === null ? [] : [words.assign(variable, count!)]),
      words.when(isWrong, [wrong]),
      ...(result === null ? [] : [words.assign(result, this.#checks.token(index, load(this.#over), words))]),
      ...(drop ? [words.store(this.#expected, this.#slot(index, words), less)] : []),
      this.#post(index, by, load(this.#over), words),
      ...this.#atLast(index, result, words),
    ];
  }

  /** The thread that arrives last begins the next phase. With a completion, its token says that it must end this one. */
  #atLast(index: Expression, result: number | null, words: Words): Statement[] {
    const load = (array: ArrayReference) => words.load(array, this.#slot(index, words), 'i32');
    const isLast = () => words.compare('equal', load(this.#pending), words.constant('i32', 0));
    if (!this.#declaration.completes) return [words.when(isLast(), this.#next(index, 'begun', words))];
    const known = this.#frame.variable('last', 'bool');
    const token = () => words.binary('or', words.read(result!, 'i64'), words.constant('i64', last));
    // It knows then what all others did before they arrived.
    const ask = this.#await(index, isLast(), load(this.#over), known, words);
    return [
      ask,
      ...(result === null ? [] : [words.when(words.read(known, 'bool'), [words.assign(result, token())])]),
    ];
  }

  /** A phase is over: the next awaits what is expected now. */
  #next(index: Expression, how: 'begun' | 'published', words: Words): Statement[] {
    const over = () => words.load(this.#over, this.#slot(index, words), 'i32');
    const expected = words.load(this.#expected, this.#slot(index, words), 'i32');
    const next = words.binary('add', over(), words.constant('i32', 1));
    return [
      this.#post(index, expected, how === 'published' ? over() : null, words),
      words.store(this.#over, this.#slot(index, words), next),
    ];
  }

  #wait(call: WaitCall, words: Words): Statement[] {
    const { index, limit, result } = call;
    const isKnown = constantOf(index) !== null;
    const at = () => (isKnown ? index : words.read(this.#at, words.indexType));
    const over = () => words.load(this.#over, this.#slot(at(), words), 'i32');
    const awaited = () => this.#checks.awaited(words);
    const isOver = words.compare('greater', over(), awaited());
    const note = [
      ...(isKnown ? [] : [words.assign(this.#at, index)]),
      ...this.#checks.findAwaited({ ...call, index: at() }, over, words),
    ];
    return [
      words.block(this.#frame.label(), note),
      ...(limit !== null && result === null ? [] : [this.#await(at(), isOver, awaited(), result, words)]),
    ];
  }

  /** Waits for a test, or gives whether it holds; then what was published in a phase is known. */
  #await(
    index: Expression,
    test: Expression,
    phase: Expression,
    result: number | null,
    words: Words,
  ): Statement {
    const load = (array: ArrayReference) => words.load(array, this.#slot(index, words), 'i32');
    return words.core(
      {
        kind: 'waitUntil',
        array: this.#pending,
        index: this.#slot(index, words),
        test,
        phase,
        waits: result === null,
        waiting: { verb: 'wait', barrier: this.#id },
        place: words.convert(index, 'i32'),
        arrived: words.binary('subtract', load(this.#expected), load(this.#pending)),
        expected: load(this.#expected),
        left:
          this.#gone === null
            ? this.#meeting!.gone(words)
            : words.load(this.#gone, this.#sharing.instance(words), 'i32'),
      },
      result,
    );
  }

  #post(index: Expression, by: Expression, phase: Expression | null, words: Words): Statement {
    const at = this.#slot(index, words);
    return words.core({ kind: 'post', array: this.#pending, index: at, by, phase, alone: true });
  }

  /** Whether a count of the indexType is not from 1 to another. */
  #isNotWithin(count: Expression, most: Expression, words: Words): Expression {
    const unsigned = words.indexType === 'i64' ? 'u64' : 'u32';
    const before = words.binary('subtract', count, words.index(1));
    return words.compare('greaterEqual', words.convert(before, unsigned), words.convert(most, unsigned));
  }

  /** Where the words of a barrier of the thread's group are. */
  #slot(index: Expression, words: Words): Expression {
    if (this.#sharing.count === 1) return index;
    const first = words.binary(
      'multiply',
      this.#sharing.instance(words),
      words.index(this.#declaration.count ?? 1),
    );
    return words.binary('add', first, index);
  }
}
