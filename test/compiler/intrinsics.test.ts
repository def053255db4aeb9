// What each kind of intrinsic becomes in the program.

import { describe, expect, test } from 'vitest';
import { deviceFunction } from 'warpstage';
import { printProgram } from '#warpstage/compiler/print.js';
import { compile, kernelOf, runCompiled, statementsOf } from './support.ts';

const schema = { y: 'f32[]', h: 'i32[]', u: 'u32[]', x: 'readonly f32[]', n: 'index', a: 'f32' } as const;
const names = Object.keys(schema).join(', ');
const statements = (text: string, options: Parameters<typeof statementsOf>[2] = {}) =>
  statementsOf(schema, `({ ${names} }, cuda) => { ${text} }`, options).split('\n');

describe('groups', () => {
  test('in a block of one dimension the rank says it all', () => {
    expect(
      statements(
        'const { x: tx, y: ty, z: tz } = cuda.threadIdx; h[0] = tx; h[1] = ty + tz; h[2] = cuda.thisThreadBlock().threadRank(); h[3] = cuda.blockDim.x * cuda.blockDim.y;',
      ),
    ).toEqual(['h[0] = threadRank', 'h[1] = 0', 'h[2] = threadRank', 'h[3] = 64']);
  });

  test('in a block of three, each dimension is its own', () => {
    const block = [4, 2, 8] as const;
    expect(
      statements(
        'const t = cuda.thisThreadBlock().threadIndex(); h[0] = t.x; h[1] = t.y; h[2] = t.z; h[3] = cuda.thisThreadBlock().size(); h[4] = cuda.thisThreadBlock().groupDim().z;',
        { block },
      ),
    ).toEqual(['h[0] = threadIdx.x', 'h[1] = threadIdx.y', 'h[2] = threadIdx.z', 'h[3] = 64', 'h[4] = 8']);
  });

  test('the grid counts blocks x fastest, in the index type', () => {
    expect(
      statements(
        'const grid = cuda.thisGrid(); u[0] = grid.threadRank(); u[1] = grid.size(); u[2] = grid.numBlocks(); u[3] = grid.dimBlocks().y; u[4] = grid.blockRank();',
        { indexType: 'i64' },
      ),
    ).toEqual([
      'u[0n] = u32(((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * 64n + threadRank)',
      'u[1n] = u32(gridDim.z * gridDim.y * gridDim.x * 64n)',
      'u[2n] = u32(gridDim.z * gridDim.y * gridDim.x)',
      'u[3n] = u32(gridDim.y)',
      'u[4n] = u32((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x)',
    ]);
  });

  test('tiles, and tiles of tiles', () => {
    expect(
      statements(
        'const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 16), quad = cuda.tiledPartition(tile, 4); h[0] = tile.threadRank(); h[1] = tile.metaGroupRank(); h[2] = tile.metaGroupSize(); h[3] = quad.threadRank(); h[4] = quad.metaGroupRank(); h[5] = quad.metaGroupSize() * 10 + quad.size(); tile.sync(); quad.sync();',
      ),
    ).toEqual([
      'h[0] = threadRank & 15',
      'h[1] = threadRank >> 4',
      'h[2] = 4',
      'h[3] = threadRank & 3',
      'h[4] = threadRank >> 2 & 3',
      'h[5] = 44',
      'sync(tile(16))',
      'sync(tile(4))',
    ]);
  });

  test('syncs', () => {
    expect(
      statements(
        'cuda.syncthreads(); cuda.thisThreadBlock().sync(); cuda.syncwarp(); cuda.thisThread().sync(); h[0] = cuda.thisThread().threadRank() + cuda.thisThread().size();',
      ),
    ).toEqual(['sync(block)', 'sync(block)', 'sync(tile(32))', 'h[0] = 1']);
  });
});

