// The programs that the playground begins with.

export interface Example {
  readonly name: string;
  readonly title: string;
  readonly source: string;
}

export const examples: readonly Example[] = [
  {
    name: 'wave',
    title: 'One element a thread',
    source: `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';

/** Each thread computes one element. */
const wave = kernel({ y: 'f32[]', turns: 'f32' }, ({ y, turns }, cuda) => {
  const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  if (i < y.length) y[i] = Math.sin((i / y.length) * turns * 6.2832);
});

export const checks = [
  checkCase(wave, { grid: 8, block: 128, arguments: { y: { length: 1000 }, turns: 3 } }),
];
`,
  },
  {
    name: 'pipeline',
    title: 'A pipeline with one stage, and with two',
    source: `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';

/** Each batch is copied to shared memory while the one before it is computed on. */
const smooth = kernel(
  { out: 'f32[]', data: 'readonly f32[]', batches: 'index', stages: 'constant index' },
  ({ out, data, batches, stages }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('f32', stages * 64);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stages));

    for (let batch = 0, fetch = 0; batch < batches; ++batch) {
      for (; fetch < batches && fetch < batch + stages; ++fetch) {
        pipeline.producerAcquire();
        const stage = staged.subarray((fetch % stages) * 64);
        cuda.memcpyAsync(block, stage, data.subarray(fetch * 64), 64, pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      const at = (batch % stages) * 64;
      const [left, right] = [at + ((t + 63) % 64), at + ((t + 1) % 64)];
      out[batch * 64 + t] = (staged[left]! + staged[at + t]! + staged[right]!) / 3;
      pipeline.consumerRelease();
    }
  },
);

const sizes = { out: { length: 512 }, data: { length: 512 }, batches: 8 };
export const checks = [1, 2].map((stages) =>
  checkCase(smooth, { grid: 1, block: 64, arguments: { ...sizes, stages } }),
);
`,
  },
  {
    name: 'race',
    title: 'Find the race',
    source: `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';

/** Reverses each block's part. The result may be right, and there is a race: press Check. */
const reverse = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
  const t = cuda.threadIdx.x;
  const part = cuda.sharedArray('i32', 128);
  const first = cuda.blockIdx.x * 128;
  part[t] = y[first + t]!;
  y[first + t] = part[127 - t]!;
});

export const checks = [checkCase(reverse, { grid: 2, block: 128, arguments: { y: { length: 256 } } })];
`,
  },
  {
    name: 'streams',
    title: 'Four streams on three generations',
    source: `import { type Device, kernel } from 'warpstage';

const work = kernel({ x: 'f32[]' }, ({ x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= x.length) return;
  let value = x[i]!;
  for (let k = 0; k < 40; k++) value = Math.sqrt(value * value + 1);
  x[i] = value;
});

const chunks = 4;
const chunk = 1 << 15;

/** Copies in, computes and copies out, chunk by chunk. Press Schedule. */
export async function schedule(device: Device) {
  const host = device.allocPinned('f32', chunks * chunk);
  const x = device.alloc('f32', chunks * chunk);
  for (let part = 0; part < chunks; part++) {
    const stream = device.createStream();
    const [from, to] = [part * chunk, (part + 1) * chunk];
    stream.memcpyAsync(x.subarray(from, to), host.subarray(from, to));
    stream.launch(work, { grid: chunk / 256, block: 256 }, { x: x.subarray(from, to) });
    stream.memcpyAsync(host.subarray(from, to), x.subarray(from, to));
  }
  await device.synchronize();
}
`,
  },
];
