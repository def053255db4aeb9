// What the hints of jobs in programs say to write, written.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, test } from 'vitest';
import {
  type Device,
  deviceFunction,
  job,
  kernel,
  map,
  open,
  reduce,
  registerFormat,
  run,
  sequence,
} from 'warpstage';
import { run as runInBrowser } from '#warpstage/overlap/start-in-browser.js';
import { Folder } from '../cli/support.ts';
import { expectMended, hintsOf } from '../support/written-hints.ts';
import { affine } from './jobs.ts';
import { npyFile } from './support.ts';

const folder = new Folder();
const at = (name: string) => join(folder.path, name);
let device: Device;
let other: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
  other = await open('cpu', { threads: 1 });
  writeFileSync(at('x.npy'), npyFile({ shape: [8], data: new Float32Array(8) }));
  writeFileSync(at('halves.bin'), new Uint8Array(6));
  writeFileSync(at('single.npy'), npyFile({ shape: [], data: new Float32Array(1) }));
  writeFileSync(at('one.npy'), npyFile({ shape: [1], data: new Float32Array(1) }));
  writeFileSync(at('x.vec'), new Uint8Array(8));
  writeFileSync(at('null.csv'), 'x,y\n1,1\n,2\n3,3\n');
});
afterAll(async () => {
  folder.remove();
  for (const one of [device, other]) await one.close();
});

const counted = kernel({ n: 'i32[]', x: 'readonly f32[]' }, ({ n, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < x.length) cuda.atomicAdd(n, 0, 1);
});

const image = kernel({ y: 'f32[]', x: 'readonly f32[][]' }, ({ y, x }, cuda) => {
  const t = cuda.thisGrid().threadRank();
  if (t < y.length) y[t] = x[t]![0]!;
});

const rowSums = kernel({ y: 'f32[]', x: 'readonly f32[]', width: 'index' }, ({ y, x, width }, cuda) => {
  const t = cuda.thisGrid().threadRank();
  if (t >= y.length) return;
  let sum = 0;
  for (let column = 0; column < width; column++) sum += x[t * width + column]!;
  y[t] = sum;
});

const stepped = kernel(
  { y: 'f32[]', x: 'readonly f32[]', step: deviceFunction({ x: 'f32' }, ({ x }) => x) },
  ({ y, x, step }, cuda) => {
    const t = cuda.thisGrid().threadRank();
    if (t < y.length) y[t] = step({ x: x[t]! });
  },
);

const counting = job({
  kernel: counted,
  inputs: { x: {} },
  accumulators: { n: {} },
  launch: { grid: 1, block: 32 },
});

const kernels = { counting, counted, image, rowSums, stepped, scale: affine.definition.kernel };
const run_ = (text: string) =>
  hintsOf(text, {
    ...kernels,
    kernel,
    affine,
    at,
    deviceFunction,
    device,
    devices: [device, other],
    job,
    map,
    reduce,
    registerFormat,
    run,
    runInBrowser,
    sequence,
    floats: new Float32Array(8),
    fetch: async () => new Response(new Uint8Array(32)),
    Readable,
  });

