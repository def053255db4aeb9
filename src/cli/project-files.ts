// The files of a new project.

import { packageVersion } from '../diagnostics/package-version.ts';
import { npyHeader } from '../formats/npy-header.ts';

const affine = `import { job, kernel } from 'warpstage';

/** y = a*x + b, one element a thread. */
export const axpb = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' }, ({ y, x, a, b }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * x[i]! + b;
});

/** Streams x through the kernel. \`warpstage run affine.ts --help\` shows its settings. */
export const affine = job({
  kernel: axpb,
  inputs: { x: {} },
  outputs: { y: {} },
  settings: { a: 1, b: 0 },
});
`;

const affineTest = `import { expect, test } from 'vitest';
import { run } from 'warpstage';
import { expectClean } from 'warpstage/check';
import { affine, axpb } from './affine.js';

test('gives a*x + b', async () => {
  const { outputs } = await run(affine, { input: Float32Array.of(1, 2, 3), settings: { a: 2, b: 1 } });
  expect(outputs.y).toEqual(Float32Array.of(3, 5, 7));
});

// On every schedule that the checker tries: no race, no access out of range, no misuse.
test('is clean', async () => {
  const n = 100;
  await expectClean(axpb, { grid: 2, block: 64, arguments: { y: { length: n }, x: { length: n }, a: 2, b: 1 } });
});
`;

const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  noEmit: true,
};

/** The files by name. `dependency` is what the project depends on as warpstage. */
export function projectFiles(
  name: string,
  dependency = `^${packageVersion()}`,
): ReadonlyMap<string, string | Uint8Array> {
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  return new Map<string, string | Uint8Array>([
    [
      'package.json',
      json({
        name,
        version: '0.0.0',
        private: true,
        type: 'module',
        scripts: {
          start: 'warpstage run affine.ts data.npy out.npy --set a=2 --set b=1',
          test: 'tsc && vitest run',
          check: 'warpstage check affine.ts',
        },
        dependencies: { warpstage: dependency },
        devDependencies: { typescript: '~6.0.2', vitest: '^4.1.0' },
      }),
    ],
    ['tsconfig.json', json({ compilerOptions, include: ['*.ts'] })],
    ['.gitignore', 'node_modules/\nout.npy\n'],
    ['affine.ts', affine],
    ['affine.test.ts', affineTest],
    ['data.npy', data()],
  ]);
}

/** A wave of 4096 values. */
function data(): Uint8Array {
  const values = Float32Array.from({ length: 4096 }, (_, i) => Math.sin(i / 64));
  const header = npyHeader('f32', [values.length]);
  const bytes = new Uint8Array(header.length + values.byteLength);
  bytes.set(header);
  bytes.set(new Uint8Array(values.buffer), header.length);
  return bytes;
}
