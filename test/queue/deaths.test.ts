// A run over a queue whose workers, server and command die at any moment: the output is what one process writes, no piece is
// committed twice, a piece that kills its workers is named, and nothing is left of what was stopped. scripts/worker-kills.mjs
// kills more.

import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stormOfKills } from '../../scripts/worker-kills.mjs';
import { outcomeOf, start } from '../cli/support.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { atLength } from '../support/thorough.ts';
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

function folderWithJob() {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  writeFileSync(at('twice.ts'), module);
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

describe.runIf(hasServer && atLength)('over a queue', { timeout: 120_000 }, () => {
  test.each([1, 2])('workers and their server are killed at random (seed %i)', async (seed) => {
    const storm = { kills: 12, servers: 2, pieces: 40, workers: 4, steps: 10_000_000, seed };
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

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('%s of the command', async (signal) => {
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
});
