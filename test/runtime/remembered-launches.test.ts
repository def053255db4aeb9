// A launch gives the same whether or not its device remembers former launches: of any kind of argument, changed in
// any way between two launches. A kernel that is made anew for each launch is one that nothing is remembered of.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, deviceFunction, kernel, open, WarpstageError } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { one } from './device-work.ts';

sayWithoutGpu();

const plain = deviceFunction({ x: 'i32' }, ({ x }) => x);
const double = deviceFunction({ x: 'i32' }, ({ x }) => x * 2);

/** Writes all that it is given, to the bit. */
const makeKernel = () =>
  kernel(
    {
      ints: 'i32[]',
      wide: 'i64[]',
      singles: 'f32[]',
      doubles: 'f64[]',
      x: 'readonly i32[]',
      n: 'index',
      i: 'i32',
      b: 'i64',
      f: 'f32',
      d: 'f64',
      h: 'f16',
      flag: 'bool',
      v: 'f32x2',
      w: 'i32x4',
      c: 'constant f32 = 1',
      k: 'constant i32 = 3',
      twist: plain,
    },
    ({ ints, wide, singles, doubles, x, n, i, b, f, d, h, flag, v, w, c, k, twist }, cuda) => {
      const t = cuda.thisGrid().threadRank();
      ints[t * 8] = twist({ x: i }) + k;
      ints[t * 8 + 1] = x[0]! + x.length;
      ints[t * 8 + 2] = flag ? 1 : 0;
      ints[t * 8 + 3] = w.x;
      ints[t * 8 + 4] = w.y;
      ints[t * 8 + 5] = w.z;
      ints[t * 8 + 6] = w.w;
      wide[t * 2] = b;
      wide[t * 2 + 1] = cuda.i64(n * n);
      singles[t * 5] = f;
      singles[t * 5 + 1] = v.x;
      singles[t * 5 + 2] = v.y;
      singles[t * 5 + 3] = c;
      singles[t * 5 + 4] = cuda.f32(h);
      doubles[t] = d;
    },
    { name: 'tells' },
  );

type Tells = ReturnType<typeof makeKernel>;

const floats = fc.constantFrom(0, -0, 1, Number.NaN, Number.POSITIVE_INFINITY, 0.1);
const integers = fc.constantFrom(0, -1, 7, 2 ** 31 - 1);

/** What one argument is changed to before the next launch. */
const change = fc.oneof(
  fc.record({ name: fc.constantFrom('f', 'd', 'h', 'c'), value: floats }),
  fc.record({ name: fc.constantFrom('i', 'k'), value: integers }),
  // From 2 ** 31 on the launch needs a wider index, in which a product wraps elsewhere.
  fc.record({ name: fc.constant('n'), value: fc.constantFrom(3, 70_000, 2 ** 31, 2 ** 31 + 9, -70_000) }),
  fc.record({ name: fc.constant('b'), value: fc.constantFrom(0n, -1n, 2n ** 62n) }),
  fc.record({ name: fc.constant('flag'), value: fc.boolean() }),
  // Components of the same object, and the whole replaced by another one.
  fc.record({ name: fc.constantFrom('v.x', 'v.y'), value: floats }),
  fc.record({ name: fc.constantFrom('w.x', 'w.y', 'w.z', 'w.w'), value: integers }),
  fc.record({ name: fc.constant('v'), value: fc.constantFrom('copy', null) }),
  fc.record({ name: fc.constant('x'), value: fc.nat(3) }),
  fc.record({ name: fc.constant('twist'), value: fc.constantFrom(plain, double, undefined) }),
  fc.record({ name: fc.constantFrom('grid', 'block'), value: fc.constantFrom(1, 2) }),
  // What is wrong, and is reported each time.
  fc.record({ name: fc.constantFrom('v.x', 'w.z', 'i', 'k', 'c', 'n', 'b'), value: fc.constant('wrong') }),
  fc.record({ name: fc.constantFrom('i', 'v'), value: fc.constant('inherited') }),
  fc.record({ name: fc.constant('more'), value: fc.integer() }),
  fc.constant({ name: 'nothing', value: 0 }),
);

