// `warpstage check`: what is checked, what is reported and how, and the exit code.

import { readFileSync } from 'node:fs';
import type { Log } from 'sarif';
import { afterAll, expect, test } from 'vitest';
import { Folder, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const staging = folder.file(
  'staging.ts',
  `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';

export const staging = kernel(
  { y: 'i32[]', x: 'readonly i32[]', syncs: 'constant bool = false' },
  ({ y, x, syncs }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', 64);
    shared[t] = x[t]!;
    if (syncs) block.sync();
    y[t] = shared[63 - t]!;
  },
);
export const scale = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  y[cuda.thisThreadBlock().threadRank()]! *= 2;
});
export const endless = kernel({ y: 'i32[]' }, ({ y }) => {
  for (let i = 0; i < 1_000_000_000; i++) y[0] = y[0]! + 1;
});
export const left = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = 1; });

const launch = { grid: 1, block: 64 };
const arrays = { y: { length: 64 }, x: { length: 64 } };
export const cases = [
  checkCase(staging, { ...launch, arguments: arrays }),
  checkCase(staging, { ...launch, arguments: { ...arrays, y: { length: 64 } } }, { schedules: 1 }),
];
export const good = checkCase(scale, { ...launch, arguments: { y: { length: 64 } } });
export const long = checkCase(endless, { grid: 1, block: 1, arguments: { y: { length: 1 } } }, { steps: 1000 });
`,
);

test('a finding has its code frames, and is reported once; the exit code is 1', async () => {
  const { code, text, stderr } = await runHere('check', staging, '--kernel', 'staging', '--schedules', '2');
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(text).toMatch(/^WS7001: kernel `staging`: /);
  expect(text.match(/^WS7001/gm)).toHaveLength(1);
  expect(text).toContain('> 10 |     shared[t] = x[t]!;');
  expect(text).toContain('> 12 |     y[t] = shared[63 - t]!;');
  expect(text).toContain('\ncases[0]: kernel `staging` in 2 schedules: 1 finding\n');
  expect(text).toContain(
    '\ncases[1]: kernel `staging` in 2 schedules: 1 finding; 1 of them is reported above\n',
  );
});

test('a clean kernel: exit code 0', async () => {
  const { code, text } = await runHere('check', staging, '-k', 'scale', '--schedules', '3');
  expect({ code, text }).toEqual({ code: 0, text: 'good: kernel `scale` in 3 schedules: no finding\n' });
});

test('a kernel that cannot be compiled is reported once, and keeps no other from being checked', async () => {
  const path = folder.file(
    'broken.ts',
    `import { job, kernel, map } from 'warpstage';
const factor = 3;
const body = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }) => { y[0] = factor * x[0]!; });
export const a = job({ kernel: body, inputs: { x: {} }, outputs: { y: {} } });
export const b = map({ y: 'i32', x: 'f32' }, ({ x }) => x + 0.5);
export const c = map({ y: 'f32', x: 'u8' }, ({ x }) => x / 255);
`,
  );
  const sarif = folder.file('broken.sarif');
  const { code, text, stderr } = await runHere('check', path, '--schedules', '2', '--sarif', sarif);
  expect({ code, text }).toEqual({ code: 1, text: 'a chunk of c: kernel `c` in 2 schedules: no finding\n' });
  expect(stderr.match(/^WS\d+/gm)).toEqual(['WS1002', 'WS1004']);
  const { runs } = JSON.parse(readFileSync(sarif, 'utf8')) as Log;
  expect(runs[0]!.invocations![0]).toMatchObject({
    executionSuccessful: false,
    toolExecutionNotifications: [{ descriptor: { id: 'WS1002' } }, { descriptor: { id: 'WS1004' } }],
  });
  const json = await runHere('check', path, '--json', '--schedules', '1');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.text)).toMatchObject({ verdict: 'findings', cases: [{ name: 'a chunk of c' }] });
  expect(JSON.parse(json.stderr)).toMatchObject({ issues: [{ code: 'WS1002' }, { code: 'WS1004' }] });
});

test('a budget that runs out is no pass', async () => {
  const { code, text } = await runHere('check', staging, '-k', 'endless', '--schedules', '1');
  expect(code).toBe(1);
  expect(text).toMatch(/^WS3007: kernel `endless`: a block went round its loops more than 1000 times/);
  expect(text).toContain(
    'long: kernel `endless` in 1 schedule: no finding, not checked to the end: inconclusive',
  );
});

test('what is not checked is reported', async () => {
  const { text } = await runHere('check', staging, '--schedules', '1');
  expect(text).toMatch(/\nnot checked, as no launch of it is declared: `left`\n$/);
});

test('a job is checked on a made-up chunk', async () => {
  const { code, text } = await runHere('check', 'examples/zscore.ts', '--schedules', '1');
  expect(code).toBe(0);
  expect(text).toBe(
    'a chunk of moments: kernel `moments` in 1 schedule: no finding\n' +
      'a chunk of zscore: kernel `zscore` in 1 schedule: no finding\n',
  );
});

test('--json has all of it as data', async () => {
  const { code, text } = await runHere('check', staging, '--json', '--schedules', '1');
  expect(code).toBe(1);
  expect(JSON.parse(text)).toMatchObject({
    verdict: 'findings',
    cases: [
      { name: 'cases[0]', kernel: 'staging', verdict: 'findings' },
      {
        name: 'cases[1]',
        findings: [
          {
            code: 'WS7001',
            severity: 'error',
            location: { file: staging, source: expect.stringMatching(/shared/) },
            related: [{ location: { file: staging } }],
          },
        ],
      },
      { name: 'good', verdict: 'clean', findings: [] },
      {
        name: 'long',
        verdict: 'inconclusive',
        inconclusive: [{ code: 'WS3007', location: { file: staging } }],
      },
    ],
    unchecked: ['left'],
  });
});

