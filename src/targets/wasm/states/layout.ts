// How the state of a block lies in its scratch memory.
//
// - Ranks of the block's threads, of which each cohort owns a stretch in ascending order; and
//   beside each a code, when a cohort parts, and space to sort them.
// - Words in which threads count, zero when the block begins.
// - A record for each cohort. What is in it is the same for all of its threads.
//
// Offsets are from the start of the scratch memory, or of the record that they lie in.

import { synchronisesGrid } from '../../grid.ts';
import { valueBytes } from '../types.ts';
import type { Unit } from '../unit.ts';

/** A cohort: the segment where it enters next (-1 when its threads have returned), its threads, and their rank group. */
export const cohortFields = { segment: 0, members: 4, count: 8, rankGroup: 12 } as const;

export class StatesLayout {
  /** Of the block, not of a rank group. */
  readonly unit: Unit;
  #cohortBytes = 16;
  readonly #values = new Map<number, number>();
  /** Whether blocks wait for each other. */
  readonly ofGrid: boolean;
  /** Ranks; then, as many bytes further each, codes and space to sort. */
  readonly members: number;
  readonly membersBytes: number;
  /** How many cohorts there are. */
  readonly cohortCount: number;
  /** What is zero when a block begins. */
  readonly counts: { readonly offset: number; readonly bytes: number };

  constructor(unit: Unit) {
    this.unit = unit;
    this.ofGrid = synchronisesGrid(unit.program);
    this.membersBytes = 4 * unit.threadsOfBlock;
    this.members = unit.reserveScratch(3 * this.membersBytes);
    this.cohortCount = unit.reserveScratch(4);
    const offset = unit.scratchBytes;
    unit.program.sharedArrays.forEach(({ counts }, id) => {
      if (counts) unit.ownArray(id);
    });
    this.counts = { offset, bytes: unit.scratchBytes - offset };
  }

  /** Where a cohort's record keeps the value of a uniform variable while the cohort waits. */
  value(variable: number): number {
    const known = this.#values.get(variable);
    if (known !== undefined) return known;
    const offset = this.#field(valueBytes(this.unit.program.variables[variable]!.type));
    this.#values.set(variable, offset);
    return offset;
  }

  /** Reserves the cohorts' records, when all that they hold is known. */
  reserveCohorts(): { readonly offset: number; readonly bytes: number } {
    const bytes = Math.ceil(this.#cohortBytes / 8) * 8;
    return { offset: this.unit.reserveScratch(bytes * this.unit.threadsOfBlock), bytes };
  }

  #field(bytes: 4 | 8): number {
    const offset = Math.ceil(this.#cohortBytes / bytes) * bytes;
    this.#cohortBytes = offset + bytes;
    return offset;
  }
}
