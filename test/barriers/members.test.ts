// Every member of a barrier, on every target and under every policy of delivery.

import { describe, expect, test } from 'vitest';
import { deviceFunction, kernel } from 'warpstage';
import { runEverywhere } from '../support/everywhere.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

sayWithoutGpu();

const counting = (length: number) => Int32Array.from({ length }, (_, i) => i * 7 - 5);
const reversed = (array: Int32Array, block: number) =>
  array.map((_, i) => array[i - (i % block) + block - 1 - (i % block)]!);

describe('arrive and wait', () => {
  test('what was written before an arrival is read after the wait', () => {
    const reverse = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      const i = cuda.thisGrid().threadRank();
      shared[t] = input[i]!;
      const token = barrier.arrive();
      const mine = input[i]! * 0;
      barrier.wait(token);
      out[i] = shared[block.size() - 1 - t]! + mine;
    });
    const input = counting(24);
    const run = runEverywhere(reverse, { grid: 3, block: 8, arguments: { out: new Int32Array(24), input } });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(reversed(input, 8));
    expect(run.mode).toBe('regions');
  });

  test('many phases, with arriveAndWait', () => {
    const rotate = kernel({ out: 'i32[]', rounds: 'index' }, ({ out, rounds }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      shared[t] = cuda.i32(t);
      barrier.arriveAndWait();
      for (let round = 0; round < rounds; round++) {
        const next = shared[(t + 1) % block.size()]!;
        barrier.arriveAndWait();
        shared[t] = next;
        barrier.arriveAndWait();
      }
      out[t] = shared[t]!;
    });
    const run = runEverywhere(rotate, {
      grid: 1,
      block: 7,
      arguments: { out: new Int32Array(7), rounds: 10 },
    });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(Int32Array.from({ length: 7 }, (_, t) => (t + 10) % 7));
    expect(run.mode).toBe('regions');
  });

  test('tokens are values: held in variables, given anew each round, chosen by a condition', () => {
    const split = kernel({ out: 'i32[]', rounds: 'index' }, ({ out, rounds }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', block.size());
      const barriers = cuda.barrierArray(block, 2);
      const t = block.threadRank();
      shared[t] = 0;
      let token = barriers[0]!.arrive();
      for (let round = 0; round < rounds; round++) {
        barriers[round % 2]!.wait(token);
        if (t === round % block.size()) shared[t] = shared[(t + 3) % block.size()]! + cuda.i32(round) + 1;
        token = barriers[(round + 1) % 2]!.arrive();
      }
      const last = rounds % 2 === 0 ? token : token;
      barriers[rounds % 2]!.wait(last);
      out[t] = shared[t]!;
    });
    const expected = new Int32Array(6);
    for (let round = 0; round < 9; round++)
      expected[round % 6] = expected[((round % 6) + 3) % 6]! + round + 1;
    const run = runEverywhere(split, { grid: 1, block: 6, arguments: { out: new Int32Array(6), rounds: 9 } });
    expect(run.fault).toBeNull();
    expect(run.arguments.out).toEqual(expected);
  });

  test('arrivals of some threads alone, by count', () => {
    const counts = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 1);
      const barrier = cuda.barrier(block, 5);
      const t = block.threadRank();
      if (t === 0) {
        shared[0] = 42;
        barrier.arrive(3);
      } else if (t === 1) barrier.arrive(2);
      else {
        barrier.waitParity(0);
        out[t] = shared[0]!;
      }
    });
    const run = runEverywhere(counts, { grid: 1, block: 5, arguments: { out: new Int32Array(5) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([0, 0, 42, 42, 42]);
    expect(run.mode).toBe('states');
  });

  test('who drops out is not expected any more', () => {
    const drops = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 1);
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      if (t === 0) shared[0] = 0;
      barrier.arriveAndWait();
      for (let round = 0; round < block.size(); round++) {
        if (t === round) {
          shared[0] = shared[0]! * 3 + cuda.i32(t);
          barrier.arriveAndDrop();
          return;
        }
        barrier.arriveAndWait();
        if (t === block.size() - 1) out[round] = shared[0]!;
        barrier.arriveAndWait();
      }
    });
    const run = runEverywhere(drops, { grid: 1, block: 4, arguments: { out: new Int32Array(4) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([0, 1, 5, 0]);
  });
});

