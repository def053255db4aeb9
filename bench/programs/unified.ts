// The guide's unified kernel over 1 Mi elements, on one thread: the same text in Node and in a page.

import { open } from 'warpstage';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';

const elements = 2 ** 20;
const launches = 20;
const [grid, block] = [256, 256];

/** Sets up, checks the result, and gives what runs the kernel some times: seconds of one launch. */
export async function prepare(): Promise<() => Promise<number>> {
  const device = await open('cpu', { threads: 1 });
  const stream = device.createStream();
  const [globalIn, globalOut] = [device.alloc('i32', elements), device.alloc('i32', elements)];
  stream.memcpyAsync(
    globalIn,
    Int32Array.from({ length: elements }, (_, i) => i),
  );
  const batchCount = elements / (grid * block);
  const launch = () =>
    stream.launch(withStagingUnified, { grid, block }, { globalIn, globalOut, batchCount });
  launch();
  const result = new Int32Array(elements);
  stream.memcpyAsync(result, globalOut);
  await stream.synchronize();
  const wrong = result.findIndex((value, i) => value !== 3 * i + 1);
  if (wrong >= 0) throw new Error(`element ${wrong} is ${result[wrong]}`);
  return async () => {
    const begin = performance.now();
    for (let i = 0; i < launches; i++) launch();
    await stream.synchronize();
    return (performance.now() - begin) / 1000 / launches;
  };
}
