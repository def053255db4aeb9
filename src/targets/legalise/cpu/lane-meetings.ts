// Lanes of a warp that find each other by masks, said by words for each thread: the lanes that it waits for or 0, and
// how often it was let go on.
//
// A thread that comes notes the lanes that it names. Who comes last, or returns, finds all of them there with that same
// mask, or returned. It knows then what each did before, and lets them go on, who know it from there. A lane comes
// once more only when it was let go on, so that its phase is how often it was.

import type { ArrayReference, Call, Expression, Statement } from '../../../compiler/ir.ts';
import { type LaneMeeting, warpSize } from '../../lanes.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';

type SyncCall = Extract<Call, { intrinsic: 'sync' }>;

/** Words of what lanes meet for, by rank. */
interface MeetingWords {
  readonly named: ArrayReference;
  readonly freed: ArrayReference;
}

export class LaneMeetings {
  readonly #frame: Frame;
  readonly #meetings = new Map<LaneMeeting, MeetingWords>();
  /** By rank, 1 where a thread has returned. */
  readonly #gone: ArrayReference;
  /** The lanes that are waited for, those of them that are still to be looked at, and the first of these. */
  readonly #lanes: number;
  readonly #rest: number;
  readonly #lane: number;
  /** Whether a lane is there. */
  readonly #here: number;

  constructor(frame: Frame) {
    this.#frame = frame;
    this.#gone = frame.counts('lanes.gone', 'i32', frame.blockSize);
    this.#lanes = frame.variable('lanes.named', 'u32');
    this.#rest = frame.variable('lanes.rest', 'u32');
    this.#lane = frame.variable('lanes.lane', 'u32');
    this.#here = frame.variable('lanes.here', 'bool');
  }

  /** A sync of the lanes that a mask names, which has the thread's own lane in it. */
  lower({ group, mask, operator }: SyncCall & { readonly mask: Expression }, words: Words): Statement[] {
    const meeting = this.#wordsOf(operator ?? 'sync');
    const { named, freed } = meeting;
    const rank = words.threadRank;
    const mine = (array: ArrayReference) => words.load(array, rank, 'i32');
    const zero = () => words.constant('i32', 0);
    const come = words.block(this.#frame.label(), [
      words.assign(this.#lanes, mask),
      this.#post(named, rank, this.#waitedFor(words), mine(freed), words),
      this.#letGoOn(meeting, words),
    ]);
    const wait = words.core({
      kind: 'waitUntil',
      array: freed,
      index: rank,
      test: words.compare('equal', mine(named), zero()),
      phase: words.binary('subtract', mine(freed), words.constant('i32', 1)),
      waits: true,
      waiting: { verb: 'sync', group, byMask: true, ...(operator ? { operator } : {}) },
      place: words.convert(words.binary('divide', rank, words.index(warpSize)), 'i32'),
      arrived: zero(),
      expected: mine(named),
      left: zero(),
    });
    return [come, wait];
  }