describe('arrays', () => {
  test('a shared array may be sized by constants, scalars and the grid', () => {
    const text = printProgram(
      compile(
        kernelOf(
          schema,
          `({ ${names} }, cuda) => { const per = n * 2, block = cuda.thisThreadBlock(); const size = Math.max(per, cuda.gridDim.x) + block.size(); const tile = cuda.sharedArray('f32', size); tile[0] = tile.length; }`,
        ),
      ).program,
    );
    expect(text).toContain('shared tile: f32[max(n * 2, gridDim.x) + 64]');
    expect(text).toContain('tile[0] = f32(tile.length)');
  });

  test('a local array is zero wherever it is declared', () => {
    const local = kernelOf(
      schema,
      `({ ${names} }, cuda) => { for (let k = 0; k < 3; k++) { const few = cuda.localArray('f32', 3), many = cuda.localArray('i32', 40); y[k] = few[1] + many[39]; few[1] = 5; many[39] = 7; } }`,
    );
    const y = Float32Array.of(9, 9, 9);
    const others = { h: new Int32Array(1), u: new Uint32Array(1), x: new Float32Array(1), n: 1, a: 1 };
    runCompiled(local, { arguments: { y, ...others } });
    expect(y).toEqual(Float32Array.of(0, 0, 0));
  });

  test('views add their offsets', () => {
    expect(
      statements(
        'const v = y.subarray(n), w = v.subarray(3); w[2] = v.length; y[0] = y.subarray(1, n).length;',
      ),
    ).toEqual(['w = n + 3', 'y[w + 2] = f32(max(y.length - n, 0))', 'y[0] = f32(max(n - 1, 0))']);
  });
});

describe('copies', () => {
  const setUp =
    "const block = cuda.thisThreadBlock(), s = cuda.sharedArray('f32', 64), p = cuda.makePipeline();";
  test.each([
    [
      'of a block',
      'cuda.memcpyAsync(block, s, x.subarray(n), 64, p);',
      'memcpyAsync(block, s.subarray(0), x.subarray(n), 64, align 4, p)',
    ],
    [
      'of a tile',
      'cuda.memcpyAsync(cuda.tiledPartition(block, 8), s, x, 8, p);',
      'memcpyAsync(tile(8), s.subarray(0), x.subarray(0), 8, align 4, p)',
    ],
    [
      'of a thread',
      'cuda.memcpyAsync(cuda.thisThread(), s, x, 1, p);',
      'memcpyAsync(thread, s.subarray(0), x.subarray(0), 1, align 4, p)',
    ],
    [
      'without a group',
      'cuda.memcpyAsync(s, x, 1, p);',
      'memcpyAsync(thread, s.subarray(0), x.subarray(0), 1, align 4, p)',
    ],
    [
      'with a promise',
      'cuda.memcpyAsync(block, s, x, cuda.alignedSize(16, n), p);',
      'memcpyAsync(block, s.subarray(0), x.subarray(0), n, align 16, p)',
    ],
  ])('%s', (_name, text, expected) => {
    expect(statements(`${setUp} ${text}`).at(-1)).toBe(expected);
  });
});

describe('pipelines', () => {
  const made = (text: string) => {
    const program = compile(
      kernelOf(schema, `({ ${names} }, cuda) => { const block = cuda.thisThreadBlock(); ${text} }`),
    ).program;
    const lines = printProgram(program).split('\n');
    return [
      ...lines.filter((line) => line.startsWith('pipeline ')),
      ...lines.filter((line) => line.includes('.makePipeline')),
    ];
  };
  test.each([
    ['const p = cuda.makePipeline();', ['pipeline p: thread scope, group thread', 'p.makePipeline()']],
    [
      "const p = cuda.makePipeline(block, cuda.pipelineSharedState('block', 3));",
      ['pipeline p: block scope, 3 stages, unified, group block', 'p.makePipeline()'],
    ],
    [
      "const p = cuda.makePipeline(cuda.tiledPartition(block, 8), cuda.pipelineSharedState('block', 1));",
      ['pipeline p: block scope, 1 stages, unified, group tile(8)', 'p.makePipeline()'],
    ],
    [
      "const p = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), 'consumer');",
      ['pipeline p: block scope, 2 stages, role, group block', 'p.makePipeline(producers: false)'],
    ],
    [
      "const p = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), n > 2 ? 'producer' : 'consumer');",
      [
        'pipeline p: block scope, 2 stages, role, group block',
        'p.makePipeline(producers: (n > 2 ? 0 : 1) == 0)',
      ],
    ],
    [
      "const p = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), n);",
      ['pipeline p: block scope, 2 stages, count, group block', 'p.makePipeline(producers: n)'],
    ],
  ])('%s', (text, expected) => {
    expect(made(text)).toEqual(expected);
  });

  test('members, with and without the result of quit', () => {
    expect(
      statements(
        'const p = cuda.makePipeline(); p.producerAcquire(); p.producerCommit(); p.consumerWait(); p.consumerRelease(); const last = p.quit(); if (last) p.quit();',
      ),
    ).toEqual([
      'p.makePipeline()',
      'p.producerAcquire()',
      'p.producerCommit()',
      'p.consumerWait()',
      'p.consumerRelease()',
      'last = p.quit()',
      'if (last) {',
      '  p.quit()',
      '}',
    ]);
  });
});

