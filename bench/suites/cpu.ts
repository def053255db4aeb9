// Kernels on the CPU device, against the plain JavaScript loop nest of the same blocks and threads.

import { type Device, open } from 'warpstage';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import type { Suite } from '../main.ts';
import { inTurn } from '../measure.ts';

const elements = 2 ** 24;
const block = 256;
const grid = 64;
const stages = 4;
const batches = elements / (grid * block);

/** What the unified kernel does, as somebody would write it in JavaScript: the same blocks, threads, batches and staging. */
function loopNest(output: Int32Array, input: Int32Array): void {
  const shared = new Int32Array(stages * block);
  for (let blockIndex = 0; blockIndex < grid; ++blockIndex) {
    const start = (batch: number) => blockIndex * block + grid * block * batch;
    for (let compute = 0, fetch = 0; compute < batches; ++compute) {
      for (; fetch < batches && fetch < compute + stages; ++fetch) {
        const stage = (fetch % stages) * block;
        for (let thread = 0; thread < block; ++thread) shared[stage + thread] = input[start(fetch) + thread]!;
      }
      const stage = (compute % stages) * block;
      for (let thread = 0; thread < block; ++thread) {
        output[start(compute) + thread] = (Math.imul(shared[stage + thread]!, 3) + 1) | 0;
      }
    }
  }
}

async function unified() {
  const input = Int32Array.from({ length: elements }, (_, index) => Math.imul(index, 2654435761));
  const expected = new Int32Array(elements);
  loopNest(expected, input);

  const prepare = async (device: Device) => {
    const source = device.alloc('i32', elements);
    const target = device.alloc('i32', elements);
    const stream = device.createStream();
    stream.memcpyAsync(source, input);
    await stream.synchronize();
    const launch = async () => {
      const configuration = { grid, block };
      const args = { globalOut: target, globalIn: source, batchCount: batches, stagesCount: stages };
      const { ranOn } = stream.launch(withStagingUnified, configuration, args);
      await stream.synchronize();
      if (!ranOn.startsWith('wasm (regions')) throw new Error(`the kernel ran on ${ranOn}`);
    };
    await launch();
    const output = new Int32Array(elements);
    stream.memcpyAsync(output, target);
    await stream.synchronize();
    if (output.some((value, index) => value !== expected[index])) throw new Error('the results differ');
    return launch;
  };

  await using all = await open('cpu');
  await using single = await open('cpu', { threads: 1 });
  return await inTurn(
    { suite: 'cpu', work: 'unified', bytes: 8 * elements },
    {
      'warpstage, all threads': await prepare(all),
      'warpstage, 1 thread': await prepare(single),
      'JavaScript loop nest': () => loopNest(expected, input),
    },
    11,
  );
}

export const suite: Suite = { unified };
