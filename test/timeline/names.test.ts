// What spans call kernels whose functions have no names.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { job, type Kernel, kernel, open, run, type Span } from 'warpstage';

const one = { y: 'i32[]' } as const;

/** The names that the spans of launches have. */
async function namesOf(kernels: readonly Kernel<typeof one>[]): Promise<string[]> {
  await using device = await open('cpu');
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  const y = device.alloc('i32', 4);
  for (const each of kernels) device.defaultStream.launch(each, { grid: 1, block: 4 }, { y });
  await device.synchronize();
  return spans.map(({ name }) => name);
}

test('that of the variable, the property, the field, or what the kernel is part of', async () => {
  const scale = kernel(one, ({ y }) => {
    y[0] = 1;
  });
  const set = {
    shift: kernel(one, ({ y }) => {
      y[0] = 2;
    }),
    'with words': kernel(one, ({ y }) => {
      y[0] = 3;
    }),
  };
  class Kernels {
    field = kernel(one, ({ y }) => {
      y[0] = 4;
    });
  }
  let later: Kernel<typeof one> | null = null;
  later = kernel(one, ({ y }) => {
    y[0] = 5;
  });
  const nested = {
    kernel: kernel(one, ({ y }) => {
      y[0] = 6;
    }),
  };
  const kernels = [scale, set.shift, set['with words'], new Kernels().field, later!, nested.kernel];
  expect(await namesOf(kernels)).toEqual(['scale', 'shift', 'with words', 'field', 'later', 'nested']);
});

test('a name of its own comes first, and where there is none it is a kernel', async () => {
  const ignored = kernel(one, function named({ y }) {
    y[0] = 1;
  });
  const also = kernel(
    one,
    ({ y }) => {
      y[0] = 2;
    },
    { name: 'given' },
  );
  const list = [
    kernel(one, ({ y }) => {
      y[0] = 3;
    }),
  ];
  const make = () =>
    kernel(one, ({ y }) => {
      y[0] = 4;
    });
  const made = make();
  expect(await namesOf([ignored, also, list[0]!, made])).toEqual(['named', 'given', 'kernel', 'kernel']);
});

test('copies of a span, and JSON, have the name', async () => {
  await using device = await open('cpu');
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  const y = device.alloc('i32', 4);
  const copied = kernel(one, ({ y }) => {
    y[0] = 7;
  });
  for (const grid of [1, 2]) device.defaultStream.launch(copied, { grid, block: 4 }, { y });
  await device.synchronize();
  const [first, second] = spans as [Span, Span];
  expect({ ...first, grid: null }).toMatchObject({ name: 'copied', engine: 'compute', grid: null });
  expect(JSON.parse(JSON.stringify(second))).toMatchObject({ name: 'copied', grid: [2, 1, 1] });
  expect(Object.keys(first)[0]).toBe('name');
});

test('the kernel of a job is called as the job is', async () => {
  const affine = job({
    kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = 2 * x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });
  const { spans } = await run(affine, {
    input: new Float32Array(8).fill(1),
    output: new Float32Array(8),
    device: 'cpu',
    trace: true,
  });
  expect(spans.filter(({ engine }) => engine === 'compute').map(({ name }) => name)).toEqual(['affine']);
});

describe('after a tool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-names-'));
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const warpstage = new URL('../../dist/index.js', import.meta.url).href;
  const program = `
    import { kernel, open } from '${warpstage}';
    type Numbers = 'i32[]';
    const brightness = kernel({ y: 'i32[]' as Numbers }, ({ y }) => { y[0] = 1; });
    const device = await open('cpu');
    device.recorder = ({ name }: { name: string }) => console.log(name);
    const y = device.alloc('i32', 4);
    device.defaultStream.launch(brightness, { grid: 1, block: 1 }, { y });
    await device.synchronize();
    await device.close();`;
  test.each([
    ['types taken out', { sourcemap: false, minify: false }],
    ['minified, with a source map', { sourcemap: 'inline', minify: true }],
  ] as const)('%s', (_, options) => {
    const { code } = transformSync(program, {
      loader: 'ts',
      format: 'esm',
      sourcefile: 'names.ts',
      ...options,
    });
    const file = join(folder, `names-${options.minify}.mjs`);
    writeFileSync(file, code);
    expect(execFileSync(process.execPath, [file]).toString().trim()).toBe('brightness');
  });
});
