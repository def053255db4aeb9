// `warpstage emit`: the program as the compiler understood it, and the module as a device runs it.

import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { Folder, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const staging = folder.file(
  'staging.ts',
  `import { deviceFunction, kernel } from 'warpstage';
  const compute = deviceFunction({ x: 'i32' }, ({ x }) => x * 3 + 1);
  export const twice = kernel(
    { y: 'i32[]', times: 'constant i32 = 2', compute },
    ({ y, times, compute }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = compute({ x: y[i]! }) * times;
    },
  );
  export const other = kernel({ y: 'f32[]' }, ({ y }) => { y[0] = 1.5; });`,
);

test('the IR shows the block and the constants as literals', async () => {
  const { code, text } = await runHere(
    'emit',
    staging,
    '-k',
    'twice',
    '-t',
    'ir',
    '--block',
    '8x8',
    '--set',
    'times=5',
  );
  expect(code).toBe(0);
  expect(text).toMatch(/^kernel twice block 8x8x1 index i32\nparameter y: i32\[\]\n/);
  expect(text).toContain('* 5');
});

test('the text form is that of the module, with the names of the kernel', async () => {
  const { code, text } = await runHere('emit', staging, '--kernel', 'other', '--target', 'wat');
  expect(code).toBe(0);
  expect(text).toMatch(/^\(module\n/);
  expect(text).toContain('(func $run ');
  expect(text).toContain('local.set $y.length');
  expect(text).toContain('f32.const');
});

test('the module itself goes to a file, or to a pipe', async () => {
  const file = folder.file('twice.wasm');
  expect((await runHere('emit', staging, '-k', 'twice', '--target', 'wasm', '-o', file)).code).toBe(0);
  const piped = await runHere('emit', staging, '-k', 'twice', '--target', 'wasm');
  expect(WebAssembly.validate(new Uint8Array(piped.stdout))).toBe(true);
  expect(readFileSync(file).equals(piped.stdout)).toBe(true);
});

test('the CUDA C++ of a kernel, for an architecture', async () => {
  const guide = 'examples/guide/staging-unified.ts';
  const { code, text } = await runHere('emit', guide, '--target', 'cuda', '--set', 'stagesCount=4');
  expect(code).toBe(0);
  expect(text).toContain('extern "C" __global__ void __launch_bounds__(256) withStagingUnified(');
  expect(text).toContain('ws_bulk_copy(s_shared_0');
  expect(text).not.toContain('ws_inside(');
  const checked = await runHere('emit', guide, '--target', 'cuda', '--checked');
  expect(checked.text).toContain('g_globalOut_0[ws_inside(');
  const older = await runHere('emit', guide, '--target', 'cuda', '--architecture', '80');
  expect(older.text).toContain('ws_copy_async<16>(s_shared_0');
  const wrong = await runHere('emit', guide, '--target', 'cuda', '--architecture', 'hopper');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('the architecture must be a number from 75, and `hopper` was given');
});

test('the kernel of a job goes by the name of the job', async () => {
  const { text } = await runHere(
    'emit',
    'examples/flights.ts',
    '--target',
    'ir',
    '--set',
    'bandMiles=100',
    '--set',
    'binMinutes=5',
    '--set',
    'earliest=0',
  );
  expect(text).toMatch(/^kernel flights block 256x1x1/);
  expect(text).toContain('atomicAdd');
});

test.each([
  [['--kernel', 'none'], 2, /has no kernel `none`\n {2}hint: its kernels are `other`, `twice`/],
  [[], 2, /has several kernels: `other`, `twice`\n {2}hint: choose one, for example --kernel other/],
  [
    ['-k', 'twice', '-o', 'none/x.wasm'],
    74,
    /^WS5006: none\/x\.wasm cannot be written: its directory does not exist/,
  ],
])('%j', async (argv, expected, message) => {
  const { code, stderr } = await runHere('emit', staging, ...argv);
  expect(stderr).toMatch(message);
  expect(code).toBe(expected);
});

describe('what a CPU gets', () => {
  const shown = async (...argv: string[]) => (await runHere('emit', ...argv, '--target', 'ir')).text;

  test('the IR after each pass, and without one', async () => {
    const unified = 'examples/guide/staging-unified.ts';
    const regions = await shown(unified, '--after', 'regions');
    expect(regions).toMatch(/, run by the block\n/);
    expect(regions).toContain('producerAcquire()');
    const block = await shown(unified, '--after', 'block');
    expect(block).toContain('all threads {');
    expect(block).toContain('stuckAtStage(');
    expect(block).not.toContain('producerAcquire()');
    const affine = 'examples/affine.ts';
    expect(await shown(affine, '--after', 'block')).toContain('y[i + threadRank] =');
    expect(await shown(affine, '--after', 'block', '--without', 'affine')).toContain('y[i] =');
  });

  test('a kernel whose threads wait for one another has no regions', async () => {
    const roles = 'examples/guide/specialized-staging.ts';
    expect(await shown(roles, '--after', 'structure')).toContain('makePipeline(');
    const cohorts = await shown(roles, '--after', 'cohorts');
    expect(cohorts).toContain('cohort of 128 threads from rank 1, every 2');
    expect(cohorts).toMatch(/wait for pipeline\.produced\[.*\]\.waitUntil\(.*\)\n {2}keep \w+/);
    const zipped = await shown(roles, '--after', 'zip');
    expect(zipped).toContain('block 128x1x1');
    expect(zipped).not.toContain('producerAcquire()');
    const { code, stderr } = await runHere(
      'emit',
      roles,
      ...['--target', 'ir', '--after', 'block', '--without', 'zip'],
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/^WS6001: this kernel does not get to the pass block: the roles of \w+ differ/);
  });

  test('--without is for the CPU', async () => {
    const { code, stderr } = await runHere('emit', staging, '-k', 'twice', '--without', 'affine');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'WS6001: --without leaves out passes for the CPU\n  hint: add --target wasm, or --target ir --after block\n',
    });
  });
});

