// A device whose engines work on the thread that opens it, as in a browser: what streams promise, without threads.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel, WarpstageError } from 'warpstage';
import { open } from '#warpstage/runtime/open-in-browser.js';
import { checkAnyOrder } from './any-order.ts';
import { one, step } from './device-work.ts';

const fill = kernel({ y: 'i32[]', a: 'i32' }, ({ y, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a + i;
});

describe.each([
  ['wasm', {}],
  ['interpreter', { target: 'interpreter' }],
] as const)('%s', (_, options) => {
  let device: Device;
  beforeAll(async () => {
    device = await open('cpu', options);
  });
  afterAll(() => device.close());

  test('does any order of operations as its streams say', async () => {
    await checkAnyOrder(device, step, 40);
  });

  test('takes more commands than are in flight at a time', async () => {
    const y = device.alloc('i32', 1);
    const stream = device.createStream();
    for (let round = 0; round < 1500; ++round) {
      stream.memsetAsync(y, 0);
      stream.launch(step, one, { y, a: round });
    }
    const result = new Int32Array(1);
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect(result[0]).toBe(1499);
  });

  test('gets on while a program asks, and does not wait', () => {
    const y = device.alloc('i32', 100);
    const result = device.allocPinned('i32', 100);
    const stream = device.createStream();
    stream.launch(fill, { grid: 4, block: 32 }, { y, a: 7 });
    stream.memcpyAsync(result, y);
    let asked = 0;
    while (!stream.query() && asked < 100) ++asked;
    expect(result.array[99]).toBe(106);
  });

  test('lets the event loop turn while it works', async () => {
    const y = device.alloc('i32', 1 << 14);
    const stream = device.createStream();
    let turns = 0;
    const timer = setInterval(() => ++turns, 0);
    for (let round = 0; round < 200; ++round) stream.launch(fill, { grid: 64, block: 256 }, { y, a: round });
    await stream.synchronize();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  test('copies between two devices that wait for each other', async () => {
    const other = await open('cpu', options);
    const [mine, theirs] = [device.createStream(), other.createStream()];
    const [from, to] = [device.alloc('i32', 64), other.alloc('i32', 64)];
    const done = device.createEvent();
    mine.launch(fill, { grid: 2, block: 32 }, { y: from, a: 3 });
    mine.record(done);
    theirs.waitEvent(done);
    theirs.memcpyAsync(to, from);
    const result = new Int32Array(64);
    theirs.memcpyAsync(result, to);
    await theirs.synchronize();
    expect(result).toEqual(Int32Array.from({ length: 64 }, (_, i) => 3 + i));
    await other.close();
  });

  test('a fault is an error with its place, and what comes behind is not done', async () => {
    const beyond = kernel({ y: 'i32[]' }, ({ y }) => {
      y[y.length] = 1;
    });
    const stream = device.createStream();
    const y = device.alloc('i32', 4);
    const result = new Int32Array(4).fill(5);
    stream.launch(beyond, one, { y });
    stream.memcpyAsync(result, y);
    await expect(stream.synchronize()).rejects.toThrow(/WS3001.*y\[4\]/s);
    expect(result[0]).toBe(5);
    await stream.destroy();
  });

  test('a launch that is cancelled before its turn is not carried out', async () => {
    const stream = device.createStream();
    const y = device.alloc('i32', 32);
    const controller = new AbortController();
    stream.memsetAsync(y, 0);
    stream.launch(fill, { grid: 1, block: 32, signal: controller.signal }, { y, a: 1 });
    controller.abort();
    await expect(stream.synchronize()).rejects.toThrow(WarpstageError);
    const result = new Int32Array(32).fill(1);
    await device.defaultStream.memcpyAsync(result, y);
    await device.synchronize();
    expect(result).toEqual(new Int32Array(32));
  });

  test('calls a host function in its turn', async () => {
    const stream = device.createStream();
    const y = device.alloc('i32', 32);
    const seen = device.allocPinned('i32', 32);
    const values: number[] = [];
    for (const a of [10, 20]) {
      stream.launch(fill, { grid: 1, block: 32 }, { y, a });
      stream.memcpyAsync(seen, y);
      stream.launchHostFunction(() => void values.push(seen.array[1]!));
    }
    await stream.synchronize();
    expect(values).toEqual([11, 21]);
  });
});

test('has no devices that a browser lacks, and says which it has', async () => {
  await expect(open('cuda')).rejects.toThrow(/WS4003: there is no device 'cuda' in a browser.*'model:h200'/s);
  await expect(open('h200')).rejects.toThrow(/WS4003/);
});

test('closing it cancels what nothing waited for', async () => {
  const device = await open('cpu');
  const stream = device.createStream();
  const y = device.alloc('i32', 8);
  stream.launch(fill, { grid: 1, block: 8 }, { y, a: 1 });
  const waited = stream.synchronize().then(
    () => 'done',
    (error: Error) => error.message,
  );
  await device.close();
  expect(await waited).toMatch(/^(done$|WS4006)/);
});
