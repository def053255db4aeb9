// `warpstage overlap`: the post's table on virtual devices, and its timelines.

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { Folder, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

test('predicts what the post published, and says by how much it is off', async () => {
  const { code, text } = await runHere('overlap', '--device', 'model:c1060');
  expect(code).toBe(0);
  expect(text).toBe(
    [
      '  device       schedule         ms  speed-up  published ms   error',
      '  model:c1060  sequential  12.9238      1.00       12.9238  +0.0 %',
      '  model:c1060  V1          12.9238      1.00       13.6369  -5.2 %',
      '  model:c1060  V2           8.6159      1.50        8.8459  -2.6 %',
      '',
    ].join('\n'),
  );
});

test('the same as JSON, and a timeline of each schedule', async () => {
  const timelines = folder.file('timelines');
  const { code, text } = await runHere('overlap', '--device', 'model:k20c', '--json', '--trace', timelines);
  expect(code).toBe(0);
  expect(JSON.parse(text)).toMatchObject([
    { device: 'model:k20c', name: 'Tesla K20c', schedule: 'sequential', speedup: 1, published: 7.10176 },
    { schedule: 'V1' },
    { schedule: 'V2', speedup: expect.closeTo(2, 9) },
  ]);
  expect(readdirSync(timelines).sort()).toEqual([
    'model-k20c-V1.json',
    'model-k20c-V2.json',
    'model-k20c-sequential.json',
    'model-k20c.html',
  ]);
  const { traceEvents } = JSON.parse(readFileSync(`${timelines}/model-k20c-V1.json`, 'utf8')) as {
    traceEvents: { ph: string; name: string }[];
  };
  expect(traceEvents.filter(({ ph, name }) => ph === 'X' && name === 'process')).toHaveLength(4);
});

test('a device that is not there', async () => {
  const { code, stderr } = await runHere('overlap', '--device', 'model:v100');
  expect(code).not.toBe(0);
  expect(stderr).toContain("WS4003: there is no virtual device 'v100'");
});
