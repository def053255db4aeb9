// Opening a GPU while this thread does something else.
//
// The driver takes a tenth of a second to start and another to make a context, on other threads; the
// compilers and the device are loaded meanwhile, and warmed up. Of this package only what is imported
// here has to be there first.

import { retainAside } from './context.ts';
import { startDriver } from './driver.ts';
import { architectureOf, findGpu, type Gpu, openGpu } from './gpu.ts';

/** What is done meanwhile: `load` while the driver starts, then `warmUp` while it makes the context. */
export interface Meanwhile<T> {
  load(): Promise<T>;
  warmUp(loaded: T, architecture: number): void;
}

/** Opens a GPU by its ordinal, and gives what was loaded. */
export async function openGpuAside<T>(
  ordinal: number,
  meanwhile: Meanwhile<T>,
): Promise<{ readonly gpu: Gpu; readonly loaded: T }> {
  const starting = startDriver();
  const loading = meanwhile.load();
  // It is awaited below, unless there is no GPU.
  loading.catch(() => {});
  const driver = await starting;
  const device = findGpu(ordinal);
  const retaining = retainAside(driver, device);
  const loaded = await loading;
  meanwhile.warmUp(loaded, architectureOf(device));
  return { gpu: openGpu(ordinal, await retaining), loaded };
}
