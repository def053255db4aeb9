// Kernels, launches and transfers on an NVIDIA GPU, each against its limit measured in the same run:
// the device-to-device copy, the bare transfers in both directions at once.

import { type Device, deviceFunction, kernel, open, type Stream } from 'warpstage';
import { Counterpart } from '../counterpart.ts';
import type { Suite } from '../main.ts';
import { inTurn, median, type Row } from '../measure.ts';
import { issuing } from './gpu-issue.ts';
import { compilation, processes } from './gpu-process.ts';

const rounds = 11;

const light = deviceFunction({ out: 'f32[]', staged: 'readonly f32[]' }, ({ out, staged }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  out[t] = staged[t]! * 3 + 1;
});

const unified = kernel(
  {
    globalOut: 'f32[]',
    globalIn: 'readonly f32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 4',
    light,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, light }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('f32', stagesCount * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stagesCount));
    const blockBatch = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    for (let compute = 0, fetch = 0; compute < batchCount; ++compute) {
      for (; fetch < batchCount && fetch < compute + stagesCount; ++fetch) {
        pipeline.producerAcquire();
        const stage = shared.subarray((fetch % stagesCount) * block.size());
        cuda.memcpyAsync(block, stage, globalIn.subarray(blockBatch(fetch)), block.size(), pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      light({
        out: globalOut.subarray(blockBatch(compute)),
        staged: shared.subarray((compute % stagesCount) * block.size()),
      });
      pipeline.consumerRelease();
    }
  },
);

const scale = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * x[i]! + 1;
});

/** Seconds of the device that what `issue` issues takes; once before, so that the device does not wait for the host. */
async function deviceSeconds(device: Device, stream: Stream, issue: () => void): Promise<number> {
  const [start, stop] = [device.createEvent(), device.createEvent()];
  issue();
  stream.record(start);
  issue();
  stream.record(stop);
  await stream.synchronize();
  return stop.elapsedTime(start) / 1000;
}

async function lightKernel(): Promise<Row[]> {
  await using device = await open('cuda');
  const elements = 2 ** 28;
  const [source, target] = [device.alloc('f32', elements), device.alloc('f32', elements)];
  const stream = device.createStream();
  const shapes = { '256 threads, 132 x 8': [256, 132 * 8], '512 threads, 132 x 4': [512, 132 * 4] } as const;
  const rows: Row[] = [];
  for (const [name, [block, grid]] of Object.entries(shapes)) {
    const batchCount = Math.floor(elements / (block * grid));
    const covered = batchCount * block * grid;
    const input = Float32Array.from({ length: 4096 }, (_, index) => index);
    stream.memcpyAsync(source.subarray(0, 4096), input);
    const launch = () => {
      const { ranOn } = stream.launch(
        unified,
        { grid, block },
        { globalOut: target, globalIn: source, batchCount },
      );
      if (ranOn !== 'cuda (kernel, bulk)') throw new Error(`the kernel ran on ${ranOn}`);
    };
    launch();
    const output = new Float32Array(4096);
    stream.memcpyAsync(output, target.subarray(0, 4096));
    await stream.synchronize();
    if (output.some((value, index) => value !== 3 * index + 1)) throw new Error('the results differ');
    const copy = () => stream.memcpyAsync(target.subarray(0, covered), source.subarray(0, covered));
    rows.push(
      ...(await inTurn(
        { suite: 'gpu', work: 'light', bytes: 8 * covered },
        {
          [`unified, 4 stages, ${name}`]: () => deviceSeconds(device, stream, launch),
          'device-to-device copy': () => deviceSeconds(device, stream, copy),
        },
        rounds,
      )),
    );
  }
  return rows;
}

