// Lanes that take part while others do not: masks, branches, loops of different lengths, returns,
// and a last warp with fewer lanes.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf, outputOf } from './support.ts';

sayWithoutGpu();

const values = (length: number, of: (i: number) => number) => Array.from({ length }, (_, i) => of(i));
const out = (length = 64) => ({ out: new Int32Array(length) });

describe('masks', () => {
  // Lanes go through rounds alone before they meet: as many as are late do, and the others none.
  test.each([
    ['the first', 0b1],
    ['the last', 0b1000_0000],
    ['all but the first', 0b1111_1110],
    ['one in the middle', 0b1_0000],
    ['every second', 0b0101_0101],
  ])('lanes wait for those that they name, also where %s comes late', (_, late) => {
    const k = kernel({ out: 'i32[]', late: 'u32' }, ({ out, late }, cuda) => {
      const t = cuda.threadIdx.x;
      let v = 0;
      if ((late >>> t) & 1) {
        for (let round = 0; round < 5; round++) {
          cuda.syncwarp(1 << t);
          v = v + t * t;
        }
      } else v = 5 * t * t;
      out[t] = cuda.shflSync(0xff, v, (t + 3) % 8);
    });
    const expected = values(8, (i) => 5 * ((i + 3) % 8) ** 2);
    const launch = { grid: 1, block: 8, arguments: { out: new Int32Array(8), late } };
    expect(outputOf(k, launch, 'states')).toEqual(expected);
  });

  // Lane 3 meets lanes 0 to 2 first, and then lane 4, which is there before: another mask is another meeting.
  test.each([0, 1, 2, 4])(
    'a lane meets those of one mask and then of another, where lane %i comes late',
    (late) => {
      const k = kernel({ out: 'i32[]', late: 'i32' }, ({ out, late }, cuda) => {
        const t = cuda.threadIdx.x;
        let v = t + 1;
        if (t === late) {
          for (let round = 0; round < 5; round++) {
            cuda.syncwarp(1 << t);
            v = v * 3;
          }
        }
        for (let meeting = 0; meeting < 2; meeting++) {
          const mask = meeting === 0 ? 0b0_1111 : 0b1_1000;
          if ((mask >>> t) & 1) v = v + 10 * cuda.reduceAddSync(mask, v);
        }
        out[t] = v;
      });
      const v = values(5, (i) => (i + 1) * (i === late ? 3 ** 5 : 1));
      const sum = (lanes: readonly number[]) => lanes.reduce((all, lane) => all + v[lane]!, 0);
      const first = 10 * sum([0, 1, 2, 3]);
      for (const lane of [0, 1, 2, 3]) v[lane]! += first;
      const second = 10 * sum([3, 4]);
      for (const lane of [3, 4]) v[lane]! += second;
      const launch = { grid: 1, block: 5, arguments: { out: new Int32Array(5), late } };
      expect(outputOf(k, launch, 'states')).toEqual(v);
    },
  );

  test('the lanes that a ballot names exchange values in a branch', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      const odd = cuda.ballotSync(0xffffffff, t % 2 === 1);
      if (t % 2 === 1) {
        out[t] =
          cuda.reduceAddSync(odd, t) + cuda.shflSync(odd, t, 31) + cuda.popc(cuda.ballotSync(odd, t > 9));
      }
    });
    const expected = values(64, (i) => {
      if (i % 2 === 0) return 0;
      const ranks = values(16, (n) => (i & 32) + 2 * n + 1);
      return ranks.reduce((a, b) => a + b) + (i & 32) + 31 + ranks.filter((rank) => rank > 9).length;
    });
    expect(outputOf(k, { grid: 1, block: 64, arguments: out() }, 'states')).toEqual(expected);
  });

  test('halves of a warp exchange values under masks of their own, at different places', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      let v = t;
      if (cuda.laneId < 16) {
        for (let delta = 8; delta > 0; delta >>= 1) v += cuda.shflXorSync(0x0000ffff, v, delta);
      } else {
        v = cuda.shflSync(0xffff0000, v, 16) + cuda.shflUpSync(0xffff0000, v, 1, 16);
      }
      out[t] = v;
    });
    const expected = values(64, (i) => {
      const first = i & 32;
      if ((i & 31) < 16) return values(16, (n) => first + n).reduce((a, b) => a + b);
      return first + 16 + ((i & 15) === 0 ? i : i - 1);
    });
    expect(outputOf(k, { grid: 1, block: 64, arguments: out() }, 'states')).toEqual(expected);
  });

  test('the same operation meets from both branches, if the mask is the same', () => {
    const k = kernel({ out: 'i32[]', mask: 'u32' }, ({ out, mask }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t % 3 === 0) out[t] = cuda.shflSync(mask, t, t + 1);
      else out[t] = -cuda.shflSync(0xffffffff, t, t + 1);
    });
    const expected = values(64, (i) => ((i & 32) + ((i + 1) & 31)) * (i % 3 === 0 ? 1 : -1) || 0);
    const launch = { grid: 1, block: 64, arguments: { ...out(), mask: 0xffffffff } };
    expect(outputOf(k, launch, 'states')).toEqual(expected);
  });

  test('syncwarp with a mask orders what its lanes wrote', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      const shared = cuda.sharedArray('i32', 64);
      const quarter = (0xff << (cuda.laneId & 24)) >>> 0;
      for (let round = 0; round < 1 + (t >> 3); round++) {
        shared[t] = t + round;
        cuda.syncwarp(quarter);
        out[t]! += shared[t ^ 7]!;
        cuda.syncwarp(quarter);
      }
    });
    const expected = values(64, (i) => {
      const rounds = 1 + (i >> 3);
      return rounds * (i ^ 7) + (rounds * (rounds - 1)) / 2;
    });
    expect(outputOf(k, { grid: 1, block: 64, arguments: out() }, 'states')).toEqual(expected);
  });

  test('activemask names the calling lane, and what is done under it is right', () => {
    const k = kernel({ out: 'i32[]', count: 'i32[]' }, ({ out, count }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t % 3 === 0) {
        const here = cuda.activemask();
        const leader = cuda.ffs(here) - 1;
        let first = 0;
        if (cuda.laneId === leader) first = cuda.atomicAdd(count, 0, cuda.popc(here));
        first = cuda.shflSync(here, first, leader);
        out[first + cuda.popc(here & ((cuda.u32(1) << cuda.laneId) - 1))] = 1;
      }
    });
    const args = { ...out(), count: new Int32Array(1) };
    expect(outputOf(k, { grid: 1, block: 64, arguments: args }, 'states')).toEqual(
      values(64, (i) => (i < 22 ? 1 : 0)),
    );
  });
});

