// `warpstage check --static`: a line for each mistake, which editors read by the pattern in docs/checker.md.

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Log } from 'sarif';
import { afterAll, expect, test } from 'vitest';
import { Folder, root, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const wrong = folder.file(
  'wrong.ts',
  `import { kernel } from 'warpstage';
process.exit(7);
export const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
  const i: number = cuda.thisGrid().threadRank();
  y[i] = null;
  y[i].w = 1;
});
`,
);
const right = folder.file(
  'right.ts',
  `import { kernel } from 'warpstage';
export const one = kernel({ y: 'f32[]' }, ({ y }) => { y[0] = 1; });
`,
);

/** The pattern of the problem matcher that the page gives. */
function documentedPattern(): RegExp {
  const page = readFileSync(`${root}docs/checker.md`, 'utf8');
  const block = /```json\n(\{[^`]*"problemMatcher"[^`]*)```/.exec(page)![1]!;
  return new RegExp(JSON.parse(block).tasks[0].problemMatcher.pattern.regexp);
}

test('a line for each mistake, and exit code 1', async () => {
  const { code, text, stderr } = await runHere('check', '--static', wrong, right);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const lines = text.trimEnd().split('\n');
  const found = lines.slice(0, -1).map((line) => documentedPattern().exec(line)?.slice(1, 6));
  expect(found).toEqual([
    [expect.any(String), '5', '10', 'error', 'WS1006'],
    [expect.any(String), '6', expect.any(String), 'error', 'WS1012'],
  ]);
  for (const [file] of found as string[][])
    expect(wrong.endsWith(relative('.', file!).replace(/^(\.\.\/)+/, ''))).toBe(true);
  expect(lines.at(-1)).toBe('2 kernels compiled: 2 mistakes');
});

test('nothing wrong: exit code 0', async () => {
  expect(await runHere('check', '--static', right)).toMatchObject({
    code: 0,
    text: '1 kernel compiled: nothing is wrong\n',
    stderr: '',
  });
});

test('as JSON and as SARIF', async () => {
  const sarif = join(folder.path, 'found.sarif');
  const { code, text } = await runHere('check', '--static', wrong, '--json', '--sarif', sarif);
  expect(code).toBe(1);
  expect(JSON.parse(text)).toMatchObject({
    verdict: 'findings',
    kernels: 1,
    findings: [
      { code: 'WS1006', location: { file: wrong, line: 5, column: 10, source: '  y[i] = null;' } },
      { code: 'WS1012', location: { line: 6 } },
    ],
    skipped: [],
  });
  const [run] = (JSON.parse(readFileSync(sarif, 'utf8')) as Log).runs;
  expect(run!.results!.map(({ ruleId, level }) => [ruleId, level])).toEqual([
    ['WS1006', 'error'],
    ['WS1012', 'error'],
  ]);
  expect(run!.results![0]!.locations![0]!.physicalLocation!.region).toMatchObject({
    startLine: 5,
    startColumn: 10,
  });
});

test.each([
  [['check', '--static', right, '--kernel', 'one'], /--kernel is of launches, and --static runs none/],
  [['check', right, wrong], /check runs the launches of one module/],
  [['check', '--static', 'missing.ts'], /there is no file missing\.ts/],
])('refused: %j', async (argv, message) => {
  const { code, stderr } = await runHere(...argv);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(message);
});

test('--fix does what hints say, where there is one way alone', async () => {
  const file = folder.file(
    'fix.ts',
    `import { kernel } from 'warpstage';
export const cut = kernel({ h: 'i32[]', x: 'readonly f32[]', n: 'index' }, ({ h, x }, cuda) => {
  const i: number = cuda.thisGird().threadRank(), steps = 3;
  if (i < n) h[i]! += x[i]!;
  const half = h[i]! / steps;
  h[i] = half;
});
`,
  );
  const { code, text } = await runHere('check', '--static', '--fix', file);
  expect({ code, text: text.slice(text.indexOf(')')) }).toEqual({
    code: 1,
    text: expect.stringMatching(/WS1005[^\n]*\n3 mistakes mended\n1 kernel compiled: 1 mistake\n$/),
  });
  const mended = readFileSync(file, 'utf8');
  expect(mended).toContain('({ h, x, n }, cuda) => {');
  expect(mended).toContain('cuda.thisGrid().threadRank()');
  expect(mended).toContain('h[i]! += cuda.i32(x[i]!);');
  expect(mended).toContain('h[i]! / steps');
  const { code: misused, stderr } = await runHere('check', '--fix', file);
  expect({ misused, stderr }).toEqual({ misused: 2, stderr: expect.stringContaining('add --static') });
});
