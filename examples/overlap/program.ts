// The program of "How to Overlap Data Transfers in CUDA C/C++" (NVIDIA Developer Blog, 2012): one
// piece of work, copied in, computed and copied out, by three schedules.
//
//     npx jiti examples/overlap/main.ts
//     npx warpstage overlap --device model:c1060,model:c2050,model:k20c,cpu

import { type Device, type DeviceArray, kernel, type PinnedArray, type Stream } from 'warpstage';

/**
 * Adds 1 to every element, the long way: sqrt(sin² + cos²). It takes about as long as the copies, which
 * shows an overlap best.
 */
export const process = kernel({ a: 'f32[]', offset: 'index' }, ({ a, offset }, cuda) => {
  const i = offset + cuda.thisGrid().threadRank();
  const x = cuda.f32(i);
  const s = Math.sin(x);
  const c = Math.cos(x);
  a[i] = a[i]! + Math.sqrt(s * s + c * c);
});

/** The work: as many elements as `host` has, computed in blocks of `blockSize` threads. */
export interface Work {
  readonly host: PinnedArray<'f32'>;
  readonly data: DeviceArray<'f32'>;
}

/** A way to issue the work to streams. */
export type Schedule = (work: Work, streams: readonly Stream[]) => void;

export const blockSize = 256;
export const streamCount = 4;
/** The post's 4 Mi elements, 16 MiB. */
export const elements = 4 * 1024 * blockSize * streamCount;

/** The first and the last element, and one beyond, of the part of a stream. */
function parts(work: Work, streams: readonly Stream[]) {
  const size = work.host.length / streams.length;
  return streams.map((stream, part) => ({ stream, begin: part * size, end: (part + 1) * size }));
}

type Part = ReturnType<typeof parts>[number];

function copyIn({ host, data }: Work, { stream, begin, end }: Part): void {
  stream.memcpyAsync(data.subarray(begin, end), host.subarray(begin, end));
}

function compute({ data }: Work, { stream, begin, end }: Part): void {
  const grid = (end - begin) / blockSize;
  stream.launch(process, { grid, block: blockSize }, { a: data, offset: begin });
}

function copyOut({ host, data }: Work, { stream, begin, end }: Part): void {
  stream.memcpyAsync(host.subarray(begin, end), data.subarray(begin, end));
}

/** Everything in one stream: nothing overlaps. */
export const sequential: Schedule = (work, [first]) => asynchronousV1(work, [first!]);

/** V1: for each part its copy in, its kernel and its copy out, each part in its own stream. */
export const asynchronousV1: Schedule = (work, streams) => {
  for (const part of parts(work, streams)) {
    copyIn(work, part);
    compute(work, part);
    copyOut(work, part);
  }
};

/** V2: first all copies in, then all kernels, then all copies out, with the same streams. */
export const asynchronousV2: Schedule = (work, streams) => {
  for (const part of parts(work, streams)) copyIn(work, part);
  for (const part of parts(work, streams)) compute(work, part);
  for (const part of parts(work, streams)) copyOut(work, part);
};

export const schedules = { sequential, V1: asynchronousV1, V2: asynchronousV2 } as const;
export type ScheduleName = keyof typeof schedules;

export interface Measurement {
  readonly schedule: ScheduleName;
  readonly milliseconds: number;
  /** The largest difference of an element from 1. */
  readonly maxError: number;
}

/**
 * Measures the three schedules as the post does: with events around, each on an array of zeros, after a
 * first run that warms up. `begin` is called before each measured run.
 */
export async function measure(
  device: Device,
  n = elements,
  begin: (schedule: ScheduleName) => void = () => {},
): Promise<Measurement[]> {
  using host = device.allocPinned('f32', n);
  using data = device.alloc('f32', n);
  const work: Work = { host, data };
  const streams = Array.from({ length: streamCount }, () => device.createStream());

  sequential(work, streams);
  await device.synchronize();

  const measurements: Measurement[] = [];
  for (const schedule of Object.keys(schedules) as ScheduleName[]) {
    host.array.fill(0);
    begin(schedule);
    // The legacy default stream waits for all streams, and they for it; so its events enclose the work.
    using start = device.createEvent();
    using stop = device.createEvent();
    device.defaultStream.record(start);
    schedules[schedule](work, streams);
    device.defaultStream.record(stop);
    await stop.synchronize();
    measurements.push({
      schedule,
      milliseconds: stop.elapsedTime(start),
      maxError: host.array.reduce((error, x) => Math.max(error, Math.abs(x - 1)), 0),
    });
  }
  for (const stream of streams) await stream.destroy();
  return measurements;
}
