// What the hints of commands say to write, written. A line with a fault gives the hint, and the line with what stands
// between « and » of it ends well. `@` stands for the folder of the files.

import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unmarked } from '../support/written-hints.ts';
import { Folder, npy, numbers, outcomeOf, root, run, runHere, startWith } from './support.ts';

const folder = new Folder();
const kernelText = `import { checkCase } from 'warpstage/check';
import { job, kernel } from 'warpstage';
export const scale = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', big: 'u64', on: 'bool', v: 'f32x2', t: 'f32[][]' }, ({ y, x, a, v, t }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length && i < x.length) y[i] = a * x[i]! + v.x + t[0]![0]!;
});
`;
const jobText = (
  name: string,
  kernel: string,
  more: string,
) => `import { job, kernel, map, reduce } from 'warpstage';
export const ${name} = ${kernel}
${more}`;
const server = createServer();

beforeAll(async () => {
  folder.file('kernels.ts', kernelText);
  folder.file('nothing.ts', 'export const answer = 42;\n');
  folder.file('affine.ts', jobText('affine', "map({ y: 'f32', x: 'f32' }, ({ x }) => 2 * x + 1);", ''));
  folder.file('pair.ts', jobText('pair', "map({ z: 'f32', x: 'f32', y: 'f32' }, ({ x, y }) => x + y);", ''));
  folder.file(
    'blocks.ts',
    `import { job, kernel, map, sequence } from 'warpstage';
const count = kernel({ x: 'readonly f32[]', n: 'i32[]' }, ({ n }, cuda) => { cuda.atomicAdd(n, cuda.blockIdx.x, 1); });
const counts = job({ kernel: count, inputs: { x: {} }, accumulators: { n: { per: 'block', combine: 'concat' } } });
export const blocks = sequence([counts, { job: map({ y: 'f32', x: 'f32' }, ({ x }) => x + 1), settings: () => ({}) }]);
`,
  );
  folder.file('total.ts', jobText('total', "reduce({ sum: 'f64', x: 'f32' }, ({ x }) => x);", ''));
  folder.file(
    'two.ts',
    jobText(
      'plain',
      "kernel({ y: 'f32[]' }, ({ y }) => { y[0] = 1; });",
      "export const timed = kernel({ y: 'i32[]', times: 'constant i32' }, ({ y, times }) => { y[0] = times; });",
    ),
  );
  for (const name of ['x', 'y', 'in']) folder.file(`${name}.npy`, npy(numbers(64)));
  folder.file('in.npy.sums', '{');
  folder.file('named.bin', npy(numbers(64)));
  folder.file('text.csv', `u,v\n${'1.5,2\n2.5,3\n'.repeat(9)}`);
  folder.file('single.csv', `v\n${'1.5\n2.5\n'.repeat(9)}`);
  for (const name of ['bare.bin', 'bare.f32']) folder.file(name, new Uint8Array(64));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await runHere(...words('run @affine.ts @x.npy @of-trace.npy --trace @timeline.json'));
});
afterAll(() => {
  server.close();
  folder.remove();
});

const words = (line: string) =>
  line
    .replaceAll('PORT', `${(server.address() as AddressInfo).port}`)
    .split(' ')
    .map((word) => word.replaceAll('@', `${folder.path}/`));

