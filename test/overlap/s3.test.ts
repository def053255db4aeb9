// Objects of S3 as inputs and outputs: read by ranges of one version, and there whole or not at all.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Device, open, type RunOptions, run } from 'warpstage';
import { outcomeOf, runHere } from '../cli/support.ts';
import { copyOf } from '../formats/jobs.ts';
import { keyId, secret, useStore } from './s3-server.ts';
import { expectFailure, namesIn, npyFile, temporaryDirectory } from './support.ts';

const store = useStore();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

const numbers = (length: number) => Float32Array.from({ length }, (_, i) => (i * 7) % 1000);
const npyOf = (data: Float32Array) => npyFile({ shape: [data.length], data });
/** Two parts of an object, the last of them short. */
const large = numbers(3_000_000);
const largeBytes = Buffer.from(large.buffer);
const main = new URL('../../dist/cli/main.js', import.meta.url).pathname;
const copy = copyOf('f32');
const runCopy = (options: RunOptions) => run(copy, { device, chunk: 300_000, ...options });

/** Nothing of an output is there, and no upload is left open. */
function expectNothing(key: string): void {
  expect([...store.objects.keys()].filter((one) => one.startsWith(key))).toEqual([]);
  expect([...store.uploads]).toEqual([]);
}

describe('an object that is read', () => {
  test('is an input of every format, by ranges of its version', async () => {
    const data = numbers(400_000);
    const npy = npyOf(data);
    const expected = Buffer.from(data.buffer);
    const parquet = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'x', data, type: 'FLOAT' }] }));
    const csv = Buffer.from(`x\n${[...data.subarray(0, 5000)].join('\n')}\n`);
    for (const [key, bytes, wanted] of [
      ['x.npy', npy, expected],
      ['folder of/x?+ü#1.f32', expected, expected],
      ['x.npy.gz', gzipSync(npy), expected],
      ['x.parquet', parquet, expected],
      ['x.csv', csv, expected.subarray(0, 20_000)],
      ['no-name', npy, expected],
      ['empty.f32', Buffer.alloc(0), Buffer.alloc(0)],
    ] as const) {
      store.asked = [];
      const input = store.put(key, bytes);
      const { outputs } = await run(copy, { device, input });
      expect(Buffer.compare(Buffer.from(outputs.y!.buffer), wanted)).toBe(0);
      const { tag } = store.objects.get(key)!;
      const [first, ...others] = store.asked.filter(({ what }) => what === 'Get');
      expect(first!.headers['if-match']).toBe(undefined);
      expect(others.every(({ headers }) => headers['if-match'] === tag)).toBe(true);
      expect(store.asked.every(({ headers, what }) => what === 'Head' || headers.range)).toBe(true);
    }
    const list = [store.put('a.npy', npy), store.put('b.npy', npy)];
    const { outputs } = await run(copy, { device, input: [list] });
    expect(Buffer.compare(Buffer.from(outputs.y!.buffer), Buffer.concat([expected, expected]))).toBe(0);
  });

  test('that changes meanwhile is an error', async () => {
    const input = store.put('x.f32', largeBytes);
    store.fault = ({ number }) => {
      if (number === 2) store.put('x.f32', Buffer.alloc(largeBytes.length));
      return undefined;
    };
    await expectFailure(runCopy({ input }), 'WS5003', /^s3:\/\/data\/x\.f32 changed while it was read/);
    // Also where the store does not look at the condition.
    const other = store.put('z.f32', largeBytes);
    store.fault = (asked) => {
      if (asked.number % 5 === 0) store.put('z.f32', Buffer.alloc(largeBytes.length));
      delete asked.headers['if-match'];
      return undefined;
    };
    store.asked = [];
    await expectFailure(runCopy({ input: other }), 'WS5003', /changed while it was read/);
  });

  test('is asked for again where the store fails for a moment, or what it gives breaks off', async () => {
    const input = store.put('x.f32', largeBytes);
    for (const fault of [{ status: 503, code: 'SlowDown' }, 'drop', 'cut'] as const) {
      store.asked = [];
      store.fault = ({ number }) => (number % 5 === 0 ? fault : undefined);
      const { outputs } = await runCopy({ input });
      expect(Buffer.compare(Buffer.from(outputs.y!.buffer), largeBytes)).toBe(0);
    }
  });

  test('that cannot be read says why, without what was signed', async () => {
    const input = store.put('x.f32', largeBytes);
    const refused = async (status: number, code: string, expected: string, message: RegExp) => {
      store.fault = () => ({ status, code });
      const error = await expectFailure(runCopy({ input }), expected, message);
      expect(JSON.stringify([error, String(error.stack), error.cause])).not.toMatch(
        new RegExp(`${keyId}|${secret}`),
      );
    };
    await refused(403, 'AccessDenied', 'WS5003', /^s3:\/\/data\/x\.f32 cannot be read: access is denied$/);
    await refused(400, 'ExpiredToken', 'WS5020', /the credentials have expired$/);
    await refused(403, 'SignatureDoesNotMatch', 'WS5003', /the credentials are wrong$/);
    await refused(503, 'SlowDown', 'WS5020', /the store asks for fewer requests$/);
    await refused(500, 'InternalError', 'WS5020', /the store answers 500 InternalError$/);
    await refused(418, 'Odd', 'WS5003', /the store answers 418 Odd$/);
    store.fault = () => undefined;
    await expectFailure(runCopy({ input: 's3://data/none.f32' }), 'WS5003', /no such object$/);
    await expectFailure(runCopy({ input: 's3://nowhere/x.f32' }), 'WS5003', /no such bucket$/);
    const named = 's3://key:hidden@data/x.f32';
    const error = await expectFailure(
      runCopy({ input: named }),
      'WS6001',
      /^s3:\/\/data\/x\.f32 names no object$/,
    );
    expect(String(error)).not.toMatch('hidden');
    await expectFailure(runCopy({ input: 's3://data' }), 'WS6001', /^s3:\/\/data names no object$/);
    store.fault = ({ number }) => (number > 1 ? 'cut' : undefined);
    store.asked = [];
    await expectFailure(runCopy({ input }), 'WS5020', /what the store gives breaks off each time$/);
    process.env.AWS_ENDPOINT_URL_S3 = 'http://127.0.0.1:9';
    const away = await expectFailure(
      runCopy({ input }),
      'WS5020',
      /the store does not answer \(ECONNREFUSED\)$/,
    );
    expect(away.hint).toMatch('AWS_ENDPOINT_URL_S3');
  });
});

