// Runs the schedules and measures them as the post does: with events around, after a first run
// that warms up.

import type { Device, Stream } from 'warpstage';
import { asynchronousV1, asynchronousV2, sequential, type Work } from './schedules.ts';

export const blockSize = 256;
export const streamCount = 4;
/** The post's 4 Mi elements, 16 MiB. */
export const elements = 4 * 1024 * blockSize * streamCount;

export interface Measurement {
  readonly schedule: string;
  readonly milliseconds: number;
  /** The largest difference of an element from 1. */
  readonly maxError: number;
}

/** Measures the sequential schedule, V1 and V2, each on an array of zeros. */
export async function measure(device: Device, n = elements): Promise<Measurement[]> {
  using host = device.allocPinned('f32', n);
  using data = device.alloc('f32', n);
  const work: Work = { device, host, data, blockSize };
  const streams = Array.from({ length: streamCount }, () => device.createStream());
  const [first] = streams as [Stream, ...Stream[]];

  sequential(work, first);
  await device.synchronize();

  const schedules = [
    ['sequential transfer and execute', () => sequential(work, first)],
    ['asynchronous V1 transfer and execute', () => asynchronousV1(work, streams)],
    ['asynchronous V2 transfer and execute', () => asynchronousV2(work, streams)],
  ] as const;
  const measurements: Measurement[] = [];
  for (const [schedule, issue] of schedules) {
    host.array.fill(0);
    // The legacy default stream waits for all streams, and they for it; so its events enclose the work.
    using start = device.createEvent();
    using stop = device.createEvent();
    device.defaultStream.record(start);
    issue();
    device.defaultStream.record(stop);
    await stop.synchronize();
    measurements.push({
      schedule,
      milliseconds: stop.elapsedTime(start),
      maxError: maxError(host.array),
    });
  }
  for (const stream of streams) await stream.destroy();
  return measurements;
}

function maxError(array: Float32Array): number {
  let error = 0;
  for (const x of array) error = Math.max(error, Math.abs(x - 1));
  return error;
}
