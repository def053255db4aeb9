// Copies between arrays of the host, in parts and in threads.

import { expect, test } from 'vitest';
import { open, run, type WarpstageError } from 'warpstage';
import { copiesFor, inParts } from '#warpstage/overlap/host-copies.js';
import { poolCopies } from '#warpstage/runtime/cuda/pool-copies.js';
import { affine } from './jobs.ts';

const numbered = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 7919) >> 3);

test.each([0, 1, 4096, 524_287, 524_288, 1_000_003, 5_000_001])(
  '%i bytes are copied whole',
  async (length) => {
    const from = numbered(length);
    const into = new Uint8Array(length + 2).fill(99);
    const parts: number[] = [];
    const copy = inParts(async (to, part) => {
      parts.push(part.length);
      to.set(part);
    });
    await copy(into.subarray(1, -1), from);
    expect(Buffer.compare(into.subarray(1, -1), from)).toBe(0);
    expect([into[0], into[length + 1]]).toEqual([99, 99]);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(length < 524_288 ? 0 : length);
    expect(parts.length).toBeLessThanOrEqual(4);
    expect(Math.min(1, ...parts)).toBe(1);
  },
);

test('an error leaves when all parts have ended', async () => {
  let running = 0;
  const copy = inParts(async (_into, from) => {
    ++running;
    await new Promise((resolve) => setTimeout(resolve, from[0]! === 0 ? 1 : 20));
    --running;
    if (from[0] === 0) throw new Error('no');
  });
  const from = new Uint8Array(2 ** 21).fill(1);
  from[0] = 0;
  await expect(copy(new Uint8Array(2 ** 21), from)).rejects.toThrow('no');
  expect(running).toBe(0);
});

test('memory that may shrink is not given to threads', async () => {
  const Resizable = ArrayBuffer as unknown as new (
    length: number,
    options: { maxByteLength: number },
  ) => ArrayBuffer;
  const into = new Uint8Array(new Resizable(2 ** 21, { maxByteLength: 2 ** 22 }));
  const from = numbered(2 ** 21);
  const copy = inParts(() => Promise.reject(new Error('in a thread')));
  await copy(into, from);
  expect(Buffer.compare(into, from)).toBe(0);
  await expect(copy(new Uint8Array(2 ** 21), from)).rejects.toThrow('in a thread');
});

test('the pool copies between plain and shared memory', async () => {
  const copy = inParts(poolCopies()!);
  const from = numbered(3_000_001);
  const shared = new Uint8Array(new SharedArrayBuffer(from.length));
  await copy(shared, from);
  expect(Buffer.compare(shared, from)).toBe(0);
  const back = new Uint8Array(from.length);
  await Promise.all([copy(back, shared), copy(new Uint8Array(from.length), shared)]);
  expect(Buffer.compare(back, from)).toBe(0);
});

test('an array that is detached meanwhile is an error', async () => {
  const into = new Uint8Array(2 ** 20);
  const copying = poolCopies()!(into, numbered(2 ** 20));
  // Keeps the memory alive: only the view loses it.
  const taken = structuredClone(into.buffer, { transfer: [into.buffer] });
  const error = await copying.then(
    () => null,
    (reason: unknown) => reason as WarpstageError,
  );
  expect(error?.code).toBe('WS4004');
  expect(taken.byteLength).toBe(2 ** 20);
});

test('the CPU device leaves its cores to its threads', async () => {
  await using device = await open('cpu', { threads: 1 });
  const copy = copiesFor([{ name: 'cpu', device }]);
  const into = new Uint8Array(2 ** 21);
  void copy(into, numbered(2 ** 21));
  expect(into[100]).toBe(((100 * 7919) >> 3) & 255);
  const input = Float32Array.from({ length: 300_000 }, (_, i) => i / 8);
  const output = new Float32Array(300_000);
  await run(affine, { input, output, device, chunk: 70_000 });
  expect(output).toEqual(input.map((value) => 2 * value + 1));
});

test('more copies at a time than the pool takes', async () => {
  const copy = poolCopies()!;
  const from = numbered(100_000);
  const copies = Array.from({ length: 500 }, () => new Uint8Array(from.length));
  await Promise.all(copies.map((into) => copy(into, from)));
  for (const into of copies) expect(Buffer.compare(into, from)).toBe(0);
});
