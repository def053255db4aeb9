// URLs that are read more than once: in lists, by several passes, by the run that goes on behind another, by pieces, and for
// checksums. What comes out is what the same bytes in files give; another version is never mixed with the first.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type InputData, type Job, open, type RunOptions, run } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { outcomeOf, runHere, start } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { filesWith } from '../queue/support.ts';
import { atLength } from '../support/thorough.ts';
import { centred, neighbours } from './jobs.ts';
import { expectFailure, namesIn, npyFile, useFolder } from './support.ts';
import { answer, useServer } from './url-server.ts';

const host = useServer();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const { signal } = new AbortController();

const numbers = (rows: number, seed = 1) =>
  Int32Array.from({ length: rows }, (_, i) => Math.imul(i + seed, 7919));
const npyOf = (data: Int32Array) => npyFile({ descr: '<i4', shape: [data.length], data });
const stencil = neighbours(2, 1, 'clamp') as Job;

/** A file of some rows, in a format that its name tells. */
const formats = {
  npy: npyOf,
  i32: (data: Int32Array) => Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  'npy.gz': (data: Int32Array) => gzipSync(npyOf(data)),
  csv: (data: Int32Array) => Buffer.from(`x\n${[...data].join('\n')}\n`),
} as const;
type Ending = keyof typeof formats;

/** An input that is cut into files, some of which are on the server, and the same in files alone. */
function inputOf(rows: number, cuts: readonly number[], ending: Ending, about: object) {
  const data = numbers(rows);
  const ends = [...new Set([...cuts.map((cut) => 1 + (cut % rows)), rows])].sort((a, b) => a - b);
  const names: InputData[] = [];
  const urls: InputData[] = [];
  for (const [i, end] of ends.entries()) {
    const bytes = formats[ending](data.subarray(ends[i - 1] ?? 0, end));
    writeFileSync(at(`x${i}.${ending}`), bytes);
    names.push(at(`x${i}.${ending}`));
    urls.push(
      i % 3 === 2 ? at(`x${i}.${ending}`) : `${host.serve(`/x${i}.${ending}`, bytes, about)}?key=secret`,
    );
  }
  const input = (all: InputData[]) => ({ x: all.length === 1 ? all[0]! : (all as string[]) });
  return { files: input(names), urls: input(urls) };
}

const inputs = fc.record({
  rows: fc.integer({ min: 20, max: 3000 }),
  cuts: fc.array(fc.nat(3000), { maxLength: 4 }),
  ending: fc.constantFrom(...(Object.keys(formats) as Ending[])),
  about: fc.constantFrom({ tag: '"1"' }, { modified: 'Thu, 26 Nov 2026 00:00:00 GMT' }),
});
const same = (a: string, b: string) => expect(readFileSync(at(a)).equals(readFileSync(at(b)))).toBe(true);

/** Runs a job until so many rows are through, and stops it. */
async function stopped(work: Job, options: RunOptions, rows: number) {
  const controller = new AbortController();
  const onProgress = (progress: { readonly rows: number }) => {
    if (progress.rows >= rows) controller.abort();
  };
  await expectFailure(
    run(work, {
      device,
      chunk: 10,
      depth: 1,
      resume: true,
      ...options,
      signal: controller.signal,
      onProgress,
    }),
    'WS5009',
    'what it has written is kept',
  );
}

describe('URLs that are read more than once give what files give', () => {
  test('one behind the other, stopped and gone on with, in pieces, and with their checksums', {
    timeout: randomLimit(8),
  }, async () => {
    const cases = fc.record({ given: inputs, stop: fc.nat(100), of: fc.integer({ min: 1, max: 4 }) });
    await fc.assert(
      fc.asyncProperty(cases, async ({ given: { rows, cuts, ending, about }, stop, of }) => {
        const { files, urls } = inputOf(rows, cuts, ending, about);
        const chunk = 10;
        await run(stencil, { input: files, output: at('whole.npy'), device });
        await run(stencil, { input: urls, output: at('y.npy'), device, checksum: true });
        same('y.npy', 'whole.npy');
        expect((await runHere('verify', at('y.npy'))).code).toBe(0);

        await stopped(stencil, { input: urls, output: at('r.npy') }, 1 + ((rows - 12) * stop) / 100);
        expect(filesWith(at(), 'secret')).toEqual([]);
        const { report } = await run(stencil, {
          input: urls,
          output: at('r.npy'),
          device,
          chunk,
          resume: true,
        });
        expect(report.resumed!.rows).toBeGreaterThan(0);
        same('r.npy', 'whole.npy');

        // How long a text or what is compressed is shows only at its end.
        if (ending === 'npy' || ending === 'i32') {
          for (let n = 1; n <= of; n++)
            await run(stencil, { input: urls, output: at('s.npy'), device, shard: [n, of] });
          expect(filesWith(at(), 'secret')).toEqual([]);
          await merge({ file: at('s.npy') }, { signal, remove: true });
          same('s.npy', 'whole.npy');
        }
        for (const name of namesIn(at())) rmSync(at(name));
      }),
      randomRuns(8),
    );
  });

  test('by each pass of a sequence', async () => {
    const data = Float32Array.from({ length: 5000 }, (_, i) => i % 97);
    const bytes = npyFile({ shape: [data.length], data });
    writeFileSync(at('x.npy'), bytes);
    const { value } = await run(centred, { input: at('x.npy'), output: at('whole.npy'), device });
    const url = host.serve('/x.npy', bytes);
    expect((await run(centred, { input: url, output: at('y.npy'), device })).value).toEqual(value);
    same('y.npy', 'whole.npy');
    host.asked = [];
    host.instead = (_, __, number) => {
      if (number === 2) host.serve('/x.npy', bytes, { tag: '"2"' });
      return false;
    };
    rmSync(at('y.npy'));
    await expectFailure(
      run(centred, { input: url, output: at('y.npy'), device }),
      'WS5003',
      /x\.npy changed while it was read: it was version "1" of/,
    );
    expect(namesIn(at())).toEqual(['whole.npy', 'x.npy']);
  });
});

