// open() in a browser: the CPU and the virtual devices, on the thread that opens them.

import { WarpstageError } from '../diagnostics/error.ts';
import type { RunnerFactory } from './cpu/computing.ts';
import type { Device } from './device.ts';
import { presetNamed, presets } from './model/presets.ts';
import { openCpu, openModel, type Place } from './open-cpu.ts';
import type { DeviceName, OpenOptions } from './open-options.ts';

const inBrowser: Place = {
  threads: 1,
  async surroundings(target) {
    const [{ callingThread }, create] = await Promise.all([
      import('./cpu/calling-thread.ts'),
      target === 'interpreter'
        ? import('../targets/interpreter/runner.ts').then((module) => module.createInterpreterRunner)
        : import('../targets/wasm/runner.ts').then((module) => module.createWasmRunner),
    ]);
    return callingThread(create as RunnerFactory);
  },
};

/**
 * Opens a device in a browser: `'cpu'`, which is the default, or a virtual device such as `'model:h200'`.
 *
 * Its kernels and copies run on the thread that opens it, between turns of the event loop. Open it in a worker, so that
 * the page stays responsive, and so that a kernel can be ended.
 *
 * @example
 * const device = await open('cpu');
 *
 * @throws WarpstageError WS4003 for a device that a browser does not have, WS4007 for an invalid option
 */
export async function open(name: DeviceName = 'cpu', options: OpenOptions = {}): Promise<Device> {
  if (name === 'cpu') return openCpu(options, inBrowser);
  const model = presetNamed(String(name).replace(/^model:/, ''));
  if (model !== undefined && name.startsWith('model:')) return openModel(model, options, inBrowser);
  throw new WarpstageError({
    code: 'WS4003',
    message: `there is no device '${String(name)}' in a browser`,
    hint: `the devices of a browser are 'cpu' and ${Object.keys(presets)
      .map((preset) => `'model:${preset}'`)
      .join(', ')}`,
  });
}