  /** The thread returns: those who wait for nobody else go on. */
  leave(words: Words): Statement[] {
    const { indexType } = words;
    const rank = words.threadRank;
    const other = this.#frame.variable('lanes.other', indexType);
    const at = () => words.read(other, indexType);
    const end = words.binary('add', this.#firstOfWarp(words), words.index(warpSize));
    const isPartial = this.#frame.blockSize % warpSize !== 0;
    const last = isPartial ? words.binary('min', end, words.index(this.#frame.blockSize)) : end;
    const one = words.constant('i32', 1);
    const ownLane = words.binary('and', words.convert(rank, 'u32'), words.u32(warpSize - 1));
    const bit = words.binary('shiftLeft', words.u32(1), ownLane);
    const settled = [...this.#meetings.values()].flatMap((meeting) => [
      words.assign(other, this.#firstOfWarp(words)),
      words.loop(
        this.#frame.label(),
        words.compare('less', at(), last),
        [
          words.assign(this.#lanes, words.convert(words.load(meeting.named, at(), 'i32'), 'u32')),
          words.when(
            words.compare('notEqual', words.binary('and', this.#read(this.#lanes, words), bit), words.u32(0)),
            [this.#letGoOn(meeting, words)],
          ),
        ],
        [words.assign(other, words.binary('add', at(), words.index(1)))],
      ),
    ]);
    const gone = this.#post(this.#gone, rank, one, words.constant('i32', 0), words);
    return [words.block(this.#frame.label(), [gone, ...settled])];
  }

  /** If all that `#lanes` names are there with that same mask, or have returned, they wait no more. */
  #letGoOn({ named, freed }: MeetingWords, words: Words): Statement {
    const label = this.#frame.label();
    const number = (value: number) => words.constant('i32', value);
    const at = () => this.#rankOfLane(words);
    const load = (array: ArrayReference) => words.load(array, at(), 'i32');
    const isHere = words.compare('equal', load(named), this.#waitedFor(words));
    const isGone = words.compare('notEqual', load(this.#gone), number(0));
    const unless = (then: readonly Statement[]) =>
      words.when(words.not(words.read(this.#here, 'bool')), then);
    return words.block(label, [
      ...this.#forEachLane(words, [
        this.#ask(named, isHere, load(freed), words),
        unless([
          this.#ask(this.#gone, isGone, number(0), words),
          unless([{ kind: 'break', label, range: words.range }]),
        ]),
      ]),
      ...this.#forEachLane(words, [
        words.store(named, at(), number(0)),
        this.#post(freed, at(), number(1), load(freed), words),
      ]),
    ]);
  }

  /** What is done for each lane that `#lanes` names. Who comes last has a high rank mostly: the highest are first. */
  #forEachLane(words: Words, body: readonly Statement[]): Statement[] {
    const rest = () => this.#read(this.#rest, words);
    const highest = words.binary('subtract', words.u32(31), words.unary('clz32', rest()));
    const bit = words.binary('shiftLeft', words.u32(1), this.#read(this.#lane, words));
    const any = words.compare('notEqual', rest(), words.u32(0));
    return [
      words.assign(this.#rest, this.#read(this.#lanes, words)),
      words.loop(
        this.#frame.label(),
        any,
        [words.assign(this.#lane, highest), ...body],
        [words.assign(this.#rest, words.binary('xor', rest(), bit))],
      ),
    ];
  }

  /** Asks whether a lane is there; then what it did before is known. */
  #ask(array: ArrayReference, test: Expression, phase: Expression, words: Words): Statement {
    const zero = words.constant('i32', 0);
    return words.core(
      {
        kind: 'waitUntil',
        array,
        index: this.#rankOfLane(words),
        test,
        phase,
        waits: false,
        waiting: { verb: 'sync' },
        place: zero,
        arrived: zero,
        expected: zero,
        left: zero,
      },
      this.#here,
    );
  }

  #post(
    array: ArrayReference,
    index: Expression,
    by: Expression,
    phase: Expression,
    words: Words,
  ): Statement {
    return words.core({ kind: 'post', array, index, by, phase, alone: true });
  }

  #wordsOf(meeting: LaneMeeting): MeetingWords {
    let found = this.#meetings.get(meeting);
    if (found === undefined) {
      const array = (what: string) => this.#frame.counts(`${meeting}.${what}`, 'i32', this.#frame.blockSize);
      found = { named: array('named'), freed: array('freed') };
      this.#meetings.set(meeting, found);
    }
    return found;
  }

  /** `#lanes` as it stands in a word. */
  #waitedFor(words: Words): Expression {
    return words.convert(this.#read(this.#lanes, words), 'i32');
  }

  #read(variable: number, words: Words): Expression {
    return words.read(variable, 'u32');
  }

  #rankOfLane(words: Words): Expression {
    const lane = words.convert(this.#read(this.#lane, words), words.indexType);
    return words.binary('add', this.#firstOfWarp(words), lane);
  }

  #firstOfWarp(words: Words): Expression {
    return words.binary('and', words.threadRank, words.index(-warpSize));
  }
}
