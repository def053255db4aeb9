// Power is lost, or the process dies, at any operation of a run. What each kind of run promises is there afterwards:
//
// - any run, when the process dies; with --fsync or --resume, also when power is lost: its output is what it was, or the
//   whole new one. With --fsync, a run that has ended has left the new one.
// - then the same run gives equal bytes, whatever is left of the one before.
// - checksums beside an output are its own.
//
// A run without --fsync does not promise it of a loss of power: there is a loss that shows it, so that what is
// simulated here is known to be as bad as that. `node scripts/power-losses.mjs` simulates more, and publishes the table.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open, run, WarpstageError } from 'warpstage';
import { verify } from '#warpstage/overlap/verify.js';
import { randomRuns } from '../differential/tape.ts';
import { affine } from './jobs.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { registerSmall } from './small-stores.ts';
import { namesIn, npyFile } from './support.ts';

const rows = 1600;
const x = Float32Array.from({ length: rows }, (_, i) => i);
/** Journals flush once a second; here a second is a millisecond. */
const { now } = performance;
let device: Device;
let directory: string;
/** The output and its checksums: of a run before, and of the one that is looked at. */
type Files = readonly Buffer[];
const before: Record<string, Files> = {};
const whole: Record<string, Files> = {};
const at = (name: string) => join(directory, name);
const folder = () => at('out');
const output = (name: string) => join(folder(), name);
const common = (name: string) => ({
  ...{ input: at('x.npy'), output: output(name), device },
  ...{ chunk: 100, depth: 2, checksum: true },
});
/** Outputs whose bytes follow from their rows, and whose bytes depend on what was before. */
const names = ['y.npy', 'y.csv.gz', 'y.parquet', 'y.small'] as const;
registerSmall();

/** A file, or all files of a folder by their names. */
function contents(path: string): Buffer {
  if (!statSync(path).isDirectory()) return readFileSync(path);
  const files = namesIn(path).map((name) => [name, readFileSync(join(path, name), 'latin1')]);
  return Buffer.from(JSON.stringify(files));
}
function write(path: string, bytes: Buffer): void {
  if (!path.endsWith('.small')) {
    writeFileSync(path, bytes);
    return;
  }
  mkdirSync(path);
  for (const [name, text] of JSON.parse(bytes.toString()) as [string, string][])
    writeFileSync(join(path, name), text, 'latin1');
}

beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
  performance.now = () => 1000 * now.call(performance);
  directory = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
  writeFileSync(at('x.npy'), npyFile({ shape: [rows], data: x }));
  mkdirSync(folder());
  const written = async (name: string, a: number) => {
    await run(affine, { ...common(name), settings: { a, b: 1 } });
    return [output(name), `${output(name)}.sums`].map(contents);
  };
  for (const name of names) {
    before[name] = await written(name, 3);
    whole[name] = await written(name, 2);
  }
});
afterAll(async () => {
  performance.now = now;
  await device.close();
  rmSync(directory, { recursive: true });
});

const table: Record<string, unknown>[] = [];
afterAll(() => {
  const path = process.env.WARPSTAGE_POWER_LOSSES;
  if (path !== undefined) writeFileSync(path, `${JSON.stringify(table, null, 2)}\n`);
});

interface Kind {
  readonly name: (typeof names)[number];
  readonly resume: boolean;
  readonly fsync: boolean;
}

/** What one loss left. */
interface Left {
  readonly ended: boolean;
  readonly output: 'old' | 'new' | 'neither';
  /** Bytes of the output that the next run need not write. */
  readonly resumed: number;
}