describe.each([...devices, { name: 'model', open: () => open('model:h200', { threads: 1 }) }])(
  '$name',
  ({ open: openDevice }) => {
    let device: Device;
    beforeAll(async () => {
      device = await openDevice();
    });
    afterAll(() => device.close());

    test('a launch gives the same with and without the memory of former ones', async () => {
      const stream = device.defaultStream;
      const remembered = makeKernel();
      const x = device.alloc('i32', 8);
      stream.memcpyAsync(
        x,
        Int32Array.from({ length: 8 }, (_, i) => 100 * i),
      );
      const out = {
        ints: device.alloc('i32', 32),
        wide: device.alloc('i64', 8),
        singles: device.alloc('f32', 20),
        doubles: device.alloc('f64', 4),
      };

      /** The bytes that a launch writes, or what it says is wrong. */
      const outcome = async (made: Tells, extents: { grid: number; block: number }, args: object) => {
        for (const array of Object.values(out)) stream.memsetAsync(array, 0xaa);
        try {
          stream.launch(made, extents, args as never);
        } catch (error) {
          if (!(error instanceof WarpstageError)) throw error;
          return error.issues.map(({ message }) => message);
        }
        const read = {
          ints: new Int32Array(32),
          wide: new BigInt64Array(8),
          singles: new Float32Array(20),
          doubles: new Float64Array(4),
        };
        stream.memcpyAsync(read.ints, out.ints);
        stream.memcpyAsync(read.wide, out.wide);
        stream.memcpyAsync(read.singles, out.singles);
        stream.memcpyAsync(read.doubles, out.doubles);
        await stream.synchronize();
        return Object.values(read).map(({ buffer }) => Buffer.from(buffer).toString('hex'));
      };

      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 12 }), async (changes) => {
          const extents = { grid: 1, block: 1 };
          const v: Record<string, unknown> = { x: 1, y: 2 };
          const w: Record<string, unknown> = { x: 1, y: 2, z: 3, w: 4 };
          const good = { ...out, x, n: 3, i: 1, b: 5n, f: 1, d: 1, h: 1, flag: false, v, w };
          let args: Record<string, unknown> = { ...good };
          await outcome(remembered, extents, args);
          for (const { name, value } of changes) {
            const [whole, component] = name.split('.') as [string, string?];
            if (name === 'grid' || name === 'block') extents[name] = value as number;
            else if (component !== undefined)
              (args[whole] as Record<string, unknown> | null) ??= { x: 1, y: 2, z: 3, w: 4 };
            if (component !== undefined) (args[whole] as Record<string, unknown>)[component] = value;
            else if (value === 'inherited') {
              const { [name]: inherited, ...own } = args;
              args = Object.assign(Object.create({ [name]: inherited }), own);
            } else if (value === 'copy') args[name] = { ...(args[name] as object) };
            else if (name === 'x') args[name] = x.subarray(value as number);
            else if (name !== 'nothing' && !(name in extents)) args[name] = value;
            const fresh = await outcome(makeKernel(), extents, args);
            expect(await outcome(remembered, extents, args)).toEqual(fresh);
          }
        }),
        { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 12), seed: 1 },
      );
      for (const array of [x, ...Object.values(out)]) array.free();
    });

    /** What kernels write that differ in one argument, one after the other. */
    const read = async (y: DeviceArray<'f64'>) => {
      const out = new Float64Array(1);
      device.defaultStream.memcpyAsync(out, y);
      await device.synchronize();
      return out[0]!;
    };

    test('another part of an array is another argument, by its place and by its length', async () => {
      const tell = kernel({ y: 'f64[]', x: 'readonly i32[]' }, ({ y, x }) => {
        y[0] = x[0]! * 10 + x.length;
      });
      const [y, x] = [device.alloc('f64', 1), device.alloc('i32', 8)];
      device.defaultStream.memcpyAsync(x, Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7));
      const results: number[] = [];
      for (const [begin, end] of [
        [0, 4],
        [0, 3],
        [4, 8],
        [4, 7],
        [4, 8],
        [0, 4],
      ] as const) {
        device.defaultStream.launch(tell, one, { y, x: x.subarray(begin, end) });
        results.push(await read(y));
      }
      expect(results).toEqual([4, 3, 44, 43, 44, 4]);
    });

    test('a grid is the same only along all of its axes', async () => {
      const count = kernel({ y: 'f64[]' }, ({ y }, cuda) => {
        const grid = cuda.thisGrid();
        if (grid.threadRank() === grid.size() - 1) y[0] = grid.size();
      });
      const y = device.alloc('f64', 1);
      const results: number[] = [];
      for (const grid of [
        [2, 4],
        [2, 2],
        [2, 2, 3],
        [2, 4],
      ] as const) {
        device.defaultStream.launch(count, { grid, block: 1 }, { y });
        results.push(await read(y));
      }
      expect(results).toEqual([8, 4, 12, 8]);
    });

    test('numbers are the same to the bit, and as wide', async () => {
      const tell = kernel({ y: 'f64[]', d: 'f64', n: 'index' }, ({ y, d, n }) => {
        y[0] = 1 / d + n;
      });
      const y = device.alloc('f64', 1);
      const results: number[] = [];
      for (const [d, n] of [
        [0, 0],
        [-0, 0],
        [0, 0],
        [1, 5],
        [1, 2 ** 31],
        [1, 5],
        [1, -(2 ** 40)],
      ] as const) {
        device.defaultStream.launch(tell, one, { y, d, n });
        results.push(await read(y));
      }
      expect(results).toEqual([Infinity, -Infinity, Infinity, 6, 2 ** 31 + 1, 6, 1 - 2 ** 40]);
    });

    test('shared memory has the size that its own launch asks for', async () => {
      const sized = kernel({ y: 'f64[]', n: 'index' }, ({ y, n }, cuda) => {
        const shared = cuda.sharedArray('i32', n);
        for (let i = 0; i < n; ++i) shared[i] = i;
        let sum = 0;
        for (let i = 0; i < shared.length; ++i) sum += shared[i]!;
        y[0] = sum;
      });
      const y = device.alloc('f64', 1);
      const results: number[] = [];
      for (const n of [4, 2000, 3, 4]) {
        device.defaultStream.launch(sized, one, { y, n });
        results.push(await read(y));
      }
      expect(results).toEqual([6, 1_999_000, 3, 6]);
    });

    test('a signal is that of its own launch', async () => {
      const tell = kernel({ y: 'f64[]', d: 'f64' }, ({ y, d }) => {
        y[0] = d;
      });
      const y = device.alloc('f64', 1);
      const former = new AbortController();
      device.defaultStream.launch(tell, { ...one, signal: former.signal }, { y, d: 1 });
      expect(await read(y)).toBe(1);
      device.defaultStream.memsetAsync(y, 0);
      former.abort();
      device.defaultStream.launch(tell, one, { y, d: 1 });
      expect(await read(y)).toBe(1);
      device.defaultStream.launch(tell, { ...one, signal: former.signal }, { y, d: 1 });
      await expect(device.synchronize()).rejects.toThrow(WarpstageError);
    });

    test('an array that was freed since is refused', async () => {
      const tell = kernel({ y: 'f64[]' }, ({ y }) => {
        y[0] = 1;
      });
      const [y, other] = [device.alloc('f64', 1), device.alloc('f64', 1)];
      for (const array of [y, other, y]) device.defaultStream.launch(tell, one, { y: array });
      await device.synchronize();
      y.free();
      expect(() => device.defaultStream.launch(tell, one, { y })).toThrow('WS4002');
      device.defaultStream.launch(tell, one, { y: other });
      await device.synchronize();
    });

    test('a vector is what it holds at the launch, whichever object it is', async () => {
      const lanes = kernel({ y: 'f32[]', v: 'f32x2' }, ({ y, v }) => {
        y[0] = v.x * 10 + v.y;
      });
      const y = device.alloc('f32', 1);
      const v = { x: 1, y: 2 };
      const results: number[] = [];
      for (const x of [1, 5, 7]) {
        v.x = x;
        device.defaultStream.launch(lanes, { grid: 1, block: 1 }, { y, v });
        v.x = -1; // too late for that launch
        const out = new Float32Array(1);
        device.defaultStream.memcpyAsync(out, y);
        await device.synchronize();
        results.push(out[0]!);
      }
      expect(results).toEqual([12, 52, 72]);
    });

    test('what a getter gives later is not taken for what was launched', async () => {
      const tell = kernel({ y: 'i32[]', k: 'constant i32' }, ({ y, k }) => {
        y[0] = k;
      });
      const y = device.alloc('i32', 1);
      const launch = async (args: { readonly y: typeof y; readonly k: number }) => {
        device.defaultStream.launch(tell, { grid: 1, block: 1 }, args);
        const out = new Int32Array(1);
        device.defaultStream.memcpyAsync(out, y);
        await device.synchronize();
        return out[0];
      };
      let reads = 0;
      const counting = {
        y,
        get k() {
          return ++reads;
        },
      };
      expect(await launch(counting)).toBe(1);
      for (const k of [2, 3, 1]) expect(await launch({ y, k })).toBe(k);
    });

    test('a schema that is changed afterwards changes nothing that was made of it', async () => {
      const schema: { y: 'i32[]'; by: typeof plain } = { y: 'i32[]', by: plain };
      const body = ({ y, by }: { y: number[]; by: (data: { x: number }) => number }) => {
        y[0] = by({ x: 21 });
      };
      const first = kernel(schema, body as never);
      schema.by = double as never;
      const second = kernel(schema, body as never);
      const y = device.alloc('i32', 1);
      const results: number[] = [];
      for (const made of [first, second, first]) {
        device.defaultStream.launch(made, { grid: 1, block: 1 }, { y });
        const out = new Int32Array(1);
        device.defaultStream.memcpyAsync(out, y);
        await device.synchronize();
        results.push(out[0]!);
      }
      expect(results).toEqual([21, 42, 21]);
    });
  },
);