test.each<[string, string | RegExp, string]>([
  [
    "await run(affine, at('x.npy'))",
    "say at least what to read: run(job, { input: 'x.npy' })",
    "const job = affine; await «run(job, { input: »at(«'x.npy'») «})»",
  ],
  [
    'for await (const part of affine.stream(floats, 3)) part.y',
    "options have names: job.stream(source, { chunk: '64KiB' })",
    "const [job, source] = [affine, floats]; for await (const part of «job.stream(source, { chunk: '64KiB' })») part.y",
  ],
  [
    'await run(affine, { input: { x: true } })',
    'give a path, a list of paths, a typed or page-locked array, an async iterable, { file, … } or { stream, … }',
    "const file = at('x.npy'); const stream = Readable.from([new Uint8Array(8)]); const pinned = device.allocPinned('f32', 2);" +
      " for (const x of [at('x.npy'), [at('x.npy')], floats, pinned, «{ file», column: undefined }, «{ stream», dtype: 'f32' }, (async function* () { yield floats; })()]) await run(affine, { input: { x } })",
  ],
  [
    "await runInBrowser(affine, { input: { x: 'x.f32' } })",
    "give what it holds: { x: (await fetch('x.f32')).body }",
    "await runInBrowser(affine, { device: 'cpu', input: «{ x: (await fetch('x.f32')).body }» })",
  ],
  [
    "await run(affine, { input: at('*.none') })",
    'check the pattern; it begins in the current directory, and `*` stands for no `/` and no leading dot',
    "await run(affine, { input: at('x*.npy') })",
  ],
  [
    "await run(affine, { input: [at('x.npy'), at('single.npy')] })",
    'give it one: numpy.save(name, numpy.atleast_1d(x))',
    "await run(affine, { input: [at('x.npy'), at('one.npy')] })",
  ],
  [
    "await run(affine, { input: at('halves.bin') })",
    'name the type of its elements with --dtype (dtype of the input in a program)',
    "await run(affine, { input: { file: at('halves.bin'), «dtype»: 'f16' }, convert: 'nearest' })",
  ],
  [
    "await run(affine, { input: at('null.csv'), convert: 'nearest' })",
    'say what stands for a null: --nulls 0 (inputs: { …: { nulls: 0 } } in the job)',
    "await run(job({ kernel: scale, «inputs: {» x: «{ nulls: 0 } }», outputs: { y: {} }, settings: { a: 1, b: 2 } }), { input: at('null.csv'), convert: 'nearest' })",
  ],
  [
    "await run(affine, { input: at('x.npy'), shard: [4, 3], output: at('z.npy') })",
    'write for example --shard 3/10 (shard: [3, 10] in a program), with at most 999,999',
    "await run(affine, { input: at('x.npy'), «shard: [3, 10]», output: at('z.npy') })",
  ],
  [
    'counting.stream(floats)',
    'run it: const { value } = await run(job, { input })',
    'const input = floats; { const job = counting; «const { value } = await run(job, { input })»; }',
  ],
  [
    "await run(counting, { input: at('x.npy'), resume: true })",
    "name it: --journal sums, or resume: 'sums' in a program",
    "await run(counting, { input: at('x.npy'), «resume: '»' + at('«sums'») })",
  ],
  [
    'await run(counting, { input: floats, device: devices })',
    "say in the job what its kernel does to the elements: combine: 'sum', 'min', 'max' or a function",
    "for (const combine of [«'sum', 'min', 'max'», (a, b) => a + b]) await run(job({ kernel: counted, inputs: { x: {} }, accumulators: { n: { combine } }, launch: { grid: 1, block: 32 } }), { input: floats, device: devices })",
  ],
  [
    "await run(job({ kernel: counted, inputs: { x: {} }, accumulators: { n: { per: 'block', combine: 'concat' } }, launch: { grid: 1, block: 32 } }), { input: floats, device: devices })",
    "run it on one device, or have the elements combined: 'sum', 'min', 'max' or a function",
    "const folded = (combine) => job({ kernel: counted, inputs: { x: {} }, accumulators: { n: { per: 'block', combine } }, launch: { grid: 1, block: 32 } });" +
      " await run(folded('concat'), { input: floats, device }); for (const combine of [«'sum', 'min', 'max'», (a, b) => a + b]) await run(folded(combine), { input: floats, device: devices })",
  ],
  [
    'await run(job({ kernel: counted, inputs: { x: {} }, outputs: { n: { ratio: [1, 3] } } }), { input: floats })',
    "say what becomes of the rest in the job: remainder: 'drop' or 'partial'",
    "for (const remainder of [«'drop'», «'partial'»]) await run(job({ kernel: counted, inputs: { x: {} }, outputs: { n: { ratio: [1, 3] } }, «remainder»}), { input: floats })",
  ],
  [
    "await run(job({ kernel: rowSums, inputs: { x: { width: 'width' } }, outputs: { y: {} } }), { input: floats })",
    'pass it, for example settings: { width: 128 } (--set width=128)',
    "await run(job({ kernel: rowSums, inputs: { x: { width: 'width' } }, outputs: { y: {} } }), { input: new Float32Array(256), «settings: { width: 128 }» })",
  ],
  [
    'job({ kernel: image, inputs: { x: {} }, outputs: { y: {} } })',
    "declare it as 'readonly f32[]', and shape it in the kernel: x.shaped([rows, width])",
    "const image = kernel({ y: 'f32[]', x: «'readonly f32[]'», rows: 'index', width: 'constant index = 4' }, ({ y, x, rows, width }, cuda) => { const t = cuda.thisGrid().threadRank(); if (t < y.length) y[t] = «x.shaped([rows, width])»[t][0]; }); await run(job({ kernel: image, inputs: { x: { width: 4 } }, outputs: { y: {} }, rows: 'rows' }), { input: floats })",
  ],
  [
    'job({ kernel: stepped, inputs: { x: {} }, outputs: { y: {} }, functions: { step: (x) => x } })',
    'make it with deviceFunction()',
    "job({ kernel: stepped, inputs: { x: {} }, outputs: { y: {} }, functions: { step: «deviceFunction(»{ x: 'f32' }, ({ x }) => 2 * x) } })",
  ],
  [
    'sequence([{}, affine])',
    'make it with job({ … })',
    'sequence([«job({» kernel: counted, inputs: { x: {} }, accumulators: { n: {} }, launch: { grid: 1, block: 32 } }), { job: affine, settings: () => ({}) }])',
  ],
  [
    "job({ kernel: kernel({ y: 'f32[]', x: 'readonly f32x4[]' }, ({ y, x }) => { y[0] = x[0].x; }), inputs: { x: {} }, outputs: { y: {} } })",
    "declare it as x: 'readonly f32[]' in the schema, and its rows in the job as x: { width: 4 }",
    "const first = job({ kernel: kernel({ y: 'f32[]', «x: 'readonly f32[]'» }, ({ y, x }) => { y[0] = x[0]; }), inputs: { «x: { width: 4 }» }, outputs: { y: {} } }); await run(first, { input: floats })",
  ],
  [
    'sequence({})',
    'write sequence([job, { job, settings: (value) => ({ … }) }])',
    '{ const job = counting; «sequence([job, { job, settings: (value) => ({» «}) }])» }',
  ],
  [
    'sequence([counting, affine])',
    'write { job, settings: (value) => ({ … }) }',
    'const second = affine; { const job = second; sequence([counting, «{ job, settings: (value) => ({» a: value.n[0] «}) }»]) }',
  ],
  [
    'sequence([counting, { job: affine }])',
    'write { job, settings: (value) => ({ … }) }',
    'const second = affine; { const job = second; sequence([counting, «{ job, settings: (value) => ({» a: value.n[0] «}) }»]) }',
  ],
  [
    'sequence([counting, null])',
    'make it with job({ … }), and write { job, settings: (value) => ({ … }) }',
    'const second = «job({» kernel: scale, inputs: { x: {} }, outputs: { y: {} }, settings: { a: 1, b: 0 } }); { const job = second; sequence([counting, «{ job, settings: (value) => ({» a: value.n[0], b: 0 «}) }»]) }',
  ],
  [
    "reduce({ sum: 'u8', x: 'u8' }, ({ x }) => x)",
    "declare it wider: sum: 'u32', or 'f64'",
    "reduce({ «sum: 'u32'», x: 'u8' }, ({ x }) => x); reduce({ sum: «'f64'», x: 'u8' }, ({ x }) => x)",
  ],
  [
    "reduce({ sum: 'u32', x: 'u8' }, ({ x }) => x, { combine: 'product' })",
    "fold by 'sum', 'min' or 'max'; another fold is a job() with accumulators",
    "for (const combine of [«'sum'», «'min'», «'max'»]) reduce({ sum: 'u32', x: 'u8' }, ({ x }) => x, { combine }); «job(»{ kernel: counted, inputs: { x: {} }, «accumulators»: { n: { combine: (a, b) => a * b } }, launch: { grid: 1, block: 32 } })",
  ],
  [
    "reduce({ sum: 'f64', rows: 'u8', x: 'u8' }, ({ x }) => x, { by: 'rows', groups: 4 })",
    "give the entry another name: { sum: 'f64', … }",
    "reduce(«{ sum: 'f64', » key: 'u8', x: 'u8' }, ({ x }) => x, { by: 'key', groups: 4 })",
  ],
  [
    "reduce({ sum: 'f64', bin: 'f32', x: 'f32' }, ({ x }) => ({ bin: x, sum: x }), { by: 'bin', groups: 4 })",
    "declare bin: 'i32'",
    "reduce({ sum: 'f64', «bin: 'i32'», x: 'f32' }, ({ x }, cuda) => ({ bin: cuda.i32(x), sum: x }), { by: 'bin', groups: 4 })",
  ],
  [
    "reduce({ sum: 'f64', x: 'f32' }, ({ x }) => x, { by: 'x', groups: 4 })",
    "let the function make the key: ({ x }, cuda) => ({ key: cuda.i32(x), … }) with by: 'key'",
    "await run(reduce({ sum: 'f64', key: 'i32', x: 'f32' }, «({ x }, cuda) => ({ key: cuda.i32(x), » sum: x }), { «by: 'key'», groups: 4 }), { input: floats })",
  ],
  [
    "reduce({ sum: 'f64', key: 'u8', x: 'f32' }, ({ x }) => x, { by: 'key', groups: 0 })",
    "say how many keys there may be, from 0 on: { by: 'key', groups: 256 }",
    "reduce({ sum: 'f64', key: 'u8', x: 'f32' }, ({ x }) => x, «{ by: 'key', groups: 256 }»)",
  ],
  [
    "reduce({ bin: 'u8', x: 'u8' }, ({ x }) => ({ bin: x }), { by: 'bin', groups: 4 })",
    'let it give something beside: ({ x }) => ({ bin: x, sum: x })',
    "reduce({ bin: 'u8', sum: 'u32', x: 'u8' }, «({ x }) => ({ bin: x, sum: x })», { by: 'bin', groups: 4 })",
  ],
  [
    "reduce({ sum: 'f64', key: 'u8', x: 'f32' }, ({ x }) => x, { groups: 4 })",
    "name the key: by: 'key'",
    "reduce({ sum: 'f64', key: 'u8', x: 'f32' }, ({ x }) => x, { «by: 'key'», groups: 4 })",
  ],
  [
    "registerFormat({ name: 'vec' })",
    "give at least { name: 'vec', endings: ['.vec'], open: async (file) => ({ arrays: [ … ] }) }",
    "registerFormat(«{ name: 'vec', endings: ['.vec'], open: async (file) => ({ arrays: [» { stored: 'f32', dtype: 'f32', length: 2, elements: () => ({ bytes: file }) } «] }) }»); await run(affine, { input: at('x.vec') })",
  ],
])('%s', (wrong, hint, mended) => expectMended(wrong, hint, mended, run_));
