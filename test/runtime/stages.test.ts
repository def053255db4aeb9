// The stages of a block's pipelines as running kernels tell them: the same on every way of the CPU
// device, and in the order that the checker's interpreter sees.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromeTrace, type Device, type Kernel, kernel, open as openDevice, type Span } from 'warpstage';
import { traceStages } from 'warpstage/check';
import { readTrace } from '#warpstage/timeline/read-trace.js';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { twoArrays } from '../../examples/guide/two-arrays.ts';
import { cpuDevices } from '../support/devices.ts';

const parts = ['acquire', 'copy', 'wait', 'compute', 'release'] as const;
const [grid, block, batches] = [3, 64, 5];
const length = 2 * grid * block * batches;

/** What is done by threads of either role, each in an order of its own; of one role where they have none. */
const roles = {
  unified: [parts],
  roles: [
    ['acquire', 'copy'],
    ['wait', 'compute', 'release'],
  ],
} as const;

const guide = [
  {
    name: 'single stage',
    kernel: withSingleStage as Kernel,
    by: 'unified',
    numbers: { batchCount: batches },
  },
  { name: 'staging', kernel: withStaging as Kernel, by: 'unified', numbers: { batchCount: batches } },
  {
    name: 'unified, three stages',
    kernel: withStagingUnified as Kernel,
    by: 'unified',
    numbers: { batchCount: batches, stagesCount: 3 },
  },
  {
    name: 'thread scope',
    kernel: withStagingScopeThread as Kernel,
    by: 'unified',
    numbers: { batchCount: batches, stagesCount: 2 },
  },
  {
    name: 'roles',
    kernel: withSpecializedStaging as Kernel,
    by: 'roles',
    numbers: { batchCount: batches, stagesCount: 3 },
  },
  { name: 'two arrays', kernel: twoArrays as Kernel, by: 'unified', numbers: { subsetCount: batches } },
] as const;

const arraysOf = ({ schema }: Kernel) =>
  Object.keys(schema).filter((name) => typeof schema[name] === 'string' && schema[name].includes('[]'));

/** `part batch` in the order in which they began, of some parts. */
function order(spans: readonly Span[], some: readonly string[]): string[] {
  return spans
    .filter(({ engine }) => some.includes(engine))
    .sort((a, b) => a.started - b.started || a.ended - b.ended)
    .map(({ name }) => name);
}

