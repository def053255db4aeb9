// A Slurm array of pieces, as examples/cluster/slurm.sh runs them, where tasks fail in each way that there is and the
// controller dies in the middle. What is put together afterwards is what one run writes, to the byte.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { npy, numbers, root, run } from '../cli/support.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { atLength } from '../support/thorough.ts';
import { hasSlurm, SlurmNode } from './slurm-node.ts';

const pieces = 8;
const installed = atLength && hasSlurm();
if (atLength && !installed) console.warn('no Slurm here: the test of an array of tasks skips');

/** What a task meets when it first runs; later it runs as it should. Task 6 fails until somebody mends it. */
const command = `#!/bin/bash
run() { "$NODE" "$PROGRAM" "$@"; }
task=$SLURM_ARRAY_TASK_ID
if [ "$task" = 6 ] && [ ! -e mended ]; then run "$@" --set nonsense=1; exit; fi
if ! mkdir "tried-$task" 2> /dev/null; then run "$@"; exit; fi
case $task in
  2) run "$@" --deadline 0.001s ;;
  3) run "$@" & kill -9 $!; wait $! ;;
  4) while [ ! -e go ]; do sleep 0.1; done; run "$@" ;;
  5) sleep 1000 ;;
  *) run "$@" ;;
esac
`;

test.runIf(installed)(
  'an array whose tasks fail, and whose controller dies, gives equal bytes',
  { timeout: 300_000 },
  async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), npy(numbers(100_003)));
    writeFileSync(at('warpstage'), command, { mode: 0o755 });
    const example = join(root, 'examples/fir.ts');
    const whole = await run(['run', example, at('x.npy'), at('whole.npy'), '--quiet']);
    expect(whole.code, whole.stderr).toBe(0);

    await using slurm = await SlurmNode.start(temporaryDirectory(), 2);
    const env = {
      PATH: `${folder}${delimiter}${process.env.PATH}`,
      NODE: process.execPath,
      PROGRAM: join(root, 'dist/cli/main.js'),
    };
    const script = [join(root, 'examples/cluster/slurm.sh'), `${pieces}`, example, 'x.npy', 'y.npy'];
    const array = await slurm.submit([`--array=1-${pieces}`, ...script], folder, env);

    // Two tasks are at work, and stay so, when the controller dies; one ends before it is back.
    await slurm.until(() => existsSync(at('tried-4')) && existsSync(at('tried-5')), 'two tasks at work');
    await slurm.saved();
    await slurm.killController();
    writeFileSync(at('go'), '');
    await slurm.until(() => existsSync(at('y.npy.4-of-8')), 'a piece without a controller');
    slurm.startController();
    // The other one's node is lost, as it were.
    const lost = async () => (await slurm.tasks(array)).find(({ index }) => index === 5);
    await slurm.until(async () => (await lost()) !== undefined, 'the tasks that were saved');
    await slurm.control('requeue', (await lost())!.id);

    const over = ['COMPLETED', 'FAILED'];
    await slurm.until(async () => {
      const tasks = await slurm.tasks(array);
      // Slurm lets two minutes go by before it tries again.
      for (const { id, state } of tasks) {
        if (state === 'PENDING') await slurm.control('update', `JobId=${id}`, 'StartTime=now');
      }
      return tasks.length === pieces && tasks.every(({ state }) => over.includes(state));
    }, 'the end of all tasks');
    const tasks = await slurm.tasks(array);
    const logs = namesIn(folder).filter((name) => name.endsWith('.log'));
    const told = logs.map((name) => `${name}: ${readFileSync(at(name))}`).join('\n');
    expect(
      tasks.map(({ index, state, exitCode }) => [index, state, exitCode]),
      told,
    ).toEqual(
      Array.from({ length: pieces }, (_, i) => [i + 1, ...(i + 1 === 6 ? ['FAILED', 2] : ['COMPLETED', 0])]),
    );
    for (const { index, restarts } of tasks) {
      if ([2, 3, 5].includes(index)) expect(restarts, `task ${index}`).toBeGreaterThan(0);
      if (index === 6) expect(restarts).toBe(0);
    }

    // The piece that failed for good is missing, until it is mended and that task alone is submitted again.
    const early = await run(['merge', at('y.npy')]);
    expect(early.stderr).toContain('1 of the 8 pieces');
    expect(early.stderr).toContain('--shard 6/8');
    expect(early.code).toBe(75);
    writeFileSync(at('mended'), '');
    const again = await slurm.submit(['--array=6', ...script], folder, env);
    await slurm.until(
      async () => (await slurm.tasks(again)).every(({ state }) => over.includes(state)),
      'the end of the task that is repeated',
    );
    const merged = await run(['merge', at('y.npy'), '--remove']);
    expect(merged.code, merged.stderr).toBe(0);
    expect(readFileSync(at('y.npy')).equals(readFileSync(at('whole.npy')))).toBe(true);
    expect(namesIn(folder).filter((name) => /^\.|-of-/.test(name))).toEqual([]);
  },
);
