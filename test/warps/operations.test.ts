// What the lanes of a warp do together: each intrinsic against what JavaScript says of it, as
// regions and as state machines.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { sourceLane } from '#warpstage/targets/lanes.js';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const values = (length: number, of: (i: number) => number) => Array.from({ length }, (_, i) => of(i));
const data = Int32Array.from({ length: 64 }, (_, i) => ((i * 37) % 23) - 9);
const launch = (args: object = {}) => ({
  grid: 1,
  block: 64,
  arguments: { out: new Int32Array(64), x: data, ...args },
});

describe('shuffles', () => {
  test('shflSync gives the value of a lane, modulo the width', () => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.shflSync(0xffffffff, x[t]!, t * 7 + 3);
    });
    expect(outputOf(k, launch(), 'regions')).toEqual(
      values(64, (i) => data[(i & ~31) | ((i * 7 + 3) & 31)]!),
    );
  });

  test.each([2, 4, 8, 16, 32])('with a width of %i', (width) => {
    const k = kernel(
      { out: 'i32[]', x: 'readonly i32[]', width: 'constant index' },
      ({ out, x, width }, cuda) => {
        const t = cuda.threadIdx.x;
        const v = x[t]!;
        out[t] =
          cuda.shflSync(0xffffffff, v, 5, width) +
          100 * cuda.shflUpSync(0xffffffff, v, 3, width) +
          10000 * cuda.shflDownSync(0xffffffff, v, 3, width) +
          1000000 * cuda.shflXorSync(0xffffffff, v, 6, width);
      },
    );
    const at = (lane: number, source: number) => data[(lane & ~31) | (source & 31)]!;
    const expected = values(64, (i) => {
      const lane = i & 31;
      const first = lane & ~(width - 1);
      const last = first + width - 1;
      const up = lane - 3 >= first ? lane - 3 : lane;
      const down = lane + 3 <= last ? lane + 3 : lane;
      const xor = (lane ^ 6) <= last ? lane ^ 6 : lane;
      const sum =
        at(i, first + (5 & (width - 1))) + 100 * at(i, up) + 10000 * at(i, down) + 1000000 * at(i, xor);
      return sum | 0;
    });
    expect(outputOf(k, launch({ width }), 'regions')).toEqual(expected);
  });

  test('with a width that each lane takes from memory, at run time', () => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]', w: 'readonly i32[]' }, ({ out, x, w }, cuda) => {
      const t = cuda.threadIdx.x;
      const v = x[t]!;
      const width = w[t]!;
      out[t] = cuda.shflSync(0xffffffff, v, t * 7 + 3, width);
      out[64 + t] = cuda.shflUpSync(0xffffffff, v, (t % 5) + 32, width);
      out[128 + t] = cuda.shflDownSync(0xffffffff, v, t % 6, width);
      out[192 + t] = cuda.shflXorSync(0xffffffff, v, t % 31, width);
    });
    const w = Int32Array.from({ length: 64 }, (_, i) => 1 << ((i * 5 + (i >> 3)) % 6));
    const source = (operator: Parameters<typeof sourceLane>[0], operand: (i: number) => number) =>
      values(64, (i) => data[(i & ~31) | sourceLane(operator, i & 31, operand(i), w[i]!)]!);
    expect(outputOf(k, launch({ out: new Int32Array(256), w }), 'regions')).toEqual([
      ...source('shfl', (i) => i * 7 + 3),
      ...source('shflUp', (i) => (i % 5) + 32),
      ...source('shflDown', (i) => i % 6),
      ...source('shflXor', (i) => i % 31),
    ]);
  });

  test.each([0, 3, 48, 64, -4, -2147483648])('a width of %i at run time is a failed assertion', (width) => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]', width: 'i32' }, ({ out, x, width }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.shflUpSync(0xffffffff, x[t]!, 1, width);
    });
    const { fault } = outcomeOf(k, launch({ width }));
    expect(fault).toMatchObject({ kind: 'misuse' });
    expect(JSON.stringify(fault)).toContain(`power of two up to 32, and is ${width}`);
  });

  test('in a loop with a distance that varies', () => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      let sum = x[t]!;
      for (let delta = 16; delta > 0; delta >>= 1) sum += cuda.shflDownSync(0xffffffff, sum, delta);
      if (cuda.laneId === 0) out[Math.trunc(t / cuda.warpSize)] = sum;
    });
    const sums = [0, 32].map((first) => data.slice(first, first + 32).reduce((a, b) => a + b));
    expect(outputOf(k, launch(), 'regions').slice(0, 2)).toEqual(sums);
  });

  test.each(['f32', 'f64', 'u32'] as const)('of %s', (type) => {
    const texts = { f32: 'f32[]', f64: 'f64[]', u32: 'u32[]' } as const;
    const k = kernel({ out: texts[type], x: `readonly ${texts[type]}` }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.shflXorSync(-1, x[t]!, 1);
    });
    const arrays = {
      f32: () => new Float32Array(64),
      f64: () => new Float64Array(64),
      u32: () => new Uint32Array(64),
    };
    const x = arrays[type]();
    for (let i = 0; i < 64; i += 1) x[i] = i * 1.25;
    expect(outputOf(k, launch({ out: arrays[type](), x }), 'regions')).toEqual(values(64, (i) => x[i ^ 1]!));
  });

  test('of 64-bit integers, which also reduce, scan and match', () => {
    const k = kernel({ out: 'i64[]', x: 'readonly i64[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 4);
      const v = x[t]!;
      out[t] = cuda.shflXorSync(0xffffffff, v, 1);
      out[64 + t] = cuda.reduceMaxSync(0xffffffff, v);
      out[128 + t] = cuda.cg.exclusiveScan(tile, v, 'less');
      out[192 + t] = cuda.i64(cuda.matchAnySync(0xffffffff, v >> cuda.i64(34)));
    });
    const x = BigInt64Array.from({ length: 64 }, (_, i) => BigInt(((i * 37) % 23) - 9) * 2n ** 33n);
    const given = launch({ out: new BigInt64Array(256), x });
    const of = (result: (i: number) => bigint) => Array.from({ length: 64 }, (_, i) => result(i));
    const warp = (i: number) => Array.from(x.slice(i & 32, (i & 32) + 32));
    const least = (values: readonly bigint[]) =>
      [...values, 2n ** 63n - 1n].sort((a, b) => (a < b ? -1 : 1))[0]!;
    expect(outputOf(k, given, 'regions')).toEqual([
      ...of((i) => x[i ^ 1]!),
      ...of((i) => -least(warp(i).map((value) => -value))),
      ...of((i) => least(Array.from(x.slice(i & ~3, i)))),
      ...of((i) =>
        BigInt(
          warp(i).reduce((bits, value, lane) => bits + (value >> 34n === x[i]! >> 34n ? 2 ** lane : 0), 0),
        ),
      ),
    ]);
    expect(outputOf(k, { ...given, indexType: 'i64' }, 'regions')).toEqual(outputOf(k, given, 'regions'));
  });

  test('of an index and of a condition', () => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      out[t] = cuda.i32(cuda.shflSync(0xffffffff, t, 3)) + cuda.shflSync(0xffffffff, t === 4, 4);
    });
    expect(outputOf(k, launch(), 'regions')).toEqual(values(64, (i) => (i < 32 ? 4 : 35)));
  });
});

