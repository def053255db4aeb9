// Kernels on the CPU device and by the system's compiler, beside native code at 128 bits and at the machine's width, OpenCL where it is there, and plain JavaScript of the
// same structure, with one thread and with two. Results are compared before a figure counts.

import { type Device, open, WarpstageError } from 'warpstage';
import { compare, launchOf, type Place, placeOf, reset } from '../cpu/launches.ts';
import { type Work, works } from '../cpu/works.ts';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { Native, type NativeWork, OpenCl } from '../native.ts';

/** The same by the system's compiler, where it is there. */
async function openCompiled(threads: number): Promise<Device | null> {
  try {
    return await open('cpu-native', { threads, compile: 'first' });
  } catch (error) {
    if (error instanceof WarpstageError && error.code === 'WS4003') return null;
    throw error;
  }
}

async function withThreads(
  threads: number,
  name: string,
  place: Place,
  { native, opencl }: { readonly native: Native; readonly opencl: OpenCl | null },
): Promise<Row[]> {
  const { work, input, output } = place;
  await using device = await open('cpu', { threads });
  const variants: Record<string, () => unknown> = {};
  await using compiled = await openCompiled(threads);
  for (const [variant, kernel] of Object.entries(work.kernels)) {
    variants[`${variant}, ${threads}`] = await launchOf(device, kernel, variant, place);
    if (compiled !== null)
      variants[`${variant}, cpu-native, ${threads}`] = await launchOf(compiled, kernel, variant, place);
  }
  if (threads === 1) {
    variants.JavaScript = () => {
      for (let time = 0; time < work.times; time++) work.loop(input as never, output as never, work.count);
    };
  }
  const opened: { readonly dispose: () => void }[] = [];
  for (const [variant, each] of opencl === null ? [] : Object.entries(work.opencl)) {
    const [from, to] = [input.buffer as ArrayBuffer, output.buffer as ArrayBuffer];
    const prepared = opencl!.prepare(each, from, to, threads);
    if (prepared === null) continue;
    opened.push(prepared);
    reset(output);
    prepared.run(1);
    compare(place, output, variant);
    variants[`${variant}, ${threads}`] = () => prepared.run(work.times);
  }
  const natives: Record<string, NativeWork> = {};
  if (work.plain !== undefined) natives.plain = native.work(...work.plain);
  for (const variant of ['native at full width', 'native'] as const)
    natives[variant] = native.work(work.native, variant);
  for (const [variant, run] of Object.entries(natives)) {
    const call = () => run(input.buffer as ArrayBuffer, output.buffer as ArrayBuffer, work.count, threads);
    reset(output);
    call();
    compare(place, output, variant);
    variants[`${variant}, ${threads}`] = () => {
      for (let time = 0; time < work.times; time++) call();
    };
  }
  const bytes = work.times * (input.byteLength + output.byteLength);
  const alsoAgainst = work.plain === undefined ? [] : [`plain, ${threads}`];
  const rows = await inTurn({ suite: 'cpu', work: name, bytes }, variants, 5, alsoAgainst);
  for (const { dispose } of opened) dispose();
  return rows;
}

async function measure(name: string, work: Work): Promise<Row[]> {
  using native = new Native();
  const opencl = OpenCl.open();
  const place = placeOf(work, (bytes) => native.take(bytes));
  const rows: Row[] = [];
  for (const threads of [1, 2]) rows.push(...(await withThreads(threads, name, place, { native, opencl })));
  return rows;
}

export const suite: Suite = Object.fromEntries(
  Object.entries(works).map(([name, work]) => [name, () => measure(name, work)]),
);
