// Kernels on the CPU device, against the plain JavaScript loop nest of the same blocks and threads.

import { type Device, type Kernel, open } from 'warpstage';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';

const block = 256;
const grid = 64;

/** One of the guide's kernels, and how much of it is run. */
interface Work {
  readonly name: string;
  readonly kernel: Kernel;
  readonly elements: number;
  readonly stages: number;
  /** Elements that a block stages at a time. */
  readonly batch: number;
  /** How the CPU should run a block. */
  readonly mode: 'regions' | 'states';
}

/**
 * What the kernels do, as somebody would write it in JavaScript: the same blocks, batches and staging. Where a
 * batch begins is computed once for it; said anew for each element, it makes the nest three times slower.
 */
function loopNest({ elements, stages, batch: size }: Work, output: Int32Array, input: Int32Array): void {
  const batches = elements / (grid * size);
  const shared = new Int32Array(stages * size);
  for (let blockIndex = 0; blockIndex < grid; ++blockIndex) {
    const start = (batch: number) => blockIndex * size + grid * size * batch;
    for (let compute = 0, fetch = 0; compute < batches; ++compute) {
      for (; fetch < batches && fetch < compute + stages; ++fetch) {
        const stage = (fetch % stages) * size;
        const from = start(fetch);
        for (let thread = 0; thread < size; ++thread) shared[stage + thread] = input[from + thread]!;
      }
      const stage = (compute % stages) * size;
      const to = start(compute);
      for (let thread = 0; thread < size; ++thread) {
        output[to + thread] = (Math.imul(shared[stage + thread]!, 3) + 1) | 0;
      }
    }
  }
}

async function measure(work: Work): Promise<Row[]> {
  const { name, kernel, elements, stages, batch, mode } = work;
  const input = Int32Array.from({ length: elements }, (_, index) => Math.imul(index, 2654435761));
  const expected = new Int32Array(elements);
  loopNest(work, expected, input);

  const prepare = async (device: Device) => {
    const source = device.alloc('i32', elements);
    const target = device.alloc('i32', elements);
    const stream = device.createStream();
    stream.memcpyAsync(source, input);
    await stream.synchronize();
    const launch = async () => {
      const batchCount = elements / (grid * batch);
      const args = { globalOut: target, globalIn: source, batchCount, stagesCount: stages };
      const { ranOn } = stream.launch(kernel, { grid, block }, args);
      await stream.synchronize();
      if (!ranOn.startsWith(`wasm (${mode}`)) throw new Error(`the kernel ran on ${ranOn}`);
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
    { suite: 'cpu', work: name, bytes: 8 * elements },
    {
      'warpstage, all threads': await prepare(all),
      'warpstage, 1 thread': await prepare(single),
      'JavaScript loop nest': () => loopNest(work, expected, input),
    },
    11,
  );
}

export const suite: Suite = {
  unified: () =>
    measure({
      name: 'unified',
      kernel: withStagingUnified as Kernel,
      elements: 2 ** 24,
      stages: 4,
      batch: block,
      mode: 'regions',
    }),
  specialized: () =>
    measure({
      name: 'specialized',
      kernel: withSpecializedStaging as Kernel,
      elements: 2 ** 22,
      stages: 2,
      batch: block / 2,
      mode: 'states',
    }),
};
