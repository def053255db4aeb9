// Barriers at which the threads of a group can only arrive all together.
//
// Such a barrier expects as many arrivals as its group has threads, each of them counts as one,
// and none drops out. Where all threads of the block come to every call together, a phase is then
// over as soon as they have arrived: no wait ever waits, and all find the same token.

import type { Program } from '../../compiler/ir.ts';
import { forEachStatement } from './walk.ts';

/** The barriers of a program of which that is so, by number. */
export function unanimousBarriers({ barriers, block, body }: Program): Set<number> {
  const [x, y, z] = block;
  const found = new Set<number>();
  barriers.forEach(({ completes }, id) => {
    if (!completes) found.add(id);
  });
  if (found.size === 0) return found;
  const threadsOf = (barrier: number) => {
    const { group } = barriers[barrier]!;
    return group.kind === 'tile' ? group.size : x * y * z;
  };
  forEachStatement(body, (call) => {
    if (call.kind !== 'call' || !('barrier' in call)) return;
    const isSo =
      call.intrinsic === 'makeBarrier'
        ? call.expected === null || isConstant(call.expected, threadsOf(call.barrier))
        : call.intrinsic !== 'barrierArrive' ||
          (!call.drop && (call.count === null || isConstant(call.count, 1)));
    if (!isSo) found.delete(call.barrier);
  });
  return found;
}

function isConstant(expression: { readonly kind: string; readonly value?: unknown }, value: number): boolean {
  return expression.kind === 'constant' && Number(expression.value) === value;
}
