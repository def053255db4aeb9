// Where the address space is too small for a device as V8 makes them, the command runs once more in a process
// whose code tests its accesses (runtime/cpu/address-space.ts): Node takes that flag only when it starts.

import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function isLimited(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /^Max address space\s+\d/m.test(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return false;
  }
}

/** The exit code of the command in another process; null where this one is to do it. */
export async function runElsewhere(): Promise<number | null> {
  if (!isLimited()) return null;
  const { addressSpaceLeft, canTest, isUntrapped, sizeThatFits, untrapped } = await import(
    '../runtime/cpu/address-space.ts'
  );
  const wanted = { memory: 0, staging: 0, threads: 1, addressType: 'i32' } as const;
  if (isUntrapped() || !canTest() || sizeThatFits(wanted, addressSpaceLeft(), true) !== null) return null;
  const { spawn } = await import('node:child_process');
  const args = [untrapped, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of forwarded) {
    // A terminal sends its interrupt to both.
    process.on(signal, () => void (signal === 'SIGINT' && process.stdin.isTTY ? null : child.kill(signal)));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}
