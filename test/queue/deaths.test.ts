// A run over a queue whose workers, server and command die at any moment: the output is what one process writes, no piece is
// committed twice, a piece that kills its workers is named, and nothing is left of what was stopped. scripts/worker-kills.mjs
// kills more.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stormOfKills } from '../../scripts/worker-kills.mjs';
import { outcomeOf, start } from '../cli/support.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { atLength, isInTurn } from '../support/thorough.ts';
import { filesWith, hasServer, until } from './support.ts';

/** A job that ends its process at its second piece, where a file says so; a piece takes a while. */
const module = `import { existsSync } from 'node:fs';
import { job, kernel } from 'warpstage';
const kernelOfTwice = kernel({ x: 'readonly i32[]', y: 'i32[]' }, ({ x, y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  let v = x[i]!;
  for (let k = 0; k < 5000000; k++) v = v * 1664525 + 1013904223;
  y[i] = v;
});
export const twice = job({
  kernel: kernelOfTwice,
  inputs: { x: {} },
  outputs: { y: {} },
  launch: ({ rows, offset }) => {
    if (offset === 100 && existsSync('poison')) process.kill(process.pid, 'SIGKILL');
    return { grid: Math.ceil(rows / 256), block: 256 };
  },
});
`;
const rows = 1000;

function folderWithJob(text = module) {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  writeFileSync(at('twice.ts'), text);
  writeFileSync(at('x.i32'), new Uint8Array(Int32Array.from({ length: rows }, (_, i) => i).buffer));
  const run = (output: string, ...options: string[]) =>
    start(['run', 'twice.ts', 'x.i32', output, ...options], { cwd: folder });
  return { folder, at, run };
}

/** What one process writes; it is the same for all. */
let whole: Promise<Buffer> | undefined;
const wholeOutput = () => {
  whole ??= (async () => {
    const { at, run } = folderWithJob();
    const { code, stderr } = await outcomeOf(run('whole.i32', '--quiet'));
    expect(code, stderr).toBe(0);
    return readFileSync(at('whole.i32'));
  })();
  return whole;
};

/** The processes that work in a folder. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(join('/proc', name, 'cwd')) === folder;
    } catch {
      return false;
    }
  });
}

/** Two passes that end their process once each, where a file says so; what the first finds depends on the order of its pieces. */
const twoPasses = `import { existsSync, rmSync } from 'node:fs';
import { job, kernel, sequence } from 'warpstage';
const launch = (pass) => ({ rows, offset }) => {
  if (offset === 100 && existsSync(pass)) {
    rmSync(pass);
    process.kill(process.pid, 'SIGKILL');
  }
  return { grid: Math.ceil(rows / 256), block: 256 };
};
const fold = kernel({ x: 'readonly i32[]', sum: 'i32[]' }, ({ x, sum }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= x.length) return;
  let v = x[i]!;
  for (let k = 0; k < 5000000; k++) v = v * 1664525 + 1013904223;
  cuda.atomicAdd(sum, 0, v);
});
const spread = kernel({ x: 'readonly i32[]', y: 'i32[]', seed: 'i32' }, ({ x, y, seed }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  let v = x[i]! + seed;
  for (let k = 0; k < 5000000; k++) v = v * 1664525 + 1013904223;
  y[i] = v;
});
const first = job({
  name: 'first', kernel: fold, inputs: { x: {} }, launch: launch('die-1'),
  accumulators: { sum: { combine: (a, b) => (Math.imul(a, 31) + b) | 0 } },
  finish: ({ sum }) => sum[0],
});
const second = job({
  name: 'second', kernel: spread, inputs: { x: {} }, outputs: { y: {} }, settings: { seed: {} }, launch: launch('die-2'),
});
export const twice = sequence([first, { job: second, settings: (seed) => ({ seed }) }]);
`;

