// What more workers of a queue are worth: four of four threads each against one of four, whose run is kernel-bound, on one
// machine with as many cores. The workers wait at the queue before the clock starts; outputs are compared with what one
// process writes. BENCH_STEPS is another length of the work, BENCH_ROUNDS another number of rounds.

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
const steps = Number(process.env.BENCH_STEPS ?? 60_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 2);
const gib = 1 / 16;
const pieces = 64;
const threads = 4;

/** Each number is one long chain of multiplications and additions. */
const module = `import { map } from 'warpstage';
export const chain = map({ y: 'f32', x: 'f32', steps: 'constant i32' }, ({ x, steps }) => {
  let v = x;
  for (let k = 0; k < steps; k++) v = v * 0.999 + 0.5;
  return v;
});
`;

async function withWorkers(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-queue-bench-'));
  const at = (name: string) => join(folder, name);
  const server = await OwnServer.start();
  const team: ChildProcess[] = [];
  const hire = async (count: number): Promise<void> => {
    while (team.length < count) {
      const args = [command, 'worker', server.url, '--within', folder, '--threads', `${threads}`, '--quiet'];
      team.push(spawn(process.execPath, args, { stdio: 'inherit' }));
    }
    while (team.length > count) team.pop()!.kill('SIGTERM');
    // Until those that came wait for work, and those that went are away.
    await sleep(1500);
  };
  const work = [at('chain.ts'), at('x.npy'), at('y.npy'), '--set', `steps=${steps}`, '--quiet'];
  const run = (...options: string[]) => {
    rmSync(at('y.npy'), { force: true });
    const began = performance.now();
    execFileSync(process.execPath, [command, 'run', ...work, ...options], { stdio: 'inherit' });
    return (performance.now() - began) / 1000;
  };
  try {
    writeFileSync(at('chain.ts'), module);
    const bytes = 2 * writeNpy(at('x.npy'), gib);
    run('--threads', `${threads}`);
    const expected = readFileSync(at('y.npy'));
    const over = (count: number) => async () => {
      await hire(count);
      const took = run('--queue', server.url, '--pieces', `${pieces}`);
      if (!readFileSync(at('y.npy')).equals(expected)) throw new Error(`${count} workers wrote other bytes`);
      return took;
    };
    return await inTurn(
      { suite: 'queue', work: 'workers', bytes },
      {
        [`4 workers of ${threads} threads`]: over(4),
        [`a run of ${4 * threads} threads, no queue`]: () => run('--threads', `${4 * threads}`),
        [`1 worker of ${threads} threads`]: over(1),
      },
      rounds,
    );
  } finally {
    for (const child of team) child.kill('SIGTERM');
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
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

export const suite: Suite = { workers: withWorkers, limit };
