// Virtual devices: real results in virtual time, the same in every run.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel, type OpenOptions, open, type Span } from 'warpstage';
import { published } from '#warpstage/runtime/model/presets.js';
import { elements, measure } from '../../examples/overlap/program.ts';

const double = kernel({ a: 'f32[]' }, ({ a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  a[i] = a[i]! * 2;
});
const fails = kernel({ a: 'f32[]' }, ({ a }) => {
  a[a.length] = 1;
});

/** One time unit an operation: a MiB each way, and any kernel. */
const MiB = 2 ** 20;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'warpstage-model-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(fields: object | string): string {
  const path = join(folder, `device-${Math.random()}.json`);
  writeFileSync(path, typeof fields === 'string' ? fields : JSON.stringify(fields));
  return path;
}

const unitRates = {
  like: 'k20c',
  name: 'units',
  hostToDevice: MiB,
  deviceToHost: MiB,
  pageableHostToDevice: MiB / 2,
  pageableDeviceToHost: MiB / 2,
};
const openUnits = (fields: object = {}, options: OpenOptions = {}) =>
  open(`model:${write({ ...unitRates, ...fields })}`, { kernelTime: () => 1, threads: 1, ...options });

/** Spans as `[engine, started, ended]`, on a clock that begins with the first. */
async function timesOf(device: Device, issue: () => void): Promise<[string, number, number][]> {
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  issue();
  await device.synchronize();
  const origin = Math.min(...spans.map(({ started }) => started));
  return spans.map(({ engine, started, ended }) => [
    engine,
    Math.round((started - origin) * 1e6) / 1e6,
    Math.round((ended - origin) * 1e6) / 1e6,
  ]);
}

const floats = MiB / 4;

describe('the program of the post', () => {
  test.each(Object.entries(published))(
    'on the %s, from its sequential time alone, within 15 %% of the others',
    async (name, times) => {
      await using device = await open(`model:${name}`, { execute: false });
      for (const { schedule, milliseconds } of await measure(device, elements)) {
        expect(Math.abs(milliseconds / times[schedule] - 1)).toBeLessThan(0.15);
      }
    },
  );

  test('takes the same virtual time whatever executes it', async () => {
    const times = async (options: OpenOptions) => {
      await using device = await open('model:c2050', options);
      return (await measure(device, 64 * 1024)).map(({ milliseconds, maxError }) => {
        if (options.execute !== false) expect(maxError).toBeLessThan(2.4e-7);
        return milliseconds;
      });
    };
    const first = await times({ threads: 1 });
    expect(await times({ threads: 2 })).toEqual(first);
    expect(await times({ target: 'interpreter' })).toEqual(first);
    expect(await times({ execute: false })).toEqual(first);
  });
});

