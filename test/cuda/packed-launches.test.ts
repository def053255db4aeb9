// What the driver gets of a launch is the same whether or not anything of former launches is kept: the module, what was
// packed, the native memory that all launches share. A kernel that is made anew for each launch is one of which
// nothing is kept. A driver of the tests' own stands in, and shows what it got. Needs a C compiler.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deviceFunction, kernel, open } from 'warpstage';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const plain = deviceFunction({ x: 'i32' }, ({ x }) => x);
const double = deviceFunction({ x: 'i32' }, ({ x }) => x * 2);

/** Kernels with the same name and text, and parameters that lie otherwise. */
const makers = [
  () =>
    kernel(
      { y: 'i32[]', x: 'readonly i32[]', a: 'i32', n: 'index', c: 'constant i32 = 1', f: plain },
      ({ y, x, a, n, c, f }, cuda) => {
        const shared = cuda.sharedArray('i32', n);
        shared[0] = f({ x: a }) * c;
        y[0] = shared[0]! + x[0]!;
      },
      { name: 'one' },
    ),
  () =>
    kernel(
      { a: 'f64', y: 'i32[]', flag: 'bool', x: 'readonly i32[]', n: 'index', b: 'i64', v: 'f32x2' },
      ({ y, x, a, flag, n, b, v }, cuda) => {
        y[0] = (flag ? x[0]! : cuda.i32(a + v.x + v.y)) + cuda.i32(b) + cuda.i32(n);
      },
      { name: 'one' },
    ),
  () =>
    kernel(
      { y: 'i32[]', x: 'readonly i32[]' },
      ({ y, x }) => {
        y[0] = x[0]!;
      },
      { name: 'one' },
    ),
  // How it copies depends on what the launch proves of the addresses.
  () =>
    kernel(
      { y: 'i32[]', x: 'readonly i32[]', a: 'i32' },
      ({ y, x, a }, cuda) => {
        const block = cuda.thisThreadBlock();
        const shared = cuda.sharedArray('i32', 32);
        cuda.cg.memcpyAsync(block, shared, x, 32);
        cuda.cg.wait(block);
        y[0] = shared[0]! + a;
      },
      { name: 'one' },
    ),
];

const launch = fc.record({
  kernel: fc.nat(makers.length - 1),
  y: fc.nat(5),
  x: fc.nat(5),
  a: fc.constantFrom(0, 1, 7),
  n: fc.constantFrom(1, 2, 40_000, 2 ** 31),
  b: fc.constantFrom(0n, -1n),
  flag: fc.boolean(),
  v: fc.constantFrom(0, -0, 2),
  c: fc.constantFrom(1, 2),
  f: fc.constantFrom(plain, double),
  grid: fc.constantFrom(1, 2, [1, 2], [1, 1, 2]),
  block: fc.constantFrom(1, 32, [1, 32]),
});

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
    fake.reset();
  });
  afterAll(() => {
    fake.remove();
  });

  // A launch that the driver has not seen before is made by the thread of the program in any case.
  test.each([
    ['by the thread of the program', '0'],
    ['by a thread that issues', 'always'],
  ])('a launch is given to the driver as it is, whatever was launched before: %s', async (_, thread) => {
    process.env.WARPSTAGE_ISSUING_THREAD = thread;
    await using device = await open('cuda', { checked: false });
    const [whole, other] = [device.alloc('i32', 64), device.alloc('i32', 64)];
    const arrays = [
      whole,
      other,
      whole.subarray(1),
      whole.subarray(0, 32),
      other.subarray(2),
      whole.subarray(32),
    ];
    const kept = makers.map((make) => make());
    /** Which kernel the code is of that the driver was given, by its hash. */
    const kernelOf = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(launch, { minLength: 2, maxLength: 12 }), (launches) => {
        for (const { kernel: which, grid, block, y, x, v, ...scalars } of launches) {
          const given = { ...scalars, y: arrays[y], x: arrays[x], v: { x: v, y: 1 } };
          /** What the driver got; or the error, as where shared memory does not suffice. */
          const got = (made: (typeof kept)[number]) => {
            const names = Object.keys(made.schema);
            const args = Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
            const before = fake.launches();
            try {
              device.defaultStream.launch(made, { grid, block } as never, args as never);
            } catch (error) {
              return (error as Error).message;
            }
            // Whatever is asked of the driver comes behind what was issued.
            device.memory;
            expect(fake.launches()).toBe(before + 1);
            const bytes = new Uint8Array(256);
            fake.launched(bytes, bytes.length);
            return Buffer.from(bytes).toString('hex');
          };
          const remembered = got(kept[which]!);
          // Something else lies in the shared native memory in between.
          got(makers[(which + 1) % makers.length]!());
          expect(got(makers[which]!())).toBe(remembered);
          if (remembered.startsWith('WS')) continue;
          const code = remembered.slice(0, 16);
          if (!kernelOf.has(code)) kernelOf.set(code, which);
          expect(kernelOf.get(code)).toBe(which);
        }
      }),
      { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 40) },
    );
  });
});
