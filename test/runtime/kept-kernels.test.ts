// Kernels that were compiled before come from the disk: only where all that they were made from is the same, and only what this
// package wrote there.

import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { deviceFunction, job, type Kernel, kernel, map, run, struct } from 'warpstage';
import { type Specialisation, specialise } from '#warpstage/compiler/specialise.js';
import { KeptKernels } from '#warpstage/runtime/cpu/kept-kernels.js';
import { compileToBytes } from '#warpstage/targets/wasm/compile.js';
import { temporaryDirectory } from '../overlap/support.ts';

const plain: Specialisation = { block: [256, 1, 1], indexType: 'i32', constants: {}, functions: {} };
const square = deviceFunction({ v: 'f32' }, ({ v }) => v * v);
const double = deviceFunction({ v: 'f32' }, ({ v }) => v + v);

function keep(kept: KeptKernels, one: Kernel, how: Specialisation = plain): void {
  const specialised = specialise(one, how);
  const { executable, bytes } = compileToBytes(specialised.program);
  kept.keep(one, how, { specialised, executable }, bytes);
}

/** A kernel that has everything that another can differ in. */
function base(change: {
  schema?: object;
  options?: object;
  results?: 'f32' | 'f64';
  body?: (data: never, cuda: never) => void;
}): Kernel {
  const rows = Object.freeze({ ...square, ...(change.results && { results: change.results }) });
  return kernel(
    { y: 'f32[]', a: 'f32', c: 'constant f32 = 1', rows, ...change.schema } as never,
    (change.body ??
      (({ y, a, c, rows }: never, cuda: never) => {
        const i = (cuda as { threadIdx: { x: number } }).threadIdx.x;
        (y as number[])[i] = (rows as (of: object) => number)({ v: (a as number) * (c as number) });
      })) as never,
    { name: 'base', fma: true, ...change.options },
  ) as unknown as Kernel;
}

/** The same text as that of `base`, but for one thing. */
const others: Readonly<Record<string, [Kernel, Specialisation]>> = {
  'another text': [
    base({
      body: ({ y, a, c, rows }: never, cuda: never) => {
        const i = (cuda as { threadIdx: { x: number } }).threadIdx.x;
        (y as number[])[i] = (rows as (of: object) => number)({ v: (a as number) + (c as number) });
      },
    }),
    plain,
  ],
  'another type': [base({ schema: { a: 'f64' } }), plain],
  'another default': [base({ schema: { c: 'constant f32 = 2' } }), plain],
  'one more entry': [base({ schema: { z: 'i32' } }), plain],
  'another function': [base({ schema: { rows: double } }), plain],
  'a function of another schema': [
    base({ schema: { rows: deviceFunction({ v: 'f64' }, square.body as never) } }),
    plain,
  ],
  'a function of other results': [base({ results: 'f64' }), plain],
  'another name': [base({ options: { name: 'other' } }), plain],
  'no fused products': [base({ options: { fma: false } }), plain],
  'other bounds': [base({ options: { launchBounds: { maxThreads: 256 } } }), plain],
  'another block': [base({}), { ...plain, block: [128, 2, 1] }],
  'another index': [base({}), { ...plain, indexType: 'i64' }],
  'a cooperative launch': [base({}), { ...plain, cooperative: true }],
  'a flat grid': [base({}), { ...plain, flatGrid: true }],
  'another constant': [base({}), { ...plain, constants: { c: 3 } }],
  'a negative zero': [base({}), { ...plain, constants: { c: -0 } }],
  'a zero': [base({}), { ...plain, constants: { c: 0 } }],
  'no number': [base({}), { ...plain, constants: { c: Number.NaN } }],
  'a function given at the launch': [base({}), { ...plain, functions: { rows: double } }],
};

test('a kernel is found for what it was compiled for, and for nothing else', () => {
  const kept = new KeptKernels([temporaryDirectory()]);
  const all: [string, Kernel, Specialisation][] = [
    ['itself', base({}), plain],
    ...Object.entries(others).map(([name, [one, how]]): [string, Kernel, Specialisation] => [name, one, how]),
  ];
  for (const [position, [name, one, how]] of all.entries()) {
    expect(kept.find(one, how), name).toBeNull();
    keep(kept, one, how);
    for (const [name, one, how] of all.slice(0, position + 1)) {
      const found = kept.find(one, how);
      const anew = specialise(one, how);
      expect(found?.specialised.program, name).toEqual(anew.program);
      expect(found?.specialised.sources, name).toEqual(anew.sources);
      const { module: _, ...made } = compileToBytes(anew.program).executable;
      expect(found?.executable, name).toMatchObject(made);
    }
  }
});

test('what another build, parser or engine has made is not found', () => {
  const folder = temporaryDirectory();
  keep(new KeptKernels([folder], 'one build'), base({}));
  expect(new KeptKernels([folder], 'one build').find(base({}), plain)).not.toBeNull();
  expect(new KeptKernels([folder], 'another build').find(base({}), plain)).toBeNull();
  expect(new KeptKernels([folder]).find(base({}), plain)).toBeNull();
});

test('nothing is found or kept where the engine does not tell its version', () => {
  const folder = temporaryDirectory();
  keep(new KeptKernels([folder], null), base({}));
  expect(readdirSync(folder)).toEqual([]);
  keep(new KeptKernels([folder]), base({}));
  expect(new KeptKernels([folder], null).find(base({}), plain)).toBeNull();
});