describe('votes, matches and reductions', () => {
  const warps = [0, 32];
  const lanesWhere = (first: number, test: (value: number, i: number) => boolean) =>
    values(32, (lane) => (test(data[first + lane]!, first + lane) ? 1 << lane : 0)).reduce(
      (a, b) => a | b,
      0,
    );

  test('ballotSync, anySync and allSync', () => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      const positive = cuda.ballotSync(0xffffffff, x[t]! > 0);
      const any = cuda.anySync(0xffffffff, x[t] === 13);
      const none = cuda.anySync(0xffffffff, x[t]! > 100);
      const every = cuda.allSync(0xffffffff, x[t]! < 100);
      const some = cuda.allSync(0xffffffff, x[t]!);
      out[t] = (positive ^ (any ? 1 : 0) ^ (none ? 2 : 0) ^ (every ? 4 : 0) ^ (some ? 8 : 0)) | 0;
    });
    const expected = warps.flatMap((first) => {
      const part = data.slice(first, first + 32);
      const bits = lanesWhere(first, (value) => value > 0) ^ (part.includes(13) ? 1 : 0) ^ 4;
      return values(32, () => bits ^ (part.includes(0) ? 0 : 8));
    });
    expect(outputOf(k, launch(), 'regions')).toEqual(expected);
  });

  test('matchAnySync and matchAllSync', () => {
    const k = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      const same = cuda.matchAnySync(0xffffffff, x[t]! & 3);
      const every = cuda.matchAllSync(0xffffffff, t >> 5);
      const none = cuda.matchAllSync(0xffffffff, t);
      out[t] = (same ^ (every === 0xffffffff ? 1 : 0) ^ none) | 0;
    });
    const expected = values(64, (i) => lanesWhere(i & 32, (value) => (value & 3) === (data[i]! & 3)) ^ 1);
    expect(outputOf(k, launch(), 'regions')).toEqual(expected);
  });

  test('floats match by their bits: NaN is itself, and 0 is not -0', () => {
    const k = kernel({ out: 'u32[]', x: 'readonly f32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.matchAnySync(0xffffffff, x[t]!);
    });
    const x = Float32Array.from({ length: 64 }, (_, i) => [0, -0, Number.NaN, 1][i & 3]!);
    const expected = values(64, (i) => (0x11111111 << (i & 3)) >>> 0);
    expect(outputOf(k, launch({ out: new Uint32Array(64), x }), 'regions')).toEqual(expected);
  });

  const reductions = {
    reduceAddSync: (a: number, b: number) => (a + b) | 0,
    reduceMinSync: Math.min,
    reduceMaxSync: Math.max,
    reduceAndSync: (a: number, b: number) => a & b,
    reduceOrSync: (a: number, b: number) => a | b,
    reduceXorSync: (a: number, b: number) => a ^ b,
  };

  test('reductions of i32', () => {
    const k = kernel(
      { out: 'i32[]', x: 'readonly i32[]', which: 'constant index' },
      ({ out, x, which }, cuda) => {
        const t = cuda.threadIdx.x;
        const v = x[t]!;
        if (which === 0) out[t] = cuda.reduceAddSync(0xffffffff, v);
        else if (which === 1) out[t] = cuda.reduceMinSync(0xffffffff, v);
        else if (which === 2) out[t] = cuda.reduceMaxSync(0xffffffff, v);
        else if (which === 3) out[t] = cuda.reduceAndSync(0xffffffff, v);
        else if (which === 4) out[t] = cuda.reduceOrSync(0xffffffff, v);
        else out[t] = cuda.reduceXorSync(0xffffffff, v);
      },
    );
    for (const [which, combine] of Object.values(reductions).entries()) {
      const expected = warps.flatMap((first) => {
        const all = data.slice(first, first + 32).reduce((a, b) => combine(a, b));
        return values(32, () => all);
      });
      expect(outputOf(k, launch({ which }), 'regions')).toEqual(expected);
    }
  });

  test('reductions of u32 know no sign', () => {
    const k = kernel({ out: 'u32[]', x: 'readonly u32[]' }, ({ out, x }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.reduceMaxSync(0xffffffff, x[t]!) - cuda.reduceMinSync(0xffffffff, x[t]!);
    });
    const x = Uint32Array.from(data);
    const expected = warps.flatMap((first) => {
      const part = x.slice(first, first + 32);
      return values(32, () => Math.max(...part) - Math.min(...part));
    });
    expect(outputOf(k, launch({ out: new Uint32Array(64), x }), 'regions')).toEqual(expected);
  });
});

