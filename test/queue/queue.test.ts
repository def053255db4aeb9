// A run over a queue gives what one process gives, to the byte; each piece is acknowledged when it is there, and not before;
// and what a worker may not run, it leaves alone.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import { allPieces } from '#warpstage/queue/deal.js';
import { deal as dealPieces } from '#warpstage/queue/dealer.js';
import { OwnServer } from '#warpstage/queue/server.js';
import { queueAddress, withoutCredentials } from '#warpstage/queue/url.js';
import { type Compute, type WorkerOptions, work } from '#warpstage/queue/worker.js';
import { npy, numbers, root, runHere } from '../cli/support.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { atLength } from '../support/thorough.ts';
import { connect, dealOf, filesWith, hasServer, until } from './support.ts';

describe('the URL of a queue', () => {
  test('has credentials that nothing shows', () => {
    expect(queueAddress('nats://me:p%40ss@host')).toEqual({
      ...{ servers: ['host:4222'], user: 'me', pass: 'p@ss', tls: false, shown: 'nats://host' },
    });
    expect(queueAddress('tls://secret@a:1, tls://b:2')).toMatchObject({
      ...{ servers: ['a:1', 'b:2'], token: 'secret', tls: true, shown: 'tls://a:1,tls://b:2' },
    });
    for (const wrong of ['me:secret@host', 'http://secret@host', 'nats://secret@', 'nats://me:secret@h/x'])
      expect(() => queueAddress(wrong)).toThrow(
        expect.objectContaining({ code: 'WS6001', message: expect.not.stringContaining('secret') as string }),
      );
    expect(withoutCredentials('nats://a:b@h,c@d')).toBe('nats://h,d');
  });
});

