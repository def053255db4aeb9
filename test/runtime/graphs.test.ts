// Graphs on every device: what is captured is carried out at each launch, by the driver where it can.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device, DeviceArray, Stream } from 'warpstage';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { add, closeGate, download as downloadOn, gate, one, step } from './device-work.ts';

sayWithoutGpu();

describe.each(devices)('$name', ({ open, kind, options }) => {
  /** A kernel that tells the host something is no part of a graph of the driver. */
  const graphs = kind === 'cuda' && !options.checked;
  let device: Device;
  let stream: Stream;

  beforeAll(async () => {
    device = await open();
    stream = device.createStream();
  });
  afterAll(() => device.close());

  const download = (array: DeviceArray<'i32'>, on = stream) => downloadOn(array, on);

  describe('graphs', () => {
    test('are captured from a function', () => {
      expect(() => stream.capture(undefined as never)).toThrow(
        'WS4009: capture takes a function, not undefined',
      );
    });

    test('carry out what was captured, as often as they are launched', async () => {
      const y = device.alloc('i32', 1000);
      const graph = stream.capture(() => {
        for (let a = 0; a < 5; ++a) stream.launch(step, { grid: 4, block: 256 }, { y, a });
      });
      expect(graph.operations).toBe(5);
      expect(new Set(await download(y))).toEqual(new Set([0]));
      const { ranOn } = graph.launch(stream);
      expect(ranOn).toBe(graphs ? 'graph' : 'commands');
      graph.launch(stream);
      let expected = 0;
      for (let round = 0; round < 2; ++round) for (let a = 0; a < 5; ++a) expected = expected * 3 + a;
      expect(new Set(await download(y))).toEqual(new Set([expected]));
    });

    test('have branches: streams that wait for an event of the capture', async () => {
      const [x, y, z] = [device.alloc('i32', 64), device.alloc('i32', 64), device.alloc('i32', 64)];
      const other = device.createStream({ nonBlocking: true });
      const [fork, joined] = [device.createEvent(), device.createEvent()];
      const pinned = device.allocPinned('i32', 64);
      const shape = { grid: 1, block: 64 };
      const graph = stream.capture(() => {
        stream.memsetAsync(z, 0);
        stream.launch(step, shape, { y: x, a: 2 });
        stream.record(fork);
        other.waitEvent(fork);
        other.launch(step, shape, { y, a: 5 });
        stream.launch(step, shape, { y: x, a: 1 });
        other.record(joined);
        stream.waitEvent(joined);
        stream.launch(add, shape, { to: z, from: x });
        stream.launch(add, shape, { to: z, from: y });
        stream.memcpyAsync(pinned, z);
      });
      expect(graph.launch(stream).ranOn).toBe(graphs ? 'graph' : 'commands');
      await stream.synchronize();
      expect(new Set(pinned.array)).toEqual(new Set([7 + 5]));
      graph.launch(other);
      await other.synchronize();
      expect(new Set(pinned.array)).toEqual(new Set([(7 * 3 + 2) * 3 + 1 + 20]));
    });

    test('wait for what was issued to their stream before', async () => {
      const [y, z] = [device.alloc('i32', 1), device.alloc('i32', 1)];
      const [result, seven, passed] = [1, 2, 3].map(() => device.allocPinned('i32', 1));
      seven!.array[0] = 7;
      const passing = device.createStream({ nonBlocking: true });
      const graph = stream.capture(() => stream.memcpyAsync(result!, y));
      graph.launch(stream);
      await stream.synchronize();
      const before = closeGate(device, stream);
      stream.memcpyAsync(y, seven!);
      graph.launch(stream);
      // A copy of the same way that waits for nothing: behind it, the graph's own has had its turn.
      passing.memcpyAsync(passed!, z);
      await passing.synchronize();
      before.open();
      await stream.synchronize();
      expect(result!.array[0]).toBe(7);
    });

    test('end with the last of their branches', async () => {
      const [x, y, flag, out] = [1, 2, 3, 4].map(() => device.alloc('i32', 1));
      const [result, given, passed] = [1, 2, 3].map(() => device.allocPinned('i32', 1));
      const other = device.createStream({ nonBlocking: true });
      const key = device.createStream({ nonBlocking: true });
      const [fork, joined] = [device.createEvent(), device.createEvent()];
      const graph = stream.capture(() => {
        stream.record(fork);
        other.waitEvent(fork);
        other.launch(gate, one, { flag: flag!, out: out! });
        other.memcpyAsync(result!, out!);
        other.record(joined);
        stream.memcpyAsync(x!, given!);
        stream.waitEvent(joined);
      });
      // Once with the gate open, so that all is loaded.
      stream.memcpyAsync(flag!, Int32Array.of(1));
      graph.launch(stream);
      stream.memsetAsync(flag!, 0);
      await stream.synchronize();
      expect(result!.array[0]).toBe(1);
      graph.launch(stream);
      // A copy of the same way that waits for nothing: behind it, the graph's own is complete.
      key.memcpyAsync(y!, passed!);
      await key.synchronize();
      expect(stream.query()).toBe(false);
      key.memcpyAsync(flag!, Int32Array.of(2));
      await stream.synchronize();
      expect(result!.array[0]).toBe(2);
    });

    test('read typed arrays, and call host functions, at each launch', async () => {
      const y = device.alloc('i32', 4);
      const input = Int32Array.of(1, 2, 3, 4);
      const output = new Int32Array(4);
      const sums: number[] = [];
      const graph = stream.capture(() => {
        stream.memcpyAsync(y, input);
        stream.launch(step, { grid: 1, block: 4 }, { y, a: 1 });
        stream.memcpyAsync(output, y);
        stream.launchHostFunction(() => sums.push(output.reduce((sum, value) => sum + value, 0)));
      });
      graph.launch(stream);
      await stream.synchronize();
      input.fill(10);
      graph.launch(stream);
      await stream.synchronize();
      expect(sums).toEqual([34, 124]);
    });

    test('are refused where the capture is not sound', async () => {
      const other = device.createStream();
      const event = device.createEvent();
      const y = device.alloc('i32', 1);
      const fork = () => {
        stream.launch(step, one, { y, a: 1 });
        stream.record(event);
        other.waitEvent(event);
        other.launch(step, one, { y, a: 2 });
      };
      expect(() => stream.capture(fork)).toThrow(
        /^WS4009: the capture of stream \d+ ended, and nothing in it waits for/,
      );
      expect(() => stream.capture(() => stream.query())).toThrow('WS4009');
      expect(() => stream.capture(() => device.defaultStream.memsetAsync(y, 0))).toThrow('WS4009');
      expect(() => device.defaultStream.capture(() => {})).toThrow('WS4009: the legacy default stream');
      expect(() => stream.capture(() => void other.capture(() => {}))).toThrow('WS4009');
      expect(() => stream.capture(async () => {})).toThrow('WS4009: capture takes a function that issues');
      expect(() => stream.waitEvent(event)).toThrow('WS4009: waitEvent: the event was recorded in a capture');
      await expect(event.synchronize()).rejects.toThrow('WS4009: synchronize');
      const graph = stream.capture(() => stream.launch(step, one, { y, a: 1 }));
      y.free();
      expect(() => graph.launch(stream)).toThrow(
        'WS4002: launch of a graph: an array that it uses was freed',
      );
      await stream.synchronize();
    });
  });
});
