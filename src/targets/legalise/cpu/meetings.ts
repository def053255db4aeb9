// Where the threads of a group meet, said by two words for each group: how often its threads have come, and how
// many of them have returned. Of the grid all blocks have the first in common, and those who return are expected too.
//
// Nobody comes once more before all have come as often, so that a thread that came k times may go on when those
// who have not returned have come k times each, all together. No word is ever set back; both wrap. One that returns
// takes back what it came, and is not expected any more.

import type { ArrayReference, Expression, Group, Statement } from '../../../compiler/ir.ts';
import type { Waiting } from '../../../compiler/ir-core.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { instanceOf, instances, sizeOf } from './groups.ts';

export class Meeting {
  readonly #frame: Frame;
  readonly #group: Group;
  readonly #came: ArrayReference;
  readonly #left: ArrayReference | null;
  /** How often a thread came: the same in all of a cohort. */
  readonly #times: number;

  constructor(frame: Frame, name: string, group: Group) {
    const count = instances(frame, group);
    this.#frame = frame;
    this.#group = group;
    const ofGrid = group.kind === 'grid';
    this.#came = frame.counts(`${name}.came`, 'i32', count, { ofGrid });
    this.#left = ofGrid ? null : frame.counts(`${name}.left`, 'i32', count);
    this.#times = frame.variable(`${name}.times`, 'i32');
  }

  /** How often the thread came, an i32. */
  times(words: Words): Expression {
    return words.read(this.#times, 'i32');
  }

  /** The start of a block. */
  begin(words: Words): Statement[] {
    return [words.assign(this.#times, words.constant('i32', 0))];
  }

  /** The thread comes. */
  arrive(words: Words): Statement[] {
    const one = words.constant('i32', 1);
    return [
      this.#post(this.#came, one, this.times(words), words),
      words.assign(this.#times, words.binary('add', this.times(words), one)),
    ];
  }

  /** The thread waits until all have come as often. */
  wait(waiting: Waiting, words: Words): Statement {
    const number = (value: number) => words.constant('i32', value);
    const at = () => instanceOf(this.#frame, this.#group, words);
    const load = (array: ArrayReference) => words.load(array, at(), 'i32');
    const left = () => (this.#left === null ? number(0) : load(this.#left));
    const size = () => sizeOf(this.#frame, this.#group, words);
    const expected = () => (this.#left === null ? size() : words.binary('subtract', size(), left()));
    const before = () => words.binary('subtract', this.times(words), number(1));
    const beyond = (times: Expression) =>
      words.binary('subtract', load(this.#came), words.binary('multiply', times, expected()));
    return words.core({
      kind: 'waitUntil',
      array: this.#came,
      index: at(),
      test: words.compare('greaterEqual', beyond(this.times(words)), number(0)),
      phase: before(),
      waits: true,
      waiting,
      place: words.convert(at(), 'i32'),
      arrived: beyond(before()),
      expected: expected(),
      left: left(),
    });
  }

  /** How many of the thread's group, which is not the grid, have returned, an i32. */
  gone(words: Words): Expression {
    return words.load(this.#left!, instanceOf(this.#frame, this.#group, words), 'i32');
  }

  /** The thread returns. */
  leave(words: Words): Statement[] {
    if (this.#left === null) return [];
    const back = words.binary('subtract', words.constant('i32', 0), this.times(words));
    return [
      this.#post(this.#left, words.constant('i32', 1), null, words),
      this.#post(this.#came, back, this.times(words), words),
    ];
  }

  #post(array: ArrayReference, by: Expression, phase: Expression | null, words: Words): Statement {
    return words.core({
      kind: 'post',
      array,
      index: instanceOf(this.#frame, this.#group, words),
      by,
      phase,
    });
  }
}
