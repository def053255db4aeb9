// Calibration, measured with a device whose rates are known: a virtual one gives its own back.

import { describe, expect, test } from 'vitest';
import { open } from 'warpstage';
import { calibrate } from '#warpstage/runtime/model/calibrate.js';
import { checkModel, findModel, modelText } from '#warpstage/runtime/model/device-file.js';
import { presets } from '#warpstage/runtime/model/presets.js';

const MiB = 2 ** 20;

describe.each(['h200', 'k20c'])('the rates of model:%s', (name) => {
  test('are measured as they are', async () => {
    await using device = await open(`model:${name}`, { execute: false });
    const measured = await calibrate(device, { bytes: 16 * MiB, rounds: 2 });
    const expected = presets[name]!;
    const rates = ['hostToDevice', 'deviceToHost', 'memoryRate', 'bothWays', 'pageableHostToDevice'] as const;
    for (const rate of rates) expect(measured[rate] / expected[rate], rate).toBeCloseTo(1, 1);
    expect(measured.hostToDeviceOverhead).toBeCloseTo(expected.hostToDeviceOverhead, 4);
    expect(measured.deviceToHostOverhead).toBeCloseTo(expected.deviceToHostOverhead, 4);
    expect(measured.kernelOverhead).toBeCloseTo(expected.kernelOverhead, 4);
    expect(measured.switchTime).toBeCloseTo(expected.switchTime, 3);
    expect(measured.signalTime).toBeCloseTo(expected.signalTime, 4);
    expect(measured.bothWaysOverhead).toBeCloseTo(expected.bothWaysOverhead, 3);
    // The devices of the post have no limit of operations.
    if (Number.isFinite(expected.operationRate))
      expect(measured.operationRate / expected.operationRate).toBeCloseTo(1, 1);
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
