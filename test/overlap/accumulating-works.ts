// Works whose accumulators go from chunk to chunk, over a.npy and b.npy in a folder: what they are and how they are run,
// by a test and by a process that is killed.

import { join } from 'node:path';
import { type Device, type Job, job, kernel, type RunOptions, reduce } from 'warpstage';
import { centred, statistics } from './jobs.ts';

/** Rows of a chunk, and how many chunks there are. */
export const chunk = 100;
export const chunks = 16;

/** An output, and beside it what depends on the order of all rows. */
const traced = job({
  kernel: kernel(
    { y: 'i32[]', trail: 'i32[]', a: 'readonly i32[]' },
    ({ y, trail, a }, cuda) => {
      if (cuda.thisGrid().threadRank() > 0) return;
      for (let i = 0; i < a.length; i++) {
        trail[0] = Math.imul(trail[0]!, 31) + a[i]!;
        y[i] = trail[0]!;
      }
    },
    { name: 'traced' },
  ),
  inputs: { a: {} },
  outputs: { y: {} },
  accumulators: { trail: { initial: 7 } },
  launch: { grid: 1, block: 1 },
}) as Job;

/** What depends on which rows each device had, and in which order. */
const hashes = job({
  kernel: kernel(
    { trail: 'i32[]', a: 'readonly i32[]' },
    ({ trail, a }, cuda) => {
      if (cuda.thisGrid().threadRank() > 0) return;
      for (let i = 0; i < a.length; i++) trail[0] = Math.imul(trail[0]!, 31) + a[i]!;
    },
    { name: 'hashes' },
  ),
  inputs: { a: {} },
  accumulators: { trail: { initial: 7, combine: 'sum' } },
  launch: { grid: 1, block: 1 },
}) as Job;

/** Rows of two groups: their number, and a sum whose bits depend on the order. */
const grouped = reduce(
  { sum: 'f32', parity: 'i32', a: 'i32', b: 'f64' },
  ({ a, b }, cuda) => ({ sum: cuda.f32(b), parity: a % 2 }),
  { by: 'parity', groups: 2 },
);

/** Works by name; each of three devices, of which most use one. */
export const works: Record<string, (folder: string, devices: readonly Device[]) => [Job, RunOptions]> = {
  'a reduction': (folder, [device]) => [
    statistics as Job,
    { input: [join(folder, 'a.npy'), join(folder, 'b.npy')], resume: join(folder, 'sums'), device: device! },
  ],
  'a reduction over three devices': (folder, devices) => [
    hashes,
    // The last of 16 chunks is of the first device: a run that goes on with it gives the others none.
    { input: join(folder, 'a.npy'), resume: join(folder, 'sums'), device: devices },
  ],
  'a reduction by a key': (folder, [device]) => [
    grouped as never,
    { input: [join(folder, 'a.npy'), join(folder, 'b.npy')], resume: join(folder, 'sums'), device: device! },
  ],
  'a job with accumulators and an output': (folder, [device]) => [
    traced,
    { input: join(folder, 'a.npy'), output: join(folder, 'y.npy'), resume: true, device: device! },
  ],
  'a sequence': (folder, [device]) => [
    centred as never,
    { input: join(folder, 'b.npy'), output: join(folder, 'y.npy'), resume: true, device: device! },
  ],
};
