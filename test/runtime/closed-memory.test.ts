// What a closed device gives back: its memory, page-locked arrays included, whether or not V8 thinks of collecting.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { open } from 'warpstage';

const limit = { timeout: 60_000 };

/** MiB that the process grew by in so many turns, after a few of them. */
async function growthOf(turn: string, turns: number): Promise<number> {
  const script = `
    import { readFileSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { job, kernel, open, run } from 'warpstage';
    const add = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i] + 1;
    });
    const resident = async () => {
      // Pages go back while other threads sweep.
      await setTimeout(100);
      return Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
    };
    const turn = async () => { ${turn} };
    const whole = job({ kernel: add, inputs: { x: {} }, outputs: { y: {} } });
    const [x, y] = [new Float32Array(2 ** 21), new Float32Array(2 ** 21)];
    for (let i = 0; i < 4; i++) await turn();
    const before = await resident();
    for (let i = 0; i < ${turns}; i++) await turn();
    console.log(await resident() - before);`;
  const args = ['--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, limit);
  return Number(stdout);
}

// As /proc tells what is resident.
describe.runIf(process.platform === 'linux')('the memory of closed devices is given back', () => {
  test.each([
    ['by run()', "await run(whole, { input: x, output: y, device: 'cpu', chunk: '4MiB', depth: 2 });"],
    [
      'with arrays that nobody freed',
      `const device = await open('cpu');
       device.defaultStream.memcpyAsync(device.alloc('f32', x.length), device.allocPinned('f32', x.length));
       await device.synchronize();
       await device.close();`,
    ],
    [
      'of virtual devices',
      `const device = await open('model:k20c');
       device.defaultStream.memcpyAsync(device.alloc('f32', x.length), x);
       await device.synchronize();
       await device.close();`,
    ],
  ])('%s', limit, async (_, turn) => {
    // Turns that kept their memory would add 16 MiB or more each: 96 MiB.
    expect(await growthOf(turn, 6)).toBeLessThan(64);
  });
});

test('an array of a closed device is none to copy from or to', async () => {
  await using device = await open('cpu');
  const other = await open('cpu');
  const [own, array] = [device.alloc('f32', 4), other.alloc('f32', 4)];
  device.defaultStream.memcpyAsync(own, array);
  await device.synchronize();
  await other.close();
  expect(() => device.defaultStream.memcpyAsync(own, array)).toThrow('WS4006');
});
