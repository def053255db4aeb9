// Serves `affine` on one device: `npx jiti examples/server/main.ts [port] [device]`.

import type { AddressInfo } from 'node:net';
import { argv } from 'node:process';
import { open } from 'warpstage';
import { affine } from '../affine.ts';
import { serverOf } from './server.ts';

const device = await open(argv[3]);
const server = serverOf({ device, jobs: { affine } });
server.listen(Number(argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/affine`);
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => void device.close());
});
