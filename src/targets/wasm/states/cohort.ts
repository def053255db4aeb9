// The cohort that code is written for: its record, and ways through its threads.

import type { Group } from '../../../compiler/ir.ts';
import type { Code, Local } from '../encoder/code.ts';
import { cohortFields, type GroupSlots, groupSize } from './layout.ts';

/** Pushes an i32. */
export type Push = () => void;

export class Cohort {
  readonly #code: Code;
  readonly #blockSize: number;
  /** Address of the record. */
  readonly record: Local;
  /** Address of the first thread's rank, and how many threads there are. */
  readonly members: Local;
  readonly count: Local;

  constructor(code: Code, blockSize: number, record: Local) {
    this.#code = code;
    this.#blockSize = blockSize;
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

  /** Writes what is done for each thread, by ascending rank; `position` is the address of its rank. */
  forEachThread(write: (rank: Local, position: Local) => void): void {
    const code = this.#code;
    code.withTemporary('i32', (position) => {
      code.withTemporary('i32', (end) => {
        code.withTemporary('i32', (rank) => {
          code.get(this.members).tee(position).get(this.count).i32(2).op('i32.shl', 'i32.add').set(end);
          code.loop((next) => {
            code.get(position).memory('i32.load').set(rank);
            write(rank, position);
            code.get(position).i32(4).op('i32.add').tee(position).get(end).op('i32.ne').brIf(next);
          });
        });
      });
    });
  }

  /**
   * Writes what is done for each group that the cohort has threads of. A cohort's threads of one tile may
   * come as several, one thread each.
   */
  forEachGroup(group: Group, write: (threads: GroupThreads) => void): void {
    const code = this.#code;
    if (!this.isOneGroup(group)) {
      this.forEachThread((rank) => write(this.groupOf(rank, group)));
      return;
    }
    write({
      first: () => this.pushFirstRank(),
      count: () => void code.get(this.count),
      index: () => void code.i32(0),
      size: () => void code.i32(this.#blockSize),
    });
  }

  /** Whether all threads of a block are in the same group of that kind. */
  isOneGroup(group: Group): boolean {
    return groupSize(group, this.#blockSize) === this.#blockSize;
  }

  /** One thread, as a part of its group. */
  groupOf(rank: Local, group: Group): GroupThreads {
    const code = this.#code;
    const size = groupSize(group, this.#blockSize);
    return {
      first: () => void code.get(rank),
      count: () => void code.i32(1),
      index: () => void code.get(rank).i32(size).op('i32.div_u'),
      size: () => this.#pushTileSize(rank, size),
    };
  }

  /** The last tile may be smaller. */
  #pushTileSize(rank: Local, size: number): void {
    const code = this.#code;
    const whole = this.#blockSize - (this.#blockSize % size);
    code.i32(size);
    if (whole === this.#blockSize) return;
    code
      .i32(this.#blockSize - whole)
      .get(rank)
      .i32(whole)
      .op('i32.lt_u', 'select');
  }
}

/** Threads of one group that are in the cohort. */
export interface GroupThreads {
  /** Pushes the lowest of their ranks. */
  readonly first: Push;
  /** Pushes how many they are. */
  readonly count: Push;
  /** Pushes the number of the group among its kind, and how many threads it has. */
  readonly index: Push;
  readonly size: Push;
}

/** Pushes the address of what a group has in the scratch memory. */
export function pushSlot(code: Code, scratch: Local, slots: GroupSlots, threads: GroupThreads): void {
  code.get(scratch).i32(slots.offset).op('i32.add');
  threads.index();
  code.i32(slots.bytes).op('i32.mul', 'i32.add');
}
