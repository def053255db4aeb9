// The post's program: sequential, V1 and V2, with their times and errors.
//
//     npx jiti examples/overlap/main.ts
//
// On Node 22.18 and later, plain `node` does as well.

import { open } from 'warpstage';
import { measure } from './measure.ts';

await using device = await open();
console.log(`Device : ${device.properties.name}`);
for (const { schedule, milliseconds, maxError } of await measure(device)) {
  console.log(`Time for ${schedule} (ms): ${milliseconds.toFixed(6)}`);
  console.log(`  max error: ${maxError.toExponential(7)}`);
}
