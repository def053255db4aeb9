// What `warpstage plan` says beside what `warpstage run` then takes: jobs bound by files, by arithmetic, by
// reading alone and by decoding, in several sizes, each a process of its own. Parquet is one file of three
// million rows. Each job runs once so that its files are in memory; then it is planned and run in turn.
// `ratio` is the median of the planned times over that of the measured ones, both without the start of the
// process: 1 is exact. PLAN_DEVICE chooses the device (default `cpu`), PLAN_MIB the sizes, BENCH_FOLDER where
// the files lie.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';

const device = env.PLAN_DEVICE ?? 'cpu';
const sizes = (env.PLAN_MIB ?? '256,1024').split(',').map((size) => Number(size) * 2 ** 20);
const rounds = Number(env.PLAN_ROUNDS ?? 5);

interface Planned {
  readonly wall: number;
  readonly range: readonly [number, number];
}

function command(...args: string[]): string {
  return execFileSync(execPath, ['dist/cli/main.js', ...args, '--json'], { encoding: 'utf8' });
}

/** Raw f32 of so many bytes. */
function writeRaw(file: string, bytes: number): void {
  const descriptor = openSync(file, 'w');
  const piece = Float32Array.from({ length: 2 ** 21 }, (_, i) => Math.fround(Math.sin(i)));
  for (let written = 0; written < bytes; written += piece.byteLength) writeSync(descriptor, piece);
  closeSync(descriptor);
}

/** Plans and runs a job in turn. */
function compare(work: string, bytes: number, job: readonly string[], output: string | undefined): Row[] {
  const args = [...job, ...(output === undefined ? [] : [output]), '--device', device];
  const planned: Planned[] = [];
  const measured: number[] = [];
  for (let round = -1; round < rounds; ++round) {
    const [plan] = JSON.parse(command('plan', ...args)) as [Planned];
    const { report } = JSON.parse(command('run', ...args)) as { report: { wall: number } };
    if (output !== undefined) rmSync(output);
    if (round < 0) continue;
    planned.push(plan);
    measured.push(report.wall);
  }
  const seconds = median(measured) / 1000;
  const ratio = median(planned.map(({ wall }) => wall)) / median(measured);
  const spread = (values: readonly number[]) => values.map((value) => (value / 1000).toFixed(3)).join(', ');
  console.error(
    `${work}: planned ${spread(planned.map(({ wall }) => wall))} s, ` +
      `took ${spread(measured)} s: ${(100 * (ratio - 1)).toFixed(1)} %`,
  );
  return [{ suite: 'plan', work, variant: `planned on ${device}`, against: 'run', ratio, seconds, bytes }];
}

function inFolder(measure: (folder: string) => Row[]): Row[] {
  const folder = mkdtempSync(join(env.BENCH_FOLDER ?? tmpdir(), 'warpstage-plan-'));
  try {
    return measure(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A job over raw files, in each size. */
function ofSizes(
  name: string,
  module: readonly string[],
  hasOutput: boolean,
  share = 1,
): () => Promise<Row[]> {
  return async () =>
    sizes.flatMap((size) =>
      inFolder((folder) => {
        const bytes = size * share;
        const input = join(folder, 'in.raw');
        writeRaw(input, bytes);
        const [file, ...options] = module as [string, ...string[]];
        const output = hasOutput ? join(folder, 'out.raw') : undefined;
        return compare(`${name}, ${bytes / 2 ** 20} MiB`, bytes, [file, input, ...options], output);
      }),
    );
}

async function flights(): Promise<Row[]> {
  const file = 'node_modules/vega-datasets/data/flights-3m.parquet';
  return compare('flights, Parquet', 0, ['examples/flights.ts', file], undefined);
}

export const suite: Suite = {
  affine: ofSizes('affine', ['examples/affine.ts', '--set', 'a=2'], true),
  // Arithmetic on a processor takes its time.
  heavy: ofSizes('heavy', ['bench/plan-jobs.ts', '--job', 'heavy'], true, device === 'cpu' ? 1 / 4 : 1),
  total: ofSizes('total', ['bench/plan-jobs.ts', '--job', 'total'], false),
  flights,
};
