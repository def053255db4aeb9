// A GPU whose memory another process holds, and one that the environment hides. Each needs processes of
// its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { gpus } from '../support/gpu.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

sayWithoutGpu();

/** A process of the package as it is built. */
function start(text: string, environment: NodeJS.ProcessEnv = {}) {
  const module = new URL('../../dist/index.js', import.meta.url).href;
  const program = `import { open } from ${JSON.stringify(module)};\n${text}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { child, said: () => said };
}

describe.skipIf(gpus === 0)('cuda', () => {
  test('memory that another process holds is told with the figures and where to look', async () => {
    const other = start(`
      const device = await open('cuda:0');
      const arrays = [];
      for (let size = 2 ** 36; size >= 2 ** 24; size /= 2)
        for (;;) try { arrays.push(device.alloc('u8', size)); } catch { break; }
      console.log('full');
      process.stdin.resume().once('end', () => process.exit(0));
    `);
    await once(other.child.stdout, 'data');
    const one = start(`
      const tell = (error) => console.log(error.message);
      const device = await open('cuda:0').catch(tell);
      if (device) {
        try { device.alloc('f32', 2 ** 28); console.log('had'); } catch (error) { tell(error); }
        await device.close();
      }
    `);
    await once(one.child, 'close');
    expect(other.said()).toBe('full\n');
    expect(one.said()).toMatch(
      /^WS4001: (an array of 268435456 elements of f32 needs 1 GiB: .* other processes and the driver [\d.]+ GiB|opening a context|creating a stream).*\n {2}hint: .*nvidia-smi/,
    );
    other.child.stdin.end();
    await once(other.child, 'close');
  });

  test('a GPU that the environment hides', async () => {
    const one = start(`await open('cuda').catch((error) => console.log(error.message));`, {
      CUDA_VISIBLE_DEVICES: '-1',
    });
    await once(one.child, 'close');
    expect(one.said()).toMatch(/^WS4003: .*CUDA_ERROR_NO_DEVICE.*\n {2}hint: .*CUDA_VISIBLE_DEVICES/);
  });
});