describe.each(cpuDevices)('$name', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.close());

  async function launches(one: Kernel, given: Record<string, unknown>, shape = { grid, block }) {
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    try {
      const stream = device.createStream();
      for (let i = 0; i < 2; ++i) stream.launch(one, shape, given as never);
      await stream.destroy();
      await device.synchronize();
    } finally {
      device.recorder = null;
    }
    return spans;
  }

  test.each(guide)('$name: the order is that of the checker', async ({ kernel: one, by, numbers }) => {
    const arrays = Object.fromEntries(arraysOf(one).map((name) => [name, device.alloc('i32', length)]));
    device.recording = { stages: { block: 1 } };
    const recorded = await launches(one, { ...arrays, ...numbers });
    device.recording = {};
    const plain = await launches(one, { ...arrays, ...numbers });
    for (const array of Object.values(arrays)) array.free();
    expect(plain.map(({ stages }) => stages)).toEqual([undefined, undefined]);

    const lengths = Object.fromEntries(arraysOf(one).map((name) => [name, { length }]));
    const checked = traceStages(one, { grid, block, arguments: { ...lengths, ...numbers } } as never, {
      block: 1,
    });
    for (const { stages, started, ended } of recorded) {
      expect(stages!.block).toEqual([1, 0, 0]);
      const { spans } = stages!;
      for (const span of spans) {
        expect(span.started).toBeGreaterThanOrEqual(started);
        expect(span.ended).toBeLessThanOrEqual(ended);
      }
      // Every batch does everything, once; where nothing was waited for, the checker has no span.
      for (const part of parts) {
        const names = Array.from({ length: batches }, (_, batch) => `${part} batch ${batch}`);
        expect(order(spans, [part])).toEqual(names);
      }
      for (const { name, stream } of checked) {
        expect(spans.find((span) => span.name === name)!.stream).toBe(stream);
      }
      for (const role of roles[by]) {
        const steady = role.filter((part) => part !== 'acquire' && part !== 'wait');
        if (by === 'roles') expect(order(spans, steady)).toEqual(order(checked, steady));
        // All parts, in the order in which one thread of that role comes to them.
        const reported = order(spans, role);
        const first = (name: string) => reported.indexOf(name);
        for (let batch = 0; batch < batches; ++batch) {
          const own = role.map((part) => first(`${part} batch ${batch}`));
          expect(own).toEqual([...own].sort((a, b) => a - b));
        }
      }
    }
  });

  test('what comes first is what the order of the program says', async () => {
    const arrays = { globalOut: device.alloc('i32', length), globalIn: device.alloc('i32', length) };
    device.recording = { stages: { block: [0, 0, 0] } };
    const [launch] = await launches(withStagingUnified as Kernel, {
      ...arrays,
      batchCount: 4,
      stagesCount: 2,
    });
    device.recording = {};
    for (const array of Object.values(arrays)) array.free();
    expect(order(launch!.stages!.spans, parts).map((name) => name.replace(' batch', ''))).toEqual([
      ...['acquire 0', 'copy 0', 'acquire 1', 'copy 1'],
      ...['wait 0', 'compute 0', 'release 0', 'acquire 2', 'copy 2'],
      ...['wait 1', 'compute 1', 'release 1', 'acquire 3', 'copy 3'],
      ...['wait 2', 'compute 2', 'release 2', 'wait 3', 'compute 3', 'release 3'],
    ]);
  });

  test('results are the same, also beside and without the chosen block', async () => {
    const input = Int32Array.from({ length }, (_, i) => i);
    const [globalIn, globalOut] = [device.alloc('i32', length), device.alloc('i32', length)];
    device.defaultStream.memcpyAsync(globalIn, input);
    for (const chosen of [0, 1, 2, 3]) {
      device.defaultStream.memsetAsync(globalOut, 0);
      device.recording = { stages: { block: chosen } };
      const spans = await launches(withStagingUnified as Kernel, {
        globalOut,
        globalIn,
        batchCount: batches,
        stagesCount: 2,
      });
      device.recording = {};
      const kernels = spans.filter(({ grid }) => grid !== undefined);
      expect(kernels.map(({ stages }) => stages !== undefined)).toEqual([chosen < 3, chosen < 3]);
      const out = new Int32Array(length);
      device.defaultStream.memcpyAsync(out, globalOut);
      await device.synchronize();
      const used = grid * block * batches;
      expect(out).toEqual(input.map((x, i) => (i < used ? x * 3 + 1 : 0)));
    }
    globalIn.free();
    globalOut.free();
  });

  test('blocks that wait for each other', async () => {
    const rounds = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
      const [whole, own] = [cuda.thisGrid(), cuda.thisThreadBlock()];
      const shared = cuda.sharedArray('i32', 2 * own.size());
      const pipeline = cuda.makePipeline(own, cuda.pipelineSharedState('block', 2));
      for (let round = 0; round < 3; round++) {
        pipeline.producerAcquire();
        const slot = shared.subarray((round % 2) * own.size());
        cuda.memcpyAsync(own, slot, x.subarray(own.groupIndex().x * own.size()), own.size(), pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        y[whole.threadRank()] = y[whole.threadRank()]! + slot[own.threadRank()]!;
        pipeline.consumerRelease();
        whole.sync();
      }
    });
    const [y, x] = [device.alloc('i32', 64), device.alloc('i32', 64)];
    device.defaultStream.memcpyAsync(x, new Int32Array(64).fill(7));
    device.recording = { stages: { block: 1 } };
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    device.defaultStream.launch(rounds, { grid: 2, block: 32, cooperative: true }, { y, x });
    const out = new Int32Array(64);
    device.defaultStream.memcpyAsync(out, y);
    await device.synchronize();
    device.recorder = null;
    device.recording = {};
    expect(out).toEqual(new Int32Array(64).fill(21));
    const [stages] = spans.flatMap((span) => span.stages ?? []);
    for (const part of parts) expect(order(stages!.spans, [part])).toHaveLength(3);
  });

  test('a fault of the block is reported as ever', async () => {
    const outside = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
      const own = cuda.thisThreadBlock();
      const shared = cuda.sharedArray('f32', own.size());
      const pipeline = cuda.makePipeline(own, cuda.pipelineSharedState('block', 1));
      pipeline.producerAcquire();
      cuda.memcpyAsync(own, shared, y, own.size(), pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      y[y.length + own.groupIndex().x] = shared[own.threadRank()]!;
      pipeline.consumerRelease();
    });
    const y = device.alloc('f32', 32);
    device.recording = { stages: { block: 0 } };
    device.recorder = () => {};
    device.defaultStream.launch(outside, { grid: 1, block: 32 }, { y });
    await expect(device.synchronize()).rejects.toThrow(
      'WS3001: the kernel writes `y[32]`, but `y` has 32 elements',
    );
    device.recorder = null;
    device.recording = {};
  });
});