describe('a server', () => {
  test('that fails in the middle leaves what was written', async () => {
    const url = host.serve('/x.npy', npyOf(numbers(900_000)));
    const options = { input: url, output: at('y.npy'), device, chunk: 30_000, depth: 1, resume: true };
    await run(stencil, { input: url, output: at('whole.npy'), device });
    host.asked = [];
    host.instead = (request, _, number) => {
      if (number > 5) request.socket.destroy();
      return number > 5;
    };
    await expectFailure(run(stencil, options), 'WS5020', 'x.npy cannot be read', /check the URL/);
    host.instead = answer;
    expect((await run(stencil, options)).report.resumed!.rows).toBeGreaterThan(0);
    same('y.npy', 'whole.npy');
  });

  test.runIf(atLength)('of which a run is killed is gone on with', async () => {
    const url = host.serve('/x.npy', npyOf(numbers(900_000)));
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(
      at('job.mjs'),
      `import { map } from ${index};
export const twice = map({ y: 'i32', x: 'i32' }, ({ x }) => 2 * x);\n`,
    );
    const line = ['run', at('job.mjs'), url, at('z.npy'), '--resume', '--chunk', '10000', '--json'];
    const child = start(line);
    const ended = outcomeOf(child);
    host.asked = [];
    // The first bytes are given, and the others when what was written of them is in the journal.
    host.instead = (_, __, number) => {
      if (number < 6) return false;
      if (number === 6) setTimeout(() => child.kill('SIGKILL'), 1500);
      return true;
    };
    expect((await ended).code).toBe(null);
    host.instead = answer;
    const { code, text, stderr } = await runHere(...line);
    expect(code, stderr).toBe(0);
    const { report } = JSON.parse(text) as {
      readonly report: { readonly resumed: { readonly rows: number } };
    };
    expect(report.resumed.rows).toBeGreaterThan(0);
    const bytes = readFileSync(at('z.npy')).subarray(128);
    const found = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    expect(found).toEqual(numbers(900_000).map((x) => 2 * x));
  });

  test('that says no version, or has no ranges, is refused where a URL is read again', async () => {
    const bytes = npyOf(numbers(100));
    for (const about of [{}, { tag: 'W/"1"' }, { tag: '"1"', ranges: false }]) {
      const url = host.serve('/x.npy', bytes, about);
      const options = { input: url, output: at('y.npy'), device };
      for (const more of [
        { resume: true },
        { shard: [1, 2] },
        { checksum: true },
        { input: { x: [url, url] } },
      ] as RunOptions[]) {
        await expectFailure(
          run(stencil, { ...options, ...more }),
          'WS5005',
          /x\.npy is to be read more than once, and its server has no ranges, or says no version/,
          'save it to a file first',
        );
      }
      await expectFailure(run(centred, options), 'WS5005', 'is to be read more than once');
      await run(stencil, options);
      rmSync(at('y.npy'));
    }
    expect(namesIn(at())).toEqual([]);
  });

  test('of which a URL has another version is not gone on with, nor are its pieces put together', async () => {
    const [first, second] = ['Thu, 26 Nov 2026 00:00:00 GMT', 'Thu, 26 Nov 2026 00:00:01 GMT'];
    const bytes = npyOf(numbers(1000));
    const changes = [
      { before: { tag: '"1"' }, after: { tag: '"2"' }, queries: ['?a', '?b'], isOther: true },
      { before: { modified: first }, after: { modified: second }, queries: ['', ''], isOther: true },
      // A signature is another one each time, and a tag is of the content; a time is not.
      { before: { tag: '"1"' }, after: { tag: '"1"' }, queries: ['?a', '?b'], isOther: false },
      { before: { modified: first }, after: { modified: first }, queries: ['?a', '?b'], isOther: true },
      { before: { modified: first }, after: { modified: first }, queries: ['?a', '?a#b'], isOther: false },
    ] as const;
    await run(stencil, { input: host.serve('/x.npy', bytes), output: at('whole.npy'), device });
    for (const { before, after, queries, isOther } of changes) {
      const url = host.serve('/x.npy', bytes, before);
      await stopped(stencil, { input: url + queries[0], output: at('y.npy') }, 300);
      await run(stencil, { input: url + queries[0], output: at('s.npy'), device, shard: [1, 2] });
      host.serve('/x.npy', bytes, after);
      const other = { input: url + queries[1], device };
      await run(stencil, { ...other, output: at('s.npy'), shard: [2, 2] });
      const again = () => run(stencil, { ...other, chunk: 10, output: at('y.npy'), resume: true });
      const merged = () => merge({ file: at('s.npy') }, { signal, remove: true });
      if (isOther) {
        const both = /input 'x' was http.*version .*, and is http.*version /;
        await expectFailure(again(), 'WS5013', both);
        const another = /computed from another file than .*was version/;
        await expectFailure(merged(), 'WS5015', another, 'run their shards again');
        for (const name of namesIn(at()).filter((one) => one !== 'whole.npy')) rmSync(at(name));
        continue;
      }
      expect((await again()).report.resumed!.rows).toBeGreaterThan(0);
      await merged();
      same('y.npy', 'whole.npy');
      same('s.npy', 'whole.npy');
    }
  });

  test('of which a URL of a list changes before its turn, or after its checksum, is an error', async () => {
    const serve = (tag: string) => host.serve('/b.npy', npyOf(numbers(200_000)), { tag });
    const a = host.serve('/a.npy', npyOf(numbers(200_000)));
    const list = { input: { x: [a, serve('"1"')] }, output: at('y.npy'), device, chunk: 10_000, depth: 1 };
    host.instead = (request) => {
      // Once the second part of the first file is asked for, the second file is another.
      if (request.url === '/a.npy' && !request.headers.range!.startsWith('bytes=0-')) serve('"2"');
      return false;
    };
    await expectFailure(run(stencil, list), 'WS5003', /b\.npy changed while it was read: it was version "1"/);
    host.asked = [];
    const one = serve('"1"');
    host.instead = (_, __, number) => {
      if (number === 5) serve('"2"');
      return false;
    };
    const options = { input: one, output: at('y.npy'), device, checksum: true };
    await expectFailure(run(stencil, options), 'WS5003', /b\.npy changed while it was read/);
    expect(namesIn(at())).toEqual([]);
  });
});

