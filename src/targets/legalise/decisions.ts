// What was decided about a program before it is lowered, and is asked for at many places.

import type { Call } from '../../compiler/ir.ts';
import type { LoopSchedule } from './loop-schedule.ts';

/** A way of the hardware that a pipeline takes (lowering.ts). */
export type Lowering = 'bulk' | 'roles' | 'groups' | 'barriers' | 'thread';

export interface Decisions {
  /** Compute capability times ten. */
  readonly architecture: number;
  /** For each parameter, by which power of two bytes its array's address is divisible at the launch. */
  readonly alignments: readonly number[];
  /** Of each pipeline. */
  readonly lowerings: readonly Lowering[];
  readonly schedule: LoopSchedule;
  /** Whether it is proven that copies are all that needs to be ordered (only-copies.ts). */
  readonly onlyCopiesMeet: () => boolean;
  /** Whether threads of one warp may come to a sync apart from each other. */
  readonly isApart: (call: Call) => boolean;
}
