// node scripts/launch-misuse.mjs BUNDLE PROGRESS NUMBER... : launches misuses on the GPU, one by one.
//
// The process that compare-sanitizer.mjs starts, under a tool or alone. BUNDLE exports the misuses and
// `launchOf`; a number is that of a misuse, with an `m` behind it for its mended twin. Each kernel has its
// number in its name (`misuse_12`, `mended_12`), by which the tools report it. PROGRESS is appended to, so
// that whoever watches knows which launch hangs: `P pid`, then for each launch `B number` and `E number`
// with what came of it, as JSON. A launch that the driver reports as failed ends the process with 3.

import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { kernel as makeKernel, open } from '../dist/index.js';

const [bundle, progress, ...numbers] = process.argv.slice(2);
const note = (...words) => appendFileSync(progress, `${words.join(' ')}\n`);

note('P', process.pid);
const { corpus, launchOf } = await import(pathToFileURL(bundle).href);
const device = await open('cuda');

for (const number of numbers) {
  note('B', number);
  const { fate, ...more } = await launch(Number.parseInt(number, 10), number.endsWith('m'));
  note('E', number, JSON.stringify({ fate, ...more }));
  if (fate === 'failed') process.exit(3);
}
await device.close();

/** `ended` with a hash of all arrays, `refused` before the GPU was asked, or `failed` on it. */
async function launch(index, mended) {
  const misuse = corpus[index];
  const { schema, body, fma } = misuse.kernel;
  const name = `${mended ? 'mended' : 'misuse'}_${index}`;
  const { arguments: given, ...shape } = launchOf(misuse, mended);
  const arrays = Object.entries(given).filter(([, value]) => ArrayBuffer.isView(value));
  const stream = device.createStream();
  try {
    const data = { ...given };
    for (const [key, value] of arrays) {
      data[key] = device.alloc(elementOf(schema[key]), value.length);
      stream.memcpyAsync(data[key], value);
    }
    stream.launch(makeKernel(schema, body, { name, fma }), shape, data);
    const hash = createHash('sha256');
    for (const [key, value] of arrays) stream.memcpyAsync(value, data[key]);
    await stream.synchronize();
    for (const [, value] of arrays) hash.update(new Uint8Array(value.buffer));
    return { fate: 'ended', result: hash.digest('hex').slice(0, 16) };
  } catch ({ code = '', message }) {
    const fate = code === 'WS4006' ? 'failed' : 'refused';
    return { fate, code, message: message.split('\n')[0] };
  }
}

/** The element type in `readonly i32[]`. */
function elementOf(entry) {
  return /(\w+)\[\]/.exec(entry)[1];
}
