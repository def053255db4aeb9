// Kernels that fail, are cancelled, or take their thread down, and what is left after them.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Device, type Stream, WarpstageError } from 'warpstage';
import { handMade, openHandMade } from '../support/hand-made.ts';

const one = { grid: 1, block: 1 };
let device: Device;
let stream: Stream;
let other: Stream;

beforeEach(() => {
  device = openHandMade();
  stream = device.createStream();
  other = device.createStream();
});
afterEach(() => device.close());

async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WarpstageError);
  return error as WarpstageError;
}

/** A kernel that runs for ever, and a promise of its having begun. */
async function runaway(signal: AbortSignal): Promise<void> {
  const running = device.alloc('i32', 1);
  const look = device.allocPinned('i32', 1);
  stream.launch(handMade.endless, { ...one, signal }, { running });
  const apart = device.createStream({ nonBlocking: true });
  while (look.array[0] === 0) {
    apart.memcpyAsync(look, running);
    await apart.synchronize();
  }
}

describe('a fault', () => {
  test('is thrown where the stream is synchronised, at its place in the kernel', async () => {
    stream.launch(handMade.fault, { grid: 8, block: 4 }, { at: 3 });
    const error = await errorOf(stream.synchronize());
    expect(error.code).toBe('WS3001');
    expect(error.issues[0]).toMatchObject({
      message: 'kernel `fault` writes `y[7]`, but `y` has 5 elements',
      hint: 'compare the index with `y.length` before the access',
      thread: [0, 0, 0],
      block: [3, 0, 0],
      location: { line: expect.any(Number), column: expect.any(Number) },
    });
    expect(error.issues[0]!.location!.file).toMatch(/hand-made\.ts$/);
  });

  test('of a deadlock says who waits where', async () => {
    stream.launch(handMade.deadlock, one, {});
    const error = await errorOf(stream.synchronize());
    expect(error.code).toBe('WS3002');
    expect(error.issues[0]!.message).toBe(
      'kernel `deadlock` is deadlocked: threads 0 to 2, 5 wait in consumerWait on stage 0 of pipeline',
    );
    expect(error.issues[0]!.related).toMatchObject([{ label: 'thread 3 waits in sync of the block' }]);
  });

  test('stops what depends on it, and only that', async () => {
    const y = device.alloc('i32', 1);
    const z = device.alloc('i32', 1);
    const result = new Int32Array([5]);
    const fine = new Int32Array(1);
    stream.launch(handMade.fault, one, { at: 0 });
    stream.memsetAsync(y, 1);
    stream.memcpyAsync(result, y);
    other.memsetAsync(z, 1);
    other.memcpyAsync(fine, z);
    await other.synchronize();
    expect(fine[0]).toBe(0x01010101);
    expect((await errorOf(stream.synchronize())).code).toBe('WS3001');
    expect(result[0]).toBe(5);
  });

  test('is thrown once; then the stream is usable', async () => {
    const y = device.alloc('i32', 1);
    const result = new Int32Array(1);
    stream.launch(handMade.fault, one, { at: 0 });
    await errorOf(stream.synchronize());
    await stream.synchronize();
    stream.memcpyAsync(y, Int32Array.of(3));
    stream.launch(handMade.step, one, { y, a: 1 });
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect(result[0]).toBe(10);
  });

  test('fails commands that are issued before it was thrown', async () => {
    stream.launch(handMade.fault, one, { at: 0 });
    const y = device.alloc('i32', 1);
    const event = device.createEvent();
    other.launch(handMade.step, one, { y, a: 1 }); // behind the fault in its engine
    await other.synchronize();
    stream.record(event);
    stream.memsetAsync(y, 1);
    expect((await errorOf(stream.synchronize())).code).toBe('WS3001');
    expect((await errorOf(event.synchronize())).code).toBe('WS3001');
    await stream.synchronize();
  });

  test('reaches other streams by events, and is thrown there too', async () => {
    const event = device.createEvent();
    const result = new Int32Array([5]);
    stream.launch(handMade.fault, one, { at: 0 });
    stream.record(event);
    other.waitEvent(event);
    other.memcpyAsync(result, device.alloc('i32', 1));
    expect((await errorOf(event.synchronize())).code).toBe('WS3001');
    expect((await errorOf(other.synchronize())).code).toBe('WS3001');
    expect(result[0]).toBe(5);
    await stream.synchronize(); // the event was of this stream, and has thrown it
    await other.synchronize();
  });

  test('of the first block is reported, if several fail', async () => {
    stream.launch(handMade.fault, { grid: 64, block: 1 }, { at: 2 });
    other.launch(handMade.fault, one, { at: 0 });
    const error = await errorOf(device.synchronize());
    expect(error.issues.map(({ block }) => block)).toEqual([
      [2, 0, 0],
      [0, 0, 0],
    ]);
    await device.synchronize();
  });

  test('fails, in any graph of operations, exactly what depends on it', async () => {
    const streams = Array.from({ length: 3 }, () => device.createStream({ nonBlocking: true }));
    const operation = fc.record({
      stream: fc.nat(2),
      kind: fc.constantFrom('step', 'step', 'copy', 'wait', 'fault'),
      other: fc.nat(2),
      a: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const arrays = streams.map(() => device.alloc('i32', 1));
        const model = streams.map(() => ({ value: 0, failed: false }));
        for (const { stream: s, kind, other: o, a } of operations) {
          const [on, mine] = [streams[s]!, model[s]!];
          switch (kind) {
            case 'step':
              on.launch(handMade.step, one, { y: arrays[s]!, a });
              if (!mine.failed) mine.value = (Math.imul(mine.value, 3) + a) | 0;
              break;
            case 'copy':
              on.memcpyAsync(arrays[s]!, Int32Array.of(a));
              if (!mine.failed) mine.value = a;
              break;
            case 'fault':
              on.launch(handMade.fault, one, { at: 0 });
              mine.failed = true;
              break;
            case 'wait': {
              const event = device.createEvent();
              streams[o]!.record(event);
              on.waitEvent(event);
              mine.failed ||= model[o]!.failed;
              break;
            }
          }
        }
        const outcomes = await Promise.allSettled(streams.map((each) => each.synchronize()));
        expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
          model.map(({ failed }) => failed),
        );
        const results = streams.map(() => new Int32Array(1));
        for (const [s, on] of streams.entries()) on.memcpyAsync(results[s]!, arrays[s]!);
        await device.synchronize();
        expect(results.map(([value]) => value)).toEqual(model.map(({ value }) => value));
        for (const array of arrays) array.free();
      }),
      { numRuns: 80 },
    );
  });

  test('is thrown by query', async () => {
    stream.launch(handMade.fault, one, { at: 0 });
    const poll = async () => {
      while (!stream.query()) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    expect((await errorOf(poll())).code).toBe('WS3001');
    expect(stream.query()).toBe(true);
  });

  test('is thrown by destroy', async () => {
    stream.launch(handMade.fault, one, { at: 0 });
    expect((await errorOf(stream.destroy())).code).toBe('WS3001');
  });

  test('of the kernel runner itself is an error, not a hang', async () => {
    stream.launch(handMade.crash, { grid: 100, block: 1 }, {});
    const error = await errorOf(stream.synchronize());
    expect(error.message).toContain('WS4006: kernel `crash` broke off in stream 1: RangeError: a defect');
    await stream.synchronize();
  });
});

