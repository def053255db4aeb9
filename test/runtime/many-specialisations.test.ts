// A program that specialises kernels without end: a device keeps what was used last, and lets go of the rest, on the
// main thread, in its workers and in the driver. What comes back is compiled again, and means the same.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { kernel, open } from 'warpstage';
import { computeHandler } from '#warpstage/runtime/cpu/computing.js';
import { collectGarbage } from '#warpstage/runtime/cpu/garbage.js';
import type { LaunchTask } from '#warpstage/runtime/cpu/messages.js';
import { createWorkerPoolMemory, WorkerPool } from '#warpstage/runtime/cpu/worker-pool.js';
import type { Executable } from '#warpstage/targets/executable.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';
import { handMade, handMadeTarget, openHandMade } from '../support/hand-made.ts';

/** More than a device keeps of one kernel. */
const many = 150;
/** What is kept, and what the last commands and launches name besides. */
const few = 135;

/** Collects until no more than so many are left; as many turns as garbage may take. */
async function collectedTo(count: number, left: () => number): Promise<void> {
  for (let turns = 0; turns < 50 && left() > count; ++turns) {
    // What was looked at stays until the turn of the event loop ends.
    await new Promise((done) => setImmediate(done));
    collectGarbage();
    await new Promise((done) => setImmediate(done));
  }
  expect(left()).toBeLessThanOrEqual(count);
}

test('the CPU lets executables go that were not used lately', async () => {
  const compiled: WeakRef<Executable>[] = [];
  await using device = openHandMade({
    target: {
      ...handMadeTarget,
      compile: (program) => {
        const executable = handMadeTarget.compile(program);
        compiled.push(new WeakRef(executable));
        return executable;
      },
    },
  });
  const stream = device.createStream();
  const y = device.alloc('i32', 1);
  const launch = (block: number) => stream.launch(handMade.step, { grid: 1, block }, { y, a: block });
  for (let block = 1; block <= many; ++block) {
    launch(block);
    // The first is used again and again, and so it stays.
    launch(1);
    if (block % 50 === 0) await stream.synchronize();
  }
  await stream.synchronize();
  expect(compiled.length).toBe(many);
  await collectedTo(few, () => compiled.filter((one) => one.deref() !== undefined).length);
  launch(1);
  expect(compiled.length).toBe(many);
  stream.memsetAsync(y, 0);
  launch(2);
  const result = new Int32Array(1);
  stream.memcpyAsync(result, y);
  await stream.synchronize();
  expect(compiled.length).toBe(many + 1);
  expect(result[0]).toBe(2);
});

test('a thread gives up what it made of an executable', () => {
  let made = 0;
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const pool = new WorkerPool(createWorkerPoolMemory(1));
  const { port1: port } = new MessageChannel();
  const create = () => {
    ++made;
    return () => null;
  };
  const handler = computeHandler(pool, { memory, port: port as never, create, now: () => 0 });
  const executable = { target: 'interpreter' } as unknown as Executable;
  const task = { kind: 'launch', executable: 1, record: new Uint8Array(8), recordAddress: 64, blocks: 1 };
  const run = () =>
    handler.run({ ...task, arena: 128, arenaStride: 0, together: false, stages: null } as LaunchTask, 1);
  handler.announce(1, executable);
  expect([run(), run(), made]).toEqual([true, true, 1]);
  handler.forget(1);
  handler.announce(1, executable);
  expect([run(), made]).toEqual([true, 2]);
  port.close();
});

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => fake.reset());
  afterAll(() => fake.remove());

  const add = kernel({ y: 'i32[]', n: 'constant i32' }, ({ y, n }) => {
    y[0] = n;
  });

  test('a GPU unloads modules that were not used lately, and all when it is closed', async () => {
    const before = fake.modules();
    const device = await open('cuda');
    const stream = device.createStream();
    const y = device.alloc('i32', 1);
    for (let n = 0; n < many; ++n) stream.launch(add, { grid: 1, block: 1 }, { y, n });
    await stream.synchronize();
    expect(fake.modules()).toBe(before + many);
    await collectedTo(before + few, fake.modules);
    await device.close();
    expect(fake.modules()).toBe(before);
  });
});
