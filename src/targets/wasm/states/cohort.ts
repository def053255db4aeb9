// The cohort that code is written for: its record, and ways through its threads.
//
// A thread is known by its rank in its rank group; groups are those of the block.

import type { Group } from '../../../compiler/ir.ts';
import type { Code, Local, WasmType } from '../encoder/code.ts';
import type { Unit } from '../unit.ts';
import { cohortFields, type GroupSlots, groupSize } from './layout.ts';

/** Pushes an i32. */
export type Push = () => void;

/** Threads of one group that are in the cohort. */
export interface GroupThreads {
  /** Pushes how many they are. */
  readonly count: Push;
  /** Pushes the number of the group among its kind, and how many threads it has. */
  readonly index: Push;
  readonly size: Push;
}

export class Cohort {
  readonly #unit: Unit;
  readonly #code: Code;
  /** Address of the record. */
  readonly record: Local;
  /** Address of the first thread's rank, and how many threads there are. */
  readonly members: Local;
  readonly count: Local;

  constructor(unit: Unit, code: Code, record: Local) {
    this.#unit = unit;
    this.#code = code;
    this.record = record;
    this.members = code.local('i32', 'members');
    this.count = code.local('i32', 'count');
  }

  /** Reads which threads the cohort has, when it begins to run and when some have left it. */
  writeMembers(): void {
    this.pushField(cohortFields.members);
    this.#code.set(this.members);
    this.pushField(cohortFields.count);
    this.#code.set(this.count);
  }

  pushField(offset: number): void {
    this.#code.get(this.record).memory('i32.load', offset);
  }

  /** Pushes what the record keeps of a variable. */
  pushValue(offset: number, type: Exclude<WasmType, 'v128'>): void {
    this.#code.get(this.record).memory(`${type}.load`, offset);
  }

  setField(offset: number, push: Push): void {
    this.#code.get(this.record);
    push();
    this.#code.memory('i32.store', offset);
  }

  incrementField(offset: number): void {
    this.setField(offset, () => {
      this.pushField(offset);
      this.#code.i32(1).op('i32.add');
    });
  }

  /** Pushes the lowest rank. */
  pushFirstRank(): void {
    this.#code.get(this.members).memory('i32.load');
  }

  /** Pushes whether no thread of the rank group has parted from the others. */
  pushIsWhole(): void {
    this.#code.get(this.count).i32(this.#unit.blockSize).op('i32.eq');
  }

  /** Writes what is done for each thread, by ascending rank; `position` is the address of its rank. */
  forEachThread(write: (rank: Local, position: Local) => void): void {
    const code = this.#code;
    code.withTemporaries((take) => {
      const position = take('i32');
      const end = take('i32');
      const rank = take('i32');
      code.get(this.members).tee(position).get(this.count).i32(2).op('i32.shl', 'i32.add').set(end);
      code.loop((next) => {
        code.get(position).memory('i32.load').set(rank);
        write(rank, position);
        code.get(position).i32(4).op('i32.add').tee(position).get(end).op('i32.ne').brIf(next);
      });
    });
  }

  /**
   * Writes what is done for each group that the cohort has threads of. A cohort's threads of one tile may
   * come as several, one thread each.
   */
  forEachGroup(group: Group, write: (threads: GroupThreads) => void): void {
    const code = this.#code;
    const only = this.#onlyGroup(group);
    if (only === null) {
      this.forEachThread((rank) => write(this.groupOf(rank, group)));
      return;
    }
    const size = groupSize(group, this.#unit.threadsOfBlock);
    write({
      count: () => void code.get(this.count),
      index: () => void code.i32(only),
      size: () => void code.i32(Math.min(size, this.#unit.threadsOfBlock - only * size)),
    });
  }

  /** Whether all threads of the rank group are in the same group of that kind. */
  isOneGroup(group: Group): boolean {
    return this.#onlyGroup(group) !== null;
  }

  /** One thread, as a part of its group. */
  groupOf(rank: Local, group: Group): GroupThreads {
    const code = this.#code;
    const size = groupSize(group, this.#unit.threadsOfBlock);
    return {
      count: () => void code.i32(1),
      index: () => {
        code.get(rank);
        this.#unit.writeRankInBlock(code);
        code.i32(size).op('i32.div_u');
      },
      size: () => this.#pushTileSize(rank, size),
    };
  }

  #onlyGroup(group: Group): number | null {
    const { threadsOfBlock, blockSize } = this.#unit;
    const { first, stride } = this.#unit.rankGroup ?? { first: 0, stride: 1 };
    const size = groupSize(group, threadsOfBlock);
    const index = Math.floor(first / size);
    return first + stride * (blockSize - 1) < (index + 1) * size ? index : null;
  }

  /** The last tile may be smaller. */
  #pushTileSize(rank: Local, size: number): void {
    const code = this.#code;
    const { threadsOfBlock } = this.#unit;
    const whole = threadsOfBlock - (threadsOfBlock % size);
    code.i32(size);
    if (whole === threadsOfBlock) return;
    code.i32(threadsOfBlock - whole).get(rank);
    this.#unit.writeRankInBlock(code);
    code.i32(whole).op('i32.lt_u', 'select');
  }
}

/** Pushes the address of what a group has in the scratch memory. */
export function pushSlot(code: Code, scratch: Local, slots: GroupSlots, threads: GroupThreads): void {
  code.get(scratch).i32(slots.offset).op('i32.add');
  threads.index();
  code.i32(slots.bytes).op('i32.mul', 'i32.add');
}
