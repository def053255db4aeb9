// The most memory that this process has had resident.
//
// On Linux, what the system counts for a process includes what its parent had when it started it: a large parent hides
// what the program needed. /proc says it of the program alone.

import { readFileSync } from 'node:fs';

export function peakResidentBytes(): number {
  const kibibytes = ofProgram() ?? process.resourceUsage().maxRSS;
  return 1024 * kibibytes;
}

function ofProgram(): number | undefined {
  try {
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}
