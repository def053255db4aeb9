// What stopped a kernel, as a finding. Deadlocks are reported by the protocol's rules, which know more
// of them than the fault.

import type { Program } from '../compiler/ir.ts';
import type { Extent3 } from '../kernel/types.ts';
import { accessOf, lengthOf } from '../runtime/faults.ts';
import type { Finding } from '../targets/checker/finding.ts';
import type { Fault } from '../targets/executable.ts';

/** The finding of a fault; null where others tell of it, or where nothing is wrong but the budget. */
export function findingOfFault({ block }: Program, fault: Fault): Finding | null {
  if (fault.kind === 'deadlock') return null;
  const rank = rankOf(fault.thread, block);
  const finding = (code: Finding['code'], message: string, mend: string): Finding => ({
    code,
    severity: 'error',
    message,
    place: { range: fault.range, threads: [rank], block: fault.block },
    related: [],
    mend,
  });
  switch (fault.kind) {
    case 'out-of-range':
      return finding(
        'WS3001',
        `thread ${rank} ${accessOf(fault)}`,
        `Compare the index with \`${lengthOf(fault)}\` before the access.`,
      );
    case 'division-by-zero':
      return finding('WS3003', `thread ${rank} divides an integer by zero`, 'Test the divisor first.');
    case 'misuse':
      if (fault.code === 'WS3007') return null;
      // The rules of barriers stand in their counting itself, so that each target finds what breaks them.
      return finding(
        fault.code === 'WS3009' ? 'WS7019' : fault.code,
        fault.message,
        fault.hint ?? 'See what the verb asks for.',
      );
    default:
      return fault satisfies never;
  }
}

function rankOf([x, y, z]: Extent3, [width, height]: Extent3): number {
  return x + width * (y + height * z);
}
