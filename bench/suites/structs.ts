// Arrays of records beside strides over the same bytes and beside an array for each field, on one thread of the CPU and, where
// there is one, on a GPU. Results are compared to the bit before a figure counts.

import { type Device, type DeviceArray, type DeviceName, open } from 'warpstage';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { type Work, works } from '../structs/kernels.ts';

const rounds = 21;
const threads = 2 ** 16;
const block = 256;

type Form = 'structs' | 'flat' | 'separate';

/** Numbers of the input, as records have them: field by field. */
const inputOf = ({ numbers, behind = 0 }: Work) =>
  Float32Array.from({ length: (threads + behind) * numbers.from }, (_, i) => ((i * 37) % 251) - 100.5);

/** Each field's numbers behind one another. */
function columns(values: Float32Array, count: number): Float32Array[] {
  return Array.from({ length: count }, (_, at) => values.filter((_, i) => i % count === at));
}

async function formOf(device: Device, work: Work, form: Form) {
  const { numbers, scalars = {} } = work;
  const stream = device.createStream();
  const input = inputOf(work);
  const isApart = form === 'separate';
  const filled = (values: Float32Array) => {
    const array = device.alloc('f32', values.length);
    stream.memcpyAsync(array, values);
    return array;
  };
  const from = isApart && numbers.from > 1 ? columns(input, numbers.from).map(filled) : [filled(input)];
  const parts = isApart && numbers.to > 1 ? numbers.to : 1;
  const to = Array.from({ length: parts }, () => filled(new Float32Array((threads * numbers.to) / parts)));
  const kernel = work[form]!;
  // A schema names what is written, what is read, and then what is no array.
  const arrays = [...to, ...from];
  const args: Record<string, unknown> = { ...scalars };
  for (const [name, type] of Object.entries(kernel.schema)) {
    if (name === 'n') args[name] = threads;
    else if (isArray(type)) args[name] = seenAs(arrays.shift()!, type);
  }
  const launch = () => void stream.launch(kernel, { grid: threads / block, block }, args as never);
  launch();
  const results = to.map(({ length }) => new Float32Array(length));
  for (const [at, array] of to.entries()) stream.memcpyAsync(results[at]!, array);
  await stream.synchronize();
  const found = new Float32Array(threads * numbers.to);
  for (const [at, column] of results.entries())
    for (const [i, value] of column.entries()) found[i * results.length + at] = value;
  const run = async () => {
    for (let time = 0; time < work.times; time++) launch();
    await stream.synchronize();
  };
  return { found, run };
}

const isArray = (type: unknown) =>
  typeof type === 'string' ? type.endsWith('[]') : (type as { kind: string }).kind === 'structArray';

/** Numbers as the records that a kernel takes. */
function seenAs(array: DeviceArray<'f32'>, type: unknown): unknown {
  return typeof type === 'string' ? array : array.as((type as { struct: never }).struct);
}

async function measure(name: string, work: Work): Promise<Row[]> {
  const rows: Row[] = [];
  const places: [DeviceName, { threads?: number }][] = [['cpu', { threads: 1 }]];
  const gpu = await open('cuda').catch(() => null);
  await gpu?.close();
  if (gpu !== null) places.push(['cuda', {}]);
  const forms = (['flat', 'separate'] as const).filter((form) => work[form] !== undefined);
  for (const [place, options] of places) {
    await using device = await open(place, options);
    const structs = await formOf(device, work, 'structs');
    const bytes = work.times * threads * 4 * (work.numbers.from + work.numbers.to);
    for (const form of forms) {
      const other = await formOf(device, work, form);
      if (
        structs.found.every((value) => value === 0) ||
        structs.found.some((value, i) => value !== other.found[i])
      )
        throw new Error(`${name}: structs and ${form} give different results`);
      const variants = { [`structs, ${place}`]: structs.run, [`${form}, ${place}`]: other.run };
      rows.push(...(await inTurn({ suite: 'structs', work: name, bytes }, variants, rounds)));
    }
  }
  return rows;
}

export const suite: Suite = Object.fromEntries(
  Object.entries(works).map(([name, work]) => [name, () => measure(name, work)]),
);
