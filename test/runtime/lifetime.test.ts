import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { open } from 'warpstage';
import { gpus } from '../support/gpu.ts';
import { handMade, openHandMade } from '../support/hand-made.ts';

const one = { grid: 1, block: 1 };

/** Runs a module in a process of its own, which has to end by itself. */
async function run(source: string): Promise<string> {
  const script = `import { open } from 'warpstage'; const device = await open('cpu'); ${source}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 20_000,
  });
  return stdout;
}

function liveWorkers(): number {
  const report = process.report.getReport() as unknown as { workers: unknown[] };
  return report.workers.length;
}

describe('closing a device', () => {
  test('ends its threads, whatever they do', async () => {
    const before = liveWorkers();
    const device = openHandMade();
    const stream = device.createStream();
    const running = device.alloc('i32', 1);
    stream.memcpyAsync(running, new Int32Array(1));
    stream.memcpyAsync(new Int32Array(1), running);
    await stream.synchronize();
    expect(liveWorkers()).toBeGreaterThan(before);
    stream.launch(handMade.endless, { grid: 2, block: 1 }, { running });
    await device.close();
    expect(liveWorkers()).toBe(before);
  });

  test('fails what was not done', async () => {
    const device = openHandMade();
    const stream = device.createStream();
    const running = device.alloc('i32', 1);
    stream.launch(handMade.endless, one, { running });
    stream.memsetAsync(running, 0);
    const waiting = expect(stream.synchronize()).rejects.toThrow(
      'WS4006: the command was not done: the device was closed',
    );
    await device.close();
    await waiting;
  });

  test('may be done twice; everything else is an error', async () => {
    const device = await open('cpu');
    const stream = device.createStream();
    const array = device.alloc('f32', 4);
    const event = device.createEvent();
    await Promise.all([device.close(), device.close()]);
    await device.close();
    expect(() => device.alloc('f32', 1)).toThrow('WS4006: alloc: the device was closed');
    expect(() => device.allocPinned('f32', 1)).toThrow('WS4006: allocPinned');
    expect(() => device.createStream()).toThrow('WS4006: createStream');
    expect(() => device.createEvent()).toThrow('WS4006: createEvent');
    expect(() => stream.memsetAsync(array, 0)).toThrow('WS4006: memsetAsync');
    expect(() => stream.record(event)).toThrow('WS4006: record');
    await expect(stream.synchronize()).rejects.toThrow('WS4006: synchronize');
    await expect(device.synchronize()).rejects.toThrow('WS4006: synchronize');
    array.free();
  });

  test('goes with the scope', async () => {
    const before = liveWorkers();
    {
      await using device = await open('cpu');
      using array = device.alloc('f32', 4);
      await using stream = device.createStream();
      using event = device.createEvent();
      stream.memsetAsync(array, 0);
      stream.record(event);
      await event.synchronize();
    }
    expect(liveWorkers()).toBe(before);
  });
});

describe('a process', () => {
  test('ends by itself, though the device was not closed', async () => {
    expect(await run("device.alloc('f32', 4); console.log('opened')")).toBe('opened\n');
    const copy = "device.defaultStream.memcpyAsync(device.alloc('f32', 4), new Float32Array(4));";
    expect(await run(`${copy} await device.synchronize(); console.log('done')`)).toBe('done\n');
    expect(await run(`${copy} console.log('not awaited')`)).toBe('not awaited\n');
  });

  test('lives while a command is awaited', async () => {
    const source = `
      const data = device.alloc('u8', 300_000_000);
      for (let i = 0; i < 5; ++i) device.defaultStream.memsetAsync(data, i);
      device.defaultStream.synchronize().then(() => console.log('done'));`;
    expect(await run(source)).toBe('done\n');
  });
});

describe('open', () => {
  test('says what there is', async () => {
    await expect(open('gpu')).rejects.toThrow(/WS4003: there is no device 'gpu'\n {2}hint: .*'cpu'/);
  });

  test.skipIf(gpus > 0)('says how to get a driver where there is none', async () => {
    await expect(open('cuda')).rejects.toThrow(
      /WS4003: no NVIDIA driver was found: .*\n {2}hint: install the NVIDIA driver, or open\("cpu"\)/,
    );
  });

  test.each([
    [{ memory: 0 }, 'WS4007: open: option `memory` must be bytes, from 65536 to 4294901760, and is 0'],
    [{ memory: 2 ** 34 }, 'and is 17179869184'],
    [{ threads: 0 }, 'WS4007: open: option `threads` must be a whole number from 1 to 1024, and is 0'],
    [{ target: 'gpu' }, "WS4007: open: option `target` must be 'wasm' or 'interpreter', and is gpu"],
    [{ delivery: 1.5 }, "WS4007: open: option `delivery` must be 'eager', 'late'"],
    [{ defaultStream: 'x' }, "WS4007: open: option `defaultStream` must be 'legacy' or 'perThread'"],
  ])('refuses %o', async (options, message) => {
    await expect(open('cpu', options as never)).rejects.toThrow(message);
  });

  test('gives the properties of the machine', async () => {
    await using device = await open('cpu', { threads: 3, memory: 2 ** 20 });
    expect(device.properties).toMatchObject({
      kind: 'cpu',
      computeCapability: '0.0',
      warpSize: 32,
      maxThreadsPerBlock: 1024,
      totalGlobalMemory: 2 ** 20 - 256,
      deviceOverlap: true,
      asyncEngineCount: 2,
    });
    expect(device.properties.name.length).toBeGreaterThan(3);
  });
});

test('the blocks of a launch are run by several threads, each with an arena of its own', async () => {
  await using device = openHandMade({ threads: 2 });
  const [out, arrived] = [device.alloc('i32', 64), device.alloc('i32', 1)];
  const result = new Int32Array(64);
  for (const [kernel, args] of [
    [handMade.meet, { out, arrived }],
    [handMade.meet, { out, arrived }],
  ] as const) {
    device.defaultStream.memsetAsync(arrived, 0);
    device.defaultStream.launch(kernel, { grid: 64, block: 1 }, args);
    device.defaultStream.memcpyAsync(result, out);
    await device.synchronize();
    expect(new Set(result).size).toBe(2);
    expect(result.every((id) => id > 0)).toBe(true);
  }
  device.defaultStream.launch(handMade.arena, { grid: 64, block: 1 }, { out });
  device.defaultStream.memcpyAsync(result, out);
  await device.synchronize();
  for (const address of result) expect(address % 64).toBe(0);
});