describe.runIf(hasServer && atLength)('over a queue', { timeout: 120_000 }, () => {
  test.each(isInTurn ? [1] : [1, 2])(
    'workers and their server are killed at random (seed %i)',
    async (seed) => {
      const storm = { kills: 12, servers: 2, pieces: 40, workers: 4, steps: 10_000_000, seed };
      expect(await stormOfKills(storm)).toMatchObject({ problems: [], kills: 12, serverKills: 2 });
    },
  );

  test('workers of two passes and their server are killed at random', async () => {
    const storm = {
      kills: 12,
      servers: 2,
      pieces: 20,
      workers: 4,
      steps: 10_000_000,
      seed: 3,
      job: 'passes',
    };
    expect(await stormOfKills(storm)).toMatchObject({ problems: [], kills: 12, serverKills: 2 });
  });

  test('a piece that kills its workers is named, and the same command tries it alone once more', async () => {
    const { at, run } = folderWithJob();
    writeFileSync(at('poison'), '');
    const options = ['--workers', '2', '--pieces', '10', '--tries', '2', '--ack-wait', '1s', '--json'];
    const failed = await outcomeOf(run('y.i32', ...options));
    expect(failed.stderr).toMatch(/WS5018.*piece 2 of 10 failed: each of its 2 workers went away/);
    expect(failed.stderr).toContain('(2)');
    expect(failed.code).toBe(1);
    expect(existsSync(at('y.i32'))).toBe(false);
    rmSync(at('poison'));
    const mended = await outcomeOf(run('y.i32', ...options));
    expect(mended.code, mended.stderr).toBe(0);
    const { report } = JSON.parse(mended.stdout.toString()) as { report: { before: number } };
    expect(report.before).toBe(9);
    expect(readFileSync(at('y.i32')).equals(await wholeOutput())).toBe(true);
  });

  test('a worker whose command is gone before it has begun ends', async () => {
    const folder = temporaryDirectory();
    const program = join(import.meta.dirname, '../../dist/cli/main.js');
    // Its server would be waited for.
    const args = ['worker', 'nats://127.0.0.1:1', '--patience', '1h'];
    const worker = fork(program, args, {
      cwd: folder,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    worker.disconnect();
    const [code] = await once(worker, 'exit');
    expect(code).toBe(143);
  });

  const signals = ['SIGTERM', 'SIGKILL', ...(isInTurn ? [] : (['SIGINT'] as const))] as const;
  test.each(signals)('%s of the command', async (signal) => {
    const { folder, at, run } = folderWithJob();
    const options = ['--workers', '2', '--pieces', '20', '--json'];
    const child = run('y.i32', ...options);
    const outcome = outcomeOf(child);
    await until(() => namesIn(folder).some((name) => name.startsWith('y.i32.')));
    expect(processesIn(folder).length).toBe(4);
    child.kill(signal);
    const { code, stdout, stderr } = await outcome;
    if (signal !== 'SIGKILL') {
      expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
      expect(stderr).toMatch(/"stopped before the end by \S+; what it has written is kept"/);
      expect(processesIn(folder)).toEqual([]);
    } else await until(() => processesIn(folder).length === 0);
    expect(stdout.length).toBe(0);
    const pieces = namesIn(folder).filter((name) => /^y\.i32\.\d+-of-20$/.test(name));
    expect(namesIn(folder).sort()).toEqual(['twice.ts', 'x.i32', ...pieces].sort());
    expect(filesWith(folder, 'nats://')).toEqual([]);
    const again = await outcomeOf(run('y.i32', ...options));
    expect(again.code, again.stderr).toBe(0);
    const { report } = JSON.parse(again.stdout.toString()) as { report: { before: number } };
    expect(report.before).toBe(pieces.length);
    expect(readFileSync(at('y.i32')).equals(await wholeOutput())).toBe(true);
  });

  /** The passes of the report of a command that ended well. */
  function passesOf({ code, stdout, stderr }: Awaited<ReturnType<typeof outcomeOf>>) {
    expect(code, stderr).toBe(0);
    const { report } = JSON.parse(stdout.toString()) as { report: { passes: { before: number }[] } };
    return report.passes;
  }

  /** What one worker writes that nobody disturbs, of twenty pieces in each pass. */
  let alone: Promise<Buffer> | undefined;
  const ofOneWorker = () => {
    alone ??= (async () => {
      const { at, run } = folderWithJob(twoPasses);
      passesOf(await outcomeOf(run('y.i32', '--workers', '1', '--pieces', '20', '--json')));
      return readFileSync(at('y.i32'));
    })();
    return alone;
  };

  test('of two passes, in each of which a worker is killed', async () => {
    const { folder, at, run } = folderWithJob(twoPasses);
    for (const pass of ['die-1', 'die-2']) writeFileSync(at(pass), '');
    const options = ['--workers', '3', '--pieces', '20', '--ack-wait', '1s', '--json'];
    passesOf(await outcomeOf(run('y.i32', ...options)));
    expect(namesIn(folder).filter((name) => !name.startsWith('.'))).toEqual(['twice.ts', 'x.i32', 'y.i32']);
    expect(readFileSync(at('y.i32')).equals(await ofOneWorker())).toBe(true);
  });

  test('of two passes, in each of which the command is killed, and started again', async () => {
    const { folder, at, run } = folderWithJob(twoPasses);
    const options = ['--workers', '2', '--pieces', '20', '--json'];
    for (const piece of [/^y\.i32\.pass-1\.sum\.\d+-of-20$/, /^y\.i32\.\d+-of-20$/]) {
      const child = run('y.i32', ...options);
      const outcome = outcomeOf(child);
      await until(() => namesIn(folder).some((name) => piece.test(name)));
      child.kill('SIGKILL');
      await outcome;
      await until(() => processesIn(folder).length === 0);
    }
    const child = run('y.i32', ...options);
    let shown = '';
    child.stderr!.on('data', (part: Buffer) => {
      shown += part.toString();
    });
    const [first, second] = passesOf(await outcomeOf(child));
    expect(shown).toMatch(/^twice \(2 of 2, [^)]+\): \d+ %, /m);
    expect(first!.before).toBe(20);
    expect(second!.before).toBeGreaterThan(0);
    expect(second!.before).toBeLessThan(20);
    expect(namesIn(folder).filter((name) => !name.startsWith('.'))).toEqual(['twice.ts', 'x.i32', 'y.i32']);
    expect(readFileSync(at('y.i32')).equals(await ofOneWorker())).toBe(true);
  });
});