describe('tiles', () => {
  test.each([1, 2, 4, 8, 16, 32])('of %i threads', (size) => {
    const k = kernel(
      { out: 'i32[]', x: 'readonly i32[]', size: 'constant index' },
      ({ out, x, size }, cuda) => {
        const tile = cuda.tiledPartition(cuda.thisThreadBlock(), size);
        const t = cuda.threadIdx.x;
        const v = x[t]!;
        let h = tile.shfl(v, 1);
        h = h * 31 + tile.shflUp(v, 1);
        h = h * 31 + tile.shflDown(v, 1);
        h = h * 31 + tile.shflXor(v, size >> 1);
        h = h * 31 + (tile.any(v > 10) ? 1 : 0);
        h = h * 31 + (tile.all(v < 10) ? 1 : 0);
        h = h * 31 + cuda.i32(tile.ballot(v > 0));
        h = h * 31 + cuda.i32(tile.matchAny(v & 3));
        h = h * 31 + cuda.i32(tile.matchAll(v & 0));
        out[t] = h;
      },
    );
    const expected = values(64, (i) => {
      const first = i & ~(size - 1);
      const part = data.slice(first, first + size);
      const rank = i - first;
      const v = data[i]!;
      const bits = (test: (value: number) => boolean) =>
        part.reduce((all, value, lane) => all | (test(value) ? 1 << lane : 0), 0);
      const results = [
        part[1 & (size - 1)]!,
        part[rank >= 1 ? rank - 1 : rank]!,
        part[rank + 1 < size ? rank + 1 : rank]!,
        part[rank ^ (size >> 1)]!,
        part.some((value) => value > 10) ? 1 : 0,
        part.every((value) => value < 10) ? 1 : 0,
        bits((value) => value > 0),
        bits((value) => (value & 3) === (v & 3)),
        bits(() => true),
      ];
      return results.reduce((h, value) => (Math.imul(h, 31) + value) | 0, 0);
    });
    expect(outputOf(k, launch({ size }), 'regions')).toEqual(expected);
  });

  test('a tile of more than a warp has no shuffles', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const tile = cuda.tiledPartition(cuda.thisThreadBlock(), 64);
      out[0] = tile.shfl(1, 0);
    });
    expect(() =>
      outputOf(k, { grid: 1, block: 64, arguments: { out: new Int32Array(1) } }, 'regions'),
    ).toThrow('tile.shfl needs a tile of at most 32 threads, and this is a tile of 64 threads');
  });
});

