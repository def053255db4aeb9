// Schedules of streams and events, each beside its counterpart in C++: scripts/schedules-on-gpu.mjs as a suite.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Suite } from '../main.ts';
import type { Row } from '../measure.ts';

interface Measured {
  readonly name: string;
  readonly events: { readonly warpstage: number; readonly cpp: number; readonly ratio: number };
}

const groups = {
  rings: ['ring-2', 'ring-3', 'ring-6', 'ring-2-small', 'ring-6-small', 'ring-6-timed'],
  orders: ['fork-join', 'gather', 'chain', 'graph'],
  launches: [
    'launches',
    'launches-scalars',
    'launches-offsets',
    'launches-1000-offsets',
    'launches-8-streams',
  ],
} as const;

async function measured(work: keyof typeof groups): Promise<readonly Row[]> {
  const script = ['scripts', join('..', 'scripts')]
    .map((folder) => join(folder, 'schedules-on-gpu.mjs'))
    .find((path) => existsSync(path));
  if (script === undefined) throw new Error('scripts/schedules-on-gpu.mjs is not here');
  const out = mkdtempSync(join(tmpdir(), 'warpstage-schedules-'));
  try {
    const words = [script, '--json', '--out', out, '--only', groups[work].join()];
    const rows: readonly Measured[] = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
    return rows.map(({ name, events }) => ({
      suite: 'schedules',
      work,
      variant: name,
      against: 'C++',
      ratio: events.ratio,
      seconds: events.warpstage / 1000,
      bytes: 0,
    }));
  } finally {
    rmSync(out, { recursive: true });
  }
}

export const suite: Suite = {
  rings: () => measured('rings'),
  orders: () => measured('orders'),
  launches: () => measured('launches'),
};
