// How the state of a block lies in its scratch memory.
//
// - Ranks of the block's threads, of which each cohort owns a stretch in ascending order; and
//   beside each a code, when a cohort parts, and space to sort them.
// - What threads meet at, zero when the block begins: a barrier for each group that syncs, and
//   each group's state of each pipeline.
// - Notes: what each thread brings to makePipeline where that differs from thread to thread.
// - A record for each cohort. What is in it is the same for all of its threads.
//
// Offsets are from the start of the scratch memory, or of the record that they lie in.

import type { Call, Group, Program } from '../../../compiler/ir.ts';
import { forEachStatement } from '../../analysis/walk.ts';
import { synchronisesGrid } from '../../grid.ts';
import type { LaneMeeting } from '../../lanes.ts';
import { valueBytes } from '../types.ts';
import type { Unit } from '../unit.ts';

export type SyncCall = Extract<Call, { intrinsic: 'sync' }>;

/** A barrier for threads that meet: expects all of the group that have not returned. */
export const barrierFields = { arrived: 0, phase: 4, left: 8 } as const;
export const barrierBytes = 16;

/** A cohort: the segment where it enters next (-1 when its threads have returned), its threads, and their rank group. */
export const cohortFields = { segment: 0, members: 4, count: 8, rankGroup: 12 } as const;

export interface GroupSlots {
  readonly group: Group;
  /** Of the first group's; the others of its kind follow. */
  readonly offset: number;
  readonly bytes: number;
}

export interface SyncSlots extends GroupSlots {
  /** In a cohort's record: how often its threads synced there. */
  readonly count: number;
}

/** Where lanes find each other by masks: a word for each thread, the lanes that it waits for or 0. */
export interface LaneSlots {
  readonly offset: number;
  readonly meeting: LaneMeeting;
}

export class StatesLayout {
  /** Of the block, not of a rank group. */
  readonly unit: Unit;
  #cohortBytes = 16;
  readonly #values = new Map<number, number>();
  readonly #syncs = new Map<string, SyncSlots>();
  readonly #lanes = new Map<LaneMeeting, LaneSlots>();
  /** Whether blocks wait for each other. */
  readonly ofGrid: boolean;
  /** Of each thread whether it has returned, a word; null where nobody asks. */
  returned: number | null = null;
  /** Ranks; then, as many bytes further each, codes and space to sort. */
  readonly members: number;
  readonly membersBytes: number;
  /** How many cohorts there are. */
  readonly cohortCount: number;
  /** What is zero when a block begins. */
  readonly meetings: { readonly offset: number; readonly bytes: number };

  constructor(unit: Unit) {
    this.unit = unit;
    this.ofGrid = synchronisesGrid(unit.program);
    this.membersBytes = 4 * unit.threadsOfBlock;
    this.members = unit.reserveScratch(3 * this.membersBytes);
    this.cohortCount = unit.reserveScratch(4);
    const offset = unit.scratchBytes;
    for (const [id, { counts }] of unit.program.sharedArrays.entries()) if (counts) unit.ownArray(id);
    this.#reserveMeetings(unit.program);
    this.meetings = { offset, bytes: unit.scratchBytes - offset };
  }

  get syncs(): Iterable<SyncSlots> {
    return this.#syncs.values();
  }

  sync(call: SyncCall): SyncSlots {
    return this.#syncs.get(keyOf(call))!;
  }

  get laneMeetings(): readonly LaneSlots[] {
    return [...this.#lanes.values()];
  }

  /** Of a sync with a mask. */
  lanes({ operator }: SyncCall): LaneSlots {
    return this.#lanes.get(operator ?? 'sync')!;
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

  #reserveMeetings(program: Program): void {
    forEachStatement(program.body, (statement) => {
      if (statement.kind !== 'call' || statement.intrinsic !== 'sync') return;
      const { group, mask } = statement;
      const meeting: LaneMeeting = statement.operator ?? 'sync';
      if (mask !== undefined) {
        this.returned ??= this.unit.reserveScratch(4 * this.unit.threadsOfBlock);
        if (this.#lanes.has(meeting)) return;
        this.#lanes.set(meeting, { meeting, offset: this.unit.reserveScratch(4 * this.unit.threadsOfBlock) });
        return;
      }
      const key = keyOf(statement);
      if (this.#syncs.has(key)) return;
      const slots = { ...this.#groupSlots(group, barrierBytes), count: this.#field(4) };
      this.#syncs.set(key, slots);
    });
  }

  #groupSlots(group: Group, bytes: number): GroupSlots {
    const groups = Math.ceil(this.unit.threadsOfBlock / groupSize(group, this.unit.threadsOfBlock));
    return { group, offset: this.unit.reserveScratch(groups * bytes), bytes };
  }

  #field(bytes: 4 | 8): number {
    const offset = Math.ceil(this.#cohortBytes / bytes) * bytes;
    this.#cohortBytes = offset + bytes;
    return offset;
  }
}

/** Threads of a group that is not a smaller last one. */
export function groupSize(group: Group, threadsOfBlock: number): number {
  if (group.kind === 'tile') return Math.min(group.size, threadsOfBlock);
  return group.kind === 'thread' ? 1 : threadsOfBlock;
}

/** A block's own barrier is apart from that of a tile as large, and each operation of lanes has its own. */
function keyOf({ group, operator }: SyncCall): string {
  return `${operator ?? 'sync'} ${group.kind === 'tile' ? group.size : group.kind}`;
}
