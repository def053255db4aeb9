// A process of the suite `first`: one work of the suite `cpu`, launched by a process that has launched nothing yet, or a kernel
// that does nothing and no more; or launches of that kernel. Prints seconds as JSON.
//
// usage: first.ts cold NAME | first.ts warm NAME | first.ts empty THREADS

import { kernel, open } from 'warpstage';
import { median } from '../measure.ts';
import { arraysOf, compare, placeOf, reset } from './launches.ts';
import { type Work, works } from './works.ts';

/** What the call of a work's first launch takes, in which it is compiled, this launch to its end, and a later one. */
export interface First {
  readonly call: number;
  readonly first: number;
  readonly steady: number;
}

/** Seconds. */
const now = () => performance.now() / 1000;

const nothing = kernel({ y: 'f32[]' }, () => {});

async function first(work: Work, isWarm: boolean): Promise<First> {
  const place = placeOf(work, (bytes) => new ArrayBuffer(bytes));
  await using device = await open('cpu', { threads: 1 });
  const { source, target } = arraysOf(device, place);
  const stream = device.createStream();
  const host = place.output.slice();
  reset(host);
  if (work.native === 'h') host.fill(0);
  stream.memcpyAsync(source, place.input as never);
  stream.memcpyAsync(target, host as never);
  if (isWarm) stream.launch(nothing, { grid: 16, block: 256 }, { y: device.alloc('f32', 4096) });
  await stream.synchronize();
  const { grid, block, kernels } = work;
  const launch = () => stream.launch(kernels.warpstage!, { grid, block }, work.args(source, target));
  const began = now();
  launch();
  const called = now();
  await stream.synchronize();
  const ended = now();
  stream.memcpyAsync(host as never, target);
  await stream.synchronize();
  compare(place, host, 'first launch');
  const again: number[] = [];
  for (let time = 0; time < 15; time++) {
    const begin = now();
    launch();
    await stream.synchronize();
    again.push(now() - begin);
  }
  // The first ones may still run code that the engine replaces.
  return { call: called - began, first: ended - began, steady: median(again.slice(5)) };
}

async function empty(threads: number): Promise<number> {
  await using device = await open('cpu', { threads });
  const y = device.alloc('f32', 4096);
  const stream = device.createStream();
  const times: number[] = [];
  for (let time = 0; time < 3000; time++) {
    const begin = now();
    stream.launch(nothing, { grid: 16, block: 256 }, { y });
    await stream.synchronize();
    times.push(now() - begin);
  }
  return median(times.slice(500));
}

const [what, name] = process.argv.slice(2);
const found =
  what === 'empty'
    ? { seconds: await empty(Number(name)) }
    : await first(works[name as keyof typeof works], what === 'warm');
console.log(JSON.stringify(found));
