// What lanes do together compiles to machine code for every architecture that is supported.
// Needs nvcc; where it is absent the tests say that they skip.

import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { testCompiling } from '../support/nvcc.ts';

const specialisation = {
  block: [64, 1, 1],
  indexType: 'i32',
  cooperative: true,
  constants: {},
  functions: {},
} as const;

const everything = kernel(
  { i: 'i32[]', u: 'u32[]', f: 'f32[]', d: 'f64[]', mask: 'u32' },
  ({ i, u, f, d, mask }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 8);
    cuda.syncwarp();
    cuda.syncwarp(mask);
    const active = cuda.activemask();
    i[t] = cuda.shflSync(mask, i[t]!, 3) + cuda.shflUpSync(-1, i[t]!, t) + cuda.i32(cuda.shflSync(-1, t, 1));
    u[t] = cuda.shflDownSync(active, u[t]!, 1, 8) + tile.shfl(u[t]!, 2) + tile.ballot(t > 3);
    f[t] = cuda.shflXorSync(mask, f[t]!, 3) + tile.shflUp(f[t]!, 1) + cuda.cg.reduce(tile, f[t]!, 'plus');
    d[t] = tile.shflDown(d[t]!, 1) + tile.shflXor(d[t]!, 4) + cuda.cg.inclusiveScan(tile, d[t]!, 'less');
    u[t]! += cuda.ballotSync(mask, t > 2) + cuda.matchAnySync(mask, f[t]!) + cuda.matchAllSync(mask, d[t]!);
    u[t]! += tile.matchAny(t) + tile.matchAll(i[t]!);
    if (cuda.anySync(mask, t > 7) && cuda.allSync(mask, t > 9) && tile.any(t > 1) && tile.all(t > 1))
      i[t] = 0;
    i[t]! +=
      cuda.reduceAddSync(mask, i[t]!) + cuda.reduceMinSync(mask, i[t]!) + cuda.reduceMaxSync(-1, i[t]!);
    u[t]! +=
      cuda.reduceAndSync(mask, u[t]!) + cuda.reduceOrSync(mask, u[t]!) + cuda.reduceXorSync(mask, u[t]!);
    i[t]! += cuda.i32(cuda.reduceAddSync(mask, t));
    i[t]! += cuda.popc(i[t]!) + cuda.ffs(i[t]!) + cuda.clz(u[t]!) + cuda.laneId + cuda.warpSize;
    u[t]! += cuda.brev(u[t]!);
    cuda.shflSync(mask, t, 0);
  },
);

const wide = kernel({ x: 'u64[]', y: 'i64[]' }, ({ x, y }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  x[t] = cuda.brev(x[t]!) + cuda.u64(cuda.popc(x[t]!) + cuda.clz(x[t]!));
  y[t] = cuda.i64(cuda.ffs(y[t]!)) + cuda.shflXorSync(-1, y[t]!, 1);
  x[t]! += cuda.u64(cuda.matchAnySync(-1, y[t]!)) + cuda.reduceMaxSync(-1, x[t]!);
});

const wholeGrid = kernel({ i: 'i32[]' }, ({ i }, cuda) => {
  const grid = cuda.thisGrid();
  i[grid.threadRank()] = grid.isValid() ? 1 : 0;
  grid.sync();
  i[grid.threadRank()]! += i[grid.size() - 1 - grid.threadRank()]!;
});

testCompiling('exchanges of lanes compile', (architecture) =>
  (['i32', 'i64'] as const).flatMap((indexType) =>
    [everything, wide, wholeGrid].map((one) =>
      cudaText(specialise(one as Kernel, { ...specialisation, indexType }).program, architecture),
    ),
  ),
);

test('a full mask is a literal, and a reduction one instruction of sm_80', () => {
  const { program } = specialise(everything, specialisation);
  const text = cudaText(program, 90);
  expect(text).toContain('__shfl_up_sync(ws_tile_mask<32>(ws_thread_rank), ');
  expect(text).toContain('ws_apart(mask_');
  expect(text).toContain('__reduce_add_sync(lanes, value)');
});
