// One job over one, two, four, … GPUs, page-locked memory to page-locked memory, against C++ on as many
// (bench/cuda/multi.cu): one job whose copies bind it, and one whose kernel does. The size may be set
// with BENCH_GIB, the most GPUs with BENCH_GPUS.

import { type Device, job, kernel, open, type PinnedArray, run } from 'warpstage';
import { gpuCount } from '#warpstage/runtime/cuda/gpu.js';
import { Counterpart } from '../counterpart.ts';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';

const gib = Number(process.env.BENCH_GIB ?? 2);
const rounds = { copies: 1, kernel: 8192 } as const;
const runs = 5;
/** Runs before those that count: the first ones are those of an engine that has not compiled what it runs yet. */
const warmUp = 5;

type Work = keyof typeof rounds;
/** Seconds by the number of GPUs. */
type Times = Readonly<Record<string, number>>;

const chain = job({
  kernel: kernel(
    { y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32', rounds: 'i32' },
    ({ y, x, a, b, rounds }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= y.length) return;
      let value = x[i]!;
      for (let round = 0; round < rounds; ++round) value = a * value + b;
      y[i] = value;
    },
  ),
  inputs: { x: {} },
  outputs: { y: {} },
  settings: { a: 0.5, b: 1, rounds: 1 },
});

/** Runs the job once on so many of the devices; the seconds from the call to its result. */
async function seconds(
  work: Work,
  device: readonly Device[],
  input: PinnedArray<'f32'>,
  output: PinnedArray<'f32'>,
): Promise<number> {
  output.array[output.length - 1] = 0;
  const begin = performance.now();
  const { report } = await run(chain, { input, output, device, settings: { rounds: rounds[work] } });
  const time = (performance.now() - begin) / 1000;
  // From 1, each round of 0.5 * value + 1 leads nearer to 2.
  const expected = work === 'copies' ? 1.5 : 2;
  if (output.array[output.length - 1] !== expected) throw new Error('the results differ');
  if (report.devices.some(({ chunks }) => chunks === 0)) throw new Error('a device had nothing to do');
  return time;
}

/** What both works took, ours and theirs. */
type Measured = Readonly<Record<Work, { readonly ours: Times; readonly theirs: Times }>>;

let measured: Promise<Measured> | undefined;

/** Both works on 1, 2, 4, … GPUs, measured when the first of them is asked for. */
function measureOnce(): Promise<Measured> {
  measured ??= measure();
  return measured;
}

async function measure(): Promise<Measured> {
  const most = Math.min(gpuCount(), Number(process.env.BENCH_GPUS ?? Infinity));
  using counterpart = new Counterpart('multi', '-fmad=false');
  const ofCpp = () =>
    counterpart.measure(String(gib), String(rounds.kernel), String(most)) as Record<Work, Times>;
  const before = ofCpp();
  const ours: Record<Work, Record<string, number>> = { copies: {}, kernel: {} };
  const devices: Device[] = [];
  try {
    for (let ordinal = 0; ordinal < most; ++ordinal) devices.push(await open(`cuda:${ordinal}`));
    const elements = Math.round(gib * 2 ** 28);
    const [input, output] = [
      devices[0]!.allocPinned('f32', elements),
      devices[0]!.allocPinned('f32', elements),
    ];
    input.array.fill(1);
    for (const work of ['copies', 'kernel'] as const) {
      for (let used = 1; used <= most; used *= 2) {
        const times: number[] = [];
        for (let round = -warmUp; round < runs; ++round) {
          const time = await seconds(work, devices.slice(0, used), input, output);
          if (round >= 0) times.push(time);
        }
        ours[work][used] = median(times);
      }
    }
  } finally {
    for (const device of devices) await device.close();
  }
  const after = ofCpp();
  const mean = (work: Work): Times =>
    Object.fromEntries(
      Object.entries(before[work]).map(([used, time]) => [used, (time + after[work][used]!) / 2]),
    );
  return {
    copies: { ours: ours.copies, theirs: mean('copies') },
    kernel: { ours: ours.kernel, theirs: mean('kernel') },
  };
}

async function rowsOf(work: Work): Promise<Row[]> {
  const { ours, theirs } = (await measureOnce())[work];
  const row = (variant: string, against: string, own: number, other: number): Row => ({
    suite: 'multi',
    work,
    bytes: gib * 2 ** 31,
    variant,
    against,
    ratio: other / own,
    seconds: own,
  });
  return Object.keys(ours).flatMap((used) => {
    const [own, other] = [ours[used]!, theirs[used]!];
    const beside = row(`run on ${used}`, `C++ on ${used}`, own, other);
    if (used === '1') return [beside];
    return [
      beside,
      row(`run on ${used}`, 'run on 1', own, ours['1']!),
      row(`C++ on ${used}`, 'C++ on 1', other, theirs['1']!),
    ];
  });
}

export const suite: Suite = { copies: () => rowsOf('copies'), kernel: () => rowsOf('kernel') };