test('the bits of an integer', () => {
  const k = kernel({ out: 'u32[]', x: 'readonly u32[]' }, ({ out, x }, cuda) => {
    const t = cuda.threadIdx.x;
    const v = x[t]!;
    const counts = cuda.popc(v) + 100 * cuda.clz(v) + 10000 * cuda.ffs(v);
    out[2 * t] = cuda.u32(counts);
    out[2 * t + 1] = cuda.brev(v);
  });
  const x = Uint32Array.from({ length: 32 }, (_, i) => (i === 0 ? 0 : Math.imul(i, 0x9e3779b1) << (i % 7)));
  const expected = Array.from(x).flatMap((v) => {
    const text = v.toString(2).padStart(32, '0');
    const ones = text.replaceAll('0', '').length;
    const lowest = v === 0 ? 0 : 32 - text.lastIndexOf('1');
    const reversed = Number.parseInt([...text].reverse().join(''), 2);
    return [ones + 100 * Math.clz32(v) + 10000 * lowest, reversed];
  });
  const args = { out: new Uint32Array(64), x };
  expect(outputOf(k, { grid: 1, block: 32, arguments: args }, 'regions')).toEqual(expected);
});

test.each(['u64', 'i64'] as const)('the 64 bits of an %s', (element) => {
  const k = kernel(
    { out: 'u64[]', x: `readonly ${element}[]`, known: 'constant index' },
    ({ out, x, known }, cuda) => {
      const t = cuda.threadIdx.x;
      const v = x[t]!;
      out[2 * t] = cuda.u64(cuda.popc(v) + 100 * cuda.clz(v) + 10000 * cuda.ffs(v));
      out[2 * t + 1] = cuda.brev(v);
      if (t === 31) {
        out[62] = cuda.u64(cuda.popc(-1n) + 100 * cuda.clz(1n << 40n) + 10000 * cuda.ffs(1n << 40n));
        out[63] = cuda.brev(0xf0n) + cuda.u64(known);
      }
    },
  );
  const values = Array.from({ length: 32 }, (_, i) => (BigInt(i) * 0x9e3779b97f4a7c15n) << BigInt(2 * i));
  const x = element === 'u64' ? BigUint64Array.from(values) : BigInt64Array.from(values);
  const expected = Array.from(x).flatMap((v) => {
    const text = BigInt.asUintN(64, v).toString(2).padStart(64, '0');
    const ones = text.replaceAll('0', '').length;
    const leading = text.includes('1') ? text.indexOf('1') : 64;
    const lowest = v === 0n ? 0 : 64 - text.lastIndexOf('1');
    return [BigInt(ones + 100 * leading + 10000 * lowest), BigInt(`0b${[...text].reverse().join('')}`)];
  });
  expected.splice(62, 2, BigInt(64 + 100 * 23 + 10000 * 41), (0x0fn << 56n) + 3n);
  const args = { out: new BigUint64Array(64), x, known: 3 };
  expect(outputOf(k, { grid: 1, block: 32, arguments: args }, 'regions')).toEqual(expected);
});

test('bits of what is known are known', () => {
  const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    out[0] = cuda.popc(0xff) + cuda.clz(1) * 100 + cuda.ffs(8) * 10000;
    out[1] = cuda.brev(0x80000000) | 0;
    out[2] = cuda.popc(-1);
  });
  const args = { out: new Int32Array(3) };
  expect(outputOf(k, { grid: 1, block: 1, arguments: args }, 'regions')).toEqual([43108, 1, 32]);
});
