// node scripts/launch-misuse.mjs BUNDLE PROGRESS NUMBER... : launches misuses on the GPU, one by one.
//
// The process that compare-sanitizer.mjs starts, under a tool or alone. BUNDLE exports the misuses and
// `launchOf`; a number is that of a misuse, with an `m` behind it for its mended twin. PROGRESS is appended
// to, so that whoever watches knows which launch hangs: `P pid`, then for each launch `B number` and
// `E number` with what came of it, as JSON. A launch that the driver reports as failed ends the process with 3.

import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { open } from '../dist/index.js';
import { launchMisuse } from './misuse-launch.mjs';

const [bundle, progress, ...numbers] = process.argv.slice(2);
const note = (...words) => appendFileSync(progress, `${words.join(' ')}\n`);

note('P', process.pid);
const misuses = await import(pathToFileURL(bundle).href);
const device = await open('cuda');

for (const number of numbers) {
  note('B', number);
  const outcome = await launchMisuse(device, misuses, number);
  note('E', number, JSON.stringify(outcome));
  if (outcome.fate === 'failed') process.exit(3);
}
await device.close();