describe.runIf(hasServer)('with a server', () => {
  let server: OwnServer;
  beforeAll(async () => {
    server = await OwnServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('pieces of workers are put together to what one run writes, and nothing else is left', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), npy(numbers(10_007)));
    const job = [join(root, 'examples/fir.ts'), at('x.npy')];
    expect((await runHere('run', ...job, at('whole.npy'), '--quiet')).code).toBe(0);
    const running = runHere('run', ...job, at('y.npy'), '--queue', server.url, '--pieces', '5', '--json');
    await using connection = await connect(server.url);
    await until(async () => (await connection.streams.streams.names(allPieces).next()).length > 0);
    const worker = runHere('worker', server.url, '--within', '/', '--idle', '0.5s', '--threads', '1');
    const [ran, worked] = [await running, await worker];
    expect(ran.code, ran.stderr).toBe(0);
    expect(worked.code, worked.stderr).toBe(0);
    expect(worked.stderr).toMatch(/5 pieces\n$/);
    const { report } = JSON.parse(ran.text) as { readonly report: object };
    expect(report).toMatchObject({ rows: 10_007, pieces: 5, before: 0, retries: 0, repeated: 0 });
    expect(readFileSync(at('y.npy')).equals(readFileSync(at('whole.npy')))).toBe(true);
    expect(namesIn(folder).sort()).toEqual(['whole.npy', 'x.npy', 'y.npy']);
    const { username: token } = new URL(server.url);
    expect(filesWith(folder, token)).toEqual([]);
    for (const { text, stderr } of [ran, worked]) expect(text + stderr).not.toContain(token);
  });

  test('several outputs in one file come back in it', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), npy(numbers(1007)));
    writeFileSync(
      at('two.ts'),
      `import { map } from 'warpstage';
export const two = map({ y: 'f32', z: 'f64', x: 'f32' }, ({ x }) => ({ y: x / 2, z: 3 * x }));\n`,
    );
    const job = [at('two.ts'), at('x.npy')];
    expect((await runHere('run', ...job, at('whole.npz'), '--quiet')).code).toBe(0);
    // One that another machine has computed.
    expect((await runHere('run', ...job, at('y.npz'), '--shard', '2/3', '--quiet')).code).toBe(0);
    const running = runHere('run', ...job, at('y.npz'), '--queue', server.url, '--pieces', '3', '--json');
    const worker = runHere('worker', server.url, '--within', folder, '--idle', '2s', '--threads', '1');
    const [ran, worked] = [await running, await worker];
    expect(ran.code, ran.stderr).toBe(0);
    expect(worked.code, worked.stderr).toBe(0);
    expect(JSON.parse(ran.text)).toMatchObject({ report: { pieces: 3, before: 1 } });
    expect(readFileSync(at('y.npz')).equals(readFileSync(at('whole.npz')))).toBe(true);
    expect(namesIn(folder)).toEqual(['two.ts', 'whole.npz', 'x.npy', 'y.npz']);
  });

  test('a piece that is older than the last change of an input is not put together with others', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), npy(numbers(1000)));
    const line = ['run', join(root, 'examples/fir.ts'), at('x.npy'), at('y.npy')];
    expect((await runHere(...line, '--shard', '1/2', '--quiet')).code).toBe(0);
    writeFileSync(at('x.npy'), npy(numbers(1000).map((each) => 2 * each)));
    const stale = at('y.npy.1-of-2');
    const { code, stderr } = await runHere(...line, '--queue', server.url);
    expect([code, stderr]).toEqual([4, expect.stringContaining(`WS5015: ${stale} is older than the last`)]);
    expect(namesIn(folder).sort()).toEqual(['x.npy', 'y.npy.1-of-2']);
  });

  // What takes longer than a second: a piece that does, and the time between two tries.
  const long = test.runIf(atLength);

  /** Deals pieces that are no job's to workers in this process. */
  async function deal(
    computes: readonly Compute[],
    {
      prepare,
      most,
      ...options
    }: Parameters<typeof dealOf>[2] & Partial<Pick<WorkerOptions, 'prepare'>> & { most?: number } = {},
    pieces = [1],
  ) {
    const ending = new AbortController();
    await using connection = await connect(server.url);
    const { deal, names } = dealOf(join(temporaryDirectory(), 'y.npy'), 9, options);
    const workers = computes.map((compute, i) =>
      work({
        ...{
          name: `worker ${i}`,
          connection,
          prepare: prepare ?? (async () => compute),
          mayPass: () => true,
        },
        ...{ idle: undefined, signal: ending.signal, say: () => {} },
      } satisfies WorkerOptions).catch((error: unknown) => error),
    );
    const troubles: string[] = [];
    const { signal } = new AbortController();
    const onTrouble = (line: string) => troubles.push(line);
    try {
      const dealt = await dealPieces({
        ...{ deal, names, pieces, connection, signal, onPiece: () => {}, onTrouble },
        ...(most === undefined ? {} : { most }),
      });
      return { dealt, troubles };
    } finally {
      ending.abort();
      await Promise.all(workers);
    }
  }

  test('where no other worker can come, what all refuse is an error', async () => {
    const prepare = async () => {
      throw new WarpstageError({ code: 'WS5019', message: 'the files are others' });
    };
    await expect(deal([prepare, prepare], { prepare, most: 2 })).rejects.toMatchObject({
      code: 'WS5019',
      message: expect.stringContaining('all workers refuse the work: the files are others') as string,
    });
  });

  long('checksums of the output are written where they are asked for', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), npy(numbers(1000)));
    const line = ['run', join(root, 'examples/fir.ts'), at('x.npy'), at('y.npy'), '--checksum'];
    const { code, stderr } = await runHere(...line, '--workers', '1', '--pieces', '2');
    expect(code, stderr).toBe(0);
    expect((await runHere('verify', at('y.npy'))).code).toBe(0);
  });

  long('a piece that takes long is not given to another worker while the first one lives', async () => {
    let begun = 0;
    const compute = async () => {
      begun++;
      await new Promise((resolve) => setTimeout(resolve, 700));
    };
    const { dealt } = await deal([compute, compute], { ackWait: 250 });
    expect(begun).toBe(1);
    expect(dealt).toMatchObject({ retries: 0, repeated: 0, failed: [] });
  });

  long(
    'a piece that fails each time is in the list of those that failed, and the others are there',
    async () => {
      const compute = async (piece: number) => {
        if (piece === 2) throw new WarpstageError({ code: 'WS4001', message: 'no memory' });
      };
      const { dealt, troubles } = await deal([compute], { tries: 2 }, [1, 2, 3]);
      expect(dealt.failed).toEqual([{ piece: 2, code: 'WS4001', message: 'no memory' }]);
      expect(dealt.retries).toBe(1);
      expect([...dealt.workers.values()]).toEqual([2]);
      expect(troubles.join()).toContain('piece 2 is tried again');
    },
  );

  long(
    'a piece is acknowledged when it is there: that of a worker that dies before is computed by another',
    async () => {
      const committed: string[] = [];
      const dies = async () => {
        throw new Error('the worker dies');
      };
      const lives = async (piece: number) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        committed.push(`${piece}`);
      };
      const { dealt } = await deal([dies, lives], { ackWait: 500 }, [1, 2, 3]);
      expect(committed.sort()).toEqual(['1', '2', '3']);
      expect(dealt.failed).toEqual([]);
    },
  );

  long('reductions are combined in the order of their pieces, whoever computes them', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(
      at('x.f32'),
      new Uint8Array(Float32Array.from({ length: 50_021 }, (_, i) => Math.sin(i)).buffer),
    );
    writeFileSync(
      at('sums.ts'),
      `import { job, kernel } from 'warpstage';
      const k = kernel({ x: 'readonly f32[]', n: 'u32[]', sums: 'f32[]', least: 'i32[]', last: 'f32[]' }, ({ x, n, sums, least, last }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i >= x.length) return;
        cuda.atomicAdd(n, 0, 1);
        cuda.atomicMin(least, 0, 0 - (i % 97));
        if (i % 256 !== 0) return;
        let sum: f32 = 0;
        for (let j = i; j < i + 256; j++) if (j < x.length) sum += x[j]!;
        sums[cuda.blockIdx.x] += sum;
        if (i === 0) last[0] = x[0]!;
      });
      export const sums = job({
        kernel: k,
        inputs: { x: {} },
        accumulators: {
          n: { combine: 'sum', initial: 1000 },
          sums: { per: 'block' },
          least: { combine: 'min' },
          last: { combine: (a: number, b: number) => a * 3 + b },
        },
        finish: ({ n, sums, least, last }, { rows }) => ({ n: n[0], sum: sums[0], least: least[0], last: last[0], rows }),
      });`,
    );
    const line = ['run', at('sums.ts'), at('x.f32'), '--json'];
    const value = ({ text }: { readonly text: string }) =>
      (JSON.parse(text) as { readonly value: object }).value;
    const whole = await runHere(...line);
    expect(whole.code, whole.stderr).toBe(0);
    const refused = await runHere(...line, '--queue', server.url);
    expect(refused.stderr).toContain('say where they lie: --journal sums, for sums.….1-of-10');
    const values: object[] = [];
    for (const count of [1, 3]) {
      const running = runHere(...line, '--queue', server.url, '--pieces', '7', '--journal', at('sums'));
      await using connection = await connect(server.url);
      await until(async () => (await connection.streams.streams.names(allPieces).next()).length > 0);
      const worker = () =>
        runHere('worker', server.url, '--within', folder, '--idle', '0.5s', '--threads', '2');
      await Promise.all(Array.from({ length: count }, worker));
      const ran = await running;
      expect(ran.code, ran.stderr).toBe(0);
      values.push(value(ran));
    }
    expect(values[0]).toEqual(values[1]);
    const { n, least, rows } = value(whole) as Record<string, number>;
    expect(values[0]).toMatchObject({ n, least, rows });
    expect(n).toBe(51_021);
    // Seven parts, in their order: Horner's rule in base 3.
    const firsts = Array.from({ length: 7 }, (_, k) => Math.fround(Math.sin(Math.floor((50_021 * k) / 7))));
    expect((values[0] as { last: number }).last).toBeCloseTo(
      firsts.reduce((a, b) => a * 3 + b),
      3,
    );
    expect(namesIn(folder).sort()).toEqual(['sums.ts', 'x.f32']);
  });

  test('pieces of another cut are gone on with, or are in the way', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('x.npy'), npy(numbers(1000)));
    const line = ['run', join(root, 'examples/fir.ts'), at('x.npy'), at('y.npy')];
    expect((await runHere(...line, '--shard', '1/3')).code).toBe(0);
    const other = await runHere(...line, '--queue', server.url, '--pieces', '2');
    expect(other.stderr).toMatch(/\n {2}hint: go on with these: --pieces 3; or remove them\n$/);
    const same = await runHere(...line, '--queue', server.url, '--pieces', '3', '--workers', '1');
    expect(same.code, same.stderr).toBe(0);
  });

  long('a worker refuses a module with another text, and files outside its folder', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    const module = readFileSync(join(root, 'examples/fir.ts'));
    writeFileSync(at('fir.ts'), module);
    writeFileSync(at('x.npy'), npy(numbers(1000)));
    const files = [at('fir.ts'), at('x.npy'), at('y.npy')];
    const running = runHere('run', ...files, '--queue', server.url, '--pieces', '2');
    await using connection = await connect(server.url);
    await until(async () => (await connection.streams.streams.names(allPieces).next()).length > 0);
    const worker = (within: string) => runHere('worker', server.url, '--within', within, '--idle', '0.5s');
    const elsewhere = await worker(temporaryDirectory());
    expect(elsewhere.stderr).toMatch(/refused\. \S+fir\.ts does not lie in /);
    expect(elsewhere.stderr).toContain(
      'start the worker in the folder that has the files, or name it with --within',
    );
    writeFileSync(at('fir.ts'), `${module}// changed\n`);
    const other = await worker(folder);
    expect(other.stderr).toMatch(
      /refused\. \S+fir\.ts is another here than where the run began\n {2}hint: .*\n0 pieces\n$/,
    );
    expect(namesIn(folder).sort()).toEqual(['fir.ts', 'x.npy']);
    writeFileSync(at('fir.ts'), module);
    expect((await worker(folder)).stderr).toMatch(/2 pieces\n$/);
    const { code, stderr } = await running;
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/a worker \(\S+\) refuses the work: \S+fir\.ts is another here/);
  });
});

test('errors show no credentials', async () => {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  writeFileSync(at('x.npy'), npy(numbers(100)));
  const url = 'nats://me:geheim@127.0.0.1:1';
  for (const [code, ...line] of [
    [75, 'worker', url, '--patience', '0.1s'],
    [2, 'worker', url, 'more'],
    [2, 'worker', 'me:geheim@127.0.0.1'],
    [
      75,
      'run',
      join(root, 'examples/fir.ts'),
      at('x.npy'),
      at('y.npy'),
      '--queue',
      url,
      '--patience',
      '0.1s',
    ],
    [2, 'run', join(root, 'examples/fir.ts'), at('x.npy'), at('y.npy'), '--queue', 'me:geheim@127.0.0.1'],
    [2, 'run', join(root, 'examples/fir.ts'), at('x.npy'), at('y.npy'), '--queue', url, '--shard', '1/2'],
  ] as const) {
    const outcome = await runHere(...line);
    expect(outcome.code, outcome.stderr).toBe(code);
    expect(outcome.text + outcome.stderr).not.toContain('geheim');
  }
});
