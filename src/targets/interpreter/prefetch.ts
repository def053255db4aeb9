// The hint that a part of global memory will be copied soon. It changes nothing but time, so a wrong one stands out
// nowhere: here one that leaves its array breaks a rule, if the kernel itself is without fault until its block ends.

import type { CoreOperation } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';
import { arrayOf, compileIndex } from './expressions.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';

export function compilePrefetch(
  program: ObservedProgram,
  { source, count }: Extract<CoreOperation, { kind: 'prefetch' }>,
  range: Range,
): Step {
  const elements = arrayOf(source.array);
  const [offset, length] = [compileIndex(program, source.offset), compileIndex(program, count)];
  return effect((thread) => {
    const [from, of] = [offset(thread), elements(thread)];
    const end = from + length(thread);
    if (from >= 0 && end <= of.length) return;
    thread.block.hardware.hintFails(
      thread,
      range,
      `elements ${from} to ${end} of ${of.length} are prefetched`,
    );
  });
}
