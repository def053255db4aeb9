// Masks of lanes: in each lane of a vector all ones for a thread that is there, and zeros for one that is not.

import type { Expression } from '../../../compiler/ir.ts';
import type { Code, Local } from '../encoder/code.ts';
import { eachVectorSharing, pushLanes } from './expressions.ts';
import type { GroupContext } from './group.ts';

/** The locals that hold the mask of each vector; where one vector alone is written, of that. */
export type Mask = readonly Local[];

/** Computes a test for each vector into locals. */
export function pushMask(group: GroupContext, test: Expression, take: (vector: number) => Local): Mask {
  const { code } = group;
  const locals: Local[] = [];
  eachVectorSharing(group, [test], (vector, shared) => {
    pushLanes(group, shared, test, vector);
    locals[vector] = take(vector);
    code.set(locals[vector]!);
  });
  return locals;
}

/** Pushes what the masks of all vectors have in common, or have together. */
export function pushCombined(code: Code, mask: Mask, instruction: 'v128.and' | 'v128.or'): void {
  mask.forEach((local, vector) => {
    code.get(local);
    if (vector > 0) code.op(instruction);
  });
}