describe('lanes that are not there', () => {
  test('a last warp of fewer lanes', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] =
        cuda.popc(cuda.ballotSync(0xffffffff, true)) +
        100 * cuda.reduceMaxSync(0xffffffff, t) +
        10000 * cuda.shflUpSync(0xffffffff, t, 1) +
        1000000 * (cuda.allSync(0xffffffff, t >= 0) ? 1 : 0) +
        10000000 * cuda.popc(cuda.matchAnySync(0xffffffff, t >> 1));
    });
    const expected = values(40, (i) => {
      const last = i < 32 ? 31 : 39;
      return (i < 32 ? 32 : 8) + 100 * last + 10000 * ((i & 31) === 0 ? i : i - 1) + 1000000 + 20000000;
    });
    expect(outputOf(k, { grid: 2, block: 40, arguments: out(40) }, 'regions')).toEqual(expected);
  });

  test('lanes that returned are not waited for', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t % 4 === 3) return;
      out[t] = cuda.popc(cuda.ballotSync(0xffffffff, t < 10)) + 100 * cuda.reduceAddSync(0xffffffff, 1);
    });
    const expected = values(64, (i) => (i % 4 === 3 ? 0 : 2400 + (i < 32 ? 8 : 0)));
    expect(outputOf(k, { grid: 1, block: 64, arguments: out() }, 'states')).toEqual(expected);
  });

  test('lanes leave a loop at different times, and the others go on', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      let left = 0xffffffff;
      for (let round = 0; ; round++) {
        left = cuda.ballotSync(left, round < t % 5);
        if (round >= t % 5) break;
        out[t]! += cuda.popc(left) * (round + 1);
      }
    });
    const expected = values(64, (i) => {
      let sum = 0;
      for (let round = 0; round < i % 5; round += 1) {
        const there = values(32, (lane) => (i & 32) + lane).filter((rank) => round < rank % 5);
        sum += there.length * (round + 1);
      }
      return sum;
    });
    expect(outputOf(k, { grid: 1, block: 64, arguments: out() }, 'states')).toEqual(expected);
  });
});

