// --max-memory holds whatever formats a run writes and reads: with as little as the run says that it takes, its peak stays
// below that, and what it has written is what it reads.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Folder, numbers, root, run } from './support.ts';

const MiB = 2 ** 20;
const folder = new Folder();
afterAll(() => folder.remove());
const at = (name: string) => folder.file(name);
const x = numbers(MiB);

beforeAll(() => {
  // JavaScript: a process that compiles TypeScript takes half a second more.
  folder.file(
    'jobs.mjs',
    `import { map } from ${JSON.stringify(`${root}dist/index.js`)};
    export const same = map({ y: 'f32', x: 'f32' }, ({ x }) => x);`,
  );
  writeFileSync(at('x.f32'), x);
});

/**
 * Runs with as little memory as the run says. What a process takes by itself differs by some MiB from one to the next: one that
 * is refused says how much it wants. Gives its peak and the limit, in MiB.
 */
async function runTight(...given: readonly string[]): Promise<{ peak: number; limit: number }> {
  const within = (limit: number) =>
    run(['run', at('jobs.mjs'), ...given, '--json', '--max-memory', `${limit}MiB`]);
  let limit = 50;
  let ran = await within(limit);
  for (let tries = 0; ran.code !== 0 && tries < 4; tries++) {
    const [, least] = /allow at least ([\d,]+) MiB/.exec(ran.stderr) ?? [];
    expect(least, ran.stderr).toBeDefined();
    // With more memory it may have more threads: what these take is among it.
    limit = Number(least!.replace(',', ''));
    ran = await within(limit);
  }
  expect(ran.code, ran.stderr).toBe(0);
  return { peak: JSON.parse(ran.stdout.toString()).peakResidentBytes / MiB, limit };
}

describe('what is written and read stays below the limit', () => {
  // Each file is made of the one before, so that a run looks at one format that is read and at another that is written.
  const chains = [
    { threads: '1', endings: ['csv', 'npy.gz', 'ndjson', 'zarr', 'csv.gz'] },
    { threads: '3', endings: ['parquet', 'npy', 'arrow', 'gz.zarr', 'npz'] },
  ];
  test.each(chains)('$endings, $threads threads', async ({ threads, endings }) => {
    let from = 'x.f32';
    for (const into of [...endings.map((ending) => `y.${ending}`), 'back.f32']) {
      const column = /npz|parquet|arrow|csv|ndjson/.test(from) ? ['--column', 'y'] : [];
      const how = ['--threads', threads, '--job', 'same', ...column];
      const { peak, limit } = await runTight(at(from), at(into), ...how);
      expect(peak, `${from} to ${into}`).toBeLessThan(limit);
      from = into;
    }
    expect(readFileSync(at('back.f32')).equals(Buffer.from(x.buffer))).toBe(true);
  });

  test('a store that waits to be gone on with', async () => {
    const { peak, limit } = await runTight(at('x.f32'), at('kept.zarr'), '--job', 'same', '--resume');
    expect(peak).toBeLessThan(limit);
  });
});

test('what comes by URL, in however long chunks, holds no more than some ranges', async () => {
  const server = createServer((request, response) => {
    const [, begin, end] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '')!.map(Number);
    const bytes = Buffer.from(x.buffer).subarray(begin, end! + 1);
    const range = `bytes ${begin}-${begin! + bytes.length - 1}/${x.byteLength}`;
    response.writeHead(206, { 'content-range': range, etag: '"1"' }).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.f32`;
    const { peak, limit } = await runTight(url, at('got.f32'), '--job', 'same');
    expect(peak).toBeLessThan(limit);
    expect(readFileSync(at('got.f32')).equals(Buffer.from(x.buffer))).toBe(true);
  } finally {
    server.close();
  }
});
