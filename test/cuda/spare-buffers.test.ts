// Page-locked memory that a GPU keeps from one job to the next: never that of two chunks at once, of another device or
// of another length, and never more than it may. A property; a driver of the tests' own stands in. Needs a C compiler.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open } from 'warpstage';
import { OwnStreams } from '#warpstage/overlap/own-streams.js';
import { Slot } from '#warpstage/overlap/slot.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const most = 128 * 2 ** 20;
const operation = fc.record({
  kind: fc.constantFrom('take', 'take', 'free'),
  device: fc.nat(1),
  capacity: fc.constantFrom(16, 1000, 2 ** 20, 10 * 2 ** 20),
  which: fc.nat(20),
});

interface Taken {
  readonly slot: Slot;
  readonly device: number;
  readonly bytes: number;
  readonly memory: ArrayBufferLike;
}

const participant = (device: Device) => ({ name: 'cuda', device, streams: new OwnStreams(device) });

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
    fake.reset();
    fake.devices(2);
    fake.memory(2 ** 32);
  });
  afterAll(() => fake.remove());

  /** The beginning of a slot's page-locked memory. */
  const memoryOf = (slot: Slot) => slot.host('x', 1).buffer;

  test('is that of one chunk at a time, on the device that locked it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 24 }), async (operations) => {
        const devices: readonly Device[] = [await open('cuda:0'), await open('cuda:1')];
        const owners = new Map<ArrayBufferLike, number>();
        const inUse: Taken[] = [];
        const spare: Taken[][] = [[], []];
        try {
          for (const { kind, device, capacity, which } of operations) {
            if (kind === 'free') {
              const [gone] = inUse.splice(which % (inUse.length || 1), 1);
              if (gone === undefined) continue;
              await gone.slot.free();
              spare[gone.device]!.push(gone);
              continue;
            }
            const arrays = [{ name: 'x', element: 'u8', capacity, role: 'input', inPlace: false } as const];
            const slot = new Slot(participant(devices[device]!), arrays, null);
            const locked = fake.locks();
            slot.take();
            const memory = memoryOf(slot);
            expect(slot.host('x', capacity)).toHaveLength(capacity);
            expect(inUse.map((other) => other.memory)).not.toContain(memory);
            expect(owners.get(memory) ?? device).toBe(device);
            // The spare one of this length is used again, where there is one and it was kept.
            const fitting = spare[device]!.find((one) => one.memory === memory);
            expect(fake.locks() - locked).toBe(fitting === undefined ? 1 : 0);
            if (fitting !== undefined) expect(fitting.bytes).toBe(capacity);
            spare[device] = spare[device]!.filter((one) => one !== fitting);
            owners.set(memory, device);
            inUse.push({ slot, device, bytes: capacity, memory });
          }
          const [locks, unlocks] = [fake.locks(), fake.unlocks()];
          for (const { slot } of inUse.splice(0)) await slot.free();
          expect(fake.locks()).toBe(locks);
          expect(fake.unlocks()).toBeGreaterThanOrEqual(unlocks);
        } finally {
          for (const device of devices) await device.close();
        }
      }),
      { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 25) },
    );
  });

  test('is used again by the next job of the same size, given back for one of another, and bounded', async () => {
    await using device = await open('cuda');
    const arrays = (capacity: number) => [
      { name: 'x', element: 'u8', capacity, role: 'input', inPlace: false } as const,
    ];
    const take = (capacity: number) => {
      const slot = new Slot(participant(device), arrays(capacity), null);
      slot.take();
      return slot;
    };
    const first = take(1000);
    const memory = memoryOf(first);
    await first.free();
    const second = take(1000);
    expect(memoryOf(second)).toBe(memory);
    await second.free();
    const before = fake.unlocks();
    const other = take(2000);
    expect(memoryOf(other)).not.toBe(memory);
    expect(fake.unlocks()).toBe(before + 1);
    await other.free();
    const large = [take(most / 2), take(most / 2), take(most / 2)];
    const kept = fake.unlocks();
    for (const slot of large) await slot.free();
    expect(fake.unlocks()).toBe(kept + 1);
  });
});
