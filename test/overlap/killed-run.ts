// A run in a process of its own, which is killed when so many chunks are through, or else prints its value. Its clock is ahead a second whenever
// somebody looks at it, so that whatever is due every second is due.

import { open, run } from 'warpstage';
import { chunk, works } from './accumulating-works.ts';

const { name, directory, killed } = JSON.parse(process.argv[2]!) as {
  name: string;
  directory: string;
  killed?: number;
};
const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => {
  ahead += 1000;
  return now() + ahead;
};
const devices = await Promise.all([1, 2, 3].map(() => open('cpu', { threads: 1 })));
const [work, options] = works[name]!(directory, devices);
let done = 0;
const { value } = await run(work, {
  chunk,
  depth: 2,
  ...options,
  onProgress: () => {
    if (++done === killed) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write(JSON.stringify(value));
await Promise.all(devices.map((device) => device.close()));
