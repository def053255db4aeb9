// What it costs on a GPU that kernels test what they access: the guide's kernels and two without a pipeline
// on a checked device, against the same on one that tests nothing, and against the device-to-device copy.
// The two devices take turns.

import { type Device, kernel, open } from 'warpstage';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';
import { elements, type Milliseconds, measureOurs, works } from './guide.ts';

const turns = 3;
const rounds = 11;
const width = 2048;
const tile = 16;

/** One element a thread: two reads, a write. */
const flat = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * x[i]! + y[i]!;
});

/** Bound by its reads of shared memory, each of which is tested. */
const product = kernel(
  { c: 'f32[]', a: 'readonly f32[]', b: 'readonly f32[]', n: 'index' },
  ({ c, a, b, n }, cuda) => {
    const [left, right] = [cuda.sharedArray('f32', 256), cuda.sharedArray('f32', 256)];
    const [x, y] = [cuda.threadIdx.x, cuda.threadIdx.y];
    const row = cuda.blockIdx.y * 16 + y;
    const column = cuda.blockIdx.x * 16 + x;
    let sum = cuda.f32(0);
    for (let begin = 0; begin < n; begin += 16) {
      left[y * 16 + x] = a[row * n + begin + x]!;
      right[y * 16 + x] = b[(begin + y) * n + column]!;
      cuda.syncthreads();
      for (let k = 0; k < 16; k++) sum += left[y * 16 + k]! * right[k * 16 + x]!;
      cuda.syncthreads();
    }
    c[row * n + column] = sum;
  },
);

async function measurePlain(device: Device, times: Milliseconds): Promise<void> {
  const stream = device.createStream();
  const [start, stop] = [device.createEvent(), device.createEvent()];
  const timed = async (name: string, issue: () => unknown) => {
    times[name] ??= [];
    for (let round = -2; round < rounds; ++round) {
      issue();
      stream.record(start);
      issue();
      stream.record(stop);
      await stream.synchronize();
      if (round >= 0) times[name].push(stop.elapsedTime(start));
    }
  };
  const [y, x] = [device.alloc('f32', elements), device.alloc('f32', elements)];
  await timed('flat: one element a thread', () =>
    stream.launch(flat, { grid: elements / 256, block: 256 }, { y, x, a: 2 }),
  );
  y.free();
  x.free();
  const [a, b, c] = [0, 1, 2].map(() => device.alloc('f32', width * width)) as [typeof x, typeof x, typeof x];
  const grid = [width / tile, width / tile] as const;
  await timed('matrix product in tiles of 16', () =>
    stream.launch(product, { grid, block: [tile, tile] }, { c, a, b, n: width }),
  );
  for (const array of [a, b, c]) array.free();
}

async function gpu(): Promise<Row[]> {
  const [plain, checked]: [Milliseconds, Milliseconds] = [{}, {}];
  for (let turn = 0; turn < turns; ++turn) {
    for (const [times, options] of [
      [plain, {}],
      [checked, { checked: true }],
    ] as const) {
      await using device = await open('cuda', options);
      await measureOurs(device, times);
      await measurePlain(device, times);
    }
  }
  const copy = median(plain.copy!) / 1000;
  const names = [...Object.keys(works), 'flat: one element a thread', 'matrix product in tiles of 16'];
  return names.flatMap((name) => {
    const [own, other] = [median(checked[name]!) / 1000, median(plain[name]!) / 1000];
    const row = (against: string, seconds: number): Row => {
      const ratio = seconds / own;
      return {
        suite: 'checks',
        work: 'gpu',
        variant: name,
        against,
        ratio,
        seconds: own,
        bytes: 8 * elements,
      };
    };
    return [row('not checked', other), row('device-to-device copy', copy)];
  });
}

export const suite: Suite = { gpu };
