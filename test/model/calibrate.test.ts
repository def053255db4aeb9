// Calibration, measured with a device whose rates are known: a virtual one gives its own back.

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Device, open } from 'warpstage';
import { calibrate } from '#warpstage/runtime/model/calibrate.js';
import { checkModel, modelText } from '#warpstage/runtime/model/device-file.js';
import { findModel } from '#warpstage/runtime/model/find-model.js';
import { IssueMeter, median } from '#warpstage/runtime/model/issue-times.js';
import { presets } from '#warpstage/runtime/model/presets.js';
import { everyOf } from '../support/thorough.ts';

const MiB = 2 ** 20;

// Of an H200, what its cache does not hold.
const devices = [
  ['k20c', 16],
  ['h200', 128],
] as const;
describe.each(everyOf(2, devices))('the rates of model:%s', (name, size) => {
  test('are measured as they are', async () => {
    await using device = await open(`model:${name}`, { execute: false });
    const measured = await calibrate(device, { bytes: size * MiB, rounds: 2 });
    const expected = presets[name];
    const rates = [
      'hostToDevice',
      'deviceToHost',
      'memoryRate',
      'bothWays',
      'bothWaysOut',
      'pageableHostToDevice',
      'pageableDeviceToHost',
      'copyRate',
      'setRate',
    ] as const;
    for (const rate of rates) expect(measured[rate] / expected[rate], rate).toBeCloseTo(1, 1);
    const ofKernels = ['clockRate', 'blockRate', 'operationRate', 'cacheRate'] as const;
    for (const rate of ofKernels) {
      if (Number.isFinite(expected[rate])) expect(measured[rate] / expected[rate], rate).toBeCloseTo(1, 0);
    }
    const times = ['cacheLatency', 'firstCacheLatency', 'blockTime', 'timingTime', 'startTime'] as const;
    for (const time of times) expect(Math.abs(measured[time] - expected[time]), time).toBeLessThan(1e-4);
    expect(measured.firstCacheBytes).toBe(expected.firstCacheBytes);
    expect(measured.hostToDeviceOverhead).toBeCloseTo(expected.hostToDeviceOverhead, 4);
    expect(measured.deviceToHostOverhead).toBeCloseTo(expected.deviceToHostOverhead, 4);
    expect(measured.kernelOverhead).toBeCloseTo(expected.kernelOverhead, 4);
    expect(measured.switchTime).toBeCloseTo(expected.switchTime, 3);
    expect(measured.signalTime).toBeCloseTo(expected.signalTime, 4);
    expect(measured.bothWaysOverhead).toBeCloseTo(expected.bothWaysOverhead, 3);
    const { issueTime, launchTime, eventTime, issueAfterWait } = expected;
    expect(measured).toMatchObject({ issueTime, launchTime, eventTime, issueAfterWait });
    expect(measured).toMatchObject({ name: expected.name, copyEngines: expected.copyEngines });
  });
});

test('a calibrated CPU is a device file that opens', async () => {
  await using device = await open('cpu', { threads: 1 });
  const text = modelText(await calibrate(device, { bytes: MiB, rounds: 1 }));
  const model = checkModel('here', JSON.parse(text));
  expect(model.name).toBe(device.properties.name);
  for (const rate of [model.hostToDevice, model.deviceToHost, model.memoryRate, model.operationRate])
    expect(rate).toBeGreaterThan(0);
});

test('a device without a limit of operations keeps having none in its file', () => {
  const text = modelText(findModel('c1060'));
  expect(JSON.parse(text)).toMatchObject({ operationRate: null });
  expect(checkModel('here', JSON.parse(text))).toEqual(findModel('c1060'));
});

/** A device that does nothing, and whose events say of it what is wanted. */
function deviceOf(elapsed: () => number): Device {
  const array = (length: number): object => ({
    length,
    array: new Float32Array(1),
    subarray: (begin: number, end: number) => array(end - begin),
    free() {},
  });
  const stream = {
    memcpyAsync() {},
    memsetAsync() {},
    launch() {},
    record() {},
    waitEvent() {},
    synchronize: async () => {},
    destroy: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    properties: {
      name: 'a device',
      kind: 'cuda',
      computeCapability: '9.0',
      multiProcessorCount: 2,
      asyncEngineCount: 1,
      concurrentKernels: true,
      totalGlobalMemory: 2 ** 30,
    },
    defaultStream: stream,
    alloc: (_: string, length: number) => array(length),
    allocPinned: (_: string, length: number) => array(length),
    createStream: () => stream,
    createEvent: () => ({
      synchronize: async () => {},
      elapsedTime: elapsed,
      destroy() {},
      [Symbol.dispose]() {},
    }),
    synchronize: async () => {},
  } as unknown as Device;
}

describe('whatever the clocks say', () => {
  /** Steps of a clock: coarse, stopped for a while, or of a machine that does something else. */
  const steps = fc.array(fc.constantFrom(0, 1e-6, 1e-3, 0.1, 15, 150, 2000), { minLength: 1, maxLength: 12 });
  const elapsed = fc.array(
    fc.oneof(fc.constantFrom(0, -1e-3, 1e-9, 1e-3, 1, 1e7), fc.double({ min: 0, max: 1e4, noNaN: true })),
    { minLength: 1, maxLength: 12 },
  );

  /** Has a clock go on by these steps, in turn, and never stand still for good. */
  async function withClock<T>(list: readonly number[], act: () => Promise<T>): Promise<T> {
    let [now, at] = [performance.now(), 0];
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      at += 1;
      now += list[at % list.length]! + (at % 16 === 0 ? 50 : 0);
      return now;
    });
    try {
      return await act();
    } finally {
      clock.mockRestore();
    }
  }

  test('a calibrated device is a file that opens', async () => {
    await fc.assert(
      fc.asyncProperty(steps, elapsed, fc.integer({ min: 1, max: 3 }), async (list, times, rounds) => {
        let at = 0;
        const device = deviceOf(() => times[at++ % times.length]!);
        const model = await withClock(list, () => calibrate(device, { bytes: 2 ** 16, rounds }));
        const text = modelText(model);
        expect(modelText(checkModel('here', JSON.parse(text)))).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  test('what a copy and a launch take to issue is told apart', async () => {
    const device = deviceOf(() => 1);
    let now = 0;
    const takes = (milliseconds: number) => () => {
      now += milliseconds;
    };
    Object.assign(device.defaultStream, { memcpyAsync: takes(2), launch: takes(3) });
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      await using meter = new IssueMeter(device);
      await meter.run(0);
      expect(meter.times).toMatchObject({ issueTime: 2, launchTime: 3 });
    } finally {
      clock.mockRestore();
    }
  });

  test('the median is the middle one, whatever lies around it', () => {
    expect(median([7])).toBe(7);
    expect(median([100, 2, 3])).toBe(3);
    expect(median([5, 1, 4, 0, 1000])).toBe(4);
  });

  test('a meter that has time for one turn only, after it was warmed up, has measured all', async () => {
    for (const warm of [0, 1, 2, 3, 4, 5]) {
      await using meter = new IssueMeter(deviceOf(() => 1));
      for (let turn = 0; turn < warm; ++turn) await meter.turn();
      await meter.warmUp(0);
      await meter.run(0);
      for (const [name, time] of Object.entries(meter.times))
        expect(Number.isFinite(time), `${name} after ${warm} turns`).toBe(true);
    }
  });
});