describe('engines', () => {
  test('a stream keeps its order, two streams overlap', async () => {
    await using device = await openUnits();
    using host = device.allocPinned('f32', 2 * floats);
    using data = device.alloc('f32', 2 * floats);
    const streams = [device.createStream(), device.createStream()];
    host.array.fill(3);
    const times = await timesOf(device, () => {
      for (const [i, stream] of streams.entries()) {
        const [h, d] = [host, data].map((array) => array.subarray(i * floats, (i + 1) * floats));
        stream.memcpyAsync(d!, h!);
        stream.launch(double, { grid: floats / 256, block: 256 }, { a: d as typeof data });
        stream.memcpyAsync(h!, d!);
      }
    });
    expect(times).toEqual([
      ['copy in', 0, 1],
      ['compute', 1, 2],
      ['copy in', 1, 2],
      ['copy out', 2, 3],
      ['compute', 2, 3],
      ['copy out', 3, 4],
    ]);
    expect(host.array.every((x) => x === 6)).toBe(true);
  });

  test('kernels that leave room run at the same time', async () => {
    await using device = await openUnits();
    using data = device.alloc('f32', 2048);
    const streams = [device.createStream(), device.createStream()];
    const times = await timesOf(device, () => {
      for (const [i, stream] of streams.entries()) {
        stream.launch(double, { grid: 4, block: 256 }, { a: data.subarray(i * 1024, (i + 1) * 1024) });
      }
    });
    expect(times).toEqual([
      ['compute', 0, 1],
      ['compute', 0, 1],
    ]);
  });

  test('the legacy default stream waits for the others, and they for it', async () => {
    await using device = await openUnits();
    using host = device.allocPinned('f32', floats);
    using back = device.allocPinned('f32', floats);
    using data = device.alloc('f32', floats);
    const stream = device.createStream();
    const free = device.createStream({ nonBlocking: true });
    using other = device.alloc('f32', floats);
    const times = await timesOf(device, () => {
      stream.memcpyAsync(data, host);
      device.defaultStream.launch(double, { grid: floats / 256, block: 256 }, { a: data });
      stream.memcpyAsync(back, data);
      free.memcpyAsync(other, host);
    });
    expect(times).toEqual([
      ['copy in', 0, 1],
      ['compute', 1, 2],
      ['copy in', 1, 2],
      ['copy out', 2, 3],
    ]);
  });

  test('waiting for an event of another stream costs nothing but the wait', async () => {
    await using device = await openUnits();
    using host = device.allocPinned('f32', floats);
    using data = device.alloc('f32', floats);
    const [a, b] = [device.createStream(), device.createStream()];
    using event = device.createEvent();
    const times = await timesOf(device, () => {
      a.memcpyAsync(data, host);
      a.record(event);
      b.waitEvent(event);
      b.launch(double, { grid: floats / 256, block: 256 }, { a: data });
    });
    expect(times).toEqual([
      ['copy in', 0, 1],
      ['compute', 1, 2],
    ]);
  });

  test('the host copies what is pageable to page-locked memory, and goes on while that is copied', async () => {
    await using device = await openUnits();
    using data = device.alloc('f32', floats);
    using pinned = device.allocPinned('f32', floats);
    using other = device.alloc('f32', floats);
    const [a, b] = [device.createStream(), device.createStream()];
    const queued: number[] = [];
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    a.memcpyAsync(data, new Float32Array(floats));
    b.memcpyAsync(other, pinned);
    await device.synchronize();
    for (const span of spans) queued.push(span.queued);
    // Two milliseconds in all, of which one is that of the engine.
    expect(queued).toEqual([1, 1]);
    expect(spans.map(({ started, ended }) => [started, ended])).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });

  test('what is copied to pageable memory is there when the host has copied it from page-locked memory', async () => {
    await using device = await openUnits();
    using data = device.alloc('f32', floats);
    using late = device.createEvent();
    const [a, b] = [device.createStream(), device.createStream()];
    using start = device.createEvent();
    a.record(start);
    a.memcpyAsync(new Float32Array(floats), data);
    await a.synchronize();
    b.record(late);
    await device.synchronize();
    expect(late.elapsedTime(start)).toBeCloseTo(2, 9);
  });

  test('copies of pageable memory wait for the oldest where they would take too much page-locked memory', async () => {
    await using device = await openUnits({}, { execute: false });
    const parts = 33;
    using data = device.alloc('f32', 8 * floats);
    const host = new Float32Array(8 * floats);
    const stream = device.createStream();
    const queued: number[] = [];
    device.recorder = (span) => queued.push(span.queued);
    for (let i = 0; i < parts; ++i) stream.memcpyAsync(host, data);
    await device.synchronize();
    // 256 MiB are under way; what is more waits for the first, for 8 ms of the engine and as many of the host.
    expect(queued).toEqual([...Array.from({ length: 32 }, () => 0), 16]);
  });

  test('both directions at once are slower where the bus says so', async () => {
    await using device = await openUnits({ bothWays: 1.5 });
    using host = device.allocPinned('f32', 2 * floats);
    using data = device.alloc('f32', 2 * floats);
    const [a, b] = [device.createStream(), device.createStream()];
    const times = await timesOf(device, () => {
      a.memcpyAsync(data.subarray(0, floats), host.subarray(0, floats));
      b.memcpyAsync(host.subarray(floats), data.subarray(floats));
    });
    expect(times).toEqual([
      ['copy in', 0, 1.5],
      ['copy out', 0, 1.5],
    ]);
  });
});

