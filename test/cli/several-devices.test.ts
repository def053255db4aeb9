// `warpstage run --device` with several devices.

import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { Folder, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

test('the report says what each did, and the trace names them', async () => {
  const x = Float32Array.from({ length: 5000 }, (_, i) => i);
  const input = folder.file('x.raw', new Uint8Array(x.buffer));
  const [output, trace] = [folder.file('y.raw'), folder.file('trace.json')];
  const command = ['run', 'examples/affine.ts', input, output, '--set', 'a=2', '--chunk', '500'];
  const { code, stderr } = await runHere(
    ...command,
    '--device',
    'cpu,cpu',
    '--threads',
    '1',
    '--trace',
    trace,
  );
  expect(code).toBe(0);
  expect(new Float32Array(new Uint8Array(readFileSync(output)).buffer)).toEqual(x.map((value) => 2 * value));
  expect(stderr).toMatch(/device +chunks +of rows +copy in +compute +copy out\n +cpu \(1\) .*\n +cpu \(2\) /);
  const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8')) as {
    traceEvents: { name: string; args: { name?: string } }[];
  };
  const tracks = traceEvents.filter(({ name }) => name === 'thread_name').map(({ args }) => args.name);
  expect(tracks).toEqual([
    'read',
    ...['cpu (1)', 'cpu (2)'].flatMap((device) =>
      ['copy in', 'compute', 'copy out'].map((task) => `${device} ${task}`),
    ),
    'write',
  ]);
});

test('a device that is not there ends it before it begins', async () => {
  const input = folder.file('z.raw', new Uint8Array(32));
  const output = folder.file('w.raw');
  const { code, stderr } = await runHere('run', 'examples/affine.ts', input, output, '--device', 'cpu,tpu');
  expect(code).not.toBe(0);
  expect(stderr).toContain("WS4003: there is no device 'tpu'");
});
