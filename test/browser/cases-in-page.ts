// The conformance cases where there is nothing of Node: each on each device of a browser.

import { type Device, type DeviceArray, open } from 'warpstage';
import { allocFor, type Case, type HostArray } from '../conformance/case.ts';
import { allCases } from '../conformance/cases.ts';

/** What a case left that it must not leave, or why it failed; empty where all is well. */
export async function runCases(
  name: string,
  options: Parameters<typeof open>[1],
): Promise<{
  readonly ran: number;
  /** Threads that ran blocks. */
  readonly threads: number;
  readonly ranOn: readonly string[];
  readonly problems: readonly string[];
}> {
  const device = await open(name, options);
  const problems: string[] = [];
  const ranOn = new Set<string>();
  let ran = 0;
  for (const [subject, cases] of Object.entries(allCases))
    for (const one of cases) {
      ran++;
      try {
        for (const wrong of await runCase(device, one, ranOn))
          problems.push(`${subject}, ${one.name}: ${wrong}`);
      } catch (error) {
        problems.push(`${subject}, ${one.name}: ${String(error)}`);
      }
    }
  const threads = device.properties.multiProcessorCount;
  await device.close();
  return { ran, threads, ranOn: [...ranOn], problems };
}

async function runCase(device: Device, one: Case, ranOn: Set<string>): Promise<string[]> {
  const stream = device.createStream();
  const arrays = new Map<string, DeviceArray>();
  const entries = Object.entries(one.data).map(([parameter, value]) => {
    if (typeof value !== 'object') return [parameter, value] as const;
    const array = allocFor(device, one, parameter, value);
    stream.memcpyAsync(array, value);
    arrays.set(parameter, array);
    return [parameter, array] as const;
  });
  const shape = { grid: one.grid, block: one.block };
  ranOn.add(stream.launch(one.kernel, shape, Object.fromEntries(entries) as never).ranOn);
  const results = Object.entries(one.expected).map(([parameter, expected]) => {
    const result = new (expected.constructor as new (length: number) => HostArray)(expected.length);
    stream.memcpyAsync(result, arrays.get(parameter)!);
    return { parameter, expected, result };
  });
  await stream.synchronize();
  for (const array of arrays.values()) array.free();
  return results.flatMap(({ parameter, expected, result }) => {
    const at = expected.findIndex((value, i) => !Object.is(value, result[i]));
    return at < 0 ? [] : [`${parameter}[${at}] is ${result[at]}, and not ${expected[at]}`];
  });
}
