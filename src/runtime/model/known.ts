// The rates of a device, where they are known: those that a virtual one was made of, and of real ones what
// `warpstage calibrate` measured on this machine and left in the user's cache folder.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolders } from '../../files/cache-folders.ts';
import type { Device } from '../device.ts';
import { readModel } from './device-file.ts';
import type { EngineModel } from './engines.ts';

const virtual = new WeakMap<Device, EngineModel>();

/** Notes what a virtual device was made of. */
export function noteModel(device: Device, model: EngineModel): void {
  virtual.set(device, model);
}

/** The model of a device, if anybody knows it. */
export function knownModel(device: Device): EngineModel | undefined {
  const { kind, name } = device.properties;
  if (kind === 'model') return virtual.get(device);
  if (kind !== 'cuda') return undefined;
  for (const folder of cacheFolders()) {
    try {
      return readModel(fileOf(folder, name));
    } catch {
      // Never calibrated, or by another version: as if nothing were known.
    }
  }
  return undefined;
}

/** Keeps what was measured for the runs to come; returns the file, or undefined where there is no cache. */
export function keepModel(model: EngineModel, text: string): string | undefined {
  const [folder] = cacheFolders();
  if (folder === undefined) return undefined;
  const file = fileOf(folder, model.name);
  try {
    mkdirSync(join(folder, 'devices'), { recursive: true });
    writeFileSync(file, text);
    return file;
  } catch {
    return undefined;
  }
}

function fileOf(folder: string, name: string): string {
  return join(folder, 'devices', `${name.replace(/[^\w.-]+/g, '-')}.json`);
}
