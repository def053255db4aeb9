// Which of a block's groups a thread shares a pipeline or a barrier with: how many there are, which is the thread's, and
// how many threads it has.
//
// Lanes have a place (../sharing.ts). Each keeps which that is, and how many they are, from when they make what they share;
// how often it made that says whether it has. They meet by syncs of their own.

import type {
  ArrayReference,
  Expression,
  Group,
  Makers,
  SharingGroup,
  Statement,
} from '../../../compiler/ir.ts';
import type { Frame } from '../frame.ts';
import { countOf, leaderOf, placeOf, placesOfLanes } from '../sharing.ts';
import type { Words } from '../words.ts';
import { instanceOf, instances, sizeOf } from './groups.ts';

/** What lanes keep of their group. */
interface LaneVariables {
  /** Of the indexType. */
  readonly place: number;
  readonly size: number;
  readonly times: number;
}

export class Sharing {
  readonly #frame: Frame;
  /** A group that is known beforehand; null for lanes. */
  readonly group: Group | null;
  readonly #lanes: LaneVariables | null;
  readonly #places: number;

  constructor(frame: Frame, name: string, group: SharingGroup) {
    this.#frame = frame;
    this.group = group.kind === 'lanes' ? null : group;
    this.#lanes =
      group.kind === 'lanes'
        ? {
            place: frame.variable(`${name}.place`, frame.program.indexType),
            size: frame.variable(`${name}.size`, 'i32'),
            times: frame.variable(`${name}.times`, 'i32'),
          }
        : null;
    this.#places = group.kind === 'lanes' ? placesOfLanes(group, frame.blockSize) : instances(frame, group);
  }

  /** How many groups of the kind a block may have. */
  get count(): number {
    return this.#places;
  }

  /** The start of a block: lanes have made nothing. */
  begin(words: Words): Statement[] {
    return this.#lanes === null ? [] : [words.assign(this.#lanes.times, words.constant('i32', 0))];
  }

  /** Notes which lanes make it. */
  join(makers: Makers, words: Words): Statement[] {
    const lanes = this.#lanes;
    if (lanes === null) return [];
    const { place, size, times } = lanes;
    return [
      words.assign(place, placeOf(makers, words)),
      words.assign(size, countOf(makers.masks!, 'i32', words)),
      words.assign(times, words.binary('add', words.read(times, 'i32'), words.constant('i32', 1))),
    ];
  }

  /** Which of the groups is the thread's, of the indexType. */
  instance(words: Words): Expression {
    if (this.#lanes !== null) return words.read(this.#lanes.place, words.indexType);
    return instanceOf(this.#frame, this.group!, words);
  }

  /** How many threads that one has, an i32. */
  size(words: Words): Expression {
    if (this.#lanes !== null) return words.read(this.#lanes.size, 'i32');
    return sizeOf(this.#frame, this.group!, words);
  }

  /** Adds to a word of the group's. Lanes of one cohort may be of several groups: each counts by itself. */
  post(
    array: ArrayReference,
    index: Expression,
    by: number,
    words: Words,
    { phase = null as Expression | null, result = null as number | null } = {},
  ): Statement {
    const post = { kind: 'post', array, index, by: words.constant('i32', by), phase } as const;
    if (this.#lanes === null) return words.core(post, result);
    const alone = words.core({ ...post, alone: true });
    if (result === null) return alone;
    const after = words.assign(result, words.load(array, index, 'i32'));
    return words.block(this.#frame.label(), [alone, after]);
  }

  /** How often lanes have made it, an i32. */
  times(words: Words): Expression {
    return words.read(this.#lanes!.times, 'i32');
  }

  /** Whether the thread is the lowest of its lanes, which sets up for all. */
  isFirst({ masks }: Makers, words: Words): Expression {
    return words.compare('equal', words.threadRank, leaderOf(masks!, words));
  }
}
