// The rates of a device, where they are known: those that a virtual one was made of, and of real ones what
// `warpstage calibrate` measured on this machine and left in the user's cache folder, where others could not have.

import { join } from 'node:path';
import { cacheFolder, cacheFolders } from '../../files/cache-folders.ts';
import { readOwnFile, writeOwnFile } from '../../files/own-entries.ts';
import { trustedFolder } from '../../files/own-folder.ts';
import type { Device } from '../device.ts';
import { parseModel } from './device-file.ts';
import type { EngineModel } from './engines.ts';
import { virtualModel } from './virtual.ts';

/** Below the folder of what is kept. */
const devices = 'devices';

/** The model of a device, if anybody knows it. */
export function knownModel(device: Device): EngineModel | undefined {
  const { kind, name } = device.properties;
  if (kind === 'model') return virtualModel(device);
  if (kind !== 'cuda') return undefined;
  for (const folder of cacheFolders()) {
    const own = trustedFolder(join(folder, devices));
    const text = own === null ? null : readOwnFile(own, nameOf(name));
    if (text === null) continue;
    try {
      const model = parseModel(nameOf(name), text.toString('utf8'));
      // Two names may give one name of a file.
      if (model.name === name) return model;
    } catch {
      // Of another version: as if nothing were known.
    }
  }
  return undefined;
}

/** Keeps what was measured for the runs to come; returns the file, or undefined where there is no cache. */
export function keepModel(model: EngineModel, text: string): string | undefined {
  const folder = cacheFolder(devices);
  if (folder === null) return undefined;
  const name = nameOf(model.name);
  return writeOwnFile(folder, name, text) ? join(folder, name) : undefined;
}

/** The file of a device, by whose name. */
function nameOf(device: string): string {
  return `${device.replace(/[^\w.-]+/g, '-')}.json`;
}
