// Schedules of copies and kernels: what a virtual device predicts, beside what the device does.
//
// The device is calibrated by single operations, and the kernel is measured alone at two sizes;
// nothing is fitted to a schedule. Then the same code issues each schedule to the device and to
// the virtual one. The schedules of a size are measured in turn, round after round, after rounds that warm
// up: small ones take as long as JavaScript takes to issue them, and its compiler needs a while. The host is slower
// by half at times, for seconds; so what issuing costs is measured in turn with the schedules. Which order the
// operations of many streams get into can hang on microseconds, and the host's pace varies by more; so a prediction is
// the median of predictions at several paces. `ratio` is that over the median of the measured: 1 is exact, below 1 is
// too optimistic. MODEL_DEVICE chooses the device (default `cuda`), MODEL_MIB the largest size; MODEL_RAW names a
// file for every single time.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { type Device, type DeviceArray, open, type PinnedArray, type Stream } from 'warpstage';
import { process } from '../../examples/overlap/program.ts';
import { calibrate } from '../../src/runtime/model/calibrate.ts';
import { modelText } from '../../src/runtime/model/device-file.ts';
import type { EngineModel } from '../../src/runtime/model/engines.ts';
import { IssueMeter, type IssueTimes } from '../../src/runtime/model/issue-times.ts';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';

const name = env.MODEL_DEVICE ?? 'cuda';
const largest = Number(env.MODEL_MIB ?? 2048) * 2 ** 20;
/** Rounds that warm up, and that count, of a size. */
const sizes = [
  { bytes: 16 * 2 ** 20, warm: 60, rounds: 51 },
  { bytes: 256 * 2 ** 20, warm: 5, rounds: 51 },
  { bytes: 2048 * 2 ** 20, warm: 1, rounds: 11 },
] as const;
/** How long issuing takes, of what was calibrated, in the predictions of which the median counts. */
const paces = [0.8, 0.9, 1, 1.1, 1.2] as const;
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

/** A schedule of a size, by name, with the milliseconds that it took. */
interface Schedule {
  readonly work: string;
  readonly order: 'V1' | 'V2';
  readonly parts: readonly Part[];
  readonly variation: Variation;
  readonly times: number[];
}

/** Turns in which issuing is measured, in a round of schedules. */
const turnsOfRound = 2;

/** The milliseconds of each schedule of a size, by name, round by round. `meter` takes part in the rounds. */
async function timesOn(
  device: Device,
  bytes: number,
  warm: number,
  rounds: number,
  meter: IssueMeter | null = null,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const length = bytes / 4;
  using host = device.allocPinned('f32', length);
  using back = device.allocPinned('f32', length);
  using data = device.alloc('f32', length);
  using start = device.createEvent();
  using stop = device.createEvent();
  // A virtual machine's memory is there only when it is first touched.
  for (const { array } of warm > 0 ? [host, back] : []) array.fill(0);
  const all = Array.from({ length: 64 }, () => device.createStream());
  const schedules = variations.flatMap((variation) =>
    [2, 4, 8, 16, 32, 64].flatMap((count) =>
      (['V1', 'V2'] as const).map((order): Schedule => {
        const work = `${bytes / MiB} MiB, ${count} streams, ${order}${variation.title}`;
        const parts = partsOf(all.slice(0, count), length, variation.uneven ?? false);
        return { work, order, parts, variation, times: [] };
      }),
    ),
  );
  for (let round = -warm; round < rounds; ++round) {
    for (const { order, parts, variation, times } of schedules) {
      device.defaultStream.record(start);
      issue(order, { host, back, data }, parts, variation);
      device.defaultStream.record(stop);
      await stop.synchronize();
      if (round >= 0) times.push(stop.elapsedTime(start));
    }
    if (round < 0) await meter?.warmUp(0);
    else for (let turn = 0; turn < turnsOfRound; ++turn) await meter?.turn();
  }
  for (const stream of all) await stream.destroy();
  return new Map(schedules.map(({ work, times }) => [work, times]));
}

/**
 * Milliseconds of the kernel alone, as a function of its threads, from two sizes; behind a large one, so that a small
 * one does not wait to be issued.
 */
