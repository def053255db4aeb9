// The lanes of a warp, in numbers and words that are the same on every target.
//
// A warp is 32 consecutive threads of a block; a block's last may have fewer. Which lane a
// shuffle reads follows PTX: the low five bits of its operand count, and where they lead out of
// the lane's part of the warp it keeps its own value (but shflXor may read an earlier part).

import type { Expression, Group, Program } from '../compiler/ir.ts';
import { type Shuffle, shuffles, type WarpOperator } from '../compiler/ir-warps.ts';
import { forEachStatement } from './analysis/walk.ts';

export const warpSize = 32;

/** The lane that a shuffle of lane `own` reads. */
export function sourceLane(operator: Shuffle, own: number, operand: number, width: number): number {
  const distance = operand & (warpSize - 1);
  const first = own & ~(width - 1);
  const last = first + width - 1;
  const way = shuffles[operator];
  switch (way) {
    case 'given':
      return first | (distance & (width - 1));
    case 'subtract':
      return own - distance >= first ? own - distance : own;
    case 'add':
      return own + distance <= last ? own + distance : own;
    case 'xor':
      return (own ^ distance) <= last ? own ^ distance : own;
    default:
      return way satisfies never;
  }
}

/** What lanes may meet for: an operation of the warp, or to synchronise. */
export type LaneMeeting = WarpOperator | 'sync';

/**
 * Operations for which a program anywhere names lanes by a mask. Lanes then find each other by their
 * masks, whether these are written down or computed.
 */
export function maskedMeetings(program: Program): ReadonlySet<LaneMeeting> {
  const masked = new Set<LaneMeeting>();
  forEachStatement(program.body, (statement) => {
    if (statement.kind !== 'call' || (statement.intrinsic !== 'sync' && statement.intrinsic !== 'warp'))
      return;
    if (statement.mask === undefined) return;
    masked.add(statement.intrinsic === 'sync' ? 'sync' : statement.operator);
  });
  return masked;
}

/** Whether threads of this group find each other by masks. */
export function meetsByMask(
  masked: ReadonlySet<LaneMeeting>,
  meeting: LaneMeeting,
  group: Group,
  mask: Expression | undefined,
): boolean {
  return mask !== undefined || (masked.has(meeting) && group.kind === 'tile' && group.size === warpSize);
}

/** A wrong use of a warp's lanes, in words. */
export interface LaneMisuse {
  readonly message: string;
  readonly hint: string;
}

/** Why there is no value of a lane. */
export const absences = ['missing', 'returned', 'unnamed'] as const;
export type Absence = (typeof absences)[number];

const why: Readonly<Record<Absence, string>> = {
  missing: 'which the block does not have',
  returned: 'which has returned',
  unnamed: 'which does not take part',
};

/** A shuffle reads from a lane that gives no value. */
export function readsAbsentLane(operator: string, warp: number, lane: number, absence: Absence): LaneMisuse {
  return {
    message: `${operator} reads from lane ${lane} of warp ${warp}, ${why[absence]}`,
    hint:
      absence === 'unnamed'
        ? 'Name that lane in the mask and let it come here too, or read from a lane that takes part.'
        : 'Let all lanes come here, with a neutral value where they have nothing, or narrow the width to the lanes that are there.',
  };
}

/** A lane calls with a mask that does not name it. */
export function ownLaneUnnamed(operator: string, warp: number, lane: number): LaneMisuse {
  return {
    message: `lane ${lane} of warp ${warp} calls ${operator} with a mask that does not name it`,
    hint: `Bit i of the mask names lane i, and every lane that calls must be named: 0xffffffff names all of the warp.`,
  };
}

/** Lanes wait for others that their mask or tile names. Sets of lanes are bits of a number. */
export function waitsForLanes(
  meeting: string,
  warp: number,
  lanes: { readonly named: number; readonly arrived: number; readonly returned: number },
): string {
  const missing = lanes.named & ~lanes.arrived & ~lanes.returned;
  const gone = lanes.named & lanes.returned;
  const returned = gone === 0 ? '' : `; ${laneList(gone)} returned`;
  return `${meeting} of warp ${warp}: ${laneList(lanes.arrived)} arrived, ${laneList(missing)} did not${returned}`;
}

/** Lanes in words: `lanes 0-15, 17`. */
export function laneList(bits: number): string {
  const runs: string[] = [];
  let count = 0;
  for (let lane = 0; lane < warpSize; lane += 1) {
    if (!has(bits, lane)) continue;
    const first = lane;
    while (lane + 1 < warpSize && has(bits, lane + 1)) lane += 1;
    runs.push(first === lane ? `${first}` : `${first}-${lane}`);
    count += lane - first + 1;
  }
  return `${count === 1 ? 'lane' : 'lanes'} ${runs.join(', ')}`;
}

function has(bits: number, lane: number): boolean {
  return ((bits >>> lane) & 1) === 1;
}

/** The lanes of a tile that a block has, as bits of their warp. */
export function lanesOfTile(size: number, rank: number, threads: number): number {
  const first = rank - (rank % size);
  const count = Math.min(size, threads - first);
  const bits = count === warpSize ? 0xffffffff : (1 << count) - 1;
  return (bits << (first % warpSize)) >>> 0;
}