test('an entry that was damaged, cut off or renamed is not found', () => {
  const folder = temporaryDirectory();
  const kept = new KeptKernels([folder]);
  keep(kept, base({}));
  const [entry] = readdirSync(folder);
  const path = join(folder, entry!);
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at += 97) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    expect(kept.find(base({}), plain), `byte ${at}`).toBeNull();
    writeFileSync(path, whole.subarray(0, at));
    expect(kept.find(base({}), plain), `${at} bytes`).toBeNull();
  }
  writeFileSync(path, whole);
  expect(kept.find(base({}), plain)).not.toBeNull();
  const [other, how] = others['another block']!;
  keep(kept, other, how);
  renameSync(join(folder, readdirSync(folder).find((name) => name !== entry)!), path);
  expect(kept.find(base({}), plain)).toBeNull();
});

test('nothing is read or written where others can write', () => {
  const folder = join(temporaryDirectory(), 'kernels');
  mkdirSync(folder);
  keep(new KeptKernels([folder]), base({}));
  chmodSync(folder, 0o777);
  expect(new KeptKernels([folder]).find(base({}), plain)).toBeNull();
});

test('kernels of records, and those with two functions of one text, are compiled each time', () => {
  const folder = temporaryDirectory();
  const kept = new KeptKernels([folder]);
  const point = struct({ x: 'f32', y: 'f32' });
  const ofRecords = kernel({ p: point.array, y: 'f32[]' }, ({ p, y }) => {
    y[0] = p[0]!.x;
  });
  keep(kept, ofRecords as unknown as Kernel);
  const again = () => deviceFunction({ v: 'f32' }, ({ v }) => v * 3);
  const twice = kernel({ y: 'f32[]', f: again(), g: again() }, ({ y, f, g }) => {
    y[0] = f({ v: 1 }) + g({ v: 2 });
  });
  keep(kept, twice as unknown as Kernel);
  expect(readdirSync(folder)).toEqual([]);
});

/** Runs over a file that is long enough for pieces; tells whether the kernel was kept. */
async function overFile<T>(cache: string, go: () => Promise<T>): Promise<{ kept: boolean; result: T }> {
  vi.stubEnv('WARPSTAGE_CACHE', cache);
  const found = vi.spyOn(KeptKernels.prototype, 'find');
  try {
    const result = await go();
    expect(found).toHaveBeenCalled();
    return { kept: found.mock.results[0]!.value !== null, result };
  } finally {
    found.mockRestore();
    vi.unstubAllEnvs();
  }
}

test('a job runs by what was kept, with the same bytes, and another kernel is compiled', async () => {
  const directory = temporaryDirectory();
  const [input, output, cache] = ['x.f32', 'y.f32', 'cache'].map((name) => join(directory, name));
  const x = Float32Array.from({ length: 3_000_017 }, (_, i) => (i % 4093) - 7);
  writeFileSync(input!, x);
  const by = (factor: number) =>
    factor === 2
      ? map({ y: 'f32', x: 'f32', b: 'constant f32' }, ({ x, b }) => x * 2 + b)
      : map({ y: 'f32', x: 'f32', b: 'constant f32' }, ({ x, b }) => x * 3 + b);
  for (const [factor, b, wasKept] of [
    [2, 1, false],
    [2, 1, true],
    [2, 5, false],
    [3, 1, false],
    [2, 1, true],
  ] as const) {
    const { kept } = await overFile(cache!, () =>
      run(by(factor), { input: input!, output: output!, settings: { b } }),
    );
    expect(kept).toBe(wasKept);
    const y = new Float32Array(readFileSync(output!).buffer);
    expect(y.every((value, i) => value === x[i]! * factor + b)).toBe(true);
  }
});

const columns = { y: 'f32[]', x: 'readonly f32[]' } as const;
// Two kernels of one text, which stand in two lines.
const failing = [
  kernel(
    columns,
    ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i] === 9 ? x[i + y.length]! : 1;
    },
    { name: 'failing' },
  ),
  kernel(
    columns,
    ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i] === 9 ? x[i + y.length]! : 1;
    },
    { name: 'failing' },
  ),
];

test('a fault has the same words, at the line of the function at hand', async () => {
  const directory = temporaryDirectory();
  const [input, output, cache] = ['x.f32', 'y.f32', 'cache'].map((name) => join(directory, name));
  writeFileSync(input!, new Float32Array(4_000_000).fill(9, 3_000_000, 3_000_001));
  const faultOf = (one: Kernel) =>
    overFile(cache!, () =>
      run(job({ kernel: one, inputs: { x: {} }, outputs: { y: {} } }), {
        input: input!,
        output: output!,
      }).then(
        () => 'nothing',
        (error: Error) => error.message,
      ),
    );
  const told = [];
  for (const one of [failing[0]!, failing[0]!, failing[1]!])
    told.push(await faultOf(one as unknown as Kernel));
  expect(told.map(({ kept }) => kept)).toEqual([false, true, true]);
  const [first, again, next] = told.map(({ result }) => result);
  expect(again).toBe(first);
  const line = (text: string) => Number(/kept-kernels\.test\.ts:(\d+)/.exec(text)![1]);
  const lines = readFileSync(import.meta.filename, 'utf8').split('\n');
  const access = lines.flatMap((text, i) => (text.includes('? x[i + y.length]! : 1;') ? [i + 1] : []));
  expect([line(first!), line(next!)]).toEqual(access.slice(0, 2));
});
