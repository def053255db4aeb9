// A device with threads in a page that is isolated from others: what its threads say, and how they are stopped.

import { type Device, type DeviceArray, kernel, open, type Span, type WarpstageError } from 'warpstage';

const talks = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  console.log('line', i, 'is longer than what a thread needs to say');
  y[i] = i;
});

const tooFar = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  y[cuda.thisGrid().threadRank()] = 1;
});

const endless = kernel({ y: 'i32[]' }, ({ y }) => {
  while (y[0] !== 1) y[1]! += 1;
});

const staged = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const block = cuda.thisThreadBlock();
  const shared = cuda.sharedArray('f32', 64);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  const begin = block.groupIndex().x * 64;
  pipeline.producerAcquire();
  cuda.memcpyAsync(block, shared, x.subarray(begin), 64, pipeline);
  pipeline.producerCommit();
  pipeline.consumerWait();
  y[begin + block.threadRank()] = 2 * shared[block.threadRank()]!;
  pipeline.consumerRelease();
});

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'no error',
    (error: WarpstageError) => error.issues[0]!.code,
  );

async function cancel(device: Device, y: DeviceArray<'i32'>): Promise<string> {
  const stop = new AbortController();
  const stream = device.createStream();
  stream.launch(endless, { grid: 2, block: 1, signal: stop.signal }, { y });
  setTimeout(() => stop.abort(), 30);
  return codeOf(stream.synchronize());
}

/** What threads do, as it shows in the page; with `stops`, kernels that do not end are stopped. */
export async function runOnThreads(stops: boolean) {
  const device = await open('cpu', { threads: 3 });
  const lines: string[] = [];
  device.print = (line) => lines.push(line);
  const [y, z] = [device.alloc('i32', 4096), device.alloc('i32', 2)];
  const stream = device.createStream();

  // More than a thread can say before somebody listens.
  stream.launch(talks, { grid: 32, block: 128 }, { y });
  await stream.synchronize();
  const said = {
    lines: lines.length,
    different: new Set(lines).size,
    one: lines.includes(`line 77 ${rest}`),
  };

  const faulty = device.createStream();
  faulty.launch(tooFar, { grid: 33, block: 128 }, { y });
  const fault = await codeOf(faulty.synchronize());

  const cancelled = stops ? await cancel(device, z) : 'WS3004';

  // Others take the place of the threads that were ended; several streams and both directions of copies go on.
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  device.recording = { stages: { block: [1, 0, 0] } };
  const results: Float32Array[] = [];
  for (let k = 0; k < 6; ++k) {
    const [out, into, host] = [
      device.alloc('f32', 1024),
      device.alloc('f32', 1024),
      device.allocPinned('f32', 1024),
    ];
    host.array.fill(k + 1);
    const result = new Float32Array(1024);
    const own = device.createStream();
    own.memcpyAsync(into, host);
    own.launch(staged, { grid: 16, block: 64 }, { y: out, x: into });
    own.memcpyAsync(result, out);
    results.push(result);
  }
  await device.synchronize();
  const sums = results.map((result) => result.reduce((sum, value) => sum + value, 0) / 1024);
  const stages = spans.filter((span) => span.stages !== undefined && span.stages.spans.length > 0).length;

  const left = device.createStream();
  if (stops) left.launch(endless, { grid: 1, block: 1 }, { y: z });
  const closing = stops ? codeOf(left.synchronize()) : 'WS4006';
  await device.close();
  return { said, fault, cancelled, sums, stages, closed: await closing };
}

const rest = 'is longer than what a thread needs to say';

export const expectedOfThreads = {
  said: { lines: 4096, different: 4096, one: true },
  fault: 'WS3001',
  cancelled: 'WS3004',
  sums: [2, 4, 6, 8, 10, 12],
  stages: 6,
  closed: 'WS4006',
};