async function kernelTimeOn(device: Device): Promise<(threads: number) => number> {
  const sizes = [MiB / 4, 16 * MiB];
  using data = device.alloc('f32', sizes[1]!);
  const stream = device.createStream();
  const medians: number[] = [];
  for (const threads of sizes) {
    const launch = (count = threads) =>
      stream.launch(process, { grid: count / block, block }, { a: data, offset: 0 });
    const times: number[] = [];
    for (let round = -2; round < 9; ++round) {
      using start = device.createEvent();
      using stop = device.createEvent();
      launch(sizes[1]);
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

/** The predicted milliseconds of each schedule of a size, by name, at every pace. */
async function predictionsOf(
  model: EngineModel,
  kernelTime: (threads: number) => number,
  bytes: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-model-'));
  const predictions = new Map<string, readonly number[]>();
  try {
    const file = join(folder, 'device.json');
    for (const pace of paces) {
      const { issueTime, launchTime, eventTime } = model;
      const times = {
        issueTime: pace * issueTime,
        launchTime: pace * launchTime,
        eventTime: pace * eventTime,
      };
      writeFileSync(file, modelText({ ...model, ...times }));
      await using virtual = await open(`model:${file}`, {
        execute: false,
        // The overhead of a kernel is in what was measured.
        kernelTime: ({ grid, block: [x] }) => Math.max(0, kernelTime(grid[0] * x) - model.kernelOverhead),
      });
      for (const [work, once] of await timesOn(virtual, bytes, 0, 1))
        predictions.set(work, [...(predictions.get(work) ?? []), ...once]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return predictions;
}

async function schedules(): Promise<Row[]> {
  await using device = await open(name);
  const model = await calibrate(device);
  const kernelTime = await kernelTimeOn(device);
  console.error(modelText(model));
  const rows: Row[] = [];
  const raw: Record<string, readonly number[]> = {};
  const issued: Record<number, IssueTimes> = {};
  for (const { bytes, warm, rounds } of sizes.filter((size) => size.bytes <= largest)) {
    await using meter = new IssueMeter(device);
    const measured = await timesOn(device, bytes, warm, rounds, meter);
    const { times: issueTimes } = meter;
    console.error(`${bytes / MiB} MiB: ${JSON.stringify(issueTimes)}`);
    const predicted = await predictionsOf({ ...model, ...issueTimes }, kernelTime, bytes);
    issued[bytes / MiB] = issueTimes;
    for (const [work, times] of measured) {
      const prediction = median(predicted.get(work)!);
      const ratio = prediction / median(times);
      const seconds = median(times) / 1000;
      rows.push({ suite: 'model', work, variant: 'predicted', against: 'measured', ratio, seconds, bytes });
      raw[work] = [prediction, ...times];
    }
    summarise(`${bytes / MiB} MiB`, rows);
  }
  if (env.MODEL_RAW !== undefined) {
    const kernel = [2 ** 14, 2 ** 18, 2 ** 22, 2 ** 26].map((threads) => [threads, kernelTime(threads)]);
    writeFileSync(env.MODEL_RAW, JSON.stringify({ model, issued, kernel, raw }));
  }
  const errors = rows.map(({ ratio }) => Math.abs(ratio - 1));
  console.error(`median error ${percent(median(errors))}, worst ${percent(Math.max(...errors))}`);
  return rows;
}

/** How near the predictions come, and how good the schedule is that they rank first. */
function summarise(size: string, rows: readonly Row[]) {
  for (const { title } of variations) {
    const ours = rows.filter(
      ({ work }) => work.replace(/ streams, V[12]/, '').replace(/, \d+/, '') === size + title,
    );
    const errors = ours.map(({ ratio }) => Math.abs(ratio - 1));
    const best = Math.min(...ours.map(({ seconds }) => seconds));
    const chosen = ours.reduce((a, b) => (b.ratio * b.seconds < a.ratio * a.seconds ? b : a));
    console.error(
      `${size}${title}: median ${percent(median(errors))}, worst ${percent(Math.max(...errors))}, ` +
        `predicted best is ${percent(chosen.seconds / best - 1)} off the best`,
    );
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export const suite: Suite = { schedules };