test('the pipelines of tiles, and one that is made again, have names of their own', async () => {
  const tiles = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
    const own = cuda.thisThreadBlock();
    const tile = cuda.tiledPartition(own, 32);
    const shared = cuda.sharedArray('i32', own.size());
    for (let round = 0; round < 2; round++) {
      const pipeline = cuda.makePipeline(tile, cuda.pipelineSharedState('block', 1));
      const first = tile.metaGroupRank() * 32;
      pipeline.producerAcquire();
      cuda.memcpyAsync(tile, shared.subarray(first), x.subarray(first), 32, pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
      y[own.threadRank()] = shared[own.threadRank()]!;
      pipeline.consumerRelease();
      own.sync();
    }
  });
  const streams = async (target: 'wasm' | 'interpreter') => {
    await using device = await openDevice('cpu', { target });
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    device.recording = { stages: { block: 0 } };
    const [y, x] = [device.alloc('i32', 64), device.alloc('i32', 64)];
    device.defaultStream.launch(tiles, { grid: 1, block: 64 }, { y, x });
    await device.synchronize();
    return new Set(spans[0]!.stages!.spans.map(({ stream, name }) => `${stream}, ${name}`));
  };
  const reported = await streams('wasm');
  expect(reported).toEqual(await streams('interpreter'));
});

test('a trace file keeps the stages', async () => {
  await using device = await cpuDevices[0]!.open();
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  device.recording = { stages: { block: 1 } };
  const [globalOut, globalIn] = [device.alloc('i32', length), device.alloc('i32', length)];
  const given = { globalOut, globalIn, batchCount: batches, stagesCount: 2 };
  device.defaultStream.launch(withStagingUnified, { grid, block }, given);
  await device.synchronize();
  const text = [...chromeTrace(spans, { title: 'stages' })].join('');
  const [back] = readTrace('trace.json', text).spans;
  expect(back!.stages!.block).toEqual([1, 0, 0]);
  expect(order(back!.stages!.spans, parts)).toEqual(order(spans[0]!.stages!.spans, parts));
  // No two events of a track overlap.
  const events = (
    JSON.parse(text) as { traceEvents: { pid: number; ph: string; tid: number; ts: number; dur: number }[] }
  ).traceEvents;
  const ends = new Map<number, number>();
  for (const { tid, ts, dur } of events.filter(({ pid, ph }) => pid === 2 && ph === 'X')) {
    expect(ts).toBeGreaterThanOrEqual(ends.get(tid) ?? 0);
    ends.set(tid, ts + dur);
  }
  expect(ends.size).toBeGreaterThanOrEqual(parts.length);
});

test('a block that cannot be', async () => {
  await using device = await cpuDevices[0]!.open();
  expect(() => {
    device.recording = { stages: { block: -1 } };
  }).toThrow('WS4007: recording: `stages.block` must be the position of a block, and is -1');
  expect(device.recording).toEqual({});
});
