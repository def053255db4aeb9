// The primary context of a GPU, which all devices that a process opens on that GPU share.
//
// The driver's calls work in the context that is current on the thread, so whoever calls says
// first which GPU he means; that costs nothing while one GPU is used. After an error that the
// driver cannot recover from, every call in the context fails; the last device to close then
// resets it. After most such errors the driver refuses the process a new context all the same (seen
// with 580 after an illegal address, for primary and other contexts); the process itself goes on.

import { WarpstageError } from '../../diagnostics/error.ts';
import { type Driver, driverResults } from './driver.ts';
import { callAside } from './library.ts';

interface Shared {
  readonly handle: number;
  users: number;
  lost: boolean;
}

/** What the driver answered when it was asked for the primary context of a GPU. */
export interface Retained {
  readonly result: number;
  readonly handle: number;
}

/** Has the driver make the context on another thread, which takes it a tenth of a second. To be passed to `Context`. */
export async function retainAside(driver: Driver, device: number): Promise<Retained> {
  const handle = [0];
  const result = await callAside(driver.cuDevicePrimaryCtxRetain, handle, device);
  return { result, handle: Number(handle[0]) };
}

function retain(driver: Driver, device: number): Retained {
  const handle = [0];
  const result = driver.cuDevicePrimaryCtxRetain(handle, device);
  return { result, handle: Number(handle[0]) };
}

const contexts = new Map<number, Shared>();
/** The GPUs that stopped in this process, and which the driver may refuse it from now on. */
const stopped = new Set<number>();
let current = 0;

export class Context {
  readonly handle: number;
  /** The driver's number of the GPU. */
  readonly device: number;
  readonly #driver: Driver;
  readonly #shared: Shared;
  #closed = false;

  constructor(driver: Driver, device: number, retained: Retained | null = null) {
    let shared = contexts.get(device);
    // Devices that share a context retain it once.
    if (shared !== undefined && retained?.result === driverResults.success) {
      driver.cuDevicePrimaryCtxRelease_v2(device);
    }
    if (shared?.lost) {
      throw new WarpstageError({
        code: 'WS4006',
        message: `GPU ${device} stopped, and a device that used it then is still open`,
        hint: 'close every device on this GPU, then open it again',
      });
    }
    if (shared === undefined) {
      const { result, handle } = retained ?? retain(driver, device);
      if (driver.isFatal(result) && (stopped.has(device) || isKernelFault(result)))
        throw refused(device, driver.describe(result));
      driver.check(result, `opening a context on GPU ${device}`);
      shared = { handle, users: 0, lost: false };
      contexts.set(device, shared);
    }
    shared.users += 1;
    this.#driver = driver;
    this.#shared = shared;
    this.device = device;
    this.handle = shared.handle;
    this.use();
  }

  /** The calls that follow are about this GPU. */
  use(): void {
    if (current === this.handle) return;
    this.#driver.check(this.#driver.cuCtxSetCurrent(this.handle), 'choosing the context');
    current = this.handle;
  }

  get lost(): boolean {
    return this.#shared.lost;
  }

  /** Nothing in it can be used any more. */
  lose(): void {
    this.#shared.lost = true;
    stopped.add(this.device);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#shared.users -= 1;
    if (this.#shared.users > 0) return;
    contexts.delete(this.device);
    current = 0;
    if (this.#shared.lost) this.#driver.cuDevicePrimaryCtxReset_v2(this.device);
    this.#driver.cuDevicePrimaryCtxRelease_v2(this.device);
  }
}

/** Results that only a kernel of this process can have led to. */
function isKernelFault(result: number): boolean {
  return result >= 700 && result < 800;
}

function refused(device: number, what: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4006',
    message: `GPU ${device} cannot be opened again: the driver refuses it to a process in which it stopped (${what})`,
    hint: "start the process again, or go on with open('cpu')",
  });
}
