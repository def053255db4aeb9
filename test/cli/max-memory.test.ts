// Limits and logs of a run. --max-memory holds: what a process had resident at its peak, as the system counts it, for
// every format and number of threads. Where it cannot hold, nothing is begun.

import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyOf } from '../support/thorough.ts';
import { Folder, npy, numbers, outcomeOf, root, runHere, start } from './support.ts';

const MiB = 2 ** 20;
const folder = new Folder();
afterAll(() => folder.remove());
const at = (name: string) => folder.file(name);
const flights = fileURLToPath(
  new URL('node_modules/vega-datasets/data/flights-3m.parquet', new URL(root, 'file:')),
);

const warpstage = JSON.stringify(`${root}dist/index.js`);
beforeAll(() => {
  // JavaScript: a process that compiles TypeScript takes half a second more.
  folder.file(
    'jobs.mjs',
    `import { map } from ${warpstage};
    export const scaled = map({ y: 'f32', x: 'f32' }, ({ x }) => 2 * x);
    export const late = map({ y: 'f32', delay: 'i32' }, ({ delay }) => delay * 2);`,
  );
  const x = numbers(8 * MiB);
  writeFileSync(at('x.f32'), x);
  writeFileSync(at('x.npy'), npy(x));
});

interface Case {
  readonly job: string;
  readonly input: string;
  /** MiB. */
  readonly limit: number;
  readonly threads: number;
  /** MiB that come by standard input. */
  readonly stream?: number;
}

describe('the peak stays below the limit', () => {
  const cases: readonly Case[] = [
    { job: 'scaled', input: 'x.f32', limit: 170, threads: 1 },
    { job: 'scaled', input: 'x.npy', limit: 170, threads: 64 },
    { job: 'scaled', input: '-', limit: 170, threads: 4, stream: 200 },
    { job: 'late', input: flights, limit: 280, threads: 16 },
  ];
  test.each(everyOf(2, cases))(
    '$job of $input, $threads threads, $limit MiB',
    async ({ job, input, limit, threads, stream = 0 }) => {
      const from = input === '-' || input === flights ? input : at(input);
      const argv = ['run', at('jobs.mjs'), from, '/dev/null', '--job', job, '--json', '--convert', 'nearest'];
      const child = start([...argv, '--threads', String(threads), '--max-memory', `${limit}MiB`]);
      const zeros = ['-c', String(stream * MiB), '/dev/zero'];
      if (input === '-')
        spawn('head', zeros, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout.pipe(child.stdin!);
      const { code, stdout, stderr } = await outcomeOf(child);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      const { peakResidentBytes, report } = JSON.parse(stdout.toString());
      expect(peakResidentBytes / MiB).toBeLessThan(limit);
      // And the room is used: chunks are not as small as they can be.
      expect(report.chunkBytes).toBeGreaterThan(MiB / 4);
    },
  );
});

test('the peak is that of the run, however large the process is that starts it', async () => {
  const large = Buffer.alloc(400 * MiB, 1);
  const child = start([
    'run',
    at('jobs.mjs'),
    at('x.f32'),
    '/dev/null',
    '--job',
    'scaled',
    '--json',
    '--rows',
    '100',
  ]);
  const { code, stdout } = await outcomeOf(child);
  expect(code).toBe(0);
  expect(large[399 * MiB]).toBe(1);
  expect(JSON.parse(stdout.toString()).peakResidentBytes / MiB).toBeLessThan(250);
});

test('what cannot be kept is refused, with what would be enough', async () => {
  const argv = ['run', at('jobs.mjs'), at('x.f32'), at('y.f32'), '--job', 'scaled'];
  const refused = await runHere(...argv, '--max-memory', '50MiB');
  expect(refused.stderr).toMatch(
    /^WS5008: the run takes [\d,]+ MiB beside its chunks, and may take 50 MiB in all\n.*allow at least [\d,]+ MiB \(--max-memory\), or let it have fewer threads\n$/,
  );
  expect(refused.code).toBe(2);
  for (const wrong of ['much', '-1', '0', '3 lumps']) {
    const { code, stderr } = await runHere(...argv, `--max-memory=${wrong}`);
    expect(stderr).toContain('WS5008: the limit of memory must be a size');
    expect(code).toBe(2);
  }
  expect(folder.list()).not.toContain('y.f32');
});

test('the next run has what the first one had, and a chunk that is asked for must fit', async () => {
  const argv = ['--import', 'tsx', join(import.meta.dirname, 'memory-runs.ts'), at('x.f32')];
  // The package as it was built, not its source.
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.build.json') };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env, cwd: root });
  const { chunks, tooMuch, rows } = JSON.parse(stdout);
  for (const chunk of chunks) expect(chunk).toBeGreaterThan(chunks[0] / 4);
  expect(tooMuch).toMatch(
    /WS5008: (there is memory for \d chunks of 4,194,304 rows under the limit, and 2 are to be in flight\n {2}hint: choose a smaller --chunk or --depth, leave them to be chosen, or raise --max-memory$|the run takes [\d,]+ MiB beside)/,
  );
  expect(rows).toBe(8 * MiB);
});

test('--log has a line for each chunk, in their order, and is no other file of the command', async () => {
  const argv = ['run', at('jobs.mjs'), at('x.f32'), '/dev/null', '--job', 'scaled', '-q', '--chunk', '10MiB'];
  expect((await runHere(...argv, '--log', at('chunks.tsv'))).code).toBe(0);
  const [head, ...lines] = readFileSync(at('chunks.tsv'), 'utf8').trimEnd().split('\n');
  const names = head!.split('\t');
  expect(names.slice(0, 5)).toEqual(['pass', 'chunk', 'device', 'first_row', 'rows']);
  const chunks = lines.map((line) => line.split('\t'));
  const rows = 10 * (MiB / 4);
  expect(chunks.map((values) => values.slice(0, 5).join(' '))).toEqual([
    `1 0 cpu 0 ${rows}`,
    `1 1 cpu ${rows} ${rows}`,
    `1 2 cpu ${2 * rows} ${rows}`,
    `1 3 cpu ${3 * rows} ${8 * MiB - 3 * rows}`,
  ]);
  for (const values of chunks) {
    const times = values.slice(5).map(Number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  }
  for (const path of [at('x.f32'), at('jobs.mjs')]) {
    const { code, stderr } = await runHere(...argv, '--log', path);
    expect(stderr).toContain('that the command reads as well');
    expect(code).toBe(2);
  }
  const { code, stderr } = await runHere(...argv, '--log', at('none/chunks.tsv'));
  expect(stderr).toMatch(/^WS5006: .*none\/chunks\.tsv cannot be written/);
  expect(code).toBe(74);
});
