// Streams that wait for events of other devices, as cudaStreamWaitEvent allows: devices of one kind and of two, real and
// virtual. What comes behind the wait comes behind what the event stands for, and fails with it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, kernel, open, type Stream } from 'warpstage';
import { gpus } from '../support/gpu.ts';
import { deviceSteps, orderOf } from '../support/stream-order.ts';

const step = kernel({ y: 'i32[]', a: 'i32' }, ({ y, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i] = y[i]! * 3 + a;
});
const size = 256;
const launch = (stream: Stream, y: DeviceArray<'i32'>, a: number) =>
  stream.launch(step, { grid: 2, block: size / 2 }, { y, a });

const cpu = () => open('cpu', { threads: 1, memory: 2 ** 22 });
const single = {
  cpu,
  k20c: () => open('model:k20c', { threads: 1, memory: 2 ** 22 }),
  c2050: () => open('model:c2050', { threads: 1, memory: 2 ** 22 }),
  cuda: () => open('cuda'),
  secondGpu: () => open('cuda:1'),
};
type Kind = keyof typeof single;
const pairs: readonly (readonly [Kind, Kind])[] = [
  ['cpu', 'cpu'],
  ['k20c', 'c2050'],
  ['cpu', 'k20c'],
  ['k20c', 'cpu'],
  ...(gpus > 0
    ? ([
        ['cuda', 'cpu'],
        ['cpu', 'cuda'],
        ['cuda', 'k20c'],
        ['cuda', 'cuda'],
      ] as const)
    : []),
  ...(gpus > 1
    ? ([
        ['cuda', 'secondGpu'],
        ['secondGpu', 'cuda'],
      ] as const)
    : []),
];