describe('a command', () => {
  test('has the exit code of what an object lacks, a store, or the package', async () => {
    const folder = temporaryDirectory();
    store.put('x.npy', npyOf(numbers(100)));
    expect((await runHere('info', 's3://data/x.npy')).text).toMatch(/100/);
    expect((await runHere('info', 's3://data/none.npy')).code).toBe(3);
    store.fault = () => ({ status: 503, code: 'SlowDown' });
    expect((await runHere('info', 's3://data/x.npy')).code).toBe(75);
    const hooks = `export async function resolve(name, context, next) {
      if (name.startsWith('@aws-sdk/')) throw new Error('not found');
      return await next(name, context);
    }`;
    const encode = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
    const setUp = `import { register } from 'node:module'; register(${JSON.stringify(encode(hooks))});`;
    const args = ['--import', encode(setUp), main, 'info', 's3://data/x.npy'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const outcome = await outcomeOf(child);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch('npm install @aws-sdk/client-s3');
  });
});

describe('an object that is written', () => {
  test('has the bytes that a file has, in every format, from parts of 5 MiB at least', async () => {
    const directory = temporaryDirectory();
    const input = store.put('x.f32', largeBytes);
    for (const name of ['y.npy', 'y.f32', 'y.npz', 'y.ndjson', 'y.parquet', 'y.arrow', 'y.npy.gz']) {
      const rows = /npy$|f32$|npz$/.test(name) ? large.length : 50_000;
      const file = join(directory, name);
      await runCopy({ input, output: file, rows });
      const before = { bytes: Buffer.from('the one before'), tag: '"0"' };
      store.objects.set(name, before);
      store.asked = [];
      let seen = 0;
      store.fault = ({ what }) => {
        if (what === 'UploadPart') seen += Number(store.objects.get(name) === before);
        return undefined;
      };
      await runCopy({ input, output: `s3://data/${name}`, rows });
      expect(Buffer.compare(store.get(`s3://data/${name}`)!, readFileSync(file))).toBe(0);
      expect(seen).toBe(store.asked.filter(({ what }) => what === 'UploadPart').length);
      expect(store.uploads.size).toBe(0);
    }
    await runCopy({ input: new Float32Array(0), output: 's3://data/empty.f32' });
    expect(store.get('s3://data/empty.f32')).toEqual(Buffer.alloc(0));
    expect(store.uploads.size).toBe(0);
  });

  test('has its header though how many rows it has is known only at the end, when its first part goes', async () => {
    for (const data of [large, numbers(1000)]) {
      store.asked = [];
      const stream = async function* () {
        for (let at = 0; at < data.length; at += 70_000) yield data.subarray(at, at + 70_000);
      };
      await runCopy({ input: stream(), output: 's3://data/y.npy' });
      expect(Buffer.compare(store.get('s3://data/y.npy')!, npyOf(data))).toBe(0);
      const parts = store.asked.filter(({ what }) => what === 'UploadPart');
      expect(parts.length).toBe(data === large ? 2 : 1);
    }
  });

  test('that is there already stays, where it is not to be overwritten', async () => {
    const output = store.put('y.npy', Buffer.from('mine'));
    await expectFailure(
      runCopy({ input: large, output, overwrite: false }),
      'WS5006',
      /^s3:\/\/data\/y\.npy is there already/,
    );
    expect(store.asked.map(({ what }) => what)).toEqual(['Head']);
    // One that comes meanwhile is found at the end.
    store.objects.clear();
    store.fault = ({ what }) => {
      if (what === 'Complete') store.put('y.npy', Buffer.from('theirs'));
      return undefined;
    };
    await expectFailure(
      runCopy({ input: large, output, overwrite: false }),
      'WS5006',
      /^s3:\/\/data\/y\.npy is there already/,
    );
    expect(String(store.get(output))).toBe('theirs');
    expect(store.uploads.size).toBe(0);
  });

  test('is there whole or not at all, whichever request fails and however', { timeout: 60_000 }, async () => {
    const input = store.put('x.f32', largeBytes);
    const output = 's3://data/y.npy';
    const expected = npyOf(large);
    const faults = [{ status: 403, code: 'AccessDenied' }, 'drop', 'drop after'] as const;
    for (const fault of faults) {
      let failed = 0;
      for (let n = 1; ; n++) {
        store.asked = [];
        let isReached = false;
        store.fault = ({ number, what }) => {
          // An upload of which the answer is lost has an id that nobody knows.
          if (number !== n || (fault === 'drop after' && what === 'CreateUpload')) return undefined;
          isReached = true;
          return fault;
        };
        const error = await runCopy({
          input: typeof fault === 'object' ? input : large,
          output,
          chunk: 1_500_000,
        }).then(
          () => undefined,
          (cause: unknown) => cause as { code: string },
        );
        if (error === undefined) expect(Buffer.compare(store.get(output)!, expected)).toBe(0);
        else {
          failed++;
          expect(['WS5003', 'WS5006', 'WS5020']).toContain(error.code);
          // What was not forgotten at once could not be.
          if (isReached && store.asked.at(n - 1)?.what !== 'Abort') expectNothing('y.npy');
        }
        expect(store.uploads.size).toBe(0);
        store.objects.delete('y.npy');
        if (!isReached && n > store.asked.length) break;
      }
      // A connection that is lost once is no failure, and a refusal is one.
      if (fault !== 'drop' && fault !== 'drop after') expect(failed).toBeGreaterThan(6);
      else expect(failed).toBe(0);
    }
  });

  test('leaves nothing where the run is stopped, or the kernel fails', async () => {
    const stop = new AbortController();
    let parts = 0;
    store.fault = ({ what }) => {
      if (what === 'UploadPart' && ++parts === 1) stop.abort();
      return undefined;
    };
    await expectFailure(
      runCopy({ input: large, output: 's3://data/y.npy', signal: stop.signal }),
      'WS5009',
      /nothing of the output is left|stopped before its end/,
    );
    expectNothing('y');
  });

  test('is refused where it cannot be, before anything is uploaded', async () => {
    const refused = (options: Partial<RunOptions>, message: RegExp, hint: string | RegExp) =>
      expectFailure(
        runCopy({ input: large, output: 's3://data/y.npy', ...options }),
        'WS5006',
        message,
        hint,
      );
    await refused(
      { checksum: true },
      /^checksums lie in files beside outputs, and s3:\/\/data\/y\.npy is no/,
      'leave --checksum out, or write to a file',
    );
    await refused({ output: 's3://nowhere/y.npy' }, /no such bucket$/, /./);
    expectNothing('y');
  });
});

describe('an object that is gone on with', () => {
  const journal = () => join(temporaryDirectory(), 'y');

  async function stopped(options: RunOptions, chunks: number): Promise<void> {
    const stop = new AbortController();
    let done = 0;
    const onProgress = () => {
      if (++done === chunks) stop.abort();
    };
    await expectFailure(runCopy({ ...options, onProgress, signal: stop.signal }), 'WS5009', /is kept$/);
  }

  test('has the same bytes, and what was uploaded is not uploaded again', async () => {
    const input = store.put('x.f32', largeBytes);
    for (const name of ['y.npy', 'y.parquet']) {
      const output = `s3://data/${name}`;
      await runCopy({ input, output });
      const expected = store.get(output)!;
      store.objects.delete(name);
      const resume = journal();
      await stopped({ input, output, resume }, 8);
      expect(store.get(output)).toBe(undefined);
      const [id, upload] = [...store.uploads][0]!;
      const before = upload.parts.size;
      // Parquet packs these numbers into less than a part.
      if (name === 'y.npy') expect(before).toBe(1);
      const kept = namesIn(join(resume, '..')).map((one) => readFileSync(join(resume, '..', one)));
      for (const bytes of kept) {
        expect(bytes.includes(secret)).toBe(false);
        expect(bytes.includes(keyId)).toBe(false);
      }
      expect(kept.some((bytes) => bytes.includes(id))).toBe(true);
      store.asked = [];
      const { report } = await runCopy({ input, output, resume });
      expect(report.resumed!.rows).toBeGreaterThan(0);
      expect(Buffer.compare(store.get(output)!, expected)).toBe(0);
      const again = store.asked.filter(({ what }) => what === 'UploadPart').length;
      expect(again + before).toBeLessThanOrEqual(Math.ceil(expected.length / 2 ** 23));
      expect(store.uploads.size).toBe(0);
      expect(namesIn(join(resume, '..'))).toEqual([]);
    }
  });

  test('is begun anew, with a warning, where the store has lost its upload or a part of it', async () => {
    const output = 's3://data/y.npy';
    const warned: string[] = [];
    const onWarning = (warning: Error) => warned.push(warning.message);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    for (const lose of [
      () => store.uploads.clear(),
      () => [...store.uploads.values()][0]!.parts.delete(1),
      () => [...store.uploads.values()][0]!.parts.set(1, { bytes: Buffer.alloc(2 ** 23), tag: '"other"' }),
    ]) {
      const resume = journal();
      const input = store.put('x.f32', largeBytes);
      await stopped({ input, output, resume }, 8);
      lose();
      warned.length = 0;
      const { report } = await runCopy({ input, output, resume });
      expect(report.resumed!.rows).toBe(0);
      expect(Buffer.compare(store.get(output)!, npyOf(large))).toBe(0);
      await new Promise(setImmediate);
      expect(warned.join()).toMatch(
        /^the upload of s3:\/\/data\/y\.npy that the journal knows is not there any/,
      );
      expect(store.uploads.size).toBe(0);
      store.objects.clear();
    }
  });

  test('leaves no upload where nothing is kept of it', async () => {
    const resume = journal();
    store.fault = ({ what }) => (what === 'UploadPart' ? { status: 403, code: 'AccessDenied' } : undefined);
    const failing = runCopy({ input: store.put('x.f32', largeBytes), output: 's3://data/y.npy', resume });
    await expectFailure(failing, 'WS5006', /access is denied/);
    expectNothing('y');
    expect(namesIn(join(resume, '..'))).toEqual([]);
  });

  test('by a command whose process was killed', { timeout: 30_000 }, async () => {
    const directory = temporaryDirectory();
    const module = join(directory, 'copy.mjs');
    const index = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
    writeFileSync(
      module,
      `import { map } from ${index};\nexport const copy = map({ y: 'f32', x: 'f32' }, ({ x }) => x);\n`,
    );
    const input = store.put('x.f32', largeBytes);
    const start = () => {
      const args = [main, 'run', module, input, 's3://data/out/y.npy', '--resume', '--chunk', '1M'];
      return spawn(process.execPath, args, {
        cwd: directory,
        env: process.env,
        stdio: ['ignore', 'ignore', 2],
      });
    };
    const ended = (child: ReturnType<typeof start>) =>
      new Promise<number | null>((resolve) => child.once('exit', resolve));
    // What it reads ends behind the first part, until the journal knows of that.
    const child = start();
    const over = ended(child);
    let isKilled = false;
    const watch = setInterval(() => {
      const tag = [...store.uploads.values()][0]?.parts.get(1)?.tag.slice(1, -1);
      const journal = join(directory, '.y.npy.journal');
      if (isKilled || tag === undefined || !existsSync(journal)) return;
      const lines = readFileSync(journal, 'utf8').split('\n').length - 2;
      const state = join(directory, `.y.npy.state-${lines % 2}`);
      if (lines < 1 || !existsSync(state) || !readFileSync(state).includes(tag)) return;
      isKilled = true;
      child.kill('SIGKILL');
    }, 5);
    let read = 0;
    store.fault = ({ what }) => (what === 'Get' && ++read > 11 ? 'hang' : undefined);
    await over;
    clearInterval(watch);
    expect(isKilled).toBe(true);
    expect(store.get('s3://data/out/y.npy')).toBe(undefined);
    expect([...store.uploads.values()].map(({ parts }) => parts.size)).toEqual([1]);
    store.fault = () => undefined;
    store.asked = [];
    expect(await ended(start())).toBe(0);
    expect(store.asked.filter(({ what }) => what === 'UploadPart').length).toBe(1);
    expect(Buffer.compare(store.get('s3://data/out/y.npy')!, npyOf(large))).toBe(0);
    expect(readdirSync(directory)).toEqual(['copy.mjs']);
  });
});

describe('pieces that are objects', () => {
  test('are created once, compared, and put together', async () => {
    const input = store.put('x.f32', largeBytes);
    const output = 's3://data/out/y.npy';
    for (const n of [1, 2, 3]) await runCopy({ input, output, shard: [n, 3] });
    expect([...store.objects.keys()].sort()).toEqual([
      ...['out/y.npy.1-of-3', 'out/y.npy.2-of-3', 'out/y.npy.3-of-3', 'x.f32'],
    ]);
    expect(
      store.asked.filter(({ what }) => what === 'Complete').map(({ headers }) => headers['if-none-match']),
    ).toEqual(['*', '*', '*']);
    // The same again is the same; another is refused.
    await runCopy({ input, output, shard: [2, 3] });
    expect(store.uploads.size).toBe(0);
    const second = store.objects.get('out/y.npy.2-of-3')!;
    store.put('out/y.npy.2-of-3', Buffer.concat([second.bytes.subarray(0, -40), Buffer.alloc(40)]));
    await expectFailure(
      runCopy({ input, output, shard: [2, 3] }),
      'WS5015',
      /another result than this run's$/,
    );
    expect(store.uploads.size).toBe(0);
    expect((await runHere('merge', output)).code).toBe(3);
    store.objects.set('out/y.npy.2-of-3', second);
    const merged = await runHere('merge', output, '--remove');
    expect([merged.code, merged.stderr]).toEqual([0, '']);
    expect([...store.objects.keys()].sort()).toEqual(['out/y.npy', 'x.f32']);
    expect(Buffer.compare(store.get(output)!, npyOf(large))).toBe(0);
    expect((await runHere('merge', output)).code).toBe(75);
  });
});
