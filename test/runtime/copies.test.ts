import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open, type Stream } from 'warpstage';

let device: Device;
let stream: Stream;

beforeAll(async () => {
  device = await open('cpu');
  stream = device.createStream();
});
afterAll(() => device.close());

const count = (n: number) => Float32Array.from({ length: n }, (_, i) => i + 1);

/** What a copy may have on the host's side, each with the same contents. */
const hostKinds = {
  'a typed array': (n: number) => new Float32Array(n),
  'a page-locked array': (n: number) => device.allocPinned('f32', n),
  'a typed array over shared memory': (n: number) => new Float32Array(new SharedArrayBuffer(4 * n)),
} as const;
type HostKind = keyof typeof hostKinds;
const kinds = Object.keys(hostKinds) as HostKind[];
const arrayOf = (host: ReturnType<(typeof hostKinds)[HostKind]>) =>
  'array' in host ? host.array : (host as Float32Array);

describe('plain copies', () => {
  const pairs = kinds.flatMap((from) => kinds.map((to) => ({ from, to })));

  test.each(pairs)('from $from over the device to $to', async ({ from, to }) => {
    const source = hostKinds[from](1000);
    arrayOf(source).set(count(1000));
    const destination = hostKinds[to](1000);
    const data = device.alloc('f32', 1000);
    const other = device.alloc('f32', 1000);
    stream.memcpyAsync(data, source);
    stream.memcpyAsync(other, data);
    stream.memcpyAsync(destination, other);
    await stream.synchronize();
    expect(arrayOf(destination)).toEqual(count(1000));
    data.free();
    other.free();
  });

  test.each(pairs)('from $from to $to on the host', async ({ from, to }) => {
    const source = hostKinds[from](10);
    arrayOf(source).set(count(10));
    const destination = hostKinds[to](10);
    stream.memcpyAsync(destination, source);
    await stream.synchronize();
    expect(arrayOf(destination)).toEqual(count(10));
  });

  test('a pageable source may be changed as soon as the call has returned', async () => {
    const source = count(5_000_000); // in several pieces
    const data = device.alloc('f32', source.length);
    const result = new Float32Array(source.length);
    stream.memcpyAsync(data, source);
    source.fill(-1);
    stream.memcpyAsync(result, data);
    await stream.synchronize();
    expect(result.every((value, i) => value === i + 1)).toBe(true);
    data.free();
  });

  test('a pageable destination has the value of its place in the stream', async () => {
    const data = device.alloc('i32', 4);
    const first = new Int32Array(4);
    const second = new Int32Array(4);
    stream.memsetAsync(data, 1);
    stream.memcpyAsync(first, data);
    stream.memsetAsync(data, 2);
    stream.memcpyAsync(second, data);
    await stream.synchronize();
    expect([...first, ...second]).toEqual([...Array(4).fill(0x01010101), ...Array(4).fill(0x02020202)]);
    data.free();
  });

  test('a pageable array that a copy has still to fill may be the source of the next', async () => {
    const data = device.alloc('f32', 1_000_000);
    const between = new Float32Array(1_000_000);
    const result = new Float32Array(1_000_000);
    stream.memcpyAsync(data, count(1_000_000));
    stream.memcpyAsync(between, data);
    stream.memcpyAsync(result, between);
    await stream.synchronize();
    expect(result.every((value, i) => value === i + 1)).toBe(true);
    data.free();
  });

  test('parts of arrays', async () => {
    const data = device.alloc('f32', 10);
    const pinned = device.allocPinned('f32', 10);
    pinned.array.set(count(10));
    const result = new Float32Array(10);
    stream.memcpyAsync(data.subarray(2, 5).subarray(1), pinned.subarray(6, 9).subarray(1));
    stream.memcpyAsync(result, data);
    await stream.synchronize();
    expect([...result]).toEqual([0, 0, 0, 8, 9, 0, 0, 0, 0, 0]);
    data.free();
  });

  test('a copy within the device may overlap', async () => {
    const data = device.alloc('f32', 10);
    const result = new Float32Array(10);
    stream.memcpyAsync(data, count(10));
    stream.memcpyAsync(data.subarray(2), data.subarray(0, 8));
    stream.memcpyAsync(result, data);
    await stream.synchronize();
    expect([...result]).toEqual([1, 2, 1, 2, 3, 4, 5, 6, 7, 8]);
    data.free();
  });

  test.each(['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'f32', 'f64'] as const)(
    'elements of %s',
    async (element) => {
      const source = device.allocPinned(element, 77);
      source.array.forEach((_, i) => {
        source.array[i] = i + 3;
      });
      const data = device.alloc(element, 77);
      const result = device.allocPinned(element, 77);
      stream.memcpyAsync(data, source);
      stream.memcpyAsync(result, data);
      await stream.synchronize();
      expect(result.array).toEqual(source.array);
      expect(data.byteLength).toBe(source.array.byteLength);
      data.free();
    },
  );

  test('nothing at all can be copied', async () => {
    const nothing = device.alloc('f32', 0);
    stream.memcpyAsync(nothing, new Float32Array(0));
    stream.memsetAsync(nothing, 1);
    await stream.synchronize();
    nothing.free();
  });
});

describe('sets', () => {
  test('every byte of a part, and no other', async () => {
    fc.assert(
      await fc.asyncProperty(
        fc.nat(70_000),
        fc.nat(70_000),
        fc.integer({ min: 0, max: 255 }),
        async (a, b, byte) => {
          const [begin, end] = [Math.min(a, b), Math.max(a, b)];
          const data = device.alloc('u8', 70_000);
          const result = new Uint8Array(70_000);
          stream.memsetAsync(data, 99);
          stream.memsetAsync(data.subarray(begin, end), byte);
          stream.memcpyAsync(result, data);
          await stream.synchronize();
          const expected = new Uint8Array(70_000).fill(99).fill(byte, begin, end);
          expect(Buffer.compare(result, expected)).toBe(0);
          data.free();
        },
      ),
      { numRuns: 30 },
    );
  });

  test('memory is zero when it is allocated, also when it was used before', async () => {
    const result = new Uint8Array(100_000);
    for (let round = 0; round < 2; ++round) {
      const data = device.alloc('u8', 100_000);
      stream.memcpyAsync(result, data);
      stream.memsetAsync(data, 255);
      await stream.synchronize();
      data.free();
      expect(result.every((byte) => byte === 0)).toBe(true);
    }
  });
});

describe('boxes', () => {
  const small = fc.integer({ min: 0, max: 5 });
  const boxes = fc.record({
    width: small,
    height: small,
    depth: small,
    from: fc.record({
      pitch: small,
      height: small,
      offset: small,
      place: fc.constantFrom(...kinds, 'device'),
    }),
    to: fc.record({ pitch: small, height: small, offset: small, place: fc.constantFrom(...kinds, 'device') }),
  });

  test('in two and three dimensions, as three loops would copy them', async () => {
    await fc.assert(
      fc.asyncProperty(boxes, async ({ width, height, depth, from, to }) => {
        const size = (side: { pitch: number; height: number; offset: number }) =>
          side.offset + (width + side.pitch) * (height + side.height) * depth;
        const source = Int32Array.from({ length: size(from) }, (_, i) => i + 1);
        const expected = new Int32Array(size(to));
        const [fromPitch, toPitch] = [width + from.pitch, width + to.pitch];
        const [fromRows, toRows] = [height + from.height, height + to.height];
        for (let z = 0; z < depth; ++z) {
          for (let y = 0; y < height; ++y) {
            for (let x = 0; x < width; ++x) {
              expected[to.offset + (z * toRows + y) * toPitch + x] =
                source[from.offset + (z * fromRows + y) * fromPitch + x]!;
            }
          }
        }

        const device_ = [device.alloc('i32', size(from)), device.alloc('i32', size(to))] as const;
        const make = (place: string, n: number, own: (typeof device_)[number]) => {
          if (place === 'device') return own;
          if (place === 'a page-locked array') return device.allocPinned('i32', n);
          return place === 'a typed array' ? new Int32Array(n) : new Int32Array(new SharedArrayBuffer(4 * n));
        };
        const fromArray = make(from.place, size(from), device_[0]);
        const toArray = make(to.place, size(to), device_[1]);
        stream.memcpyAsync(fromArray, source);
        await stream.synchronize();
        const target = { array: toArray.subarray(to.offset), pitch: toPitch };
        const origin = { array: fromArray.subarray(from.offset), pitch: fromPitch };
        if (depth === 1) stream.memcpy2DAsync(target, origin, width, height);
        else {
          const planes = { ...target, height: toRows };
          stream.memcpy3DAsync(planes, { ...origin, height: fromRows }, width, height, depth);
        }
        const result = new Int32Array(size(to));
        stream.memcpyAsync(result, toArray);
        await stream.synchronize();
        expect(result).toEqual(expected);
        for (const array of device_) array.free();
      }),
      { numRuns: 60 },
    );
  });
});

describe('copies that cannot be', () => {
  const f32 = () => device.alloc('f32', 8);

  test.each([
    [
      'other lengths',
      () => stream.memcpyAsync(f32(), new Float32Array(7)),
      'WS4004: memcpyAsync: the destination has 8 elements, the source 7',
    ],
    [
      'other types',
      () => stream.memcpyAsync(f32() as never, new Int32Array(8)),
      'WS4004: memcpyAsync: the destination has elements of f32, the source of i32',
    ],
    [
      'no array',
      () => stream.memcpyAsync(f32(), [1, 2] as never),
      'WS4004: memcpyAsync: the source must be a device array, a page-locked array or a typed array, not Array',
    ],
    [
      'nothing',
      () => stream.memcpyAsync(undefined as never, new Float32Array(8)),
      'WS4004: memcpyAsync: the destination must be a device array, a page-locked array or a typed array, not undefined',
    ],
    [
      'a pitch below the width',
      () => stream.memcpy2DAsync({ array: f32(), pitch: 3 }, { array: f32(), pitch: 4 }, 4, 2),
      "WS4004: memcpy2DAsync: rows of 4 elements do not fit the destination's pitch of 3",
    ],
    [
      'a box beyond its array',
      () => stream.memcpy2DAsync({ array: f32(), pitch: 4 }, { array: f32(), pitch: 5 }, 4, 2),
      'WS4004: memcpy2DAsync: 2 rows of 4 elements, 5 apart, take 9 elements; the source has 8',
    ],
    [
      'planes of too few rows',
      () =>
        stream.memcpy3DAsync(
          { array: f32(), pitch: 2, height: 2 },
          { array: f32(), pitch: 2, height: 1 },
          2,
          2,
          2,
        ),
      "WS4004: memcpy3DAsync: 2 rows do not fit the source's planes of 1 rows",
    ],
    [
      'a fraction',
      () => stream.memcpy2DAsync({ array: f32(), pitch: 4 }, { array: f32(), pitch: 4 }, 1.5, 1),
      'WS4004: memcpy2DAsync: the width must be a whole number, not 1.5',
    ],
    [
      'a byte that is none',
      () => stream.memsetAsync(f32(), 256),
      'WS4007: memsetAsync: the byte must be a whole number from 0 to 255, not 256',
    ],
    [
      'a set of host memory',
      () => stream.memsetAsync(new Float32Array(1) as never, 0),
      'WS4004: memsetAsync: the destination must be an array of this device',
    ],
    [
      'a part that is none',
      () => f32().subarray(3, 9),
      'WS4007: subarray(3, 9) does not lie within an array of 8 elements',
    ],
  ])('%s', (_, copy, message) => {
    expect(copy).toThrow(message);
  });

  test('a destination that is transferred away meanwhile', async () => {
    const result = new Float32Array(8);
    stream.memcpyAsync(result, f32());
    structuredClone(result, { transfer: [result.buffer] });
    stream.memsetAsync(f32(), 0);
    await expect(stream.synchronize()).rejects.toThrow(
      'WS4004: memcpy device to host: the destination was detached before the copy was done',
    );
    await stream.synchronize();
  });
});
