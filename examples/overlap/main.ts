// Runs the post's program on one device: `npx jiti examples/overlap/main.ts [device]`.

import { argv } from 'node:process';
import { open } from 'warpstage';
import { measure } from './program.ts';

await using device = await open(argv[2]);
console.log(`Device : ${device.properties.name}`);
for (const { schedule, milliseconds, maxError } of await measure(device)) {
  console.log(`Time for ${schedule} transfer and execute (ms): ${milliseconds.toFixed(6)}`);
  console.log(`  max error: ${maxError.toExponential(7)}`);
}
