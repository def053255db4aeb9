// Whether a job from file to file is as fast as copying: 1 GiB of f32 through y = a*x + b. In a process, against a
// Node program with as many threads that read and write and compute nothing; as a command, against `cp`. In memory
// (tmpfs) and in the page cache of a disk. BENCH_GIB is another size, BENCH_ROUNDS another number of rounds.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Suite } from '../main.ts';
import { inTurn } from '../measure.ts';
import { writeNpy } from '../npy.ts';

const gib = Number(process.env.BENCH_GIB ?? 1);
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const threads = availableParallelism();

async function inFolder(work: string, folder: string) {
  const directory = mkdtempSync(join(folder, 'warpstage-copying-'));
  const [input, output] = [join(directory, 'in.npy'), join(directory, 'out.npy')];
  /** Removing the output is no part of what is timed. */
  const clean = <T>(result: T): T => {
    rmSync(output, { force: true });
    return result;
  };
  const own =
    (program: string, ...args: string[]) =>
    () =>
      clean(
        Number(
          execFileSync(process.execPath, [`bench/programs/${program}`, input, output, ...args], {
            encoding: 'utf8',
          }),
        ),
      );
  const whole = (command: string, args: readonly string[]) => () => {
    const began = performance.now();
    execFileSync(command, args, { stdio: 'pipe' });
    return clean((performance.now() - began) / 1000);
  };
  const settings = ['--set', 'a=2', '--set', 'b=1'];
  const run = ['dist/cli/main.js', 'run', 'examples/affine.ts', input, output, ...settings];
  try {
    const names = { suite: 'copying', work, bytes: 2 * writeNpy(input, gib) };
    const inProcess = {
      run: own('in-process.mjs'),
      [`Node, ${threads} threads that read and write`]: own('read-and-write.mjs', String(threads)),
    };
    const commands = {
      'warpstage run': whole(process.execPath, run),
      'warpstage run in chunks': whole(process.execPath, [...run, '--chunk', '8MiB']),
      cp: whole('cp', [input, output]),
    };
    return [...(await inTurn(names, inProcess, rounds)), ...(await inTurn(names, commands, rounds))];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const memory = '/dev/shm';

export const suite: Suite = {
  ...(existsSync(memory) ? { 'in memory': () => inFolder('in memory', memory) } : {}),
  'page cache': () => inFolder('page cache', tmpdir()),
};
