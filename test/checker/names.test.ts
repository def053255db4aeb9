// What the names in a kernel stand for, as an editor shows it, found from the text alone.

import { expect, test } from 'vitest';
import { namesInKernels } from 'warpstage/editor';

/** The names of a module, as `line name: type`, or `line receiver.name` for members. */
function namesOf(text: string): string[] {
  const names = namesInKernels('/a.ts', (path) => (path === '/a.ts' ? text : undefined));
  return names.map(({ name, start, end, type, receiver }) => {
    expect(text.slice(start, end)).toBe(name);
    const line = text.slice(0, start).split('\n').length;
    return receiver === null ? `${line} ${name}: ${type}` : `${line} ${receiver}.${name}`;
  });
}

const kernelWith = (statements: string) => `import { deviceFunction, kernel } from 'warpstage';
const twice = deviceFunction({ v: 'f32' }, ({ v }) => v * 2);
export const k = kernel({ y: 'f32[]', x: 'readonly u8[]', w: 'i64[]', n: 'index', twice }, ({ y, x, w, n, twice }, cuda) => {
${statements}
});
`;

test.each([
  ['arrays of the launch', 'y[0] = x[0]!;', ['4 y: f32[]', '4 x: readonly u8[]']],
  ['a shared array', "const s = cuda.sharedArray('u16', 32);", ['4 s: shared u16[]']],
  ['an array of two dimensions', "const t = cuda.sharedArray('f32', [4, 5]);", ['4 t: shared f32[4][5]']],
  [
    'what a variable is found to be',
    'let sum = 0; sum += x[0]! * 0.5;',
    ['4 sum: f32', '4 x: readonly u8[]', '4 sum: f32'],
  ],
  ['a group', 'const b = cuda.thisThreadBlock();', ['4 b: ThreadBlock', '4 cuda.thisThreadBlock']],
  ['members of a result', 'y[cuda.thisGrid().threadRank()] = 1;', ['4 cuda.thisGrid', '4 grid.threadRank']],
])('%s', (_, statements, expected) => {
  expect(namesOf(kernelWith(statements))).toEqual(expect.arrayContaining(expected));
});

test('a member that does not exist has a receiver, which says what to offer', () => {
  const found = namesOf(kernelWith('const b = cuda.thisThreadBlock();\nb._;\ny[0] = 1;'));
  expect(found).toEqual(expect.arrayContaining(['5 b: ThreadBlock', '5 block._', '6 y: f32[]']));
});

test('what cannot be parsed has no names', () => {
  expect(namesOf(kernelWith('const = ;'))).toEqual([]);
});
