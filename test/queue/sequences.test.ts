// A sequence over a queue: each pass is dealt in pieces, whose values are combined in their order and give the settings of the
// next. The bytes are those of the same pieces, computed one after the other in one process, whichever workers compute them and
// whichever pieces were there before. A pass that cannot be dealt in pieces is refused, by an error that names it.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open } from 'warpstage';
import { loadModule } from '#warpstage/cli/load-module.js';
import { checkSameInputs } from '#warpstage/cli/queue-pieces.js';
import { placeOf } from '#warpstage/files/place.js';
import type { Job } from '#warpstage/overlap/job.js';
import { type CutWork, describeCut } from '#warpstage/overlap/shards/describe-cut.js';
import { reducePiece } from '#warpstage/overlap/shards/reductions.js';
import {
  allPieces,
  type Deal,
  parseDeal,
  settingsAsText,
  settingsOfText,
  sumOfModule,
} from '#warpstage/queue/deal.js';
import { deal as dealPieces } from '#warpstage/queue/dealer.js';
import { OwnServer } from '#warpstage/queue/server.js';
import { npy, numbers, runHere } from '../cli/support.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { atLength } from '../support/thorough.ts';
import { connect, dealOf, hasServer, until } from './support.ts';

/** Mean, spread about it, and both taken out: f32 sums, whose last digits depend on the order. */
const module = `import { job, kernel, sequence } from 'warpstage';
const inputs = { x: {} };
const settings = { mean: {} };
const one = { grid: 1, block: 32 };
const add = kernel({ x: 'readonly f32[]', sum: 'f32[]', n: 'i32[]' }, ({ x, sum, n }, cuda) => {
  if (cuda.thisGrid().threadRank() > 0) return;
  for (let i = 0; i < x.length; i++) sum[0] = sum[0]! + x[i]!;
  n[0] = n[0]! + 1;
});
export const mean = job({
  kernel: add, inputs, launch: one,
  accumulators: { sum: { combine: 'sum' }, n: { combine: 'sum', initial: 100 } },
  finish: ({ sum, n }, { rows }) => ({ mean: sum[0]! / rows, n: n[0]! }),
});
const addSquares = kernel({ x: 'readonly f32[]', sum: 'f32[]', mean: 'f64' }, ({ x, sum, mean }, cuda) => {
  if (cuda.thisGrid().threadRank() > 0) return;
  for (let i = 0; i < x.length; i++) {
    const off = cuda.f64(x[i]!) - mean;
    sum[0] = sum[0]! + cuda.f32(off * off);
  }
});
export const spread = job({
  kernel: addSquares, inputs, launch: one, settings,
  accumulators: { sum: { combine: 'sum' } },
  finish: ({ sum }, { rows, settings: { mean } }) => ({ mean, spread: Math.sqrt(sum[0]! / rows) }),
});
const take = kernel({ x: 'readonly f32[]', z: 'f64[]', mean: 'f64', spread: 'f64', scale: 'f64' },
  ({ x, z, mean, spread, scale }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < z.length) z[i] = ((cuda.f64(x[i]!) - mean) / spread) * scale;
  });
export const standardise = job({
  kernel: take, inputs, outputs: { z: {} }, settings: { mean: {}, spread: {}, scale: 1 },
});
const second = { job: spread, settings: ({ mean }) => ({ mean }) };
export const zscore = sequence([mean, second, { job: standardise, settings: (value) => value }]);
export const both = sequence([mean, second]);

const loose = (combine) => job({ kernel: add, inputs, launch: one, accumulators: { sum: { combine: 'sum' }, n: { combine } } });
export const unsaid = sequence([loose(undefined), { job: standardise, settings: () => ({ mean: 0, spread: 1 }) }]);
const blocks = job({ kernel: add, inputs, launch: one, accumulators: { sum: { per: 'block', combine: 'concat' }, n: { per: 'block' } } });
export const concat = sequence([blocks, { job: standardise, settings: () => ({ mean: 0, spread: 1 }) }]);
const counting = kernel({ x: 'readonly f32[]', z: 'f64[]', n: 'i32[]' }, ({ x, z, n }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= z.length) return;
  z[i] = cuda.f64(x[i]!);
  cuda.atomicAdd(n, 0, 1);
});
const counts = job({ kernel: counting, inputs, outputs: { z: {} }, accumulators: { n: {} } });
export const counted = sequence([mean, { job: counts, settings: () => ({}) }]);
`;
const rows = 5003;
const pieces = 5;
const x = numbers(rows);

