// The cohort that code is written for: its record, and ways through its threads. A thread is known by its rank in its rank group.

import type { Code, Local, WasmType } from '../encoder/code.ts';
import type { Unit } from '../unit.ts';
import { cohortFields } from './layout.ts';

/** Pushes an i32. */
export type Push = () => void;

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
}
