// open() in a browser: the CPU and the virtual devices, on workers where the page is isolated from others, and else on the
// thread that opens them.

import { WarpstageError } from '../diagnostics/error.ts';
import type { RunnerFactory } from './cpu/computing.ts';
import { web } from './cpu/web/globals.ts';
import type { Device } from './device.ts';
import { presetNamed, presets } from './model/presets.ts';
import { openCpu, openModel, type Place } from './open-cpu.ts';
import type { DeviceName, OpenOptions } from './open-options.ts';

const inBrowser: Place = {
  loadMemory64: null,
  get threads() {
    return mayShare() ? (web.navigator?.hardwareConcurrency ?? 1) : 1;
  },
  async surroundings(target, threads) {
    if (target === 'wasm' && threads > 1 && mayShare()) {
      const { webThreads } = await import('./cpu/web/threads.ts');
      const shared = await webThreads(threads);
      if (shared !== null) return shared;
    }
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
 * Whether memory may be shared with workers: in a page that is isolated from others. Not in a worker of Firefox, where the
 * constructor of another worker does not always return.
 */
function mayShare(): boolean {
  const isInWorker = web.document === undefined;
  if (isInWorker && /\bFirefox\//.test(web.navigator?.userAgent ?? '')) return false;
  return web.crossOriginIsolated === true && web.Worker !== undefined;
}

/**
 * Opens a device in a browser: `'cpu'`, which is the default, or a virtual device such as `'model:h200'`.
 *
 * Where the page is isolated from others (`crossOriginIsolated`), kernels and copies run on workers, as they run on
 * threads in Node (in Firefox only if a window opens the device); `threads` says how many run blocks, as many as there are processors by default. Elsewhere, and with one
 * thread, they run on the thread that opens the device, between turns of the event loop. Open it in a worker then, so
 * that the page stays responsive, and so that a kernel can be ended.
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