async function launches(): Promise<Row[]> {
  await using device = await open('cuda');
  const [x, y] = [device.alloc('f32', 256), device.alloc('f32', 256)];
  const stream = device.createStream();
  const launch = () => stream.launch(scale, { grid: 1, block: 256 }, { y, x, a: 2 });
  const graph = stream.capture(() => {
    for (let count = 0; count < 20; ++count) launch();
  });
  using counterpart = new Counterpart('launch');
  const cpp = { issue: [] as number[], wait: [] as number[] };
  launch();
  graph.launch(stream);
  await stream.synchronize();
  const issues: number[] = [];
  const graphs: number[] = [];
  const waits: number[] = [];
  // By turns, since what the driver's call takes differs from minute to minute. The first turn tells how fast
  // the engine of JavaScript compiles, and is dropped.
  for (let turn = -1; turn < 5; ++turn) {
    const { issue, wait } = counterpart.measure() as Record<'issue' | 'wait', number>;
    cpp.issue.push(issue * 1e-6);
    cpp.wait.push(wait * 1e-6);
    for (let round = 0; round < 12; ++round) {
      const rounds = { issue: 0, graph: 0, waits: [] as number[] };
      let begin = performance.now();
      for (let count = 0; count < 500; ++count) launch();
      rounds.issue = (performance.now() - begin) / 500 / 1000;
      await stream.synchronize();
      begin = performance.now();
      for (let count = 0; count < 10; ++count) graph.launch(stream);
      rounds.graph = (performance.now() - begin) / 10 / 1000;
      await stream.synchronize();
      for (let count = 0; count < 50; ++count) {
        const start = performance.now();
        launch();
        await stream.synchronize();
        rounds.waits.push((performance.now() - start) / 1000);
      }
      if (turn < 0) continue;
      issues.push(rounds.issue);
      graphs.push(rounds.graph);
      waits.push(...rounds.waits);
    }
  }
  const row = (variant: string, times: readonly number[], against: string, cpp: number): Row => ({
    suite: 'gpu',
    work: 'launch',
    bytes: 0,
    variant,
    against: `${against}, ${(cpp * 1e6).toFixed(2)} µs`,
    ratio: cpp / median(times),
    seconds: median(times),
  });
  const issue = median(cpp.issue);
  return [
    row('issue of a launch', issues, 'C++', issue),
    row('launch and await', waits, 'C++, launch and synchronise', median(cpp.wait)),
    row('issue of a graph of 20 launches', graphs, '20 launches in C++', 20 * issue),
  ];
}

/**
 * 2 GiB in, a kernel, 2 GiB out, pinned memory to pinned memory, in chunks: a stream for the copies in, one for the
 * kernels and one for the copies out; and, as is often done, a stream for each chunk in flight.
 */
async function transfers(): Promise<Row[]> {
  await using device = await open('cuda');
  const elements = 2 ** 29;
  const [input, output] = [device.allocPinned('f32', elements), device.allocPinned('f32', elements)];
  input.array.fill(1);
  const chunk = 2 ** 22;
  const event = () => device.createEvent({ timing: false });
  const lanes = Array.from({ length: 6 }, () => ({
    stream: device.createStream(),
    ...{ x: device.alloc('f32', chunk), y: device.alloc('f32', chunk) },
    ...{ arrived: event(), computed: event(), left: event() },
  }));
  const [into, compute, out] = Array.from({ length: 3 }, () => device.createStream()) as [
    Stream,
    Stream,
    Stream,
  ];
  const parts = Array.from({ length: elements / chunk }, (_, turn) => ({
    lane: lanes[turn % lanes.length]!,
    from: input.subarray(turn * chunk, (turn + 1) * chunk),
    to: output.subarray(turn * chunk, (turn + 1) * chunk),
  }));
  const shape = { grid: chunk / 256, block: 256 };
  const byEngine = async () => {
    for (const { lane, from, to } of parts) {
      const { x, y, arrived, computed, left } = lane;
      into.waitEvent(computed);
      into.memcpyAsync(x, from);
      into.record(arrived);
      compute.waitEvent(arrived);
      compute.waitEvent(left);
      compute.launch(scale, shape, { y, x, a: 2 });
      compute.record(computed);
      out.waitEvent(computed);
      out.memcpyAsync(to, y);
      out.record(left);
    }
    await device.synchronize();
  };
  const byChunk = async () => {
    for (const { lane, from, to } of parts) {
      lane.stream.memcpyAsync(lane.x, from);
      lane.stream.launch(scale, shape, { y: lane.y, x: lane.x, a: 2 });
      lane.stream.memcpyAsync(to, lane.y);
    }
    await device.synchronize();
  };
  const bothWays = async () => {
    for (const { from, to } of parts) {
      into.memcpyAsync(lanes[0]!.x, from);
      out.memcpyAsync(to, lanes[0]!.y);
    }
    await device.synchronize();
  };
  for (const overlapped of [byEngine, byChunk]) {
    output.array.fill(0);
    await overlapped();
    if (output.array.some((value) => value !== 3)) throw new Error('the results differ');
  }
  return await inTurn(
    { suite: 'gpu', work: 'transfer', bytes: 8 * elements },
    {
      'in, kernel and out, 16 MiB chunks, a stream for each engine': byEngine,
      'in, kernel and out, 16 MiB chunks, a stream for each chunk': byChunk,
      'both directions alone': bothWays,
    },
    15,
  );
}

export const suite: Suite = {
  light: lightKernel,
  launch: launches,
  issue: issuing,
  transfer: transfers,
  process: processes,
  compile: compilation,
};
