// Fresh memory is zero before anything uses it: also where a stream of another GPU does, whose driver gets no order from the
// stream that allocates. Random programs are given to a driver of the tests' own; in its log each copy, and each graph
// with one, comes behind the zeroing of both its arrays. Needs a C compiler.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DeviceArray, open } from 'warpstage';
import { addressOf } from '#warpstage/runtime/cuda/library.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

interface Step {
  readonly kind: 'alloc' | 'free' | 'copy' | 'graph' | 'synchronise';
  readonly device: number;
  readonly stream: number;
  /** Of the arrays that are there, counted from the last one. */
  readonly from: number;
  readonly to: number;
}
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind'][]>(
      'alloc',
      'alloc',
      'copy',
      'copy',
      'copy',
      'graph',
      'free',
      'synchronise',
    ),
    device: fc.nat(1),
    stream: fc.nat(2),
    from: fc.nat(3),
    to: fc.nat(3),
  }),
  { minLength: 10, maxLength: 60, size: 'max' },
);

const most = 4000;

/** For each copy, its two addresses, and for each launch of a graph none; with the sets of bytes before it. In the order of the log. */
function setsBefore(words: BigUint64Array, count: number) {
  const streams = new Map<bigint, Set<bigint>>();
  const recordings = new Map<string, ReadonlySet<bigint>>();
  const own = new Set<bigint>();
  const uses: { readonly what: readonly bigint[]; readonly sets: ReadonlySet<bigint> }[] = [];
  for (let entry = 0; entry < count; ++entry) {
    const [kind, stream, what, which] = [...words.subarray(4 * entry, 4 * entry + 4)] as [
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    const done = streams.get(stream) ?? new Set();
    streams.set(stream, done);
    if (kind === 1n) recordings.set(`${what} ${which}`, new Set(done));
    if (kind === 2n) for (const one of recordings.get(`${what} ${which}`) ?? []) done.add(one);
    if (kind === 3n) done.add(what);
    if (kind === 3n && what === 7n) own.add(stream);
    if (kind === 5n && own.has(stream)) uses.push({ what: [what, which], sets: new Set(done) });
    if (kind === 6n) uses.push({ what: [], sets: new Set(done) });
  }
  return uses;
}

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => fake.reset());
  afterAll(() => fake.remove());

  /** How many uses of two arrays the driver was given, all of them behind what makes the arrays zero. */
  async function check(program: readonly Step[]): Promise<number> {
    fake.reset();
    fake.devices(2);
    await using one = await open('cuda:0', { checked: false });
    await using other = await open('cuda:1', { checked: false });
    const devices = [one, other];
    const streams = devices.map((device) => [
      device.defaultStream,
      device.createStream(),
      device.createStream(),
    ]);
    const words = new BigUint64Array(4 * most);
    fake.log(addressOf(words), most);
    // So slow that an issuing thread has something before it whenever another GPU is to wait.
    fake.busy(5000);
    // Sets of 7 bytes tell which streams of the driver these are: the others capture.
    for (const [d, device] of devices.entries()) {
      const array = device.alloc('u8', 8);
      for (const stream of streams[d]!) stream.memsetAsync(array.subarray(0, 7), 0);
      await device.synchronize();
      array.free();
    }
    let bytes = 1000;
    const arrays: DeviceArray<'u8'>[] = [];
    /** By its address, the number of bytes that are set to zero for an array: no two have the same. */
    const zeroing = new Map<bigint, bigint>();
    /** What the driver is to be given, and which sets of bytes before it. */
    const expected: { readonly what: string; readonly sets: readonly (bigint | undefined)[] }[] = [];
    const address = (array: DeviceArray<'u8'>) => BigInt((array as unknown as { address: number }).address);
    const allocate = (device: number) => {
      const array = devices[device]!.alloc('u8', ++bytes);
      zeroing.set(address(array), BigInt(bytes));
      arrays.push(array);
    };
    allocate(0);
    allocate(1);
    const finish = () => Promise.all(devices.map((device) => device.synchronize()));
    for (const { kind, device, stream: s, from, to } of program) {
      const stream = streams[device]![s]!;
      const [source, target] = [from, to].map((which) => arrays.at(-1 - which));
      if (kind === 'alloc') allocate(device);
      else if (kind === 'synchronise') await finish();
      else if (kind === 'free') {
        if (source === undefined) continue;
        arrays.splice(arrays.indexOf(source), 1);
        await finish();
        source.free();
      } else if (source !== undefined && target !== undefined && source !== target) {
        const copy = () => stream.memcpyAsync(target.subarray(0, 8), source.subarray(0, 8));
        const both = [address(target), address(source)];
        const sets = both.map((one) => zeroing.get(one));
        if (kind === 'copy') {
          copy();
          expected.push({ what: both.join(), sets });
        } else if (stream !== devices[device]!.defaultStream) {
          stream.capture(copy).launch(stream);
          expected.push({ what: '', sets });
        }
      }
    }
    // Whatever is asked of the driver comes behind what was issued.
    for (const device of devices) device.memory;
    const uses = setsBefore(words, fake.logged());
    fake.log(0, 0);
    await finish();
    for (const { what, sets } of uses) {
      const position = expected.findIndex((one) => one.what === what.join());
      expect(position).not.toBe(-1);
      const [found] = expected.splice(position, 1);
      expect([...sets]).toEqual(expect.arrayContaining([...found!.sets]));
    }
    expect(expected).toEqual([]);
    for (const array of arrays) array.free();
    return uses.length;
  }

  test.each(['0', 'always'])(
    'no copy of any stream of two GPUs comes before its arrays are zero, issuing thread: %s',
    async (thread) => {
      process.env.WARPSTAGE_ISSUING_THREAD = thread;
      let uses = 0;
      const numRuns = Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 40);
      await fc.assert(
        fc.asyncProperty(steps, async (program) => {
          uses += await check(program);
        }),
        { numRuns },
      );
      expect(uses).toBeGreaterThan(2 * numRuns);
    },
  );
});
