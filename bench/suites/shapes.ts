// Arrays of two dimensions beside the flattened text of the same kernel, on one thread of the CPU and, where there is one,
// on a GPU. Results are compared before a figure counts.

import { type Device, type DeviceName, open } from 'warpstage';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { type Work, works } from '../shapes/kernels.ts';

const rounds = 21;

async function launchesOf(device: Device, { shaped, flattened, block, tile, size, times }: Work) {
  const pitch = size + 8;
  const length = size * pitch;
  const stream = device.createStream();
  const source = device.alloc('f32', length);
  stream.memcpyAsync(
    source,
    Float32Array.from({ length }, (_, i) => (i % 251) - 100),
  );
  const grid = [Math.ceil(size / tile[0]), Math.ceil(size / tile[1])] as const;
  const each = [true, false].map((hasShape) => {
    const target = device.alloc('f32', length);
    stream.memcpyAsync(target, new Float32Array(length));
    const launch = hasShape
      ? () =>
          stream.launch(
            shaped,
            { grid, block },
            { to: target.shaped([size, size], pitch), from: source.shaped([size, size], pitch) },
          )
      : () =>
          stream.launch(
            flattened,
            { grid, block },
            { to: target, from: source, rows: size, columns: size, pitch },
          );
    return { target, launch };
  });
  const results = each.map(() => new Float32Array(length));
  for (const [at, { target, launch }] of each.entries()) {
    launch();
    stream.memcpyAsync(results[at]!, target);
  }
  await stream.synchronize();
  const [found, expected] = results as [Float32Array, Float32Array];
  if (expected.every((value) => value === 0) || found.some((value, at) => value !== expected[at]))
    throw new Error('the two texts give different results');
  return each.map(({ launch }) => async () => {
    for (let time = 0; time < times; time++) launch();
    await stream.synchronize();
  });
}

async function measure(name: string, work: Work): Promise<Row[]> {
  const rows: Row[] = [];
  const places: [DeviceName, { threads?: number }][] = [['cpu', { threads: 1 }]];
  const gpu = await open('cuda').catch(() => null);
  await gpu?.close();
  if (gpu !== null) places.push(['cuda', {}]);
  for (const [place, options] of places) {
    await using device = await open(place, options);
    const times = place === 'cuda' ? work.times * 50 : work.times;
    const [shaped, flattened] = await launchesOf(device, { ...work, times });
    const bytes = times * 2 * 4 * work.size ** 2;
    const variants = { [`shaped, ${place}`]: shaped!, [`flattened, ${place}`]: flattened! };
    rows.push(...(await inTurn({ suite: 'shapes', work: name, bytes }, variants, rounds)));
  }
  return rows;
}

export const suite: Suite = Object.fromEntries(
  Object.entries(works).map(([name, work]) => [name, () => measure(name, work)]),
);
