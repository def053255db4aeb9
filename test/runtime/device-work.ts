// What tests of every device share: kernels whose order shows in the numbers, a gate, and results on the host.

import { expect } from 'vitest';
import { type Device, type DeviceArray, kernel, type Stream, WarpstageError } from 'warpstage';

export const one = { grid: 1, block: 1 };

/** Runs until the flag is set. */
export const gate = kernel({ flag: 'i32[]', out: 'i32[]' }, ({ flag, out }, cuda) => {
  let seen = 0;
  while (seen === 0) seen = cuda.atomicAdd(flag, 0, 0);
  out[0] = seen;
});

export const step = kernel({ y: 'i32[]', a: 'i32' }, ({ y, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = y[i]! * 3 + a;
});

export const add = kernel({ to: 'i32[]', from: 'readonly i32[]' }, ({ to, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < to.length) to[i] = to[i]! + from[i]!;
});

/** One stream for all gates of a device: behind some 32 streams a GPU gives two of them one queue, and neither passes the other. */
const keys = new WeakMap<Device, Stream>();

/**
 * A kernel in a stream that runs until `open` is called: so order is seen without a clock. On a GPU, memory that
 * is locked and kernels that are loaded after it may wait for it; so that comes before.
 */
export function closeGate(device: Device, on: Stream): { open(): void; readonly out: DeviceArray<'i32'> } {
  const [flag, out] = [device.alloc('i32', 1), device.alloc('i32', 1)];
  const key = keys.get(device) ?? device.createStream({ nonBlocking: true });
  keys.set(device, key);
  on.launch(gate, one, { flag, out });
  return { out, open: () => key.memcpyAsync(flag, Int32Array.of(1)) };
}

export async function download(array: DeviceArray<'i32'>, on: Stream): Promise<number[]> {
  const result = new Int32Array(array.length);
  on.memcpyAsync(result, array);
  await on.synchronize();
  return [...result];
}

export async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WarpstageError);
  return error as WarpstageError;
}
