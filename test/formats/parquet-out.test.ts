// Parquet outputs hold what was written, as two decoders read it, however it was cut into chunks.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { job, kernel, run } from 'warpstage';
import { ColumnWriter, type ParquetElement } from '#warpstage/formats/parquet-writer.js';
import { encodeHalf } from '#warpstage/kernel/half.js';
import { hostArrays } from '#warpstage/kernel/types.js';
import { wantedOf } from '#warpstage/overlap/input-data.js';
import { OpenInputs } from '#warpstage/overlap/inputs.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { file, readAll } from '../overlap/reading.ts';
import { expectFailure, temporaryDirectory } from '../overlap/support.ts';
import { valuesOf } from './element-values.ts';
import { copyOf } from './jobs.ts';

const column = fc.constantFrom(...(Object.keys(valuesOf) as ParquetElement[])).chain((element) =>
  fc.record({
    element: fc.constant(element),
    few: fc.array(valuesOf[element], { minLength: 1, maxLength: 5 }),
    length: fc.integer({ min: 0, max: 600 }),
    cuts: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
  }),
);

function arrayOf(element: ParquetElement, list: readonly (number | bigint)[]) {
  const bits = element === 'f16' ? list.map((one) => encodeHalf('f16', Number(one))) : list;
  return (hostArrays[element] as unknown as { from(list: unknown): Float32Array }).from(bits);
}

function written(element: ParquetElement, data: Float32Array, cuts: readonly number[]): Buffer {
  const writer = new ColumnWriter(['y'], element);
  const parts: Uint8Array[] = [];
  for (let begin = 0, i = 0; begin < data.length; i++) {
    const end = begin + cuts[i % cuts.length]!;
    parts.push(writer.add(data.subarray(begin, end)));
    begin = end;
  }
  return Buffer.concat([...parts, writer.end()]);
}

test('two decoders read what was written, whatever the chunks were', {
  timeout: randomLimit(60),
}, async () => {
  await fc.assert(
    fc.asyncProperty(column, async ({ element, few, length, cuts }) => {
      const list = Array.from({ length }, (_, i) => few[(i * i) % few.length]!);
      const data = arrayOf(element, list);
      const bytes = written(element, data, cuts);
      expect(bytes.equals(written(element, data, [1000]))).toBe(true);
      const other = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
      expect(other.map(({ y }) => y)).toEqual(list);
      const path = file('x.parquet', bytes);
      const own = await readAll(path, element as 'f32', { column: 'y' });
      expect(own.values).toEqual([...data]);
    }),
    randomRuns(60),
  );
});

test('a group that comes as a whole is written where it lies, with the same bytes', async () => {
  const data = Float32Array.from({ length: 600_000 }, (_, i) => (i % 5 === 0 ? -0 : Math.sin(i)));
  const whole = written('f32', data, [data.length]);
  expect(whole.equals(written('f32', data, [70_001]))).toBe(true);
  const inputs = new OpenInputs();
  const source = await inputs.open(file('x.parquet', whole), wantedOf('x', 'f32', { column: 'y' }));
  const read = new Float32Array(data.length);
  expect(await source.read(read)).toBe(data.length);
  expect(Buffer.from(read.buffer).equals(Buffer.from(data.buffer))).toBe(true);
  await inputs.close();
});

test('a job writes row groups as it goes', async () => {
  const input = Float32Array.from({ length: 600_000 }, (_, i) => i / 2);
  const path = file('x.f32', new Uint8Array(input.buffer));
  const output = join(temporaryDirectory(), 'y.parquet');
  await run(copyOf('f32'), { input: path, output, chunk: 7000 });
  const { values: found } = await readAll(output, 'f32', { column: 'y' });
  expect(Buffer.from(Float32Array.from(found as number[]).buffer).equals(Buffer.from(input.buffer))).toBe(
    true,
  );
  expect(readFileSync(output).subarray(0, 4).toString()).toBe('PAR1');
});

test('rows of several numbers are several columns', async () => {
  const pairs = job({
    kernel: kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= x.length) return;
      y[2 * i] = x[i]!;
      y[2 * i + 1] = -x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: { width: 2 } },
  });
  const output = join(temporaryDirectory(), 'y.pq');
  await run(pairs, { input: Int32Array.of(1, 2, 3), output, chunk: 2 });
  expect((await readAll(output, 'i32', { column: 'y.0' })).values).toEqual([1, 2, 3]);
  expect((await readAll(output, 'i32', { column: 'y.1' })).values).toEqual([-1, -2, -3]);
});

test('an element that Parquet has not is refused, and nothing is left of a run that fails', async () => {
  const folder = temporaryDirectory();
  const output = join(folder, 'y.parquet');
  await expectFailure(run(copyOf('bf16'), { input: new Uint16Array(4), output }), 'WS5012', 'bf16');
  async function* fails() {
    yield new Float32Array(300_000);
    throw new Error('no more');
  }
  await expect(run(copyOf('f32'), { input: fails(), output })).rejects.toThrow('no more');
  expect(readdirSync(folder)).toEqual([]);
});