/** What the same pieces give, one after the other; `scale` is the caller's. */
function expected(scale = 1) {
  const cut = (k: number) => Math.floor((rows * k) / pieces);
  const inPieces = (of: (value: number) => number) => {
    const sums = Array.from({ length: pieces }, (_, k) =>
      x.slice(cut(k), cut(k + 1)).reduce((sum, value) => Math.fround(sum + Math.fround(of(value))), 0),
    );
    return Math.fround(sums.reduce((sum, part) => sum + part)) / rows;
  };
  const mean = inPieces((value) => value);
  const spread = Math.sqrt(inPieces((value) => (value - mean) * (value - mean)));
  const z = Float64Array.from(x, (value) => ((value - mean) / spread) * scale);
  return { mean, spread, z: Buffer.from(z.buffer) };
}

function folderWithJobs() {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  writeFileSync(at('z.ts'), module);
  writeFileSync(at('x.npy'), npy(x));
  const line = (job: string, ...more: string[]) => ['run', at('z.ts'), at('x.npy'), ...more, '--job', job];
  return { folder, at, line };
}

test('what a pass gives the next comes over as it is', () => {
  const value = fc.oneof(
    ...[fc.double(), fc.constantFrom(NaN, -0, Infinity, -Infinity, 5e-324), fc.bigInt(), fc.boolean()],
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z]\w*$/), value, { noNullPrototype: true }),
      (settings) => {
        expect(settingsOfText(JSON.parse(JSON.stringify(settingsAsText(settings))))).toEqual(settings);
      },
    ),
  );
  const { deal } = dealOf('y.npy', 3);
  const withPass = (pass: unknown) => parseDeal(JSON.stringify({ ...deal, pass }));
  expect(withPass({ number: 2, of: 2, computed: { a: '-0' } })?.pass).toMatchObject({ number: 2 });
  const computed = {};
  for (const wrong of [
    {},
    { number: 3, of: 2, computed },
    { number: 0, of: 2, computed },
    { number: 1, of: 2 },
    7,
  ])
    expect(withPass(wrong)).toBeUndefined();
});

test('an input that is another for a later pass is refused', () => {
  const cut = (files: CutWork['files'], versions: CutWork['versions'] = {}) =>
    ({ files, versions }) as unknown as CutWork;
  const before = cut({ x: ['a', 'b'] }, { "input 'x'": 'tag 1, 8 bytes' });
  checkSameInputs(before, cut({ x: ['a', 'b'], w: ['c'] }, { "input 'w'": 'tag 7, 8 bytes' }), 1);
  expect(() => checkSameInputs(before, cut({ x: ['a', 'b', 'c'] }), 1)).toThrow(
    "input 'x' is another one than pass 1 has read",
  );
  expect(() => checkSameInputs(before, cut({}, { "input 'x'": 'tag 2, 8 bytes' }), 2)).toThrow(
    "input 'x' is another one than pass 2 has read",
  );
});

test.each([
  [
    'unsaid',
    ['z.f64'],
    /WS5007: pass 1 of the sequence, '\w+': accumulator 'n' of the job does not say how what several pieces found becomes one result\n {2}hint: say in the job what its kernel does to the elements: combine: 'sum'/,
  ],
  [
    'concat',
    ['z.f64'],
    /WS5007: pass 1 of the sequence, '\w+': accumulator 'sum' of the job leaves .* those of several pieces have no order\n {2}hint: run it without --queue, or have the elements combined: 'sum', 'min', 'max' or a function\n/,
  ],
  [
    'counted',
    ['z.f64'],
    /WS5007: pass 2 of the sequence, '\w+': the work cannot be cut: it gives accumulators \(n\), and not outputs alone\n {2}hint: run it whole\n/,
  ],
  ['zscore', ['-'], /WS5006: pass 3 of the sequence, '\w+': a piece of an output is a file/],
  ['zscore', ['z.f64', '--set', 'scala=2'], /WS5008: the job has no setting 'scala'/],
  ['zscore', ['z.f64', '--journal', 'sums'], /--journal is for reductions, and zscore is none/],
  ['zscore', ['none/z.f64'], /WS5003: .*none cannot be read/],
  [
    'both',
    [],
    /both has no output that its pieces could lie beside\n {2}hint: say where they lie: --journal sums/,
  ],
] as const)('%s %j is refused before a server is asked', async (job, [output, ...more], message) => {
  const { folder, at, line } = folderWithJobs();
  const files = output === undefined ? [] : [output === '-' ? output : at(output)];
  const { code, stderr } = await runHere(...line(job, ...files, ...more, '--queue', 'nats://127.0.0.1:1'));
  expect(stderr).toMatch(message);
  expect(code).not.toBe(0);
  expect(namesIn(folder)).toEqual(['x.npy', 'z.ts']);
});

