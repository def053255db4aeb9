// The driver of a device with a thread that issues: the same functions, of which those that give work to streams may be
// written down for that thread, and answer that they succeeded. Any other settles first what was written, so that
// it finds the driver as the program left it.

import { type Driver, type DriverFunctions, driverResults } from '../driver.ts';
import type { NativeFunction } from '../library.ts';
import type { IssuingThread } from './issuing-thread.ts';

/** What neither gives work to streams nor asks after it. */
const apart: ReadonlySet<string> = new Set<keyof DriverFunctions>([
  'cuCtxSetCurrent',
  'cuGetErrorName',
  'cuGetErrorString',
  'cuEventCreate',
]);

const { success } = driverResults;

export function issuingDriver(driver: Driver, thread: IssuingThread): Driver {
  const settled = Object.fromEntries(
    Object.entries(driver.functions).map(([name, call]) => [
      name,
      apart.has(name) ? call : behind(thread, call),
    ]),
  ) as DriverFunctions;
  /** Graphs that the driver has launched before: what it needs for one it has. */
  const known = new Set<unknown>();
  const written: Pick<
    Driver,
    | 'cuMemcpyAsync'
    | 'cuMemsetD8Async'
    | 'cuEventRecord'
    | 'cuStreamWaitEvent'
    | 'cuGraphLaunch'
    | 'cuGraphExecDestroy'
    | 'launch'
  > = {
    cuMemcpyAsync: (to, from, bytes, stream) => {
      if (!thread.takes()) return driver.cuMemcpyAsync(to, from, bytes, stream);
      thread.copy(to as number, from as number, bytes as number, stream as number);
      return success;
    },
    cuMemsetD8Async: (address, byte, bytes, stream) => {
      if (!thread.takes()) return driver.cuMemsetD8Async(address, byte, bytes, stream);
      thread.set(address as number, byte as number, bytes as number, stream as number);
      return success;
    },
    cuEventRecord: (event, stream) => {
      if (!thread.takes()) return driver.cuEventRecord(event, stream);
      thread.record(event as number, stream as number);
      return success;
    },
    cuStreamWaitEvent: (stream, event) => {
      if (!thread.takes()) return driver.cuStreamWaitEvent(stream, event, 0);
      thread.wait(stream as number, event as number);
      return success;
    },
    cuGraphLaunch: (executable, stream) => {
      if (!known.has(executable)) thread.settle();
      else if (thread.takes()) {
        thread.graph(executable as number, stream as number);
        return success;
      }
      const result = driver.cuGraphLaunch(executable, stream);
      if (result === success) known.add(executable);
      return result;
    },
    cuGraphExecDestroy: (executable) => {
      thread.settle();
      known.delete(executable);
      return driver.cuGraphExecDestroy(executable);
    },
    launch: (handle, call) => {
      if (!call.isKnown) thread.settle();
      else if (thread.takes()) {
        thread.launch(handle, call.description, call.parameterBytes);
        return success;
      }
      return driver.launch(handle, call);
    },
  };
  return { ...driver, ...settled, ...written, issuing: thread };
}

/** The call, made when what was written is issued. */
function behind(thread: IssuingThread, call: NativeFunction): NativeFunction {
  return (...args) => {
    thread.settle();
    return call(...args);
  };
}
