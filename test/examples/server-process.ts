// The server of the examples as a process. Its first line of output is where it listens; each line of input is answered by what
// memory it has after a full collection.

import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { open } from 'warpstage';
import { affine } from '../../examples/affine.ts';
import { serverOf } from '../../examples/server/server.ts';

const device = await open('cpu');
const server = serverOf({ device, jobs: { affine } });
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/affine`);
});
createInterface({ input: process.stdin }).on('line', async () => {
  // What clients left behind ends a moment after them, and buffers go some collections after what holds them.
  while (device.memory.allocations > 0) await setTimeout(50);
  for (let turn = 0; turn < 5; turn++) {
    await setTimeout(100);
    globalThis.gc!();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  console.log(JSON.stringify({ resident: rss, used: heapUsed + external }));
});
process.once('SIGTERM', () => process.exit());
