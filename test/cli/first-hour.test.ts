// What somebody who has just installed the package types wrongly, or types first: each is answered by a code, a
// place and a way to mend it, and nothing half-written is left.

import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Folder, npy, numbers, outcomeOf, root, runHere, startWith } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const affine = 'examples/affine.ts';
const x = folder.file('x.npy', npy(numbers(1000)));
const trace = folder.file('trace.json', '[]');
mkdirSync(folder.file('there'));
const there = folder.file('there');

test.each([
  ['a folder of traces that is a file', ['overlap', '--device', 'model:k20c', '--trace', x], 74, 'WS5006'],
  ['a port that is none', ['trace', trace, '--port', '99999'], 2, 'WS6001'],
  ['a trace in place of a folder', ['run', affine, x, folder.file('y.npy'), '--trace', there], 74, 'WS5006'],
  [
    'a trace in no folder',
    ['run', affine, x, folder.file('y.npy'), '--trace', join(there, 'no', 't.html')],
    74,
    'WS5006',
  ],
  ['findings in no folder', ['check', affine, '--sarif', join(there, 'no', 'f.sarif')], 74, 'WS5006'],
  ['findings in place of a folder', ['check', affine, '--sarif', there], 74, 'WS5006'],
  ['code in no folder', ['emit', affine, '-o', join(there, 'no', 'k.cu')], 74, 'WS5006'],
  ['a device file in no folder', ['calibrate', '-o', join(there, 'no', 'd.json')], 74, 'WS5006'],
  ['a trace file that is not there', ['trace', join(there, 'no.json')], 3, 'WS5003'],
  ['a setting that no job has', ['check', affine, '--set', 'q=1'], 2, 'WS5008'],
  ['data in place of the module', ['run', x, x, folder.file('y.npy')], 1, 'WS5002'],
  ['a column of no table', ['run', affine, x, folder.file('y.npy'), '--column', 'delay'], 2, 'WS6001'],
  ['nulls of no table', ['run', affine, x, folder.file('y.npy'), '--nulls', '0'], 2, 'WS6001'],
  ['results as a spreadsheet', ['run', affine, x, folder.file('y.xlsx')], 2, 'WS5012'],
  ['a constant without a value', ['emit', 'examples/flights.ts'], 2, 'WS6001'],
  ['a block that no device has', ['emit', affine, '--block', '5000'], 2, 'WS6001'],
])('%s', async (_, argv, code, issue) => {
  const before = folder.list();
  const outcome = await runHere(...argv);
  expect(outcome.stderr).toMatch(new RegExp(`^${issue}: .*\n(.*\n)*  hint: `));
  expect(outcome.stderr).not.toMatch(/E[A-Z]{3,}:|\n {4}at /);
  expect({ code: outcome.code, text: outcome.text, left: folder.list() }).toEqual({
    code,
    text: '',
    left: before,
  });
  expect(statSync(there).isDirectory()).toBe(true);
});

test('what is no regular file is written, not replaced', async () => {
  for (const argv of [
    ['check', affine, '--sarif', '/dev/null'],
    ['emit', affine, '-o', '/dev/null'],
    ['run', affine, x, folder.file('y.npy'), '--quiet', '--trace', '/dev/null'],
  ]) {
    expect(await runHere(...argv)).toMatchObject({ code: 0, stderr: '' });
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  }
});

test('a result for which there is no room on standard output is a failure', async () => {
  const full = openSync('/dev/full', 'w');
  const outcome = await outcomeOf(startWith(['emit', affine], ['ignore', full, 'pipe']));
  closeSync(full);
  expect(outcome.stderr).toBe('WS5006: standard output cannot be written: no space is left on its device\n');
  expect(outcome.code).toBe(74);
});

test('emit shows code with nothing installed beside the package', async () => {
  const { code, text } = await runHere('emit', affine);
  expect(code).toBe(0);
  expect(text).toContain('__global__');
});

test('what a virtual device was measured at is not kept as that of the real one', async () => {
  const cache = folder.file('cache');
  const file = folder.file('virtual.json');
  const argv = ['calibrate', '--device', 'model:h200', '--size', '1', '-o', file];
  const child = startWith(argv, 'pipe', { ...process.env, WARPSTAGE_CACHE: cache });
  const { code, stdout } = await outcomeOf(child);
  expect(code).toBe(0);
  expect(stdout.toString()).not.toContain('kept');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'NVIDIA H200' });
  expect(folder.list()).not.toContain('cache');
});

test('a fault is shown in the line as it was written, also when the module is loaded again', async () => {
  const module = folder.file(
    'beyond.ts',
    `import { job, kernel } from 'warpstage';
export const beyond = job({ kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i === 3) y[i + 1_000_000] = x[i]!;
}), inputs: { x: {} }, outputs: { y: {} } });
`,
  );
  for (const time of ['first', 'second', 'third']) {
    const { stderr } = await outcomeOf(startWith(['run', module, x, folder.file('y.npy')], 'pipe'));
    expect(stderr, time).toContain('beyond.ts:4:16\n');
    expect(stderr, time).toContain('> 4 |   if (i === 3) y[i + 1_000_000] = x[i]!;\n');
  }
});

test('what a kernel prints is reported beside the result, not in it', async () => {
  const module = folder.file(
    'talks.ts',
    `import { job, kernel } from 'warpstage';
export const talks = job({ kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i === 0) console.log('first of', y.length);
  if (i < y.length) y[i] = x[i]!;
}), inputs: { x: {} }, outputs: { y: {} } });
`,
  );
  const data = readFileSync(x);
  const piped = await outcomeOf(startWith(['run', module, x, '-', '--quiet'], 'pipe'));
  expect(piped.stdout.equals(data.subarray(data.length - 4000))).toBe(true);
  expect(piped.stderr).toContain('first of ');
  for (const command of ['run', 'plan']) {
    const reported = await outcomeOf(startWith([command, module, x, folder.file('y.npy'), '--json'], 'pipe'));
    expect(() => JSON.parse(reported.stdout.toString())).not.toThrow();
    expect(reported.stderr).toContain('first of ');
  }
});

test('a plan tells of no more rows than there are', async () => {
  const { text } = await runHere('plan', join(root, affine), x, folder.file('y.npy'), '--json');
  const [plan] = JSON.parse(text);
  expect(plan).toMatchObject({ rows: 1000, sampleRows: 1000 });
});
