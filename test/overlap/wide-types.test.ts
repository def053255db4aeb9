// Jobs over bigints and floats of 16 bits: streamed as they are, converted exactly, and folded.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Device, decodeF16, encodeF16, job, kernel, open, run } from 'warpstage';
import { readNpyHeader } from '#warpstage/formats/npy-header.js';
import { MemoryBytes } from '#warpstage/overlap/memory-bytes.js';
import { expectFailure, npyFile, temporaryDirectory } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1 });
});
afterAll(() => device.close());

const counts = job({
  kernel: kernel(
    { out: 'i64[]', x: 'readonly i64[]', total: 'u64[]', by: 'i64' },
    ({ out, x, total, by }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i >= x.length) return;
      out[i] = x[i]! * by;
      cuda.atomicAdd(total, 0, cuda.u64(x[i]!));
    },
  ),
  inputs: { x: {} },
  outputs: { out: {} },
  accumulators: { total: {} },
  settings: { by: 3n },
});

const values = BigInt64Array.from({ length: 3000 }, (_, i) => BigInt(i - 1500) * 2n ** 50n + 1n);

function file(name: string, contents: Uint8Array): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, contents);
  return path;
}

test('64-bit integers are read and written as they are', async () => {
  const input = file('x.npy', npyFile({ descr: '<i8', shape: [3000], data: values }));
  const output = join(temporaryDirectory(), 'y.npy');
  await run(counts, { input, output, device, chunk: 700, settings: { by: -5n } });
  const bytes = readFileSync(output);
  const header = await readNpyHeader(new MemoryBytes('y.npy', bytes));
  expect(header).toMatchObject({ dtype: 'i64', shape: [3000] });
  const out = new BigInt64Array(
    bytes.buffer.slice(bytes.byteOffset + header.headerBytes, bytes.byteOffset + bytes.length),
  );
  expect(out).toEqual(values.map((x) => x * -5n));
});

test('smaller integers become them, and sums wrap at 64 bits', async () => {
  const input = Int16Array.from({ length: 1000 }, (_, i) => i - 600);
  const { outputs, value } = await run(counts, { input, device, chunk: 300 });
  expect(outputs.out).toEqual(BigInt64Array.from(input, (x) => BigInt(x) * 3n));
  const total = [...input].reduce((a, b) => a + b, 0);
  expect((value as { total: BigUint64Array }).total[0]).toBe(BigInt.asUintN(64, BigInt(total)));
});

test('halves are streamed as their bits, and rounded where they are converted', async () => {
  const halve = job({
    kernel: kernel({ y: 'f16[]', x: 'readonly f16[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < x.length) y[i] = x[i]! / 3;
    }),
    inputs: { x: { convert: 'nearest' } },
    outputs: { y: {} },
  });
  const bits = encodeF16(Array.from({ length: 500 }, (_, i) => i / 8));
  const expected = encodeF16([...decodeF16(bits)].map((x) => Math.fround(x / 3)));
  const input = file('h.npy', npyFile({ descr: '<f2', shape: [500], data: bits }));
  const output = join(temporaryDirectory(), 'h-out.npy');
  await run(halve, { input, output, device, chunk: 130 });
  expect(readFileSync(output).subarray(-1000)).toEqual(Buffer.from(expected.buffer));
  expect(readFileSync(output).toString('latin1')).toContain("'descr': '<f2'");
  expect((await run(halve, { input: bits, device })).outputs.y).toEqual(expected);
  const wider = await run(halve, { input: Float32Array.from(decodeF16(bits)), device });
  expect(wider.outputs.y).toEqual(expected);
});

test('what a job cannot stream or write is said', async () => {
  const vectors = kernel({ y: 'f32x4[]', x: 'readonly f32x4[]' }, ({ y, x }) => {
    y[0] = x[0]!;
  });
  expect(() => job({ kernel: vectors, inputs: { x: {} }, outputs: { y: {} } })).toThrow(
    'inputs.x of the job is an array of f32x4, and jobs stream arrays of numbers',
  );
  const brain = job({
    kernel: kernel({ y: 'bf16[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < x.length) y[i] = x[i]!;
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });
  await expectFailure(
    run(brain, { input: new Float32Array(4), output: join(temporaryDirectory(), 'b.npy'), device }),
    'WS5006',
    'a .npy file cannot hold bf16: NumPy has no such type',
  );
});
