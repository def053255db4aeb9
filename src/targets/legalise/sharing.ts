// Which of a block's groups a thread shares a pipeline or a barrier with, where threads of a GPU ask: how many there
// are, which is the thread's, and who of it sets up what they share.
//
// Lanes that share something are known by their lowest: no other group has it at the same time. So a block has as many
// places for them as threads, and each thread notes whose is its group's when it makes what they share.

import type { Expression, SharingGroup, Statement } from '../../compiler/ir.ts';
import { warpSize } from '../lanes.ts';
import type { Frame } from './frame.ts';
import type { Words } from './words.ts';

export class Sharing {
  readonly group: SharingGroup;
  readonly #frame: Frame;
  /** The rank of the lowest lane, a u32; null for other groups. */
  readonly #leader: number | null;

  constructor(frame: Frame, name: string, group: SharingGroup) {
    this.group = group;
    this.#frame = frame;
    this.#leader = group.kind === 'lanes' ? frame.variable(`${name}_leader`, 'u32') : null;
  }

  /** How many groups of the kind a block may have. */
  get count(): number {
    if (this.group.kind === 'lanes') return this.#frame.blockSize;
    return this.group.kind === 'tile' ? Math.ceil(this.#frame.blockSize / this.group.size) : 1;
  }

  /** Notes who makes something together. */
  join(mask: Expression | undefined, words: Words): Statement[] {
    if (this.#leader === null) return [];
    return [words.assign(this.#leader, words.convert(leaderOf(mask!, words), 'u32'))];
  }

  /** Which of the groups is the thread's, of the indexType. */
  instance(words: Words): Expression {
    if (this.#leader !== null) return words.convert(this.#ofLeader(words), words.indexType);
    if (this.group.kind !== 'tile') return words.index(0);
    return words.binary('divide', words.threadRank, words.index(this.group.size));
  }

  /** What an operation of an mbarrier says besides its index. */
  operand(words: Words): { readonly instance?: Expression } {
    return this.#leader === null ? {} : { instance: this.#ofLeader(words) };
  }

  /** Whether the thread sets up for its group. */
  isFirst(words: Words): Expression {
    if (this.group.kind !== 'lanes') return words.isFirst(this.group);
    return words.compare('equal', words.convert(words.threadRank, 'u32'), this.#ofLeader(words));
  }

  /** Threads of the group, a u32. */
  size(mask: Expression | undefined, words: Words): Expression {
    if (mask !== undefined) return words.convert(words.unary('popcount', mask), 'u32');
    if (this.group.kind === 'tile') return words.u32(this.group.size);
    return words.u32(this.group.kind === 'block' ? this.#frame.blockSize : 1);
  }

  #ofLeader(words: Words): Expression {
    return words.read(this.#leader!, 'u32');
  }
}

/** The rank in the block of the lowest lane that a mask of the own warp names, of the indexType. */
export function leaderOf(mask: Expression, words: Words): Expression {
  const below = words.binary(
    'and',
    words.unary('complement', mask),
    words.binary('subtract', mask, words.u32(1)),
  );
  const lane = words.convert(words.unary('popcount', below), words.indexType);
  return words.binary('add', words.binary('and', words.threadRank, words.index(-warpSize)), lane);
}
