import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Device } from 'warpstage';
import { open } from 'warpstage';
import { handMade, openHandMade } from '../support/hand-made.ts';

const mebibyte = 1024 * 1024;
let device: Device;

beforeEach(() => {
  device = openHandMade({ memory: 16 * mebibyte });
});
afterEach(() => device.close());

describe('device memory', () => {
  test('counts what is allocated', () => {
    const { total } = device.memory;
    expect(total).toBe(16 * mebibyte - 256);
    expect(device.properties.totalGlobalMemory).toBe(total);
    const a = device.alloc('f64', 1000);
    const b = device.alloc('u8', 3);
    expect(device.memory).toMatchObject({ allocated: 8003, allocations: 2, free: total - 8192 - 256 });
    a.free();
    b.free();
    expect(device.memory).toEqual({ total, allocated: 0, allocations: 0, free: total });
  });

  test('says what is short when it is out', () => {
    const a = device.alloc('u8', 4 * mebibyte);
    device.alloc('u8', 6 * mebibyte);
    a.free();
    expect(() => device.alloc('f32', 2 * mebibyte)).toThrow(
      /^WS4001: an array of 2097152 elements of f32 needs 8 MiB: of the device's 16 MiB, 1 array take.* 6 MiB, and the largest free stretch is 6 MiB\n {2}hint: free arrays, work in smaller chunks, or open the device with a larger `memory`$/,
    );
    expect(device.alloc('u8', 5 * mebibyte).length).toBe(5 * mebibyte);
  });

  test('is refused for lengths and types that are none', () => {
    expect(() => device.alloc('f32', -1)).toThrow(
      'WS4007: the length of an array must be a whole number of elements, not -1',
    );
    expect(() => device.alloc('f32', Number.NaN)).toThrow('not NaN');
    expect(() => device.alloc('f31' as 'f32', 1)).toThrow("WS4007: there is no element type 'f31'");
    expect(() => device.allocPinned('f32', 1.5)).toThrow('not 1.5');
    expect(() => device.alloc('f64', 2 ** 50)).toThrow('WS4001: an array of 1125899906842624 elements');
    expect(() => device.allocPinned('f64', 2 ** 50)).toThrow(
      'WS4001: a page-locked array of 1125899906842624',
    );
  });

  test('is an error to use after it was freed', () => {
    const array = device.alloc('f32', 4);
    const part = array.subarray(1);
    array.free();
    const stream = device.defaultStream;
    expect(() => array.free()).toThrow('WS4002: free: the f32 array of 4 elements was freed');
    expect(() => array.subarray(0)).toThrow('WS4002');
    expect(() => stream.memsetAsync(part, 0)).toThrow(
      'WS4002: memsetAsync: the destination: the f32 array of 3 elements was freed',
    );
    expect(() => stream.memcpyAsync(new Float32Array(4), array)).toThrow(
      'WS4002: memcpyAsync: the source: the f32 array of 4 elements was freed',
    );
  });

  test('is freed as a whole', () => {
    const part = device.alloc('f32', 4).subarray(1);
    expect(() => part.free()).toThrow(
      'WS4007: free: this f32 array of 3 elements is a part of an f32 array of 4',
    );
    part[Symbol.dispose]();
    expect(device.memory.allocations).toBe(1);
  });

  test('is disposed of once', () => {
    {
      using array = device.alloc('f32', 4);
      using other = device.alloc('f32', 4);
      other.free();
      expect(array.length).toBe(4);
    }
    expect(device.memory.allocations).toBe(0);
  });

  test('that is freed while commands use it comes back after them', async () => {
    const flag = device.alloc('i32', 1);
    const out = device.alloc('i32', 1);
    const stream = device.createStream({ nonBlocking: true });
    const other = device.createStream({ nonBlocking: true });
    const result = device.allocPinned('i32', 1);
    stream.launch(handMade.gate, { grid: 1, block: 1 }, { flag, out });
    stream.memcpyAsync(result, out);
    out.free();
    expect(device.memory.allocations).toBe(2);
    other.memcpyAsync(flag, Int32Array.of(42));
    await stream.synchronize();
    expect(result.array[0]).toBe(42);
    expect(device.memory.allocations).toBe(1);
  });

  test('that is freed in flight is waited for where nothing else is left', async () => {
    const stream = device.createStream();
    for (let i = 0; i < 20; ++i) {
      const array = device.alloc('u8', 10 * mebibyte);
      stream.memsetAsync(array, i);
      array.free();
    }
    await stream.synchronize();
    expect(device.memory.allocations).toBe(0);
  });

  test('of a page-locked array is an error to use after it was freed, and harms nobody', async () => {
    const pinned = device.allocPinned('f32', 4);
    const view = pinned.array;
    const data = device.alloc('f32', 4);
    device.defaultStream.memcpyAsync(data, pinned);
    pinned.free();
    expect(() => pinned.array).toThrow('WS4002: array: the page-locked f32 array of 4 elements was freed');
    expect(() => pinned.free()).toThrow('WS4002: free: the page-locked');
    expect(() => device.defaultStream.memcpyAsync(data, pinned)).toThrow('WS4002: memcpyAsync: the source');
    view.fill(1);
    await device.synchronize();
  });
});

test('staging memory is used again', async () => {
  await using cpu = await open('cpu');
  const data = cpu.alloc('u8', 20 * mebibyte);
  const host = new Uint8Array(20 * mebibyte);
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 15; ++i) {
    cpu.defaultStream.memcpyAsync(data, host);
    cpu.defaultStream.memcpyAsync(host, data);
    await cpu.defaultStream.synchronize();
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * mebibyte);
});

test('page-locked memory that was freed goes back to the system', async () => {
  await using cpu = await open('cpu');
  const data = cpu.alloc('u8', 32 * mebibyte);
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 20; ++i) {
    using pinned = cpu.allocPinned('u8', 32 * mebibyte);
    cpu.defaultStream.memcpyAsync(data, pinned);
    cpu.defaultStream.memcpyAsync(pinned, data);
    await cpu.defaultStream.synchronize();
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(450 * mebibyte);
});
