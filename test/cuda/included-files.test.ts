// Code that is kept is known by its text: a text that includes files, which may change, is compiled each time. A driver
// and a compiler of the tests' own stand in. Needs a C compiler.

import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { open as Open } from 'warpstage';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const schema = { y: 'i32[]' } as const;
const kernelText = 'extern "C" __global__ void own(int *y) { y[0] = 1; }';

/** What the language allows between the parts of a directive. */
const gap = fc.constantFrom('', ' ', '\t', '/* of ours */', '/*\n*/ ', '\\\n', ' \\\r\n ', '/**//**/');
const including = fc
  .tuple(
    fc.constantFrom('#', '%:', '??='),
    gap,
    fc.constantFrom('include', 'inc\\\nlude', 'include_next', 'embed', 'import'),
    fc.constantFrom(' "scale.h"', '<scale.h>', ' HEADER', '\\\n"scale.h"'),
  )
  .map((parts) => parts.join(''));
const asking = fc.constantFrom(
  '#if __has_include("scale.h")\n#endif',
  '#if defined(A) && __has_include (<a>)\n#endif',
);
const plain = fc.constantFrom(
  '// include scale.h',
  '#define INCLUDES 1',
  '#pragma unroll',
  'int include;',
  '#if 1\n#endif',
);

describe.skipIf(!canFake)('with a compiler of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
    delete process.env.WARPSTAGE_PTX;
    process.env.WARPSTAGE_NVRTC = fake.path;
  });
  afterAll(() => fake.remove());

  /** How often NVRTC compiles in a process that starts now. */
  async function compiles(source: string, options: readonly string[] = []): Promise<number> {
    vi.resetModules();
    const { open } = (await import('warpstage')) as { open: typeof Open };
    await using device = await open('cuda');
    const before = fake.compiles();
    device.compile(source, { name: 'own', schema, options });
    return fake.compiles() - before;
  }
  const twice = async (source: string, options?: readonly string[]) => [
    await compiles(source, options),
    await compiles(source, options),
  ];

  test('a text that may include a file is compiled each time, any other once', async () => {
    const { open } = (await import('warpstage')) as { open: typeof Open };
    await using device = await open('cuda');
    await fc.assert(
      fc.property(
        fc.oneof(fc.tuple(fc.oneof(including, asking), fc.constant(2)), fc.tuple(plain, fc.constant(1))),
        fc.uuid(),
        ([line, times], unique) => {
          const before = fake.compiles();
          const source = `// ${unique}\n${line}\n${kernelText}`;
          for (let i = 0; i < 2; ++i) device.compile(source, { name: 'own', schema });
          expect(fake.compiles() - before).toBe(times);
        },
      ),
      { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 200) },
    );
  });

  test.each(['--pre-include=scale.h', '-include=scale.h', '--use-pch=a.pch', '-pch'])(
    'so is one with %s',
    async (option) => {
      expect(await twice(`// with ${option}\n${kernelText}`, [option])).toEqual([1, 1]);
    },
  );

  test('folders for files that it does not include change nothing', async () => {
    expect(await twice(`// with folders\n${kernelText}`, ['-I/include', '--include-path=/a'])).toEqual([
      1, 0,
    ]);
  });

  test('PTX that was asked for is of the files as they are now, and runs where there is no NVRTC', async () => {
    process.env.WARPSTAGE_PTX = '75';
    const source = `#include "scale.h"\n${kernelText}`;
    expect(await twice(source)).toEqual([2, 2]);
    const kept = readdirSync(process.env.WARPSTAGE_CACHE!).filter((name) => name.endsWith('75.ptx'));
    expect(kept).toHaveLength(1);
    process.env.WARPSTAGE_NVRTC = '/nowhere/libnvrtc.so';
    process.env.WARPSTAGE_PTX = '';
    expect(await compiles(source)).toBe(0);
    await expect(compiles(`#include "other.h"\n${kernelText}`)).rejects.toThrow('WS4003');
  });

  test('a second target among the options is not taken for the first', async () => {
    const source = `// two targets\n${kernelText}`;
    expect(await compiles(source)).toBe(1);
    expect(await compiles(source, ['--gpu-architecture=sm_80'])).toBe(1);
  });

  test.each([
    ['an empty variable is not one that is missing', { CUDA_HOME: '' }, { CUDA_HOME: undefined }],
    [
      'values do not run into each other',
      { CUDA_PATH: 'a b', CUDA_HOME: 'c' },
      { CUDA_PATH: 'a', CUDA_HOME: 'b c' },
    ],
  ])('which NVRTC it was: %s', async (name, before, after) => {
    const path = fake.path;
    const set = (variables: Record<string, string | undefined>) => {
      for (const [key, value] of Object.entries(variables))
        if (value === undefined) delete process.env[key];
        else process.env[key] = value;
    };
    set(before);
    expect(await compiles(`// ${name}\n${kernelText}`)).toBe(1);
    set(after);
    vi.resetModules();
    const { isCompilerKnown } = await import('#warpstage/runtime/cuda/compiler.js');
    expect(isCompilerKnown()).toBe(false);
    set(before);
    expect(isCompilerKnown()).toBe(true);
    set({ CUDA_PATH: undefined, CUDA_HOME: undefined });
    expect(fake.path).toBe(path);
  });
});
