// Help and usage: what is shown, where it goes, and the exit code that says whose fault it was.

import { afterAll, expect, test } from 'vitest';
import { Folder, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

test.each([
  [['--help'], 'warpstage run affine.ts x.npy y.npy'],
  [['run', '--help'], 'cat x.raw | warpstage run affine.ts - - > y.raw'],
  [['emit', '--help'], 'warpstage emit affine.ts --target ir'],
  [['devices', '--help'], 'warpstage devices --json'],
])('help of %j is on standard output, with examples', async (argv, example) => {
  const { code, text, stderr } = await runHere(...argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(text).toContain(`\nExamples:\n`);
  expect(text).toContain(`  $ ${example}`);
});

test('help with a module describes its job', async () => {
  const { code, text } = await runHere('run', 'examples/affine.ts', '--help');
  expect(code).toBe(0);
  expect(text).toContain(
    'Job affine: y = a*x + b\n  reads   x\n  writes  y\n' +
      '  --set a=1  what every element is multiplied by\n  --set b=0  what is added then\n',
  );
});

test.each([
  [[], /^Usage: warpstage/],
  [['runn'], /^WS6001: unknown command 'runn'\n {2}hint: did you mean run\?/],
  [['run'], /^WS6001: no module was given/],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--unheard-of'],
    /^WS6001: unknown option '--unheard-of'\n {2}hint: try `warpstage help run`$/m,
  ],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--depth', '0'],
    /'--depth <count>' argument '0' is invalid\. It must be a whole number/,
  ],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--set', 'a'],
    /'a' is invalid\. It must be name=value, for example --set a=2/,
  ],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--trace', '--quiet'],
    /^WS6001: option '--trace <file>' has no value: --quiet behind it is an option itself/,
  ],
  [['emit', 'examples/affine.ts', '--kernel', '--explain'], /'-k, --kernel <name>' has no value: --explain/],
  [['run', 'examples/affine.ts', 'a', 'b', '--deadline', '1h30'], /It must be a duration of 24 days at most/],
  [['run', 'examples/affine.ts', 'a', 'b', '--deadline', '0'], /for example 90s, 20m or 1h30m/],
  [['run', 'examples/affine.ts', 'a', 'b', '--set', 'a=two'], /The value must be a number, true or false/],
  [['run', 'examples/affine.ts', 'a', 'b', '--dtype', 'f99'], /'f99' is invalid\. Allowed choices are i8,/],
  [
    ['run', 'examples/affine.ts'],
    /the job affine reads `x` and writes `y`; no file was given\n {2}hint: .* <x> <y>/,
  ],
  [['run', 'examples/affine.ts', '--input', 'x=a', 'b', 'c'], /2 files were given/],
  [['run', 'examples/affine.ts', 'a', '-', '--json'], /`-` both want standard output/],
  [
    ['run', 'examples/zscore.ts', 'a', 'b', '--job', 'z'],
    /exports no job `z`\n {2}hint: its jobs are `moments`, `zscore`/,
  ],
  [
    ['run', 'examples/flights.ts', 'a', '--column', 'minutes'],
    /the job has 2 inputs, `delay`, `distance`\n {2}hint: .* --column delay=minutes/,
  ],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--trace', 'b'],
    /--trace b is a file that the command writes as well/,
  ],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--stages', '0'],
    /--stages is shown in a trace, and none is written/,
  ],
  [
    ['run', 'examples/affine.ts', 'a', 'b', '--trace', 't.html', '--stages', '1x2'],
    /'1x2' is invalid\. It must be one to three whole numbers, for example 0 or 3,0,1/,
  ],
  [['affine.ts', 'a', 'b'], /unknown command 'affine.ts'\n {2}hint: did you mean `warpstage run affine.ts`/],
  [['emit', 'examples/affine.ts', '--target', 'sass'], /Allowed choices are wasm, wat, c, ir, cuda, ptx/],
  [['emit', 'examples/affine.ts', '--block', '16,16'], /for example 256 or 16x16/],
  [['emit', 'examples/affine.ts', '--set', 'n=4'], /the kernel affine has no constant `n`/],
])('%j is wrong usage: exit code 2, reported on standard error alone', async (argv, message) => {
  const { code, text, stderr } = await runHere(...argv);
  expect(stderr).toMatch(message);
  expect({ code, text }).toEqual({ code: 2, text: '' });
});

test('several jobs in a module: one must be chosen', async () => {
  const jobs = folder.file(
    'jobs.ts',
    `import { job, kernel } from 'warpstage';
    const body = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }) => { y[0] = x[0]!; });
    export const one = job({ kernel: body, inputs: { x: {} }, outputs: { y: {} } });
    export const two = job({ kernel: body, inputs: { x: {} }, outputs: { y: {} } });`,
  );
  const { code, stderr } = await runHere('run', jobs, 'a', 'b');
  expect(code).toBe(2);
  expect(stderr).toMatch(/exports several jobs: `one`, `two`\n {2}hint: choose one, for example --job one/);
});

test('under --json errors are one JSON object on standard error', async () => {
  const { code, text, stderr } = await runHere('run', 'examples/affine.ts', '--json');
  expect({ code, text }).toEqual({ code: 2, text: '' });
  expect(JSON.parse(stderr)).toMatchObject({ code: 'WS6001', issues: [{ code: 'WS6001' }] });
});

test('a module without a job is the fault of the module: exit code 1', async () => {
  const empty = folder.file('empty.ts', 'export const answer: number = 42;');
  const { code, stderr } = await runHere('run', empty, 'a', 'b');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^WS5001: .*empty\.ts exports no job, only `answer`\n {2}hint: say what streams through a kernel/,
  );
});

test('a module that throws is shown at its own line: exit code 1', async () => {
  const throws = folder.file('throws.ts', "const n: number = 1;\nthrow new Error('no more than ' + n);\n");
  const { code, stderr } = await runHere('run', throws, 'a', 'b');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^WS5002: .*throws\.ts threw while it was loaded: Error: no more than 1/);
  expect(stderr).toContain('> 2 | throw new Error(');
});
