// One launch of a misuse, or of its mended twin, and what came of it.

import { createHash } from 'node:crypto';
import { kernel as makeKernel } from '../dist/index.js';

/** The kernel's name, by which the tools report it; of a number as `12`, or `12m` for the mended twin. */
export function nameOf(number) {
  return `${number.endsWith('m') ? 'mended' : 'misuse'}_${Number.parseInt(number, 10)}`;
}

/** `ended` with a hash of all arrays, `refused` before the device was asked, or `failed` on it. */
export async function launchMisuse(device, { corpus, launchOf }, number) {
  const misuse = corpus[Number.parseInt(number, 10)];
  const { schema, body, fma } = misuse.kernel;
  const { arguments: given, ...shape } = launchOf(misuse, number.endsWith('m'));
  const arrays = Object.entries(given).filter(([, value]) => ArrayBuffer.isView(value));
  const stream = device.createStream();
  try {
    const data = { ...given };
    for (const [key, value] of arrays) {
      data[key] = device.alloc(elementOf(schema[key]), value.length);
      stream.memcpyAsync(data[key], value);
    }
    stream.launch(makeKernel(schema, body, { name: nameOf(number), fma }), shape, data);
    const hash = createHash('sha256');
    const results = arrays.map(([key, value]) => [value.slice(), data[key]]);
    for (const [result, memory] of results) stream.memcpyAsync(result, memory);
    await stream.synchronize();
    for (const [result] of results) hash.update(new Uint8Array(result.buffer));
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