describe.runIf(hasServer)('with a server', () => {
  let server: OwnServer;
  beforeAll(async () => {
    server = await OwnServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Runs a command line over the queue, with workers in this process that come and go. */
  async function overQueue(folder: string, line: readonly string[], workers = 1) {
    const running = runHere(...line, '--queue', server.url, '--pieces', `${pieces}`);
    await using connection = await connect(server.url);
    let ended = false;
    void running.then(() => {
      ended = true;
    });
    const isDealt = async () => (await connection.streams.streams.names(allPieces).next()).length > 0;
    await until(async () => ended || (await isDealt()));
    const worker = async () => {
      const line = ['worker', server.url, '--within', folder, '--idle', '1s', '--threads', '1', '--quiet'];
      while (!ended) expect((await runHere(...line)).stderr).toBe('');
    };
    await Promise.all(Array.from({ length: workers }, worker));
    return running;
  }

  const reportOf = ({ text }: { readonly text: string }) =>
    (JSON.parse(text) as { readonly report: Record<string, unknown> }).report;

  test('each pass has the value of the pieces before, in their order, as one process has it that computes them', async () => {
    const { folder, at, line } = folderWithJobs();
    const ran = await overQueue(folder, line('zscore', at('z.f64'), '--set', 'scale=3', '--json'), 2);
    expect(ran.code, ran.stderr).toBe(0);
    const { mean, spread, z } = expected(3);
    expect(readFileSync(at('z.f64')).equals(z)).toBe(true);
    const some = { pieces, before: 0, retries: 0, repeated: 0 };
    expect(reportOf(ran)).toMatchObject({
      ...{ job: 'zscore', rows, bytesIn: 3 * 4 * rows, bytesOut: 8 * rows, pieces: 3 * pieces },
      passes: [
        { job: 'mean', ...some },
        { job: 'spread', ...some },
        { job: 'standardise', ...some },
      ],
    });
    // The last job with these values as settings, in one process.
    const set = Object.entries({ mean, spread, scale: 3 }).flatMap(([name, one]) => [
      '--set',
      `${name}=${one}`,
    ]);
    const alone = await runHere(...line('standardise', at('alone.f64'), '--quiet'), ...set);
    expect(alone.code, alone.stderr).toBe(0);
    expect(readFileSync(at('alone.f64')).equals(z)).toBe(true);
    expect(namesIn(folder)).toEqual(['alone.f64', 'x.npy', 'z.f64', 'z.ts']);
  });

  test.runIf(atLength)('one that only reduces gives a value', async () => {
    const { folder, at, line } = folderWithJobs();
    const ran = await overQueue(folder, line('both', '--journal', at('sums')));
    expect(ran.code, ran.stderr).toBe(0);
    const { mean, spread } = expected();
    expect(ran.text.replaceAll(/\s+/g, ' ')).toContain(
      `${Number(mean.toPrecision(5))} ${Number(spread.toPrecision(5))}`,
    );
    expect(ran.stderr).toMatch(/\nboth: 10 pieces by 1 worker in /);
    expect(namesIn(folder)).toEqual(['x.npy', 'z.ts']);
  });

  test('pieces of any pass that are there are taken, and those of other settings refused', async () => {
    const { folder, at, line } = folderWithJobs();
    const { exports } = await loadModule(at('z.ts'));
    await using device = await open('cpu', { threads: 1 });
    const { mean, spread, z } = expected();
    const shard = (n: number, at: number) =>
      runHere(
        ...line('standardise', join(folder, 'z.f64'), '--quiet', '--shard', `${n}/${pieces}`),
        ...['--set', `mean=${at}`, '--set', `spread=${spread}`],
      );
    // All of the first pass, one of the second, two of the third: a command that was killed leaves such.
    for (const [job, pass, which, computed] of [
      ['mean', 1, [4, 2, 1, 3, 5], {}],
      ['spread', 2, [2], { mean }],
    ] as const) {
      const options = { input: at('x.npy'), chunk: '4MiB', device };
      const work = exports[job] as Job;
      const { work: facts, versions } = await describeCut(work, options, computed);
      for (const n of which)
        await reducePiece(work, options, {
          ...{ shard: [n, pieces], journal: at(`z.f64.pass-${pass}`), work: facts, versions, computed },
        });
    }
    expect((await shard(3, mean)).code).toBe(0);
    expect((await shard(5, mean + 1e-9)).code).toBe(0);
    const queued = () => overQueue(folder, line('zscore', at('z.f64')));
    const refused = await queued();
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(
      `z.f64.5-of-5 is of another work: setting 'mean' is ${mean + 1e-9}, and here ${mean}`,
    );
    const other = namesIn(folder).filter((name) => /-of-5$/.test(name));
    // The second pass was computed meanwhile, and is kept.
    expect(other).toEqual([
      ...['z.f64.3-of-5', 'z.f64.5-of-5'],
      ...[1, 2, 3, 4, 5].flatMap((n) => [`z.f64.pass-1.n.${n}-of-5`]),
      ...[1, 2, 3, 4, 5].flatMap((n) => [`z.f64.pass-1.sum.${n}-of-5`]),
      ...[1, 2, 3, 4, 5].flatMap((n) => [`z.f64.pass-2.sum.${n}-of-5`]),
    ]);
    rmSync(at('z.f64.5-of-5'));
    const ran = await queued();
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr).toMatch(/\nzscore: 15 pieces by 1 worker in /);
    expect(ran.stderr).toContain(
      `
  pass 1, mean: 5 pieces, 5 of them there before
  pass 2, spread: 5 pieces, 5 of them there before
  pass 3, standardise: 5 pieces, 1 of them there before
`,
    );
    expect(readFileSync(at('z.f64')).equals(z)).toBe(true);
    expect(namesIn(folder)).toEqual(['x.npy', 'z.f64', 'z.ts']);
  });

  test('a run ends what another one of the same outputs deals, at whichever pass', async () => {
    const { folder, at, line } = folderWithJobs();
    await using connection = await connect(server.url);
    const { deal, names } = dealOf((await placeOf(at('z.f64'))).path, 1, {
      pass: { number: 2, of: 3, computed: {} },
    });
    const { signal } = new AbortController();
    const former = dealPieces({
      ...{ deal, names, connection, signal, pieces: [1] },
      ...{ onPiece: () => {}, onTrouble: () => {} },
    });
    const ended = expect(former).rejects.toMatchObject({ code: 'WS5017' });
    await until(async () => (await connection.streams.streams.names(allPieces).next()).length > 0);
    const running = runHere(...line('zscore', at('z.f64')), '--queue', server.url, '--pieces', '1');
    await ended;
    let isOver = false;
    void running.finally(() => {
      isOver = true;
    });
    while (!isOver)
      await runHere('worker', server.url, '--within', folder, '--idle', '1s', '--threads', '1', '--quiet');
    const { code, stderr } = await running;
    expect(code, stderr).toBe(0);
  });

  test.each<[string, Partial<Deal>, string]>([
    [
      'passes that its module has not',
      { pass: { number: 3, of: 4, computed: {} } },
      'zscore is 3 jobs here, and 4 where the run began',
    ],
    [
      'to write what a pass finds elsewhere',
      { journal: '/elsewhere/sums' },
      '/elsewhere/sums does not lie in',
    ],
  ])('a worker refuses %s', async (_, about, message) => {
    const { folder, at } = folderWithJobs();
    await using connection = await connect(server.url);
    const { deal, names } = dealOf(at('z.f64'), pieces, {
      ...{ module: at('z.ts'), moduleSum: sumOfModule(Buffer.from(module)), job: 'zscore' },
      ...{ pass: { number: 1, of: 3, computed: {} }, input: { file: at('x.npy') }, ...about },
    });
    const { signal } = new AbortController();
    const dealing = dealPieces({
      ...{ deal, names, pieces: [1], connection, signal, most: 1, onPiece: () => {}, onTrouble: () => {} },
    });
    let isOver = false;
    const refused = dealing.catch((error: unknown) => {
      isOver = true;
      return error;
    });
    const line = ['worker', server.url, '--within', folder, '--idle', '0.5s', '--threads', '1', '--quiet'];
    while (!isOver) await runHere(...line);
    expect(await refused).toMatchObject({
      code: 'WS5019',
      message: expect.stringContaining(message) as string,
    });
  });
});