describe('the host', () => {
  test('a loop of queries ends', async () => {
    await using device = await openUnits();
    using host = device.allocPinned('f32', floats);
    using data = device.alloc('f32', floats);
    const stream = device.createStream();
    stream.memcpyAsync(data, host);
    let queries = 0;
    while (!stream.query()) queries += 1;
    // A millisecond, in steps of a microsecond.
    expect(queries).toBeGreaterThan(990);
    expect(queries).toBeLessThan(1010);
  });

  test('issues slowly for a millisecond after it has waited for one', async () => {
    const fields = { issueTime: 0.25, launchTime: 0.25, issueAfterWait: 2 };
    await using device = await openUnits(fields, { execute: false });
    const host = device.allocPinned('f32', 1);
    const y = device.alloc('f32', 1);
    const queued: number[] = [];
    device.recorder = (span) => queued.push(span.queued);
    const issue = (count: number) => {
      for (let i = 0; i < count; ++i) device.defaultStream.memcpyAsync(y, host);
    };
    issue(2);
    await device.synchronize();
    // Copies of one element take no time to speak of: the host has not waited for long. To ask takes as long as to issue.
    issue(2);
    device.defaultStream.launch(double, { grid: 1, block: 1 }, { a: y });
    await device.synchronize();
    issue(4);
    await device.synchronize();
    const steps = queued.slice(1).map((time, i) => Math.round((time - queued[i]!) * 1e3) / 1e3);
    expect(steps.slice(0, 4)).toEqual([0.25, 0.5, 0.25, 0.25]);
    // The fifth waits for the kernel's millisecond before.
    expect(steps.slice(5)).toEqual([0.5, 0.25, 0.25]);
  });

  test('who awaits the earlier goes on first, whoever asked first', async () => {
    await using device = await openUnits();
    using host = device.allocPinned('f32', 3 * floats);
    using data = device.alloc('f32', 3 * floats);
    const [long, short] = [device.createStream(), device.createStream()];
    long.memcpyAsync(data, host);
    short.launch(double, { grid: 4, block: 256 }, { a: data });
    const order: string[] = [];
    await Promise.all([
      long.synchronize().then(() => order.push('long')),
      short.synchronize().then(() => order.push('short')),
    ]);
    expect(order).toEqual(['short', 'long']);
  });

  test('two flows of the program are two hosts in one time', async () => {
    await using device = await openUnits();
    using host = device.allocPinned('f32', 2 * floats);
    using data = device.alloc('f32', 2 * floats);
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    const flow = async (part: number) => {
      const stream = device.createStream();
      const [h, d] = [host, data].map((array) => array.subarray(part * floats, (part + 1) * floats));
      stream.memcpyAsync(d!, h!);
      await stream.synchronize();
      stream.memcpyAsync(h!, d!);
      await stream.synchronize();
    };
    await Promise.all([flow(0), flow(1)]);
    const from = spans[0]!.started;
    expect(spans.map(({ engine, started }) => [engine, Math.round((started - from) * 10) / 10])).toEqual([
      ['copy in', 0],
      ['copy in', 1],
      ['copy out', 1],
      ['copy out', 2],
    ]);
  });

  test('a failed kernel fails what depends on it, and nothing else', async () => {
    await using device = await openUnits();
    using data = device.alloc('f32', 256);
    using host = device.allocPinned('f32', 256);
    const [a, b] = [device.createStream(), device.createStream()];
    a.launch(fails, { grid: 1, block: 1 }, { a: data });
    a.memcpyAsync(host, data);
    b.memcpyAsync(data, new Float32Array(256));
    await b.synchronize();
    await expect(a.synchronize()).rejects.toThrow('WS3001');
    await a.synchronize();
  });

  test('closing with work in flight leaves nothing behind', async () => {
    const device = await openUnits();
    using data = device.alloc('f32', floats);
    device.defaultStream.memsetAsync(data, 1);
    await device.close();
    expect(() => device.alloc('f32', 1)).toThrow('WS4006');
  });

  test('memory that a freed array gives back when its commands are done', async () => {
    await using device = await openUnits({ memory: 4 * MiB });
    for (let round = 0; round < 5; ++round) {
      const data = device.alloc('f32', 3 * floats);
      device.defaultStream.memsetAsync(data, round);
      data.free();
    }
    await device.synchronize();
    expect(device.memory.allocations).toBe(0);
  });
});

describe('a kernel’s time', () => {
  test('is its bytes over the rate of memory, or its operations over theirs', async () => {
    const [end] = (
      await Promise.all(
        [
          { memoryRate: MiB, operationRate: null },
          { memoryRate: 1e12, operationRate: floats },
        ].map(async (rates) => {
          await using device = await open(`model:${write({ ...unitRates, ...rates })}`);
          using data = device.alloc('f32', floats);
          return await timesOf(device, () =>
            device.defaultStream.launch(double, { grid: floats / 256, block: 256 }, { a: data }),
          );
        }),
      )
    ).map(([span]) => span![2]);
    // A MiB is read and another written.
    expect(end).toBe(2);
  });

  test('is what the function says that was given', async () => {
    const seen: object[] = [];
    await using device = await openUnits(
      {},
      {
        kernelTime: (launch) => {
          seen.push(launch);
          return 7;
        },
      },
    );
    using data = device.alloc('f32', 1024);
    const times = await timesOf(device, () =>
      device.defaultStream.launch(double, { grid: 4, block: 256 }, { a: data }),
    );
    expect(times).toEqual([['compute', 0, 7]]);
    expect(seen).toEqual([
      {
        name: expect.any(String),
        grid: [4, 1, 1],
        block: [256, 1, 1],
        bytes: 8192,
        operations: expect.any(Number),
      },
    ]);
  });
});