test.each([
  [
    'run @pair.ts --input x=@x.npy @z.npy',
    'for example --input y=y.npy',
    'run @pair.ts --input x=@x.npy «--input y=»@y.npy @z.npy',
  ],
  [
    'check @two.ts @affine.ts',
    'name one, or add --static to only compile',
    'check @two.ts @affine.ts «--static»',
  ],
  [
    'emit @two.ts -k plain -t ir --set times=3',
    'it has no constants; leave --set out',
    'emit @two.ts -k plain -t ir',
  ],
  ['emit @two.ts -k timed -t ir', 'set it: --set times=1', 'emit @two.ts -k timed -t ir «--set times=1»'],
  [
    'emit examples/guide/barrier-producer-consumer.ts -t ir --after block',
    'its threads run as state machines; --after cohorts shows what those are made of',
    'emit examples/guide/barrier-producer-consumer.ts -t ir «--after cohorts»',
  ],
  ['init @', 'name a new folder, for example `warpstage init my-project`', '«init »@«my-project»'],
  [
    'head @bare.bin',
    'name it, for example --dtype f32, or let its name end in it: x.f32',
    'head @bare.bin «--dtype f32»',
  ],
  [
    'head @bare.bin',
    'name it, for example --dtype f32, or let its name end in it: x.f32',
    'head @bare«.f32»',
  ],
  [
    'run @none.ts @in.npy @out.npy',
    'name the TypeScript or JavaScript file that exports the job, for example `warpstage run affine.ts in.npy out.npy`',
    '«run »@«affine.ts» @«in.npy» @«out.npy»',
  ],
  [
    'run @x.npy @affine.ts @y.npy',
    'the module comes first, then the files: `warpstage run affine.ts x.npy y.npy`',
    '«run »@«affine.ts» @«x.npy» @«y.npy»',
  ],
  [
    'run',
    'name the file that exports the job, for example `warpstage run affine.ts x.npy y.npy`',
    '«run »@«affine.ts» @«x.npy» @«y.npy»',
  ],
  [
    'run @pair.ts @text.csv @single.csv @z.npy --convert nearest --column v',
    'say which, for example --column x=v',
    'run @pair.ts @text.csv @single.csv @z.npy --convert nearest «--column x=v» --column y=v',
  ],
  [
    'run @affine.ts @text.csv @z.npy --convert nearest --column w',
    'its columns are u, v; choose one with --column (column in the job)',
    'run @affine.ts @text.csv @z.npy --convert nearest «--column» u',
  ],
  [
    'run @blocks.ts @x.npy @z.npy --queue nats://host:4222',
    "run it without --queue, or have the elements combined: 'sum', 'min', 'max' or a function",
    'run @blocks.ts @x.npy @z.npy',
  ],
  [
    'run @affine.ts @x.npy @z.npy --queue nats://host:4222 --resume',
    'leave it out, or run without --queue',
    'run @affine.ts @x.npy @z.npy --resume',
  ],
  [
    'run @total.ts @x.npy --resume',
    "name it: --journal sums, or resume: 'sums' in a program",
    'run @total.ts @x.npy --resume «--journal »@«sums»',
  ],
  [
    'run @affine.ts @x.npy @z.npy --stages 0',
    'add --trace timeline.html',
    'run @affine.ts @x.npy @z.npy --stages 0 «--trace »@«timeline.html»',
  ],
  [
    'run @affine.ts @x.npy @z.npy --device model:h200 --stages 0 --trace @timeline.html',
    'run on --device cpu, or see them under the checker: warpstage check … --stages stages.html',
    'run @affine.ts @x.npy @z.npy «--device cpu» --stages 0 --trace @timeline.html',
  ],
  [
    'run @affine.ts @x.npy @z.npy --device model:h200 --stages 0 --trace @timeline.html',
    'run on --device cpu, or see them under the checker: warpstage check … --stages stages.html',
    '«check »@affine.ts« --stages »@«stages.html»',
  ],
  [
    'trace @timeline.json --port PORT',
    'leave --port out, and a free one is taken; or write the page to a file with -o',
    'trace @timeline.json «-o» @page.html',
  ],
  [
    'trace @x.npy -o @page.html',
    "name a file that `--trace timeline.json` wrote, or another of Chrome's trace format",
    'trace @«timeline.json» -o @page.html',
  ],
  [
    'run @affine.ts @named.bin @z.npy',
    /^rename it, or say format: 'npy' in a program; /,
    'run @affine.ts @x.npy @z.npy',
  ],
  [
    'run @affine.ts @x.npy @z.npy --dtype i32',
    'leave the type out: --dtype (dtype in a program) is for files of bare numbers, which do not say theirs',
    'run @affine.ts @x.npy @z.npy',
  ],
  [
    'merge @none.npy',
    'they are written by warpstage run … --shard 1/10',
    '«run »@affine.ts @x.npy @none.npy «--shard 1/10»',
  ],
  [
    'merge @none.npy',
    'wait for them, or run them again, for example with --shard 2/10',
    'run @affine.ts @x.npy @none.npy «--shard 2/10»',
  ],
  ['verify @in.npy', 'run the job again with --checksum', 'run @affine.ts @x.npy @s.npy «--checksum»'],
  [
    'verify @x.npy',
    'have them written with the output: warpstage run … --checksum',
    'run @affine.ts @x.npy @s.npy «--checksum»',
  ],
])('%s', async (wrong, hint, mended) => {
  const refused = await runHere(...words(wrong));
  expect(refused.code).not.toBe(0);
  const [, said] = /\n {2}hint: (.*)\n/.exec(refused.stderr) ?? [];
  if (typeof hint === 'string') expect(said).toBe(hint);
  else expect(said).toMatch(hint);
  const { code, stderr } = await runHere(...words(unmarked(mended, said!)));
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
});

