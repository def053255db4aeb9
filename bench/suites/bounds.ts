// What it costs on the CPU that kernels test what they access: the works of the suite `cpu`, against the same by a compiler
// that writes no tests. The two take turns on one device, in the same arrays.

import type { Kernel } from 'warpstage';
import { arraysOf, launchOf, placeOf } from '../cpu/launches.ts';
import { type Work, works } from '../cpu/works.ts';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { openWithBoth, withoutTests } from '../unchecked.ts';

const rounds = 15;

async function measure(name: string, work: Work): Promise<Row[]> {
  const place = placeOf(work, (bytes) => new ArrayBuffer(bytes));
  await using device = await openWithBoth(1);
  const arrays = arraysOf(device, place);
  const bytes = work.times * (place.input.byteLength + place.output.byteLength);
  const rows: Row[] = [];
  for (const [variant, kernel] of Object.entries(work.kernels)) {
    const launch = (name: string, each: Kernel) => launchOf(device, each, name, place, arrays);
    const against = variant.replace('warpstage', 'not tested');
    const variants = {
      [variant]: await launch(variant, kernel),
      [against]: await launch(against, withoutTests(kernel)),
    };
    rows.push(...(await inTurn({ suite: 'bounds', work: name, bytes }, variants, rounds)));
  }
  return rows;
}

export const suite: Suite = Object.fromEntries(
  Object.entries(works).map(([name, work]) => [name, () => measure(name, work)]),
);
