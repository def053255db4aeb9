// Whatever a kernel's text says, the compiler gives a program or an error with a place: it never
// breaks. Texts are made by changing good ones word by word.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deviceFunction, WarpstageError } from 'warpstage';
import { randomRuns } from '../differential/tape.ts';
import { compile, functionOf, kernelOf } from './support.ts';

const scale = deviceFunction(
  { out: 'f32[]', by: 'f32', times: 'constant index = 1' },
  ({ out, by, times }) => {
    out[0]! *= by * times;
  },
);

const schema = {
  y: 'f32[]',
  x: 'readonly f32[]',
  h: 'i32[]',
  n: 'index',
  i: 'i32',
  u: 'u32',
  f: 'f32',
  c: 'constant index = 2',
  scale,
} as const;

const text = `
  const block = cuda.thisThreadBlock(), grid = cuda.thisGrid();
  const s = cuda.sharedArray('f32', c * block.size()); const p = cuda.makePipeline(block, cuda.pipelineSharedState('block', c));
  const at = (b) => block.groupIndex().x * block.size() + grid.size() * b;
  const role = block.threadRank() % 2 === 0 ? 'producer' : 'consumer'; let sum = 0, k = 1, view = y.subarray(2);
  const offsets = [0, block.size()], { x: tx, y: ty } = cuda.threadIdx; const [a, b] = [f, i];
  for (let j = 0, m = n; j < m && k > 0; ++j) {
    if (role === 'producer') { p.producerAcquire(); cuda.memcpyAsync(block, s.subarray(offsets[j % 2]), x.subarray(at(j)), 4, p); p.producerCommit(); }
    else if (x[j] > 0.5 || !k) continue;
    switch (j % 3) { case 0: sum += x[j] * 2; case 1: k <<= 1; break; default: sum -= Math.sqrt(f) / 3; }
    do { k = (k + i) | 0; } while (k++ < 10);
    view = view.subarray(1); view[0] = sum ? a : b;
  }
  const pick = (v, w = 3) => { if (v > w) return v; for (;;) { if (w) return w; } };
  scale({ out: y, by: pick(f) }); h[tx] = Math.trunc(n / 2) + Math.floor(i / 3) + ty; cuda.atomicAdd(h, 0, cuda.i32(f));
  [y[0], y[1]] = [y[1], -y[0]]; h[1] = u >>> 3 & 7; console.log('sum', sum, \`k \${k}\`); block.sync(); if (sum !== sum) return; y[3] = i ** 2;
`;

const words = text.match(
  /'[^']*'|`[^`]*`|\d+\.\d+|[\w$]+|=>|\+\+|--|\*\*|<<=|>>>|<=|[=!]==|&&|\|\||[-+]=|[^\s\w]/g,
)!;
const vocabulary = [
  ...new Set([
    ...words,
    'while',
    'function',
    'this',
    'null',
    'new',
    '...',
    '?.',
    '??',
    '&&=',
    'var',
    'label:',
    'delete',
    '1e400',
    '-0',
  ]),
];

const changes = fc.array(
  fc.record({
    at: fc.nat(words.length - 1),
    how: fc.constantFrom('replace', 'insert', 'remove', 'swap'),
    by: fc.constantFrom(...vocabulary),
    from: fc.nat(words.length - 1),
  }),
  { minLength: 1, maxLength: 4 },
);

function changed(list: readonly { at: number; how: string; by: string; from: number }[]): string {
  const result = [...words];
  for (const { at, how, by, from } of list) {
    if (how === 'replace') result[at] = by;
    else if (how === 'insert') result.splice(at, 0, by);
    else if (how === 'remove') result.splice(at, 1);
    else [result[at], result[from]] = [result[from] ?? '', result[at] ?? ''];
  }
  return result.join(' ');
}

test('every text gives a program or an error', () => {
  const parameters = `({ ${Object.keys(schema).join(', ')} }, cuda)`;
  let compiled = 0;
  let refused = 0;
  fc.assert(
    fc.property(changes, (list) => {
      let body: ReturnType<typeof functionOf>;
      try {
        body = functionOf(`${parameters} => { ${changed(list)} }`);
      } catch {
        // No JavaScript: the runtime says so before the compiler sees it.
        return;
      }
      try {
        const { program } = compile(kernelOf(schema, body), {
          indexType: list.length % 2 === 0 ? 'i64' : 'i32',
        });
        structuredClone(program);
        compiled += 1;
      } catch (error) {
        if (!(error instanceof WarpstageError)) throw error;
        refused += 1;
        for (const { code, location } of error.issues) {
          expect(code).toMatch(/^WS10/);
          expect(location?.line).toBeGreaterThan(0);
        }
      }
    }),
    randomRuns(200),
  );
  expect(compiled).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});
