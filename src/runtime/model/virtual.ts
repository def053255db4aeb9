// What each virtual device of this process was made of.

import type { Device } from '../device.ts';
import type { EngineModel } from './engines.ts';

const models = new WeakMap<Device, EngineModel>();

/** Notes what a virtual device was made of. */
export function noteModel(device: Device, model: EngineModel): void {
  models.set(device, model);
}

/** What a virtual device was made of. */
export function virtualModel(device: Device): EngineModel | undefined {
  return models.get(device);
}
