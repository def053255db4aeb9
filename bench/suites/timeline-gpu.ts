// What recording a timeline costs on a GPU: with events around each operation and with CUPTI's records,
// against none, in turn.
//
// Chunks of 32 MiB are operations of half a millisecond, as a job has them; chunks of 1 MiB and bare
// launches are operations of microseconds, where what is added to each of them shows.

import { type Device, kernel, open, type RecordingOptions } from 'warpstage';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { scheduleOn } from '../schedule.ts';

const nothing = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  if (cuda.thisGrid().threadRank() === 0) y[0] = 1;
});

function compared(
  device: Device,
  work: string,
  bytes: number,
  operations: number,
  run: () => Promise<number>,
  rounds: number,
): Promise<Row[]> {
  const recorded = (times: RecordingOptions['times'] & string) => async () => {
    let spans = 0;
    device.recording = { times };
    device.recorder = () => ++spans;
    const seconds = await run();
    device.recorder = null;
    if (spans !== operations) throw new Error(`${spans} spans of ${operations} operations`);
    if (device.times.source !== times) throw new Error(device.times.note ?? '');
    return seconds;
  };
  const variants = { events: recorded('events'), cupti: recorded('cupti'), 'nothing recorded': run };
  return inTurn({ suite: 'timeline-gpu', work, bytes }, variants, rounds);
}

function schedule(work: string, chunks: number, length: number, rounds: number) {
  return async () => {
    await using device = await open('cuda');
    using made = scheduleOn(device, { chunks, length });
    return await compared(device, work, made.bytes, 3 * chunks, made.run, rounds);
  };
}

async function launches(): Promise<Row[]> {
  await using device = await open('cuda');
  const y = device.alloc('f32', 1);
  const count = 2000;
  const run = async () => {
    const begin = performance.now();
    for (let i = 0; i < count; ++i) device.defaultStream.launch(nothing, { grid: 1, block: 32 }, { y });
    await device.synchronize();
    return (performance.now() - begin) / 1000;
  };
  return await compared(device, `${count} launches of nothing`, 0, count, run, 41);
}

export const suite: Suite = {
  'chunks-32': schedule('64 chunks of 32 MiB', 64, 2 ** 23, 41),
  'chunks-1': schedule('256 chunks of 1 MiB', 256, 2 ** 18, 61),
  launches,
};