describe('a command', () => {
  test('verifies URLs whose name is written down whole, and says which are not', async () => {
    const url = host.serve('/x.npy', npyOf(numbers(1000)));
    const output = at('y.npy');
    await run(stencil, { input: url, output, device, checksum: true });
    expect((await runHere('verify', output, '--inputs')).code).toBe(0);
    host.serve('/x.npy', npyOf(numbers(1000, 2)));
    const other = await runHere('verify', output, '--inputs');
    expect([other.code, other.stderr]).toEqual([
      4,
      expect.stringMatching(/WS5014.*x\.npy are not what they were/),
    ]);
    await run(stencil, { input: `${url}?key=secret`, output, device, checksum: true });
    const secret = await runHere('verify', output, '--inputs');
    expect([secret.code, secret.stderr]).toEqual([
      3,
      expect.stringMatching(
        /x\.npy\?… cannot be read again.*\n {2}hint: verify the output alone, without --inputs/,
      ),
    ]);
    expect(filesWith(at(), 'secret')).toEqual([]);
  });

  test('takes no patterns of URLs', async () => {
    writeFileSync(
      at('job.ts'),
      `import { reduce } from 'warpstage';
export const sum = reduce({ sum: 'f64', x: 'i32' }, ({ x }) => x);
`,
    );
    const urls = ['/x1.npy', '/x2.npy'].map((path) => host.serve(path, npyOf(numbers(10))));
    const both = await runHere('run', at('job.ts'), ...urls, '--json');
    expect(both.code, both.stderr).toBe(0);
    expect(JSON.parse(both.text)).toMatchObject({ value: 2 * numbers(10).reduce((sum, x) => sum + x) });
    const pattern = await runHere('run', at('job.ts'), `${host.origin}/x*.npy`);
    expect([pattern.code, pattern.stderr]).toEqual([
      3,
      expect.stringMatching(/404.*\n {2}hint: a pattern names files, and no URLs: name each/),
    ]);
  });
});
