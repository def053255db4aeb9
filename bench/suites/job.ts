// The main job, file to file: y = a*x + b over a 4 GiB .npy, against `cp` of the same file and
// against itself with depth 1, each a process of its own. The size may be set with BENCH_GIB, the device
// with BENCH_DEVICE, and with BENCH_FOLDER a folder on the disk that is meant.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Suite } from '../main.ts';
import { inTurn, median } from '../measure.ts';
import { writeNpy } from '../npy.ts';

const gib = Number(process.env.BENCH_GIB ?? 4);
const device = process.env.BENCH_DEVICE ?? 'cpu';

async function affine() {
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'warpstage-job-'));
  const input = join(folder, 'in.npy');
  const output = join(folder, 'out.npy');
  const memory: number[] = [];
  const run =
    (...options: string[]) =>
    () => {
      const args = [
        'dist/cli/main.js',
        'run',
        'examples/affine.ts',
        input,
        output,
        '--set',
        'a=2',
        '--set',
        'b=1',
        '--device',
        device,
        '--json',
      ];
      const begin = performance.now();
      const report = JSON.parse(execFileSync(process.execPath, [...args, ...options], { encoding: 'utf8' }));
      const seconds = (performance.now() - begin) / 1000;
      if (options.length === 0) memory.push(report.peakResidentBytes);
      rmSync(output);
      return seconds;
    };
  const copy = () => {
    const begin = performance.now();
    execFileSync('cp', [input, output]);
    const seconds = (performance.now() - begin) / 1000;
    rmSync(output);
    return seconds;
  };
  try {
    const bytes = 2 * writeNpy(input, gib);
    const names = { suite: 'job', work: 'affine', bytes };
    const rows = await inTurn(
      names,
      { 'warpstage run': run(), 'warpstage run --depth 1': run('--depth', '1'), cp: copy },
      3,
    );
    const [overlapped, serial] = rows;
    return [
      ...rows,
      { ...overlapped!, against: 'warpstage run --depth 1', ratio: serial!.seconds / overlapped!.seconds },
      {
        ...overlapped!,
        variant: 'peak resident memory',
        against: '600 MiB',
        ratio: (600 * 2 ** 20) / median(memory),
        bytes: median(memory),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const suite: Suite = { affine };
