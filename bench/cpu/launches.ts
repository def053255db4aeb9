// A work of the suite `cpu` on a device: its data, its launch, and the comparison of what comes out with the plain loop.

import type { Device, Kernel } from 'warpstage';
import type { Numbers, Work } from './works.ts';

const views = {
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
  u8: Uint8Array,
};

/** What a work reads and where its native and plain counterparts write. */
export interface Place {
  readonly work: Work;
  readonly input: Numbers;
  readonly output: Numbers;
  readonly expected: Numbers;
}

/** `take` gives memory. */
export function placeOf(work: Work, take: (bytes: number) => ArrayBuffer): Place {
  const array = ({ element, length }: Work['input']) => {
    const View = views[element];
    return new View(take(length * View.BYTES_PER_ELEMENT), 0, length);
  };
  const [input, output] = [array(work.input), array(work.output)];
  for (let index = 0; index < input.length; index++) input[index] = work.fill(index);
  reset(output);
  work.loop(input as never, output as never, work.count);
  return { work, input, output, expected: work.compared(output).slice() };
}

/** Also what is added to has a first value. */
export function reset(output: Numbers): void {
  output.fill(1);
}

/** Throws where a variant's results are not those of the plain loop. */
export function compare({ work, expected }: Place, output: Numbers, variant: string): void {
  const found = work.compared(output);
  let scale = 0;
  for (const value of expected) scale = Math.max(scale, Math.abs(value));
  const at = found.findIndex(
    (value: number, index: number) => !(Math.abs(value - expected[index]!) <= work.tolerance * scale),
  );
  if (at !== -1) {
    throw new Error(`${variant}: element ${at} is ${found[at]}, and ${expected[at]} in the plain loop`);
  }
}

/** The device's memory for a work. */
export function arraysOf(device: Device, { work }: Place) {
  return {
    source: device.alloc(work.input.element, work.input.length),
    target: device.alloc(work.output.element, work.output.length),
  };
}

/** A launch of the work on a device, whose results have been compared. */
export async function launchOf(
  device: Device,
  kernel: Kernel,
  variant: string,
  place: Place,
  { source, target } = arraysOf(device, place),
) {
  const { work, input, output } = place;
  const stream = device.createStream();
  const host = output.slice();
  reset(host);
  if (work.native === 'h') host.fill(0);
  stream.memcpyAsync(source, input as never);
  stream.memcpyAsync(target, host as never);
  const { grid, block } = work;
  const args = work.args(source, target);
  const launch = () => stream.launch(kernel, { grid, block }, args);
  launch();
  stream.memcpyAsync(host as never, target);
  await stream.synchronize();
  compare(place, host, variant);
  return async () => {
    for (let time = 0; time < work.times; time++) launch();
    await stream.synchronize();
  };
}