describe('what a GPU gets', () => {
  const shown = async (...argv: string[]) =>
    (await runHere('emit', 'examples/guide/staging-unified.ts', ...argv)).text;

  test('the IR after lowering has the operations of the architecture', async () => {
    expect(await shown('--target', 'ir')).toContain('pipeline.producerAcquire()');
    const hopper = await shown('--target', 'ir', '--after', 'lowering');
    expect(hopper).toMatch(/pipeline_full\[.*\]\.bulkCopy\(/);
    expect(hopper).not.toContain('producerAcquire');
    const ampere = await shown('--target', 'ir', '--after', 'lowering', '--architecture', '80');
    expect(ampere).toContain('copyChunks(');
    expect(ampere).not.toContain('mbarrier');
  });

  test('--explain says how the kernel runs, and why', async () => {
    expect(await shown('--explain')).toMatch(
      /WebAssembly: regions: .*\n {2}borrow: .*\n {2}turns: .*\nCUDA, sm_90:\n {2}pipeline pipeline: bulk, since each of its copies is fit for the copy engine\n/,
    );
    expect(await shown('--explain', '--architecture', '80')).toContain(
      'groups, since sm_80 has no engine for bulk copies',
    );
  });

  test('--explain says that a single stage is kept twice, and why', async () => {
    const { text } = await runHere('emit', 'examples/guide/single-stage.ts', '--explain');
    expect(text).toContain(
      'pipeline pipeline: bulk, since its one stage is kept twice, so that the next batch comes while one is used, which the kernel cannot notice\n',
    );
  });

  test('--explain says what passes for the CPU did', async () => {
    const { text } = await runHere('emit', 'bench/cpu/kernels.ts', '-k', 'reduction', '--explain');
    expect(text).toContain('\n  slices: a loop over the grid in pieces of four turns\n');
    expect(text).toContain('\n  wide: groups of 128 threads, which read 512 bytes in a piece\n');
    expect(text).toContain('\n  ends: ');
  });

  test('--after is for the IR alone', async () => {
    const { code, stderr } = await runHere('emit', staging, '-k', 'twice', '--after', 'lowering');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'WS6001: --after shows the IR\n  hint: add --target ir, and leave --explain out\n',
    });
  });
});
