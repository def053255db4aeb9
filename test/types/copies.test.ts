// Copies between host and device: what the editor underlines is what is refused when it runs, and no more.

import { afterAll, expect, test } from 'vitest';
import { open } from 'warpstage';

const device = await open('cpu');
afterAll(() => device.close());
const stream = device.createStream();
const [floats, integers, halves] = [device.alloc('f32', 8), device.alloc('i32', 8), device.alloc('f16', 8)];

test('operands of one element type go together', async () => {
  stream.memcpyAsync(floats, device.allocPinned('f32', 8));
  stream.memcpyAsync(floats.subarray(0, 4), floats.subarray(4));
  stream.memcpyAsync(floats, Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  stream.memcpyAsync(halves, new Uint16Array(8));
  const back = new Float32Array(8);
  stream.memcpyAsync(back, floats);
  stream.memcpy2DAsync({ array: floats, pitch: 4 }, { array: back, pitch: 2 }, 2, 2);
  await stream.synchronize();
  expect([...back]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test.each<[string, () => void]>([
  // @ts-expect-error: page-locked memory of another type
  ['from a page-locked array', () => stream.memcpyAsync(floats, device.allocPinned('i32', 8))],
  // @ts-expect-error: to page-locked memory of another type
  ['to a page-locked array', () => stream.memcpyAsync(device.allocPinned('u8', 8), floats)],
  // @ts-expect-error: a copy on the device converts nothing
  ['on the device', () => stream.memcpyAsync(floats, integers)],
  // @ts-expect-error: a typed array of another type
  ['from a typed array', () => stream.memcpyAsync(floats, new Int32Array(8))],
  [
    'of rows',
    // @ts-expect-error: rows convert nothing either
    () => stream.memcpy2DAsync({ array: floats, pitch: 4 }, { array: integers, pitch: 4 }, 4, 2),
  ],
])('a copy of another element type is refused: %s', (_, copy) => {
  expect(copy).toThrow('WS4004');
});
