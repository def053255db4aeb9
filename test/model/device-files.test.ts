// What a virtual device is: the properties that it says, and files that describe one, in which each wrong field is named.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open } from 'warpstage';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'warpstage-model-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(fields: object | string): string {
  const path = join(folder, 'device.json');
  writeFileSync(path, typeof fields === 'string' ? fields : JSON.stringify(fields));
  return path;
}

describe('properties', () => {
  test('are those of the device', async () => {
    await using device = await open('model:c2050');
    expect(device.properties).toMatchObject({
      name: 'Tesla C2050',
      kind: 'model',
      computeCapability: '2.0',
      multiProcessorCount: 14,
      asyncEngineCount: 2,
      concurrentKernels: true,
    });
    expect(device.properties.totalGlobalMemory / 2 ** 30).toBeCloseTo(3, 3);
  });
});

describe('a device file', () => {
  const refused = async (fields: object | string, ...messages: string[]) => {
    const failure = await open(`model:${write(fields)}`).then(
      () => '',
      (error: Error) => error.message,
    );
    for (const message of messages) expect(failure).toContain(message);
  };

  test('names every field that is wrong', () =>
    refused(
      { like: 'h200', copyEngines: 0, delayedSignal: 'yes', speed: 3, bothWays: 0.5 },
      '`copyEngines` must be a whole number from 1 on, and is 0',
      '`delayedSignal` must be true or false, and is "yes"',
      'there is no field `speed`',
      '`bothWays` must be a number from 1 on, and is 0.5',
    ));
  test('names every field that is missing', () =>
    refused({ name: 'mine' }, 'the field `copyEngines` is missing', 'or begin with "like": "h200"'));
  test('must be like something that is there', () =>
    refused({ like: 'h300' }, '`like` must be one of c1060, c2050, k20c, h200, h100, and is "h300"'));
  test('must be JSON', () => refused('{', 'is not JSON'));
  test('must be an object', () => refused('[]', 'a device file holds one JSON object'));

  test('must be there', async () => {
    await expect(open('model:none.json')).rejects.toThrow('WS4003: the device file none.json cannot be read');
    await expect(open('model:v100')).rejects.toThrow("WS4003: there is no virtual device 'v100'");
  });
});