/** The hint of a line, its code between backticks. */
async function codeOf(line: string): Promise<{ readonly hint: string; readonly code: string }> {
  const { stderr } = await runHere(...words(line));
  const [, hint] = /\n {2}hint: (.*)\n/.exec(stderr)!;
  return { hint: hint!, code: /`([^`]*)`/.exec(hint!)![1]! };
}

test('what is to be checked is a launch of the kernel as it is', async () => {
  const { hint, code } = await codeOf('check @kernels.ts');
  expect(hint).toBe(
    'declare a small launch beside the kernel: `export const checks = [checkCase(scale, { grid: 2, block: 64, arguments: { y: { length: 128 }, x: { length: 128 }, a: 1, big: 1n, on: true, v: { x: 1, y: 1 }, t: { shape: [8, 8] } } })]`, with checkCase of warpstage/check',
  );
  folder.file('checked.ts', `${kernelText}${code};`);
  expect(await runHere(...words('check @checked.ts'))).toMatchObject({ code: 0 });
});

test('what a module has to export', async () => {
  const job = await codeOf('run @nothing.ts @x.npy @z.npy');
  expect(job.hint).toBe(
    'say what streams through a kernel: `export const myJob = job({ kernel: myKernel, inputs: { x: {} }, outputs: { y: {} } })`',
  );
  const kernel = await codeOf('emit @nothing.ts');
  expect(kernel.hint).toBe('export what kernel() gives: `export const scale = kernel({ … }, …)`');
  const text = kernel.code
    .replace('scale', 'myKernel')
    .replace('{ … }, …', "{ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }) => { y[0] = x[0]!; }");
  folder.file('exported.ts', `import { job, kernel } from 'warpstage';\n${text};\n${job.code};`);
  for (const line of ['emit @exported.ts -t ir', 'run @exported.ts @x.npy @z.npy'])
    expect(await runHere(...words(line))).toMatchObject({ code: 0 });
});

test('a job of a kernel has its parameters', async () => {
  const text = `import { job, kernel } from 'warpstage';
export const blend = kernel({ out: 'f32[]', a: 'readonly f32[]', b: 'readonly f32[]', t: 'f32' }, ({ out, a, b, t }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < out.length) out[i] = a[i]! * t + b[i]!;
});
`;
  folder.file('blend.ts', text);
  const { hint, code } = await codeOf('run @blend.ts @x.npy @y.npy @z.npy');
  expect(hint).toBe(
    'say what streams through a kernel: `export const myJob = job({ kernel: blend, inputs: { a: {}, b: {} }, outputs: { out: {} }, settings: { t: {} } })`',
  );
  folder.file('blended.ts', `${text}${code};`);
  expect(await runHere(...words('run @blended.ts @x.npy @y.npy @z.npy --set t=2'))).toMatchObject({
    code: 0,
  });
});

test('a stream of text is no numbers', async () => {
  const text = Buffer.from('x\n1.5\n2.5\n');
  const { stderr } = await run(words('run @affine.ts - @z.npy --convert nearest'), text);
  expect(stderr).toMatch(
    /\n {2}hint: if it is a table, say so: --format csv, or ndjson \(format: 'csv' in a program\); if it holds bare numbers, say so: --raw/,
  );
  const mended = await run(words('run @affine.ts - @z.npy --convert nearest --format csv'), text);
  expect(mended.code).toBe(0);
});

test('without wabt there is no text form', async () => {
  const module = (text: string) => `data:text/javascript,${encodeURIComponent(text).replaceAll("'", '%27')}`;
  const hook = `export const resolve = (name, context, next) => { if (name === 'wabt') throw new Error('none'); return next(name, context); };`;
  const without = `import { register } from 'node:module'; register('${module(hook)}');`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', module(without), 'dist/cli/main.js', ...words('emit @two.ts -k plain -t wat')],
    { cwd: root, encoding: 'utf8' },
  );
  expect([stdout, stderr]).toEqual([
    '',
    'WS6001: the text form needs the wabt package, which is not installed\n  hint: install it: `npm install --save-dev wabt`\n',
  ]);
  expect((await runHere(...words('emit @two.ts -k plain -t wat'))).text).toMatch(/^\(module/);
});

test('what is wrong with a tsconfig is what TypeScript shows', async () => {
  const broken = new Folder();
  try {
    broken.file(
      'tsconfig.json',
      '{ "extends": "./missing.json", "compilerOptions": { "paths": { "~/*": ["./*"] } } }',
    );
    broken.file('job.ts', "import '~/other';\n");
    const { stderr } = await run(['run', broken.file('job.ts'), folder.file('x.npy')]);
    expect(stderr).toMatch(
      /^WS5002: \S+tsconfig\.json could not be read, .*\n {2}hint: run `npx tsc --showConfig` in its folder: it shows what is wrong with it\n/,
    );
    const shown = spawnSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '--showConfig'], {
      cwd: broken.path,
      encoding: 'utf8',
    });
    expect(shown.stdout).toMatch(/missing\.json/);
  } finally {
    broken.remove();
  }
});

test('a queue without a server to start', async () => {
  const line = words('run @affine.ts @x.npy @queued.npy --workers 1');
  const { stderr } = await outcomeOf(startWith(line, 'pipe', { ...process.env, PATH: '/nowhere' }));
  expect(stderr).toBe(
    'WS6001: there is no nats-server in the PATH\n  hint: install it (apt-get install nats-server, brew install nats-server), or name a server: --queue nats://host:4222\n',
  );
});
