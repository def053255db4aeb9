// Waits that may time out, clocks and sleep.

import { kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** Nothing is committed: every wait with a limit gives up, and changes nothing. Only then something comes. */
const expires = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const size = block.size();
  const staged = cuda.sharedArray('i32', size);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  let early = 0;
  if (pipeline.consumerWaitFor(0)) early += 1;
  if (pipeline.consumerWaitFor(-5)) early += 2;
  if (pipeline.consumerWaitFor(-1e300)) early += 4;
  const start = cuda.globaltimer();
  if (pipeline.consumerWaitFor(20_000)) early += 8;
  const waited = cuda.globaltimer() - start;
  if (pipeline.consumerWaitUntil(start)) early += 16;
  if (pipeline.consumerWaitUntil(0)) early += 32;
  if (pipeline.consumerWaitUntil(cuda.globaltimer() + 5000)) early += 64;
  if (pipeline.consumerWaitFor(Number.NaN)) early += 128;
  out[t] = early;
  // The clock may tick in steps of a microsecond.
  out[size + t] = waited >= 18_000 ? 1 : 0;
  pipeline.producerAcquire();
  cuda.memcpyAsync(block, staged, input, size, pipeline);
  pipeline.producerCommit();
  const ready = pipeline.consumerWaitFor(Number.POSITIVE_INFINITY);
  out[2 * size + t] = ready ? staged[size - 1 - t]! : -1;
  pipeline.consumerRelease();
});

/** Consumers poll, each at its own pace, while the producers take their time; nobody starves. */
const polls = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'i32' },
  ({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const half = Math.trunc(block.size() / 2);
    const staged = cuda.sharedArray('i32', 2 * half);
    const isProducer = t % 2 === 0;
    const pipeline = cuda.makePipeline(
      block,
      cuda.pipelineSharedState('block', 2),
      isProducer ? 'producer' : 'consumer',
    );
    const own = Math.trunc(t / 2);
    for (let batch = 0; batch < batches; batch++) {
      const slot = staged.subarray((batch % 2) * half);
      if (isProducer) {
        pipeline.producerAcquire();
        cuda.nanosleep(100 * own);
        cuda.memcpyAsync(slot.subarray(own), input.subarray(batch * half + own), 1, pipeline);
        pipeline.producerCommit();
      } else {
        // Some look and look again, some wait a while each time.
        while (!pipeline.consumerWaitFor(own * 50)) {
          // Not there yet.
        }
        out[batch * half + own] = slot[half - 1 - own]!;
        pipeline.consumerRelease();
      }
    }
  },
);

/** Tiles wait for stages that their first thread commits late; the others of the block go on meanwhile. */
const tiles = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const tile = cuda.tiledPartition(block, 4);
  const rank = tile.threadRank();
  const begin = 4 * tile.metaGroupRank();
  const staged = cuda.sharedArray('i32', block.size());
  const pipeline = cuda.makePipeline(
    tile,
    cuda.pipelineSharedState('block', 1),
    rank === 0 ? 'producer' : 'consumer',
  );
  if (rank === 0) {
    pipeline.producerAcquire();
    cuda.nanosleep(1000 * tile.metaGroupRank());
    cuda.memcpyAsync(staged.subarray(begin), input.subarray(begin), 4, pipeline);
    pipeline.producerCommit();
  } else {
    let times = 1;
    while (!pipeline.consumerWaitUntil(cuda.globaltimer() + 10 * rank)) times += 1;
    out[t] = times > 0 ? staged[begin + ((rank + 1) % 4)]! : -1;
    pipeline.consumerRelease();
  }
});

/** Who gives up does something else, and comes back. */
const otherwise = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 1);
  const go = cuda.sharedArray('i32', 1);
  const pipeline = cuda.makePipeline(
    block,
    cuda.pipelineSharedState('block', 1),
    t === 0 ? 'producer' : 'consumer',
  );
  if (t === 0) go[0] = 0;
  block.sync();
  if (t === 0) {
    pipeline.producerAcquire();
    // Not before all consumers have given up once.
    while (cuda.atomicAdd(go, 0, 0) < block.size() - 1) cuda.nanosleep(50);
    staged[0] = 42;
    pipeline.producerCommit();
  } else {
    const first = pipeline.consumerWaitFor(500);
    cuda.atomicAdd(go, 0, 1);
    pipeline.consumerWait();
    out[t] = first ? -1 : staged[0]! + t;
    pipeline.consumerRelease();
  }
});

/** Time passes, and never runs back. */
const clocks = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  // A clock may tick in steps of microseconds: the one that is waited for is read last.
  const cycles = cuda.clock64();
  const short = cuda.clock();
  const time = cuda.globaltimer();
  let steps = 0;
  for (let now = time; now - time < 3000; steps++) {
    const next = cuda.globaltimer();
    if (next < now) steps = -1_000_000;
    now = next;
  }
  cuda.nanosleep(2000);
  cuda.nanosleep(0);
  out[t] = steps > 0 && cuda.clock64() > cycles && cuda.clock() - short > 0 ? 1 : 0;
});

export const timeCases: Cases = [
  {
    name: 'time-outs that expire, zero, negative and past',
    kernel: expires,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(24), input: counting(8) },
    expected: { out: integers(24, (i) => (i < 8 ? 0 : i < 16 ? 1 : 107 - (i - 16))) },
    findings: ['WS7017'],
  },
  {
    name: 'consumers that poll in a divergent loop',
    kernel: polls,
    grid: 2,
    block: 64,
    data: { out: new Int32Array(160), input: counting(160), batches: 5 },
    expected: { out: integers(160, (i) => 100 + (i - (i % 32)) + 31 - (i % 32)) },
    findings: ['WS7017'],
  },
  {
    name: 'tiles that poll until a time',
    kernel: tiles,
    grid: 1,
    block: 32,
    data: { out: new Int32Array(32), input: counting(32) },
    expected: { out: integers(32, (t) => (t % 4 === 0 ? 0 : 100 + (t - (t % 4)) + ((t + 1) % 4))) },
  },
  {
    name: 'something else after a time-out',
    kernel: otherwise,
    grid: 1,
    block: 8,
    data: { out: new Int32Array(8) },
    expected: { out: integers(8, (t) => (t === 0 ? 0 : 42 + t)) },
  },
  {
    name: 'clocks and sleep',
    kernel: clocks,
    grid: 2,
    block: 8,
    data: { out: new Int32Array(8) },
    expected: { out: integers(8, () => 1) },
  },
];