describe('a cancellation', () => {
  test('drops a kernel that waits in its queue', async () => {
    const first = new AbortController();
    const second = new AbortController();
    await runaway(first.signal);
    const y = device.alloc('i32', 1);
    other.launch(handMade.step, { ...one, signal: second.signal }, { y, a: 1 });
    second.abort();
    const error = await errorOf(other.synchronize());
    expect(error.message).toBe('WS3004: kernel `step` was cancelled');
    expect(error.cause).toBe(second.signal.reason);
    first.abort();
    await errorOf(stream.synchronize());
  });

  test('stops a kernel that runs, and lets the others run', async () => {
    const controller = new AbortController();
    await runaway(controller.signal);
    const y = device.alloc('i32', 1000);
    const result = new Int32Array(1000);
    for (let a = 0; a < 10; ++a) other.launch(handMade.step, { grid: 100, block: 10 }, { y, a: 1 });
    other.memcpyAsync(result, y);
    stream.memsetAsync(y, 7);
    controller.abort(new Error('enough'));
    expect((await errorOf(stream.synchronize())).message).toBe(
      'WS3004: kernel `endless` was cancelled: enough',
    );
    await other.synchronize();
    expect([...new Set(result)]).toEqual([(3 ** 10 - 1) / 2]);
    stream.launch(handMade.step, { grid: 100, block: 10 }, { y, a: 0 });
    await stream.synchronize();
  });

  test('that comes before the launch fails it', async () => {
    const y = device.alloc('i32', 1);
    stream.launch(handMade.step, { ...one, signal: AbortSignal.abort() }, { y, a: 1 });
    expect((await errorOf(stream.synchronize())).code).toBe('WS3004');
  });

  test('that comes too late does nothing', async () => {
    const controller = new AbortController();
    const y = device.alloc('i32', 1);
    stream.launch(handMade.step, { ...one, signal: controller.signal }, { y, a: 1 });
    await stream.synchronize();
    controller.abort();
    await stream.synchronize();
  });

  test('by one signal for many launches', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const controller = new AbortController();
    await runaway(controller.signal);
    const y = device.alloc('i32', 1);
    for (let a = 0; a < 50; ++a) other.launch(handMade.step, { ...one, signal: controller.signal }, { y, a });
    controller.abort();
    expect((await errorOf(device.synchronize())).issues.length).toBe(2);
    stream.launch(handMade.step, one, { y, a: 7 });
    const result = new Int32Array(1);
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect(result[0]).toBe(7);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('by a time limit', async () => {
    const running = device.alloc('i32', 1);
    stream.launch(handMade.endless, { ...one, signal: AbortSignal.timeout(20) }, { running });
    const error = await errorOf(stream.synchronize());
    expect(error.message).toBe(
      'WS3004: kernel `endless` was cancelled: The operation was aborted due to timeout',
    );
  });

  test('leaves room for few commands while it stops a kernel, and for all behind it', async () => {
    const controller = new AbortController();
    await runaway(controller.signal);
    const y = device.alloc('i32', 1000);
    const issue = () => {
      for (let i = 0; i < 3000; i++) other.memsetAsync(y, 0);
    };
    // Behind the kernel they stay in flight, however slowly they are issued.
    const event = device.createEvent();
    stream.record(event);
    other.waitEvent(event);
    controller.abort();
    const stopped = errorOf(stream.synchronize());
    expect(issue).toThrow(
      /^WS4007: 1024 commands are in flight while a kernel is being stopped, and there is no room for more\n {2}hint: await stream\.synchronize\(\) after a kernel was cancelled$/,
    );
    await stopped;
    await errorOf(other.synchronize());
    issue();
    await other.synchronize();
    y.free();
  });

  test('gives back the memory of what it stopped', async () => {
    const controller = new AbortController();
    await runaway(controller.signal);
    const held = device.memory.allocations;
    const y = device.alloc('i32', 1000);
    stream.launch(handMade.step, one, { y, a: 1 });
    y.free();
    expect(device.memory.allocations).toBe(held + 1);
    controller.abort();
    await errorOf(stream.synchronize());
    expect(device.memory.allocations).toBe(held);
  });
});

describe('a thread that ends', () => {
  test('fails the commands of its engine, and is replaced', async () => {
    const y = device.alloc('i32', 1);
    stream.launch(handMade.leave, one, {});
    other.launch(handMade.step, one, { y, a: 1 });
    expect((await errorOf(stream.synchronize())).message).toMatch(
      /^WS4006: a thread of the compute engine was lost: /,
    );
    expect((await errorOf(other.synchronize())).code).toBe('WS4006');
    other.launch(handMade.step, one, { y, a: 1 });
    await other.synchronize();
  });

  test('with others at work on the same kernel', async () => {
    stream.launch(handMade.leave, { grid: 100, block: 1 }, {});
    expect((await errorOf(stream.synchronize())).code).toBe('WS4006');
  });
});

describe('kernels print', () => {
  test('by console.log, before the stream is done', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    stream.launch(handMade.print, { grid: 3, block: 1 }, {});
    await stream.synchronize();
    const lines = log.mock.calls.map(([line]) => line as string);
    log.mockRestore();
    expect(lines.sort()).toEqual(['block 0', 'block 1', 'block 2']);
  });

  test('to whoever wants it', async () => {
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    stream.launch(handMade.print, { grid: 20, block: 1 }, {});
    await stream.synchronize();
    expect(lines.length).toBe(20);
  });
});
