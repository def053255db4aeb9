// What issuing a schedule takes: V1 and V2 of the post over many streams, beside the same in C++, by turns. Each
// chunk's kernel has an offset of its own, so no launch repeats another.

import { open } from 'warpstage';
import { process } from '../../examples/overlap/program.ts';
import { Counterpart } from '../counterpart.ts';
import { median, type Row } from '../measure.ts';

const elements = 2 ** 22;
const block = 256;
const orders = ['V1', 'V2'] as const;

/** Microseconds: of the host for an operation, and from the first call until all is done. */
type Times = Record<(typeof orders)[number], { readonly issue: number; readonly all: number }>;

export async function issuing(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const parts of [8, 64]) rows.push(...(await schedulesOf(parts)));
  return rows;
}

async function schedulesOf(parts: number): Promise<Row[]> {
  await using device = await open('cuda');
  const host = device.allocPinned('f32', elements);
  const back = device.allocPinned('f32', elements);
  const data = device.alloc('f32', elements);
  const streams = Array.from({ length: parts }, () => device.createStream({ nonBlocking: true }));
  const part = elements / parts;
  const steps = [
    (i: number) =>
      streams[i]!.memcpyAsync(
        data.subarray(i * part, (i + 1) * part),
        host.subarray(i * part, (i + 1) * part),
      ),
    (i: number) => streams[i]!.launch(process, { grid: part / block, block }, { a: data, offset: i * part }),
    (i: number) =>
      streams[i]!.memcpyAsync(
        back.subarray(i * part, (i + 1) * part),
        data.subarray(i * part, (i + 1) * part),
      ),
  ];
  const issue = {
    V1: () => {
      for (let i = 0; i < parts; ++i) for (const step of steps) step(i);
    },
    V2: () => {
      for (const step of steps) for (let i = 0; i < parts; ++i) step(i);
    },
  };
  using counterpart = new Counterpart('issue');
  const ours = {
    V1: { issue: [] as number[], all: [] as number[] },
    V2: { issue: [] as number[], all: [] as number[] },
  };
  const theirs: Times[] = [];
  // The first turn tells how fast the engine of JavaScript compiles, and is dropped.
  for (let turn = -1; turn < 5; ++turn) {
    const cpp = counterpart.measure(String(parts)) as Times;
    if (turn >= 0) theirs.push(cpp);
    for (let round = 0; round < 200; ++round) {
      for (const order of orders) {
        const begin = performance.now();
        issue[order]();
        const issued = performance.now();
        await device.synchronize();
        if (turn < 0) continue;
        ours[order].issue.push((1000 * (issued - begin)) / (3 * parts));
        ours[order].all.push(1000 * (performance.now() - begin));
      }
    }
  }
  return orders.flatMap((order) =>
    (['issue', 'all'] as const).map((what): Row => {
      const [own, cpp] = [median(ours[order][what]), median(theirs.map((times) => times[order][what]))];
      const variant = `${order} in ${parts} streams, ${what === 'issue' ? 'issue of an operation' : 'issue and await'}`;
      const against = `C++, ${cpp.toFixed(2)} µs`;
      return {
        suite: 'gpu',
        work: 'issue',
        bytes: 0,
        variant,
        against,
        ratio: cpp / own,
        seconds: own * 1e-6,
      };
    }),
  );
}