describe('wrong uses', () => {
  const faultOf = (k: Parameters<typeof outcomeOf>[0], block = 64) =>
    outcomeOf(k, { grid: 1, block, arguments: out() }).fault;

  test('reading from a lane that the mask does not name', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      if (cuda.laneId < 16) out[t] = cuda.shflDownSync(0x0000ffff, t, 1);
    });
    expect(faultOf(k)).toMatchObject({
      kind: 'misuse',
      code: 'WS3010',
      message: 'shflDown reads from lane 16 of warp 0, which does not take part',
      thread: [15, 0, 0],
    });
  });

  test('reading from a lane that the block does not have', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.shflDownSync(0xffffffff, t, 16);
    });
    expect(faultOf(k, 40)).toMatchObject({
      code: 'WS3010',
      message: 'shflDown reads from lane 16 of warp 1, which the block does not have',
      thread: [32, 0, 0],
    });
  });

  test('reading from a lane that has returned', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t === 9) return;
      out[t] = cuda.shflXorSync(0xffffffff, t, 1);
    });
    expect(faultOf(k)).toMatchObject({
      code: 'WS3010',
      message: 'shflXor reads from lane 9 of warp 0, which has returned',
      thread: [8, 0, 0],
    });
  });

  test('reading from an earlier tile', () => {
    const k = kernel({ out: 'i32[]', delta: 'i32' }, ({ out, delta }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.tiledPartition(cuda.thisThreadBlock(), 8).shflXor(t, delta);
    });
    const { fault, mode } = outcomeOf(k, { grid: 1, block: 64, arguments: { ...out(), delta: 8 } });
    expect(mode).toBe('regions');
    expect(fault).toMatchObject({
      code: 'WS3010',
      message: 'shflXor reads from lane 0 of warp 0, which does not take part',
      thread: [8, 0, 0],
    });
  });

  test('a mask that does not name the lane itself', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      out[t] = cuda.shflSync(0x00ffffff, t, 0);
    });
    expect(faultOf(k)).toMatchObject({
      code: 'WS3010',
      message: 'lane 24 of warp 0 calls shfl with a mask that does not name it',
      thread: [24, 0, 0],
    });
  });

  test('named lanes that never come', () => {
    const k = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t < 3) return;
      if (t < 20) out[t] = cuda.shflSync(0xffffffff, t, 5);
      else if (t < 32) out[t] = cuda.popc(cuda.ballotSync(0xffffffff, true));
    });
    expect(faultOf(k)).toMatchObject({
      kind: 'deadlock',
      waiting: [
        { what: 'shfl of warp 0: lanes 3-19 arrived, lanes 20-31 did not; lanes 0-2 returned' },
        { what: 'ballot of warp 0: lanes 20-31 arrived, lanes 3-19 did not; lanes 0-2 returned' },
      ],
    });
  });

  test('lanes that name each other by different masks', () => {
    const k = kernel({ out: 'i32[]', mask: 'u32' }, ({ out, mask }, cuda) => {
      const t = cuda.threadIdx.x;
      if (t === 5) cuda.syncwarp(0xffffffff);
      else cuda.syncwarp(mask);
      out[t] = 1;
    });
    const { fault } = outcomeOf(k, { grid: 1, block: 32, arguments: { ...out(), mask: 0xfffffff1 } });
    expect(fault).toMatchObject({
      kind: 'misuse',
      message: 'lane 1 of warp 0 calls sync with a mask that does not name it',
    });
    const other = outcomeOf(k, { grid: 1, block: 32, arguments: { ...out(), mask: 0xffffffff } });
    expect(other.fault).toBe(null);
  });
});
