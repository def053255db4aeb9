// What the launch refuses, the editor refuses where TypeScript's types can say it, and what it takes needs no cast.
//
// Each statement stands in a kernel of a strict project. TypeScript says where none is wrong that should be.

import { expect, test } from 'vitest';
import { compileProject } from '../support/compile-project.ts';

const inKernel = (statements: readonly string[], before: string) => `
import { deviceFunction, kernel } from 'warpstage';
export const scale = deviceFunction({ out: 'f32[]', by: 'f32', times: 'constant index = 1' }, ({ out, by, times }) => {
  out[0] = by * times;
});
export const whole = kernel(
  { y: 'f32[]', h: 'i32[]', x: 'readonly f32[]', w: 'i64[]', v: 'f32x4[]', n: 'index', i: 'i32', u: 'u32', f: 'f32', c: 'constant index = 2', scale },
  ({ y, h, x, w, v, n, i, u, f, c, scale }, cuda) => {
    const block = cuda.thisThreadBlock();
    const pipeline = cuda.makePipeline();
    cuda.console = [y, h, x, w, v, n, i, u, f, c, scale, block, pipeline];
${statements.map((statement) => `${before}    { ${statement} }`).join('\n')}
  },
);
`;

const refused = [
  // Element types mixed.
  'cuda.memcpyAsync(block, h, x, 3, pipeline);',
  'let p = y; p = h; p[0] = 1;',
  'scale({ out: h, by: 1 });',
  'w[0] = 1;',
  'y[0] = w[0]!;',
  'y[0] = w[0]! + f;',
  'cuda.atomicAdd(w, 0, 1);',
  'v[0] = 1;',
  'v[0] = cuda.f32x2(1, 2);',
  "x.as('f32x2')[0]!.z = 1;",
  // A width that is no constant's, or a name that there is not.
  "cuda.sharedArray('f31', 3);",
  "cuda.sharedArray('f32x5', 3);",
  "y.as('f33');",
  "cuda.pipelineSharedState('warp', 2);",
  "cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), 'reader');",
  'cuda.tiledPartition(block, 48);',
  'cuda.tiledPartition(block, 0);',
  // A store to what is only read.
  'x[0] = 1;',
  'x[0]! += 1;',
  "x.as('f32x4')[0] = cuda.f32x4(1, 2, 3, 4);",
  'x.subarray(1)[0] = 1;',
  'cuda.memcpyAsync(block, x, y, 3, pipeline);',
  'cuda.atomicAdd(x, 0, 1);',
  'scale({ out: x, by: 1 });',
  // What a device function takes.
  'scale({ out: y });',
  'scale({ out: y, by: 1, more: 2 });',
];

const taken = [
  'y[0] = i + u;',
  'h[0] = u;',
  'cuda.tiledPartition(block, c);',
  'cuda.tiledPartition(block, 2 * c);',
  'cuda.tiledPartition(cuda.tiledPartition(block, 32), 8);',
  'for (let size = 32; size > 1; size >>= 1) cuda.tiledPartition(block, size);',
  'cuda.shflSync(0xffffffff, f, 0, 16);',
  'cuda.shflSync(0xffffffff, f, 0, c);',
  'cuda.shflDownSync(0xffffffff, f, 1);',
  'const q = n > 0 ? y : y.subarray(1); q[0] = x[0]!;',
];

test.each([
  ['what is wrong is refused', refused, '    // @ts-expect-error\n'],
  ['what is right needs no cast', taken, ''],
])('%s', (_, statements, before) => {
  const text = inKernel(statements, before).replace(
    /^ *cuda\.console = .*\n/m,
    '    [h, x, w, v, n, i, u, f, c, scale, pipeline];\n',
  );
  expect(compileProject(text, { noEmit: true, declaration: false }).errors).toEqual([]);
});
