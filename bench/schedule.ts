// A schedule to be recorded: chunks copied in, computed with by a kernel that stages what it reads, and copied
// out, over four streams.

import { type Device, kernel } from 'warpstage';

const staged = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const [grid, block] = [cuda.thisGrid(), cuda.thisThreadBlock()];
  const shared = cuda.sharedArray('f32', 2 * block.size());
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  const batches = Math.trunc(x.length / grid.size());
  const first = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
  for (let compute = 0, fetch = 0; compute < batches; ++compute) {
    for (; fetch < batches && fetch < compute + 2; ++fetch) {
      pipeline.producerAcquire();
      const stage = shared.subarray((fetch % 2) * block.size());
      cuda.memcpyAsync(block, stage, x.subarray(first(fetch)), block.size(), pipeline);
      pipeline.producerCommit();
    }
    pipeline.consumerWait();
    y[first(compute) + block.threadRank()] = 2 * shared[(compute % 2) * block.size() + block.threadRank()]!;
    pipeline.consumerRelease();
  }
});

export interface Schedule extends Disposable {
  /** Issues everything and waits; the seconds that took. */
  readonly run: () => Promise<number>;
  /** What a run copies, both ways. */
  readonly bytes: number;
}

/** `length` elements a chunk, a multiple of 2048. */
export function scheduleOn(
  device: Device,
  { chunks, length }: { readonly chunks: number; readonly length: number },
): Schedule {
  const slots = Array.from({ length: 4 }, () => ({
    stream: device.createStream(),
    host: device.allocPinned('f32', length),
    x: device.alloc('f32', length),
    y: device.alloc('f32', length),
  }));
  const grid = Math.min(length / 2048, 1024);
  const run = async () => {
    const begin = performance.now();
    for (let chunk = 0; chunk < chunks; ++chunk) {
      const { stream, host, x, y } = slots[chunk % slots.length]!;
      stream.memcpyAsync(x, host);
      stream.launch(staged, { grid, block: 256 }, { y, x });
      stream.memcpyAsync(host, y);
    }
    await device.synchronize();
    return (performance.now() - begin) / 1000;
  };
  return {
    run,
    bytes: 2 * 4 * length * chunks,
    [Symbol.dispose]: () => {
      for (const { host, x, y } of slots) for (const array of [host, x, y]) array.free();
    },
  };
}
