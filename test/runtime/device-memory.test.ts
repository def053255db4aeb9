// What memory promises on every device: allocation, copies of one to three dimensions, fills, host memory.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device, DeviceArray, Stream } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { download as downloadOn, one, step } from './device-work.ts';

sayWithoutGpu();

describe.each(devices)('$name', ({ open }) => {
  let device: Device;
  let stream: Stream;

  beforeAll(async () => {
    device = await open();
    stream = device.createStream();
  });
  afterAll(() => device.close());

  const download = (array: DeviceArray<'i32'>, on = stream) => downloadOn(array, on);

  describe('memory', () => {
    test('is zero, also to a stream that does not synchronise', async () => {
      for (let round = 0; round < 20; ++round) {
        const free = device.createStream({ nonBlocking: true });
        const y = device.alloc('i32', 100_000);
        free.launch(step, { grid: 400, block: 256 }, { y, a: 5 });
        const result = new Int32Array(y.length);
        free.memcpyAsync(result, y);
        await free.destroy();
        expect(new Set(result)).toEqual(new Set([5]));
        y.free();
      }
    });

    test.each([1, 7, 4096, 3_000_001, 20_000_003])(
      'copies %i bytes from and to typed arrays',
      async (bytes) => {
        const source = new Uint8Array(bytes);
        for (let i = 0; i < bytes; i++) source[i] = (i * 7) ^ (i >> 8);
        const data = device.alloc('u8', bytes);
        const other = device.alloc('u8', bytes);
        const result = new Uint8Array(bytes);
        stream.memcpyAsync(data, source);
        const kept = source.slice();
        source.fill(9); // the copy has read it
        stream.memcpyAsync(other, data);
        stream.memcpyAsync(result, other);
        await stream.synchronize();
        expect(Buffer.compare(result, kept)).toBe(0);
        data.free();
        other.free();
      },
    );

    test('a typed array that a copy has still to fill may be the source of the next', async () => {
      const [a, b] = [device.alloc('i32', 1000), device.alloc('i32', 1000)];
      const through = new Int32Array(1000);
      stream.memsetAsync(a, 1);
      stream.memcpyAsync(through, a);
      stream.memcpyAsync(b, through);
      expect(new Set(await download(b))).toEqual(new Set([0x01010101]));
    });

    test('sets bytes of arrays of every width', async () => {
      for (const element of ['u8', 'i16', 'f32', 'f64'] as const) {
        const data = device.alloc(element, 1001);
        const result = device.allocPinned(element, 1001);
        stream.memsetAsync(data.subarray(1, 1000), 0x3f);
        stream.memcpyAsync(result, data);
        await stream.synchronize();
        const size = data.byteLength / 1001;
        const { buffer, byteOffset, byteLength } = result.array;
        const bytes = new Uint8Array(buffer, byteOffset, byteLength);
        expect(new Set(bytes.subarray(size, 1000 * size))).toEqual(new Set([0x3f]));
        expect(new Set([...bytes.subarray(0, size), ...bytes.subarray(1000 * size)])).toEqual(new Set([0]));
        data.free();
        result.free();
      }
    });

    test.each(['typed', 'pinned', 'shared'] as const)(
      'copies rows and planes, %s host memory',
      async (host) => {
        const make = (n: number) => {
          if (host === 'typed') return new Int32Array(n);
          return host === 'pinned'
            ? device.allocPinned('i32', n)
            : new Int32Array(new SharedArrayBuffer(4 * n));
        };
        const arrayOf = (made: ReturnType<typeof make>) => ('array' in made ? made.array : made);
        const [width, height, depth] = [5, 3, 2];
        const source = make(200);
        arrayOf(source).forEach((_, i, all) => {
          all[i] = i;
        });
        const data = device.alloc('i32', 300);
        const target = make(200);
        const narrow = { array: source, pitch: 8, height: 4 };
        const wide = { array: data, pitch: 11, height: 5 };
        stream.memcpy3DAsync(wide, narrow, width, height, depth);
        stream.memcpy3DAsync({ array: target, pitch: 8, height: 4 }, wide, width, height, depth);
        stream.memcpy2DAsync({ array: target, pitch: 6 }, { array: data, pitch: 11 }, 1, 2);
        await stream.synchronize();
        const expected = new Int32Array(200);
        for (let z = 0; z < depth; ++z)
          for (let y = 0; y < height; ++y)
            for (let x = 0; x < width; ++x) expected[z * 32 + y * 8 + x] = z * 32 + y * 8 + x;
        expected[6] = 8;
        expect([...arrayOf(target)]).toEqual([...expected]);
        data.free();
      },
    );

    test('that is page-locked cannot be used when it was freed, and harms nobody', async () => {
      const pinned = device.allocPinned('i32', 1000);
      const view = pinned.array;
      const data = device.alloc('i32', 1000);
      view.fill(4);
      stream.memcpyAsync(data, pinned);
      pinned.free();
      expect(() => pinned.array).toThrow(
        'WS4002: array: the page-locked i32 array of 1000 elements was freed',
      );
      expect(() => stream.memcpyAsync(data, pinned)).toThrow('WS4002');
      expect(new Set(await download(data))).toEqual(new Set([4]));
      view.fill(1);
      expect(new Set(view)).toEqual(new Set([1]));
    });

    test('that is short is an error with the figures', () => {
      const length = Math.ceil(device.properties.totalGlobalMemory / 8) + 1;
      expect(() => device.alloc('f64', length)).toThrow(
        new RegExp(
          `^WS4001: an array of ${length} elements of f64 needs .* of the device's .* (free stretch is|are free)`,
        ),
      );
      device.alloc('f64', 10).free();
    });

    test('that is freed in flight comes back', async () => {
      const { allocations } = device.memory;
      for (let i = 0; i < 50; ++i) {
        const y = device.alloc('u8', 2_000_000);
        stream.memsetAsync(y, i);
        y.free();
      }
      await stream.synchronize();
      expect(device.memory.allocations).toBe(allocations);
    });

    test('goes from device to device', async () => {
      await using other = await open();
      const [mine, theirs] = [device.alloc('i32', 5000), other.alloc('i32', 5000)];
      const data = Int32Array.from({ length: 5000 }, (_, i) => i * i);
      const apart = other.createStream();
      apart.memcpyAsync(theirs, data);
      await apart.synchronize();
      stream.memcpyAsync(mine, theirs);
      stream.launch(step, { grid: 20, block: 256 }, { y: mine, a: 1 });
      stream.memcpyAsync(theirs.subarray(0, 100), mine.subarray(100, 200));
      const rows = { array: theirs, pitch: 100 };
      stream.memcpy2DAsync({ array: mine, pitch: 10 }, rows, 3, 2);
      await stream.synchronize();
      const expected = data.map((value) => value * 3 + 1);
      const back = expected.slice(100, 200);
      expect(await download(mine.subarray(0, 3))).toEqual([...back.slice(0, 3)]);
      expect(await download(mine.subarray(10, 13))).toEqual([10_000, 10_201, 10_404]);
      expect(await download(mine.subarray(100))).toEqual([...expected.slice(100)]);
      expect(await download(mine.subarray(0, 3))).toEqual([...back.slice(0, 3)]);
      expect(() => stream.launch(step, one, { y: theirs, a: 1 })).toThrow('WS2005');
      expect(() => stream.memsetAsync(theirs, 1)).toThrow('WS4004');
    });
  });
});
