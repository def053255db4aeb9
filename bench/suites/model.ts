// Schedules of copies and kernels: what a virtual device predicts, beside what the device does.
//
// The device is calibrated by single operations, and the kernel is measured alone at two sizes;
// nothing is fitted to a schedule. Then the same code issues each schedule to the device and to
// the virtual one. `ratio` is predicted time over measured time: 1 is exact, below 1 is too
// optimistic. MODEL_DEVICE chooses the device (default `cuda`).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { type Device, type DeviceArray, open, type PinnedArray, type Stream } from 'warpstage';
import { process } from '../../examples/overlap/program.ts';
import { calibrate } from '../../src/runtime/model/calibrate.ts';
import { modelText } from '../../src/runtime/model/device-file.ts';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';

const name = env.MODEL_DEVICE ?? 'cuda';
const largest = Number(env.MODEL_MIB ?? 2048) * 2 ** 20;
const rounds = 5;
const block = 256;
const MiB = 2 ** 20;

interface Work {
  readonly host: PinnedArray<'f32'>;
  readonly back: PinnedArray<'f32'>;
  readonly data: DeviceArray<'f32'>;
}

interface Variation {
  readonly title: string;
  /** Parts of 1, 2, 1, 2, … instead of equal ones. */
  readonly uneven?: boolean;
  readonly kernels?: number;
  /** How many times as much is copied out as in. */
  readonly out?: number;
}

const variations: readonly Variation[] = [
  { title: '' },
  { title: ', uneven chunks', uneven: true },
  { title: ', two kernels a chunk', kernels: 2 },
  { title: ', twice as much out as in', out: 2 },
];

type Part = { readonly stream: Stream; readonly begin: number; readonly end: number };

/** Cuts `length` elements, which are many blocks, into a part for each stream. */
function partsOf(streams: readonly Stream[], length: number, uneven: boolean): Part[] {
  const weights = streams.map((_, i) => (uneven ? 1 + (i % 2) : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const blocks = length / block;
  let done = 0;
  return streams.map((stream, i) => {
    const begin = Math.floor((blocks * done) / total) * block;
    done += weights[i]!;
    return { stream, begin, end: Math.floor((blocks * done) / total) * block };
  });
}

const steps = {
  in: ({ host, data }: Work, { stream, begin, end }: Part) =>
    stream.memcpyAsync(data.subarray(begin, end), host.subarray(begin, end)),
  kernel: ({ data }: Work, { stream, begin, end }: Part) =>
    stream.launch(process, { grid: (end - begin) / block, block }, { a: data, offset: begin }),
  out: ({ back, data }: Work, { stream, begin, end }: Part) =>
    stream.memcpyAsync(back.subarray(begin, end), data.subarray(begin, end)),
};

function issue(order: 'V1' | 'V2', work: Work, parts: readonly Part[], { kernels = 1, out = 1 }: Variation) {
  const sequence = [
    steps.in,
    ...Array.from({ length: kernels }, () => steps.kernel),
    ...Array.from({ length: out }, () => steps.out),
  ];
  if (order === 'V1') for (const part of parts) for (const step of sequence) step(work, part);
  else for (const step of sequence) for (const part of parts) step(work, part);
}

/** Milliseconds of each schedule of a size, by name. */
async function timesOn(device: Device, bytes: number, repeat: number): Promise<Map<string, number>> {
  const length = bytes / 4;
  using host = device.allocPinned('f32', length);
  using back = device.allocPinned('f32', length);
  using data = device.alloc('f32', length);
  const all = Array.from({ length: 64 }, () => device.createStream());
  const times = new Map<string, number>();
  for (const variation of variations) {
    for (const count of [2, 4, 8, 16, 32, 64]) {
      for (const order of ['V1', 'V2'] as const) {
        const parts = partsOf(all.slice(0, count), length, variation.uneven ?? false);
        const measured: number[] = [];
        for (let round = repeat === 1 ? 0 : -2; round < repeat; ++round) {
          using start = device.createEvent();
          using stop = device.createEvent();
          device.defaultStream.record(start);
          issue(order, { host, back, data }, parts, variation);
          device.defaultStream.record(stop);
          await stop.synchronize();
          if (round >= 0) measured.push(stop.elapsedTime(start));
        }
        times.set(`${bytes / MiB} MiB, ${count} streams, ${order}${variation.title}`, median(measured));
      }
    }
  }
  for (const stream of all) await stream.destroy();
  return times;
}

/** Milliseconds of the kernel alone, as a function of its threads, from two sizes. */
async function kernelTimeOn(device: Device): Promise<(threads: number) => number> {
  const sizes = [MiB / 4, 16 * MiB];
  using data = device.alloc('f32', sizes[1]!);
  const stream = device.createStream();
  const medians: number[] = [];
  for (const threads of sizes) {
    const launch = () => stream.launch(process, { grid: threads / block, block }, { a: data, offset: 0 });
    const times: number[] = [];
    for (let round = -2; round < 9; ++round) {
      using start = device.createEvent();
      using stop = device.createEvent();
      launch();
      stream.record(start);
      launch();
      stream.record(stop);
      await stream.synchronize();
      if (round >= 0) times.push(stop.elapsedTime(start));
    }
    medians.push(median(times));
  }
  const [few, many] = medians;
  const slope = (many! - few!) / (sizes[1]! - sizes[0]!);
  const fixed = Math.max(0, few! - slope * sizes[0]!);
  return (threads) => fixed + slope * threads;
}

async function schedules(): Promise<Row[]> {
  await using device = await open(name);
  const model = await calibrate(device);
  const kernelTime = await kernelTimeOn(device);
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-model-'));
  const rows: Row[] = [];
  try {
    const file = join(folder, 'device.json');
    writeFileSync(file, modelText(model));
    console.error(modelText(model));
    for (const bytes of [16 * MiB, 256 * MiB, 2048 * MiB].filter((size) => size <= largest)) {
      const measured = await timesOn(device, bytes, rounds);
      await using virtual = await open(`model:${file}`, {
        execute: false,
        // The overhead of a kernel is in what was measured.
        kernelTime: ({ grid, block: [x] }) => Math.max(0, kernelTime(grid[0] * x) - model.kernelOverhead),
      });
      const predicted = await timesOn(virtual, bytes, 1);
      for (const [work, time] of measured) {
        const ratio = predicted.get(work)! / time;
        rows.push({
          suite: 'model',
          work,
          variant: 'predicted',
          against: 'measured',
          ratio,
          seconds: time / 1000,
          bytes,
        });
      }
      summarise(`${bytes / MiB} MiB`, measured, predicted);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const errors = rows.map(({ ratio }) => Math.abs(ratio - 1));
  console.error(`median error ${percent(median(errors))}, worst ${percent(Math.max(...errors))}`);
  return rows;
}

/** How good the schedule is that the prediction ranks first. */
function summarise(
  size: string,
  measured: ReadonlyMap<string, number>,
  predicted: ReadonlyMap<string, number>,
) {
  for (const { title } of variations) {
    const ours = [...measured].filter(([work]) => work.replace(/^.*V[12]/, '') === title);
    const best = Math.min(...ours.map(([, time]) => time));
    const [chosen] = ours.reduce((a, b) => (predicted.get(b[0])! < predicted.get(a[0])! ? b : a));
    console.error(
      `${size}${title}: predicted best is ${percent(measured.get(chosen)! / best - 1)} off the best`,
    );
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export const suite: Suite = { schedules };
