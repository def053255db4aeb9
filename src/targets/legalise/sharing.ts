// Which of a block's groups a thread shares a pipeline or a barrier with, where threads of a GPU ask: how many there
// are, which is the thread's, and who of it sets up what they share.
//
// Lanes of a warp that share something are known by their lowest: no other group has it at the same time. So a block has as
// many places for them as threads. The halves of a block have two, save where they make something again: then who made it
// must know so, and halves are known by their lowest, too. Each thread notes the place of its group when it makes what they
// share.

import type { Expression, Group, Makers, SharingGroup, Statement } from '../../compiler/ir.ts';
import { warpSize } from '../lanes.ts';
import type { Frame } from './frame.ts';
import type { Words } from './words.ts';

export class Sharing {
  readonly group: SharingGroup;
  readonly #frame: Frame;
  /** The place of its lanes, a u32; null for other groups. */
  readonly #place: number | null;

  /** `remade`: whether the kernel may make it again. */
  constructor(frame: Frame, name: string, group: SharingGroup, remade: boolean) {
    this.group = group.kind === 'lanes' && remade ? { kind: 'lanes', of: 'warp' } : group;
    this.#frame = frame;
    this.#place = group.kind === 'lanes' ? frame.variable(`${name}_place`, 'u32') : null;
  }

  /** How many groups of the kind a block may have. */
  get count(): number {
    if (this.group.kind === 'lanes') return placesOfLanes(this.group, this.#frame.blockSize);
    return this.group.kind === 'tile' ? Math.ceil(this.#frame.blockSize / this.group.size) : 1;
  }

  /** Notes who makes something together. */
  join(makers: Makers, words: Words): Statement[] {
    if (this.#place === null) return [];
    const { masks, half } = makers;
    const isByHalf = this.group.kind === 'lanes' && this.group.of === 'block';
    const place = placeOf(isByHalf ? { masks: masks!, half: half! } : { masks: masks! }, words);
    return [words.assign(this.#place, words.convert(place, 'u32'))];
  }

  /** Which of the groups is the thread's, of the indexType. */
  instance(words: Words): Expression {
    if (this.#place !== null) return words.convert(this.#ofLanes(words), words.indexType);
    if (this.group.kind !== 'tile') return words.index(0);
    return words.binary('divide', words.threadRank, words.index(this.group.size));
  }

  /** What an operation of an mbarrier says besides its index. */
  operand(words: Words): { readonly instance?: Expression } {
    return this.#place === null ? {} : { instance: this.#ofLanes(words) };
  }

  /** Whether the thread sets up for its group. */
  isFirst({ masks }: Makers, words: Words): Expression {
    if (masks === undefined) return words.isFirst(this.group as Group);
    return words.compare('equal', words.threadRank, leaderOf(masks, words));
  }

  /** Threads of the group, a u32. */
  size({ masks }: Makers, words: Words): Expression {
    if (masks !== undefined) return countOf(masks, 'u32', words);
    if (this.group.kind === 'tile') return words.u32(this.group.size);
    return words.u32(this.group.kind === 'block' ? this.#frame.blockSize : 1);
  }

  #ofLanes(words: Words): Expression {
    return words.read(this.#place!, 'u32');
  }
}

/** How many groups of lanes a block has room for. */
export function placesOfLanes({ of }: Extract<SharingGroup, { kind: 'lanes' }>, blockSize: number): number {
  return of === 'warp' ? blockSize : 2;
}

/** Where lanes keep what they share: at the rank of their lowest, or by which half of the block they are. */
export function placeOf({ masks, half }: Makers, words: Words): Expression {
  return half === undefined ? leaderOf(masks!, words) : words.convert(half, words.indexType);
}

/** How many lanes masks name. */
export function countOf(masks: readonly Expression[], type: 'i32' | 'u32', words: Words): Expression {
  return masks
    .map((mask) => words.convert(words.unary('popcount', mask), type))
    .reduce((sum, count) => words.binary('add', sum, count));
}

/** The rank in the block of the lowest lane that masks name: one of the own warp, or one of each warp; of the indexType. */
export function leaderOf(masks: readonly Expression[], words: Words): Expression {
  if (masks.length === 1) {
    const first = words.binary('and', words.threadRank, words.index(-warpSize));
    return words.binary('add', first, lowestOf(masks[0]!, words));
  }
  return masks
    .map((mask, warp) => ({
      mask,
      rank: () => words.binary('add', words.index(warp * warpSize), lowestOf(mask, words)),
    }))
    .reduceRight<Expression>((above, { mask, rank }) => {
      const isEmpty = words.compare('equal', mask, words.u32(0));
      return words.choose(isEmpty, above, rank());
    }, words.index(0));
}

/** The lowest lane of a mask, of the indexType. */
function lowestOf(mask: Expression, words: Words): Expression {
  const below = words.binary(
    'and',
    words.unary('complement', mask),
    words.binary('subtract', mask, words.u32(1)),
  );
  return words.convert(words.unary('popcount', below), words.indexType);
}
