// The arrays of a check case, on a device: filled as the case says, and read back.

import type { Device, DeviceArray } from 'warpstage';
import type { CheckCase } from 'warpstage/check';
import { hostArrays } from '#warpstage/kernel/types.js';
import type { Plot } from './protocol.ts';

type Values = Float32Array | Int32Array;

/** Numbers for an array of which only the length is given: small, and no two neighbours alike. */
function numbers(array: Values): Values {
  for (let i = 0; i < array.length; ++i) array[i] = (i * 37) % 101;
  return array;
}

/** What a launch of the case leaves in the arrays that the kernel may write. */
export async function runCase(
  device: Device,
  { kernel, launch }: CheckCase,
): Promise<{
  readonly ranOn: string;
  readonly milliseconds: number;
  readonly results: ReadonlyMap<string, Values>;
}> {
  const stream = device.createStream();
  const given = launch.arguments as Readonly<Record<string, unknown>>;
  const arrays = new Map<string, { device: DeviceArray; host: Values }>();
  const values = Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const entry = kernel.schema[name];
      const [, isReadonly, element] = /^(readonly )?(\w+)\[\]$/.exec(String(entry)) ?? [];
      if (element === undefined) return [name, value];
      const make = hostArrays[element as 'f32'];
      const host = ArrayBuffer.isView(value)
        ? (value as Values).slice()
        : (value as { unfilled?: boolean }).unfilled
          ? new make((value as { length: number }).length)
          : numbers(new make((value as { length: number }).length));
      const array = device.alloc(element as 'f32', host.length);
      stream.memcpyAsync(array, host as Float32Array);
      if (isReadonly === undefined) arrays.set(name, { device: array as never, host });
      return [name, array];
    }),
  );
  await stream.synchronize();
  const begin = performance.now();
  const shape = { grid: launch.grid, block: launch.block, cooperative: launch.cooperative ?? false };
  const { ranOn } = stream.launch(kernel, shape, values as never);
  await stream.synchronize();
  const milliseconds = performance.now() - begin;
  for (const { device: array, host } of arrays.values()) stream.memcpyAsync(host as never, array as never);
  await stream.synchronize();
  return { ranOn, milliseconds, results: new Map([...arrays].map(([name, { host }]) => [name, host])) };
}

/** Points of a picture at most. */
const mostPoints = 400;

export function plotOf(name: string, values: Values): Plot {
  const stretch = Math.max(1, Math.ceil(values.length / mostPoints));
  const [low, high]: [number[], number[]] = [[], []];
  for (let at = 0; at < values.length; at += stretch) {
    const part = Array.from(values.subarray(at, at + stretch), Number);
    low.push(Math.min(...part));
    high.push(Math.max(...part));
  }
  return { name, length: values.length, low, high };
}
