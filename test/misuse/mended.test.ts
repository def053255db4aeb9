// The mended twins as they are launched: each ends on every device, with what the interpreter makes of it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open } from 'warpstage';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { devices, nativeDevices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { isInTurn } from '../support/thorough.ts';
import { corpus } from './corpus.ts';
import { launchOf, type Misuse } from './misuse.ts';

sayWithoutGpu();

/** The arrays of the launch, by name, as the device leaves them. */
async function runMended(device: Device, misuse: Misuse): Promise<Readonly<Record<string, unknown>>> {
  const { arguments: given, ...shape } = launchOf(misuse, true);
  const stream = device.createStream();
  const data: Record<string, unknown> = { ...given };
  const results: Record<string, unknown> = {};
  const copies = parseSchema(misuse.kernel.schema).flatMap((parameter) => {
    const value = given[parameter.name];
    if (parameter.kind !== 'array' || !ArrayBuffer.isView(value)) return [];
    const host = (value as Int32Array).slice();
    const memory = device.alloc(parameter.element as 'i32', host.length);
    stream.memcpyAsync(memory, host);
    data[parameter.name] = memory;
    results[parameter.name] = host;
    return [{ host, memory }];
  });
  stream.launch(misuse.kernel, shape, data as never);
  for (const { host, memory } of copies) stream.memcpyAsync(host, memory);
  await stream.synchronize();
  for (const { memory } of copies) memory.free();
  return results;
}

const compiling = devices.filter(({ options }) => options.target !== 'interpreter');
/** The system's compiler, which takes long for each, is given some. */
const some = corpus.filter((_, i) => !isInTurn || i % 4 === 0);

describe.each(compiling)('$name', (kind) => {
  const { open: openIt } = kind;
  let [device, interpreter]: Device[] = [];
  beforeAll(async () => {
    [device, interpreter] = [await openIt(), await open('cpu', { target: 'interpreter' })];
  });
  afterAll(async () => {
    await device?.close();
    await interpreter?.close();
  });

  test.each(nativeDevices.includes(kind) ? some : corpus)('mended: $name', async (misuse) => {
    expect(await runMended(device!, misuse)).toEqual(await runMended(interpreter!, misuse));
  });
});
