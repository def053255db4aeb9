// A queue for tests: the nats-server of this machine, as the command itself starts it, and jobs for its workers.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '#warpstage/diagnostics/package-version.js';
import type { CutWork } from '#warpstage/overlap/shards/describe-cut.js';
import { Connection } from '#warpstage/queue/connection.js';
import { type Deal, idOfOutputs, namesOf } from '#warpstage/queue/deal.js';
import { queueAddress } from '#warpstage/queue/url.js';
import { hasTool } from '../support/tools.ts';

/** Whether there is a server. */
export const hasServer = hasTool('nats-server');
if (!hasServer) console.warn('no nats-server here: tests of queues skip');

export function connect(url: string, signal = new AbortController().signal): Promise<Connection> {
  return Connection.open(queueAddress(url), { patience: 10_000, signal });
}

/** A deal of so many pieces that are no job's. */
export function dealOf(output: string, of: number, more: Partial<Deal> = {}) {
  const deal: Deal = {
    ...{ run: 'a run', version: packageVersion(), module: 'job.ts', moduleSum: '', job: 'job' },
    ...{
      input: [],
      outputs: [{ file: output }],
      places: [output],
      settings: {},
      fsync: false,
      of,
      tries: 3,
      ackWait: 30_000,
    },
    work: {} satisfies CutWork['work'],
    versions: {},
    ...more,
  };
  return { deal, names: namesOf(idOfOutputs([output]), deal.run) };
}

/** The files below a folder that hold a text. */
export function filesWith(folder: string, text: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}