describe('atomics', () => {
  test('give what was there, if anybody asks', () => {
    expect(
      statements(
        'cuda.atomicAdd(h, n, 1); const old = cuda.atomicCAS(u.subarray(2), n, 0, 7); u[0] = old; cuda.atomicAdd(y, 0, n); h[0] = cuda.atomicExch(h, 0, n) + 1;',
      ),
    ).toEqual([
      'atomicAdd(h[n], 1)',
      'old = atomicCAS(u[2 + n], 0u, 7u)',
      'u[0] = old',
      'atomicAdd(y[0], f32(n))',
      'old.2 = atomicExch(h[0], n)',
      'h[0] = old.2 + 1',
    ]);
  });
});

test('console.log prints its parts as in JavaScript', () => {
  const one = kernelOf(
    schema,
    `({ ${names} }, cuda) => { console.log('n is', n, \`and a \${a}, \${n > 2}\`, 1.5, -n, 'end'); }`,
  );
  const arrays = {
    y: new Float32Array(1),
    h: new Int32Array(1),
    u: new Uint32Array(1),
    x: new Float32Array(1),
  };
  const lines = runCompiled(one, { arguments: { ...arrays, n: 3, a: 0.25 } });
  expect(lines).toEqual(['n is 3 and a 0.25, true 1.5 -3 end']);
});

describe('device functions', () => {
  const scale = deviceFunction(
    { out: 'f32[]', by: 'f32', times: 'constant index = 2' },
    ({ out, by, times }, cuda) => {
      for (let k = 0; k < times; k++) out[cuda.threadIdx.x]! *= by;
    },
  );
  const twice = deviceFunction({ v: 'f32', with: scale }, ({ v }) => v + v);
  const all = { ...schema, scale, twice };

  test('are inlined, their arguments evaluated once and converted', () => {
    expect(
      statementsOf(all, '({ y, n, scale }, cuda) => { scale({ out: y.subarray(n * 2), by: n + 1 }); }').split(
        '\n',
      ),
    ).toEqual([
      'out = n * 2',
      'by = f32(n + 1)',
      'k = 0',
      'L1: while (k < 2) {',
      '  y[out + threadRank] = y[out + threadRank] * by',
      '} update {',
      '  k = k + 1',
      '}',
    ]);
  });

  test('may be replaced at a launch, and passed on', () => {
    const half = deviceFunction({ v: 'f32' }, ({ v }) => v * 0.5);
    const text = '({ y, a, twice }, cuda) => { y[0] = twice({ v: a }); }';
    expect(statementsOf(all, text)).toBe('y[0] = a + a');
    expect(statementsOf(all, text, { functions: { twice: half } })).toBe('y[0] = a * 0.5f');
  });

  test('constants are literals in them', () => {
    expect(statementsOf(all, '({ y, scale }) => { scale({ out: y, by: 3, times: 1 + 4 }); }')).toContain(
      'while (k < 5)',
    );
  });
});

test('a constant prunes what it rules out', () => {
  const text = '({ y, wide, c }) => { y[0] = wide ? c : -c; if (c > 3 && wide) y[1] = 1; }';
  const one = { y: 'f32[]', wide: 'constant bool = true', c: 'constant f32 = 0.1' } as const;
  expect(statementsOf(one, text)).toBe('y[0] = 0.10000000149011612f');
  expect(statementsOf(one, text, { constants: { c: 4 } })).toBe('y[0] = 4f\ny[1] = 1f');
  expect(statementsOf(one, text, { constants: { wide: false } })).toBe('y[0] = -0.10000000149011612f');
});
