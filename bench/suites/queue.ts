// What more workers of a queue are worth: four of four threads each against one of four, whose run is kernel-bound, on one
// machine with as many cores; and what more threads of one run. The workers wait at the queue before the clock starts; outputs
// are compared. The limit is what so many threads do that only compute, as processors slow down where all cores are busy.
// BENCH_STEPS is another length of the work, BENCH_ROUNDS another number of rounds.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OwnServer } from '../../src/queue/server.ts';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { writeNpy } from '../npy.ts';

const command = resolve('dist/cli/main.js');
const steps = Number(process.env.BENCH_STEPS ?? 240_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 1);
const gib = 1 / 16;
const pieces = 128;
const threads = 4;

/** Each number is one long chain of multiplications and additions. */
const module = `import { map } from 'warpstage';
export const chain = map({ y: 'f32', x: 'f32', steps: 'constant i32' }, ({ x, steps }) => {
  let v = x;
  for (let k = 0; k < steps; k++) v = v * 0.999 + 0.5;
  return v;
});
`;

interface Job {
  readonly folder: string;
  readonly bytes: number;
  /** Runs it, whose numbers are of so many steps, and looks at what came of it; the seconds. */
  readonly run: (steps: number, ...options: string[]) => number;
}

async function withJob<T>(use: (job: Job) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-queue-bench-'));
  const at = (name: string) => join(folder, name);
  const expected = new Map<number, Buffer>();
  const run = (count: number, ...options: string[]) => {
    rmSync(at('y.npy'), { force: true });
    const line = ['run', at('chain.ts'), at('x.npy'), at('y.npy'), '--set', `steps=${count}`, '--quiet'];
    const began = performance.now();
    execFileSync(process.execPath, [command, ...line, ...options], { stdio: 'inherit' });
    const took = (performance.now() - began) / 1000;
    const written = readFileSync(at('y.npy'));
    if (!(expected.get(count) ?? written).equals(written))
      throw new Error(`${options.join(' ')} wrote other bytes`);
    expected.set(count, written);
    return took;
  };
  try {
    writeFileSync(at('chain.ts'), module);
    const bytes = 2 * writeNpy(at('x.npy'), gib);
    return await use({ folder, bytes, run });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withWorkers(): Promise<readonly Row[]> {
  return withJob(async ({ folder, bytes, run }) => {
    const server = await OwnServer.start();
    const team: ChildProcess[] = [];
    const hire = async (count: number): Promise<void> => {
      while (team.length < count) {
        const args = ['worker', server.url, '--within', folder, '--threads', `${threads}`, '--quiet'];
        team.push(spawn(process.execPath, [command, ...args], { stdio: 'inherit' }));
      }
      while (team.length > count) team.pop()!.kill('SIGTERM');
      // Until those that came wait for work, and those that went are away.
      await sleep(1500);
    };
    const over = (count: number) => async () => {
      await hire(count);
      return run(steps, '--queue', server.url, '--pieces', `${pieces}`);
    };
    try {
      return await inTurn(
        { suite: 'queue', work: 'workers', bytes },
        {
          [`4 workers of ${threads} threads`]: over(4),
          [`1 worker of ${threads} threads`]: over(1),
        },
        rounds,
      );
    } finally {
      for (const child of team) child.kill('SIGTERM');
      await server[Symbol.asyncDispose]();
    }
  });
}

/** The same without a queue, a quarter as long. */
function withThreads(): Promise<readonly Row[]> {
  return withJob(({ bytes, run }) => {
    const on = (count: number) => () => run(steps / 4, '--threads', `${count}`);
    const variants = {
      [`a run of ${4 * threads} threads`]: on(4 * threads),
      [`a run of ${threads} threads`]: on(threads),
    };
    return inTurn({ suite: 'queue', work: 'threads', bytes }, variants, rounds);
  });
}

/** By how much more so many threads do, each as much, than four. */
async function limit(): Promise<readonly Row[]> {
  const on = (count: number) => () =>
    Number(
      execFileSync(process.execPath, ['bench/programs/count-on-threads.mjs', `${count}`], {
        encoding: 'utf8',
      }),
    );
  const few = `${threads} threads that compute`;
  const variants = { [`${4 * threads} threads that compute`]: on(4 * threads), [few]: on(threads) };
  const rows = await inTurn({ suite: 'queue', work: 'limit', bytes: 0 }, variants, rounds);
  return rows.map((row) => ({ ...row, ratio: 4 * row.ratio }));
}

export const suite: Suite = { workers: withWorkers, threads: withThreads, limit };