/** A promise that a test settles. */
function gate() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe.each(pairs)('%s, waited for by %s', (firstKind, secondKind) => {
  async function withBoth(use: (first: Device, second: Device) => Promise<void>): Promise<void> {
    await using first = await single[firstKind]();
    await using second = await single[secondKind]();
    await use(first, second);
  }

  test('what was recorded comes before what waits, and nothing that comes later does', async () => {
    await withBoth(async (first, second) => {
      const [from, to] = [first.createStream(), second.createStream()];
      const [recorded, over] = [first.createEvent(), second.createEvent()];
      const { open: letGo, opened } = gate();
      const order: string[] = [];
      from.launchHostFunction(() => opened.then(() => order.push('before')));
      from.record(recorded);
      from.launchHostFunction(() => {
        order.push('behind');
      });
      to.waitEvent(recorded);
      to.launchHostFunction(() => {
        order.push('waits');
      });
      to.record(over);
      // Recorded again, it stands for something else, which the stream does not wait for.
      const { open: letLaterGo, opened: laterOpened } = gate();
      from.launchHostFunction(() => laterOpened);
      from.record(recorded);
      expect(over.query()).toBe(false);
      await new Promise((resolve) => setImmediate(resolve));
      expect(order).toEqual([]);
      letGo();
      await over.synchronize();
      expect(order[0]).toBe('before');
      expect(order).toContain('waits');
      letLaterGo();
      await first.synchronize();
    });
  });

  test('results pass through page-locked memory, ring upon ring', async () => {
    await withBoth(async (first, second) => {
      const devices = [first, second];
      const y = devices.map((device) => device.alloc('i32', size));
      const streams = devices.map((device) => device.createStream());
      const events = devices.map((device) => device.createEvent());
      // Page-locked for a GPU is what a GPU has locked; the CPU reaches it too.
      const owner = devices.find(({ properties }) => properties.kind === 'cuda') ?? first;
      const host = owner.allocPinned('i32', size);
      let expected = 0;
      for (let turn = 0; turn < 12; ++turn) {
        const at = turn % 2;
        const stream = streams[at]!;
        if (turn > 0) {
          stream.waitEvent(events[1 - at]!);
          stream.memcpyAsync(y[at]!, host);
        }
        launch(stream, y[at]!, turn);
        stream.memcpyAsync(host, y[at]!);
        stream.record(events[at]!);
        expected = (expected * 3 + turn) | 0;
      }
      await second.synchronize();
      expect([...new Set(host.array)]).toEqual([expected]);
      await first.synchronize();
    });
  });

  test('a failure passes on, and the stream goes on afresh when it was thrown', async () => {
    await withBoth(async (first, second) => {
      const [from, to] = [first.createStream(), second.createStream()];
      const event = first.createEvent();
      const y = second.alloc('i32', size);
      from.launchHostFunction(() => {
        throw new Error('no such file');
      });
      from.record(event);
      to.waitEvent(event);
      launch(to, y, 1);
      await expect(to.synchronize()).rejects.toThrow(
        'WS4008: a host function in a stream threw Error: no such file',
      );
      launch(to, y, 2);
      await to.synchronize();
      const result = new Int32Array(size);
      to.memcpyAsync(result, y);
      await to.synchronize();
      expect([...new Set(result)]).toEqual([2]);
      await expect(from.synchronize()).rejects.toThrow('WS4008');
    });
  });

  test('a device that is closed ends what waits for it', async () => {
    await using second = await single[secondKind]();
    const first = await single[firstKind]();
    const [from, to] = [first.createStream(), second.createStream()];
    const event = first.createEvent();
    from.launchHostFunction(() => gate().opened);
    launch(from, first.alloc('i32', size), 1);
    from.record(event);
    to.waitEvent(event);
    launch(to, second.alloc('i32', size), 1);
    const over = expect(to.synchronize()).rejects.toThrow('WS4006');
    await new Promise((resolve) => setImmediate(resolve));
    await first.close();
    await over;
  });

  test('a typed array that is filled behind a function of the other device cannot be copied from', async () => {
    await withBoth(async (first, second) => {
      const [from, to, other] = [first.createStream(), second.createStream(), second.createStream()];
      const event = first.createEvent();
      const [y, z] = [second.alloc('i32', 4), second.alloc('i32', 4)];
      const typed = new Int32Array(4);
      const { open: letGo, opened } = gate();
      to.memsetAsync(y, 1);
      from.launchHostFunction(() => opened);
      from.record(event);
      to.waitEvent(event);
      to.memcpyAsync(typed, y);
      // Blocked, this thread would never let the function end.
      expect(() => other.memcpyAsync(z, typed)).toThrow(
        /^WS4007: memcpy host to device: the source is still to be filled .*\n {2}hint: await the stream of that copy first, or copy from and to a page-locked array: device\.allocPinned\(…\)$/,
      );
      const pinned = second.allocPinned('i32', 4);
      to.memcpyAsync(pinned, y);
      to.memcpyAsync(z, pinned);
      letGo();
      await to.synchronize();
      const [w, result] = [second.alloc('i32', 4), new Int32Array(8)];
      other.memcpyAsync(w, typed);
      other.memcpyAsync(result.subarray(0, 4), z);
      other.memcpyAsync(result.subarray(4), w);
      await other.synchronize();
      expect([...result]).toEqual(new Array(8).fill(0x01010101));
    });
  });

  test('an event that was not recorded, and one that is reached, hold nothing up', async () => {
    await withBoth(async (first, second) => {
      const event = first.createEvent();
      const stream = second.createStream();
      stream.waitEvent(event);
      expect(stream.query()).toBe(true);
      first.defaultStream.memsetAsync(first.alloc('i32', size), 0);
      first.defaultStream.record(event);
      await first.synchronize();
      stream.waitEvent(event);
      expect(stream.query()).toBe(true);
    });
  });

  test('what cannot be is refused', async () => {
    await withBoth(async (first, second) => {
      const event = first.createEvent();
      const stream = second.createStream();
      expect(() => stream.record(event)).toThrow('WS2005: record: the event belongs to another device');
      expect(() => stream.capture(() => stream.waitEvent(event))).toThrow('WS4009: waitEvent');
      expect(() => stream.waitEvent('event' as never)).toThrow('WS4007: waitEvent takes an event');
      event.destroy();
      expect(() => stream.waitEvent(event)).toThrow('WS4002: waitEvent: the event was destroyed');
    });
  });
});

test('a loop of queries sees the end of a wait, though the event loop never turns', async () => {
  await using first = await cpu();
  await using second = await cpu();
  const y = [first, second].map((device) => device.alloc('i32', size));
  const [recorded, over] = [first.createEvent(), second.createEvent()];
  // Both have their threads.
  launch(first.defaultStream, y[0]!, 1);
  launch(second.defaultStream, y[1]!, 1);
  await first.synchronize();
  await second.synchronize();
  launch(first.defaultStream, y[0]!, 1);
  first.defaultStream.record(recorded);
  second.defaultStream.waitEvent(recorded);
  launch(second.defaultStream, y[1]!, 1);
  second.defaultStream.record(over);
  while (!over.query());
  expect(recorded.query()).toBe(true);
});

test('more commands than have room pass between two devices before anything is awaited', async () => {
  await using first = await cpu();
  await using second = await cpu();
  const devices = [first, second];
  const y = devices.map((device) => device.alloc('i32', size));
  const streams = devices.map((device) => device.createStream());
  const events = devices.map((device) => device.createEvent({ timing: false }));
  const turns = 1200;
  let expected = 0;
  for (let turn = 0; turn < turns; ++turn) {
    const at = turn % 2;
    if (turn > 0) {
      streams[at]!.waitEvent(events[1 - at]!);
      streams[at]!.memcpyAsync(y[at]!, y[1 - at]!);
    }
    launch(streams[at]!, y[at]!, turn);
    streams[at]!.record(events[at]!);
    expected = (Math.imul(expected, 3) + turn) | 0;
  }
  await second.synchronize();
  const result = new Int32Array(size);
  second.defaultStream.memcpyAsync(result, y[1]!);
  await second.synchronize();
  expect([...new Set(result)]).toEqual([expected]);
});