test('--sarif writes a log that GitHub shows on pull requests', async () => {
  const file = folder.file('findings.sarif');
  const { code } = await runHere('check', staging, '--schedules', '1', '--sarif', file);
  expect(code).toBe(1);
  const log = JSON.parse(readFileSync(file, 'utf8')) as Log;
  expect(log.version).toBe('2.1.0');
  const [run, ...others] = log.runs;
  expect(others).toEqual([]);
  expect(run!.tool.driver.name).toBe('warpstage');
  const rules = run!.tool.driver.rules!;
  expect(rules.map(({ id }) => id)).toEqual(['WS3007', 'WS7001']);
  for (const { help } of rules) {
    expect(help!.text).toContain('To mend it, ');
    expect(help!.text).not.toContain('```');
    expect(help!.markdown).toContain('```ts');
  }
  const [result, ...more] = run!.results!;
  expect(more).toEqual([]);
  expect(rules[result!.ruleIndex!]!.id).toBe(result!.ruleId);
  expect(result).toMatchObject({
    level: 'error',
    message: { text: expect.stringContaining('To mend it: ') },
  });
  const lines = readFileSync(staging, 'utf8').split('\n');
  for (const { physicalLocation } of [...result!.locations!, ...result!.relatedLocations!]) {
    const { startLine, startColumn, endLine, endColumn } = physicalLocation!.region!;
    expect(endLine).toBe(startLine);
    const marked = lines[startLine! - 1]!.slice(startColumn! - 1, endColumn! - 1);
    expect(marked).toMatch(/^shared\[/);
    expect(physicalLocation!.artifactLocation!.uri).toMatch(/^file:\/\/\/.*staging\.ts$/);
  }
  expect(Object.values(result!.partialFingerprints!)[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(run!.invocations).toMatchObject([
    { executionSuccessful: false, toolExecutionNotifications: [{ descriptor: { id: 'WS3007' } }] },
  ]);
});

test('paths under the working folder are relative to it', async () => {
  const file = folder.file('guide.sarif');
  await runHere('check', 'test/cli/fixtures/advised.ts', '--advice', '--schedules', '1', '--sarif', file);
  const { runs } = JSON.parse(readFileSync(file, 'utf8')) as Log;
  const results = runs[0]!.results!;
  expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual([['WS7104', 'note']]);
  expect(results[0]!.locations![0]!.physicalLocation!.artifactLocation).toEqual({
    uri: 'test/cli/fixtures/advised.ts',
    uriBaseId: 'SRCROOT',
  });
  expect(runs[0]!.originalUriBaseIds!.SRCROOT!.uri).toMatch(/^file:\/\/\/.*\/$/);
});

test('a module that declares nothing to check says how to', async () => {
  const { code, stderr } = await runHere('check', 'examples/guide/compute.ts');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^WS5001: .* declares nothing to check: no job and no kernel\n {2}hint: .*checkCase\(/,
  );
});

test.each([
  [
    ['--kernel', 'none'],
    2,
    /has no kernel `none`\n {2}hint: its kernels are `endless`, `left`, `scale`, `staging`/,
  ],
  [['--kernel', 'left'], 1, /declares nothing to check: no launch of `left`/],
  [['--schedules', '0'], 2, /must be a whole number of at least 1/],
  [['--seed', '-1'], 2, /must be a whole number from 0/],
  [['--delivery', 'never'], 2, /Allowed choices are eager, late, random, all/],
  [
    ['-k', 'scale', '--sarif', 'none/x.sarif'],
    74,
    /^WS5006: none\/x\.sarif cannot be written: its directory does not exist/,
  ],
])('%j is refused with exit code %d', async (argv, expected, message) => {
  const { code, stderr } = await runHere('check', staging, ...argv);
  expect(stderr).toMatch(message);
  expect(code).toBe(expected);
});

test("the guide's kernels, as the examples declare their launches, are clean", async () => {
  const { code, text } = await runHere('check', 'examples/guide/checks.ts', '--schedules', '2');
  expect(code).toBe(0);
  expect(text.match(/ in 2 schedules: no finding$/gm)).toHaveLength(12);
});

test('a page of what the stages do, for the kernels that have pipelines', async () => {
  const module = folder.file(
    'pipelines.ts',
    `import { kernel } from 'warpstage';
    import { checkCase } from 'warpstage/check';
    const copy = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 32);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      pipe.producerAcquire();
      cuda.memcpyAsync(block, shared, x, 32, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      y[block.threadRank()] = shared[block.threadRank()]!;
      pipe.consumerRelease();
    });
    const plain = kernel({ y: 'i32[]' }, ({ y }, cuda) => { y[cuda.threadIdx.x] = 1; });
    const launch = { grid: 1, block: 32 };
    export const staged = checkCase(copy, { ...launch, arguments: { y: { length: 32 }, x: { length: 32 } } });
    export const without = checkCase(plain, { ...launch, arguments: { y: { length: 32 } } });`,
  );
  const page = folder.file('stages.html');
  const { code } = await runHere('check', module, '--stages', page);
  expect(code).toBe(0);
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('<title>staged</title>');
  expect(text).toContain('"unit":"steps"');
  expect(text).toContain('compute batch 0');
});