describe('parity', () => {
  test('a producer and its consumers go by the parity of phases', () => {
    const byParity = kernel({ out: 'i32[]', rounds: 'index' }, ({ out, rounds }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 1);
      const full = cuda.barrier(block, 1);
      const empty = cuda.barrier(block, block.size() - 1);
      const t = block.threadRank();
      let parity = 0;
      let sum = 0;
      for (let round = 0; round < rounds; round++) {
        if (t === 0) {
          // The first time the stage is empty: the phase before the first counts as over.
          empty.waitParity(1 - parity);
          shared[0] = cuda.i32(round * round);
          full.arrive();
        } else {
          full.waitParity(parity);
          sum += shared[0]! * cuda.i32(t);
          empty.arrive();
        }
        parity ^= 1;
      }
      out[t] = sum;
    });
    const run = runEverywhere(byParity, {
      grid: 2,
      block: 4,
      arguments: { out: new Int32Array(4), rounds: 7 },
    });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([0, 91, 182, 273]);
  });
});

describe('asking', () => {
  test('tryWait says whether the phase is over, and lets others go on', () => {
    const asks = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const barrier = cuda.barrier(block);
      const t = block.threadRank();
      const early = barrier.tryWaitParity(0);
      const before = barrier.tryWaitParity(true);
      barrier.arriveAndWait();
      const token = barrier.arrive();
      let tries = 0;
      while (!barrier.tryWait(token)) tries++;
      out[t] = (early ? 1 : 0) + (before ? 2 : 0) + (tries < 1000 ? 4 : 0);
    });
    const run = runEverywhere(asks, { grid: 1, block: 8, arguments: { out: new Int32Array(8) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual(Array(8).fill(6));
  });

  test('who asks in a loop waits for those that arrive late', () => {
    const polls = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('i32', 1);
      const barrier = cuda.barrier(block, 2);
      const t = block.threadRank();
      if (t === 0) {
        const token = barrier.arrive();
        while (!barrier.tryWait(token));
        out[0] = shared[0]!;
      } else if (t === 3) {
        shared[0] = 17;
        barrier.arrive();
      }
    });
    const run = runEverywhere(polls, { grid: 1, block: 4, arguments: { out: new Int32Array(1) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([17]);
  });
});

describe('a completion', () => {
  test('runs once a phase, in one thread, before anyone goes on', () => {
    const completes = kernel({ out: 'i32[]', rounds: 'index' }, ({ out, rounds }, cuda) => {
      const block = cuda.thisThreadBlock();
      const parts = cuda.sharedArray('i32', block.size());
      const total = cuda.sharedArray('i32', 2);
      const t = block.threadRank();
      if (t === 0) total[1] = 0;
      block.sync();
      const barrier = cuda.barrier(block, () => {
        let sum = 0;
        for (let i = 0; i < block.size(); i++) sum += parts[i]!;
        total[0] = sum;
        total[1] = total[1]! + 1;
      });
      let own = cuda.i32(t);
      for (let round = 0; round < rounds; round++) {
        parts[t] = own;
        barrier.arriveAndWait();
        own = (total[0]! % 100) + cuda.i32(t);
      }
      out[t] = own;
      barrier.arriveAndWait();
      if (t === 0) out[block.size()] = total[1]!;
    });
    let own = Array.from({ length: 5 }, (_, t) => t);
    for (let round = 0; round < 6; round++) {
      const sum = own.reduce((a, b) => a + b, 0);
      own = own.map((_, t) => (sum % 100) + t);
    }
    const run = runEverywhere(completes, {
      grid: 1,
      block: 5,
      arguments: { out: new Int32Array(6), rounds: 6 },
    });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([...own, 7]);
  });
});

describe('groups', () => {
  test('each tile has a barrier of its own', () => {
    const tiles = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 4);
      const shared = cuda.sharedArray('i32', block.size());
      const barrier = cuda.barrier(tile);
      const t = block.threadRank();
      // Tiles go round different numbers of times.
      for (let round = 0; round <= tile.metaGroupRank(); round++) {
        shared[t] = cuda.i32(t + round);
        barrier.arriveAndWait();
        out[t] = shared[t ^ 3]!;
        barrier.arriveAndWait();
      }
    });
    const run = runEverywhere(tiles, { grid: 1, block: 16, arguments: { out: new Int32Array(16) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual(
      Array.from({ length: 16 }, (_, t) => (t ^ 3) + (t >> 2)),
    );
    expect(run.mode).toBe('states');
  });

  test('barriers of tiles in step', () => {
    const tiles = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const tile = cuda.tiledPartition(block, 4);
      const shared = cuda.sharedArray('i32', block.size());
      const barriers = cuda.barrierArray(tile, 3, tile.size());
      const t = block.threadRank();
      for (let round = 0; round < barriers.length; round++) {
        shared[t] = cuda.i32(t + round);
        barriers[round]!.arriveAndWait();
        out[t] = shared[t ^ 3]!;
        barriers[round]!.arriveAndWait();
      }
    });
    const run = runEverywhere(tiles, { grid: 1, block: 16, arguments: { out: new Int32Array(16) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual(Array.from({ length: 16 }, (_, t) => (t ^ 3) + 2));
    expect(run.mode).toBe('regions');
  });

  test('a barrier made in a loop is new each time', () => {
    const remade = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      for (let expected = 1; expected <= block.size(); expected++) {
        const barrier = cuda.barrier(block, expected);
        if (t < expected) barrier.arriveAndWait();
        else barrier.waitParity(0);
        out[t] = out[t]! + cuda.i32(expected);
      }
    });
    const run = runEverywhere(remade, { grid: 1, block: 4, arguments: { out: new Int32Array(4) } });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([10, 10, 10, 10]);
  });
});

describe('device functions', () => {
  const meet = deviceFunction({ barrier: 'barrier' }, ({ barrier }) => barrier.arriveAndWait());
  const produce = deviceFunction(
    { ready: 'barrier[]', filled: 'barrier[]', stages: 'i32[]', batches: 'index' },
    ({ ready, filled, stages, batches }) => {
      for (let batch = 0; batch < batches; batch++) {
        const stage = batch % ready.length;
        ready[stage]!.arriveAndWait();
        stages[stage] = batch * batch;
        filled[stage]!.arrive();
      }
    },
  );

  test('take a barrier, and an array of them', () => {
    const queue = kernel({ out: 'i32[]', batches: 'index', produce, meet }, (data, cuda) => {
      const { out, batches, produce, meet } = data;
      const block = cuda.thisThreadBlock();
      const stages = cuda.sharedArray('i32', 2);
      const ready = cuda.barrierArray(block, 2);
      const filled = cuda.barrierArray(block, 2);
      const end = cuda.barrier(block);
      const t = block.threadRank();
      let sum = 0;
      if (t === 0) produce({ ready, filled, stages, batches });
      else {
        for (let stage = 0; stage < 2; stage++) ready[stage]!.arrive();
        for (let batch = 0; batch < batches; batch++) {
          filled[batch % 2]!.arriveAndWait();
          sum += stages[batch % 2]!;
          ready[batch % 2]!.arrive();
        }
      }
      meet({ barrier: end });
      out[t] = sum;
    });
    const run = runEverywhere(queue, {
      grid: 1,
      block: 3,
      arguments: { out: new Int32Array(3), batches: 5 },
    });
    expect(run.fault).toBeNull();
    expect([...(run.arguments.out as Int32Array)]).toEqual([0, 30, 30]);
  });

  test('are the only ones that are given them', () => {
    const given = () => kernel({ ready: 'barrier[]' } as never, () => {});
    expect(given).toThrow(
      "schema entry 'ready' of a kernel is a barrier[], and only device functions are given one",
    );
  });
});
