// NVRTC of a Python wheel: its declarations lie in a library of their own beside it, which it opens by name, where the
// system looks for libraries. A compiler of the tests' own does the same. Needs a C compiler.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const program = `
import { kernel, open } from ${JSON.stringify(pathToFileURL(fileURLToPath(new URL('../../dist/index.js', import.meta.url))).href)};
const device = await open('cuda');
const y = device.alloc('i32', 32);
const fill = kernel({ y: 'i32[]' }, ({ y }, cuda) => { y[cuda.threadIdx.x] = 1; });
try {
  device.defaultStream.launch(fill, { grid: 1, block: 32 }, { y });
  console.log('compiled');
} catch (error) {
  console.log(error.code, error.message);
}
await device.close();
`;

describe.skipIf(!canFake || process.platform !== 'linux')('with a compiler of the tests’ own', () => {
  let fake: FakeCuda;
  let folder: string;
  beforeAll(() => {
    fake = installFakeCuda();
    folder = join(fake.folder, 'python', 'lib', 'python3.12', 'site-packages', 'nvidia', 'cu13', 'lib');
    mkdirSync(folder, { recursive: true });
    const source = fileURLToPath(new URL('../support/fake-cuda.c', import.meta.url));
    const shared = ['-w', '-shared', '-fPIC', '-pthread'];
    execFileSync('cc', [...shared, '-DWANTS_BUILTINS', '-o', join(folder, 'libnvrtc.so.13'), source]);
  });
  afterAll(() => {
    fake.remove();
  });

  function run(): string {
    const cache = join(fake.folder, 'empty');
    rmSync(cache, { recursive: true, force: true });
    const env = { ...process.env, WARPSTAGE_NVRTC: join(folder, 'libnvrtc.so.13'), WARPSTAGE_CACHE: cache };
    const words = ['--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
    return stdout.trim() || stderr;
  }

  test('compiles though nothing says where the library beside it is', () => {
    const source = join(fake.folder, 'builtins.c');
    writeFileSync(source, 'int builtins;');
    const name = 'libnvrtc-builtins.so.99.0';
    execFileSync('cc', ['-shared', '-fPIC', `-Wl,-soname,${name}`, '-o', join(folder, name), source]);
    expect(run()).toBe('compiled');
    rmSync(join(folder, name));
  });

  test('without it, the error names it and says what to install', () => {
    expect(run()).toMatch(
      /^WS4003 .*libnvrtc\.so\.13\) cannot compile without its library nvrtc-builtins.*hint: install the CUDA toolkit or `pip install nvidia-cuda-nvrtc` again, or set WARPSTAGE_NVRTC to the libnvrtc of a folder that has both$/s,
    );
  });
});