/** Loses power, or the process, once, and looks at what is left. */
async function lose(kind: Kind, what: 'process' | 'power', operation: number, seed: number): Promise<Left> {
  rmSync(folder(), { recursive: true });
  mkdirSync(folder());
  const { name, ...how } = kind;
  const path = output(name);
  const [old, sums] = before[name]!;
  const [full] = whole[name]!;
  write(path, old!);
  writeFileSync(`${path}.sums`, sums!);
  const options = { ...common(name), ...how, settings: { a: 2, b: 1 } };
  const disk = new SimulatedDisk(folder(), operation);
  await disk.replace();
  let ended = true;
  try {
    await run(affine, options);
  } catch (error) {
    ended = false;
    if (!(error instanceof WarpstageError)) throw error;
  } finally {
    disk.restore();
  }
  disk.leave(what, randomOf(seed));

  // A store that is replaced has another name for a moment.
  const replaced = namesIn(folder()).find((name) => name.endsWith('.replaced'));
  const there = existsSync(path) ? path : replaced === undefined ? undefined : output(replaced);
  const left = there === undefined ? undefined : contents(there);
  const found = left?.equals(full!) ? 'new' : left?.equals(old!) ? 'old' : 'neither';
  if (found !== 'neither' && there === path && existsSync(`${path}.sums`)) {
    const promised = what === 'process' || kind.fsync || kind.resume;
    const noted = verify(path, { signal: new AbortController().signal });
    if (promised) expect((await noted).differences).toEqual([]);
    else await noted.catch(() => {});
  }
  const again = await run(affine, options);
  expect(contents(path).equals(full!)).toBe(true);
  const hidden = namesIn(folder()).filter(
    (name) => name.startsWith('.') && !name.includes(`-${process.pid}-`),
  );
  expect(hidden).toEqual([]);
  return { ended, output: found, resumed: again.report.resumed?.bytes ?? 0 };
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** Operations of a run, and some after its end. */
const within = fc.integer({ min: 1, max: 80 });
const seeds = fc.nat(2 ** 31);

describe.each<Kind>([
  { name: 'y.npy', resume: false, fsync: false },
  { name: 'y.npy', resume: false, fsync: true },
  { name: 'y.npy', resume: true, fsync: false },
  { name: 'y.npy', resume: true, fsync: true },
  { name: 'y.csv.gz', resume: true, fsync: false },
  { name: 'y.parquet', resume: true, fsync: false },
  { name: 'y.small', resume: false, fsync: true },
  { name: 'y.small', resume: true, fsync: false },
])('$name, resume $resume, fsync $fsync', (kind) => {
  test.each(['process', 'power'] as const)('a loss of %s', async (what) => {
    const promised = what === 'process' || kind.fsync || kind.resume;
    const counts = { losses: 0, ended: 0, old: 0, new: 0, neither: 0, resumed: 0 };
    await fc.assert(
      fc.asyncProperty(within, seeds, async (operation, seed) => {
        const { ended, output, resumed } = await lose(kind, what, operation, seed);
        counts.losses++;
        counts[output]++;
        if (ended) counts.ended++;
        if (resumed > 0) counts.resumed++;
        if (promised) expect(output).not.toBe('neither');
        // Without --fsync names are not flushed: the old one may be there.
        if (ended && (what === 'process' || kind.fsync)) expect(output).toBe('new');
      }),
      randomRuns(10),
    );
    table.push({ ...kind, what, promised, ...counts });
  });
});

test('without fsync, a loss of power may leave neither', async () => {
  let worst = 0;
  for (let seed = 1; seed <= 40 && worst === 0; seed++) {
    const { ended, output } = await lose({ name: 'y.npy', resume: false, fsync: false }, 'power', 1000, seed);
    expect(ended).toBe(true);
    if (output === 'neither') worst++;
  }
  expect(worst).toBe(1);
});

test('a store that is replaced goes when the names of both are on the disk', async () => {
  const counts = { old: 0, new: 0, neither: 0 };
  for (let operation = 15; operation <= 20; operation++) {
    for (let seed = 1; seed <= 5; seed++) {
      const { output } = await lose(
        { name: 'y.small', resume: false, fsync: true },
        'power',
        operation,
        seed,
      );
      counts[output]++;
    }
  }
  expect(counts.neither).toBe(0);
  expect(counts.new).toBeGreaterThan(0);
});
