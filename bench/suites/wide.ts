// What addresses of 64 bits cost on the CPU: the works of the suite `cpu` on a device that was opened with more than 4 GiB,
// against one of the default size. The two take turns. `cpu-native` the same, where there is a compiler of C.

import { type DeviceName, open } from 'warpstage';
import { arraysOf, launchOf, placeOf } from '../cpu/launches.ts';
import { type Work, works } from '../cpu/works.ts';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';

const rounds = 9;

async function measure(name: string, work: Work): Promise<Row[]> {
  const place = placeOf(work, (bytes) => new ArrayBuffer(bytes));
  const bytes = work.times * (place.input.byteLength + place.output.byteLength);
  const rows: Row[] = [];
  for (const on of ['cpu', 'cpu-native'] satisfies DeviceName[]) {
    await using narrow = await open(on, { threads: 1, compile: 'first' });
    await using wide = await open(on, { threads: 1, compile: 'first', memory: 6 * 2 ** 30 });
    const [few, many] = [arraysOf(narrow, place), arraysOf(wide, place)];
    for (const [variant, kernel] of Object.entries(work.kernels)) {
      const ofMany = `${variant}, ${on}, 64 bits`;
      const ofFew = `${variant}, ${on}, 32 bits`;
      const variants = {
        [ofMany]: await launchOf(wide, kernel, ofMany, place, many),
        [ofFew]: await launchOf(narrow, kernel, ofFew, place, few),
      };
      rows.push(...(await inTurn({ suite: 'wide', work: name, bytes }, variants, rounds)));
    }
  }
  return rows;
}

export const suite: Suite = Object.fromEntries(
  Object.entries(works).map(([name, work]) => [name, () => measure(name, work)]),
);