test('virtual devices that wait for each other have one time', async () => {
  const none = { threads: 1, memory: 2 ** 24, execute: false } as const;
  await using first = await open('model:k20c', none);
  await using second = await open('model:k20c', none);
  const elements = 2 ** 20;
  const spans: {
    readonly device: number;
    readonly name: string;
    readonly started: number;
    readonly ended: number;
  }[] = [];
  for (const [device, one] of [first, second].entries())
    one.recorder = (span) => spans.push({ device, ...span });
  const data = [first, second].map((device) => device.alloc('f32', elements));
  const host = [first, second].map((device) => device.allocPinned('f32', elements));
  const events = [first, second].map((device) => device.createEvent());
  const [a, b] = [first.createStream(), second.createStream()];
  // In on the first, then in on the second, then out on the first; beside that, out on the second.
  a.memcpyAsync(data[0]!, host[0]!);
  a.record(events[0]!);
  second.createStream({ nonBlocking: true }).memcpyAsync(second.allocPinned('f32', elements), data[1]!);
  b.waitEvent(events[0]!);
  b.memcpyAsync(data[1]!, host[1]!);
  b.record(events[1]!);
  a.waitEvent(events[1]!);
  a.memcpyAsync(host[0]!, data[0]!);
  await first.synchronize();
  await second.synchronize();
  const times = spans.map(({ device, name, started, ended }) => [device, name, started, ended] as const);
  const one = times.find(([device, name]) => device === 0 && name === 'memcpy host to device')!;
  const copy = one[3] - one[2];
  const rounded = times
    .map(([device, name, started, ended]) => [
      device,
      name,
      (started - one[2]) / copy,
      (ended - one[2]) / copy,
    ])
    .map((row) => row.map((value) => (typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : value)))
    .sort((x, z) => Number(x[3]) - Number(z[3]) || Number(x[0]) - Number(z[0]));
  expect(rounded).toEqual([
    [0, 'memcpy host to device', 0, 1],
    [1, 'memcpy device to host', 0, 1],
    [1, 'memcpy host to device', 1, 2],
    [0, 'memcpy device to host', 2, 3],
  ]);
});

/** The functions that were called, in their order; any operation of a random program may be one. */
async function calledInTurn(
  devices: readonly Device[],
  steps: readonly Parameters<typeof orderOf>[0][number][],
) {
  const made = devices.map((device) => ({
    y: device.alloc('i32', size),
    streams: [
      device.defaultStream,
      device.createStream(),
      device.createStream({ priority: -1 }),
      device.createStream({ nonBlocking: true }),
    ],
    events: [0, 1, 2].map(() => device.createEvent({ timing: false })),
  }));
  const called: number[] = [];
  let operation = -1;
  for (const { kind, device = 0, eventDevice = 0, stream: s, event } of steps) {
    const { y, streams, events } = made[device]!;
    const stream = streams[s]!;
    if (kind === 'record') stream.record(events[event]!);
    else if (kind === 'wait') stream.waitEvent(made[eventDevice]!.events[event]!);
    else {
      const number = ++operation;
      if (number % 3 === 1) launch(stream, y, number);
      else if (number % 3 === 2) stream.memsetAsync(y, 0);
      else {
        stream.launchHostFunction(() => {
          called.push(number);
          return number % 2 === 0 ? undefined : Promise.resolve();
        });
      }
    }
  }
  for (const device of devices) await device.synchronize();
  for (const { y, streams } of made) {
    for (const stream of streams.slice(1)) await stream.destroy();
    y.free();
  }
  return called;
}

test.each(pairs)(
  'random programs of %s and %s are carried out in an order that CUDA allows',
  async (...kinds) => {
    await using first = await single[kinds[0]]();
    await using second = await single[kinds[1]]();
    await fc.assert(
      fc.asyncProperty(deviceSteps(2), async (steps) => {
        const before = orderOf(steps, 'legacy');
        const called = await calledInTurn([first, second], steps);
        expect([...called].sort((a, b) => a - b)).toEqual(
          [...before.keys()].filter((number) => number % 3 === 0),
        );
        const position = new Map(called.map((number, at) => [number, at]));
        for (const number of called) {
          for (const earlier of before.get(number)!) {
            if (position.has(earlier)) expect(position.get(earlier)).toBeLessThan(position.get(number)!);
          }
        }
      }),
      { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 15) },
    );
  },
);
