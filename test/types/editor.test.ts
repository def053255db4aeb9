// What an editor shows while a kernel is written: the element types of arrays, and the names of devices.

import { describe, expect, test } from 'vitest';
import { presets } from '#warpstage/runtime/model/presets.js';
import { shownAt } from '../support/editor.ts';

/** A kernel with a statement, in which `|` marks a place. */
const kernelWith = (statement: string) => `import { deviceFunction, kernel, open } from 'warpstage';
export const put = deviceFunction({ to: 'i16[]', of: 'f64[-1..1]' }, ({ to, of }) => { to[0] = of[-1]!; });
export const k = kernel(
  { y: 'f32[]', x: 'readonly u8[]', w: 'i64[]', v: 'f32x4[]', a: 'f32', put },
  ({ y, x, w, v, a, put }, cuda) => { ${statement} },
);`;

describe('hovering shows the element type', () => {
  test.each([
    ['an array', '|y[0] = 1;', 'KernelArray<"f32">'],
    ['an array that is only read', 'y[0] = |x[0]!;', 'ReadonlyKernelArray<"u8">'],
    ['bigints', '|w[0] = 1n;', 'KernelArray<"i64">'],
    ['vectors', '|v[0] = v[1]!;', 'KernelArray<"f32x4">'],
    ['a part of an array', 'const |part = x.subarray(3);', 'const part: ReadonlyKernelArray<"u8">'],
    ['a shared array', "const |s = cuda.sharedArray('u16', 32);", 'const s: KernelArray<"u16">'],
    ['a local array', "const |s = cuda.localArray('f64', 3);", 'const s: KernelArray<"f64">'],
    ['one of two arrays', 'const |s = a > 0 ? y : y.subarray(1);', 'const s: KernelArray<"f32">'],
  ])('of %s', (_, statement, expected) => {
    expect(shownAt(kernelWith(statement)).hover).toContain(expected);
  });

  test('of what a device function takes', () => {
    const text = kernelWith('');
    expect(shownAt(text.replace('to[0]', '|to[0]')).hover).toContain('KernelArray<"i16">');
    expect(shownAt(text.replace('of[-1]', '|of[-1]')).hover).toContain('ReadonlyKernelArray<"f64">');
  });
});

test('an array offers what kernels can say of it', () => {
  expect(shownAt(kernelWith('y.|')).offered).toEqual(['as', 'length', 'shaped', 'subarray']);
});

test.each([
  ["open('|')"],
  ["run({} as never, { input: [], device: '|' })"],
  ["plan({} as never, { input: [], device: '|' })"],
])('%s offers the devices of every installation', (call) => {
  const { offered } = shownAt(`import { open, plan, run } from 'warpstage';\n${call};`);
  const virtual = Object.keys(presets).map((name) => `model:${name}`);
  expect([...offered].sort()).toEqual(['cpu', 'cpu-native', 'cuda', ...virtual].sort());
});
