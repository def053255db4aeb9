// Virtual devices by name: a preset, or a JSON file of one's own.

import { readFileSync } from 'node:fs';
import { WarpstageError } from '../../diagnostics/error.ts';
import { parseModel } from './device-file.ts';
import type { EngineModel } from './engines.ts';
import { presetNamed, presets } from './presets.ts';

/** The model that is meant by what stands after `model:`. */
export function findModel(name: string): EngineModel {
  const preset = presetNamed(name);
  if (preset !== undefined) return preset;
  if (/\.json$/i.test(name)) return readModel(name);
  throw new WarpstageError({
    code: 'WS4003',
    message: `there is no virtual device '${name}'`,
    hint: `the virtual devices are ${Object.keys(presets).join(', ')}, and any JSON file: 'model:my-device.json'`,
  });
}

/** Reads and checks a device file. */
function readModel(path: string): EngineModel {
  try {
    return parseModel(path, readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof WarpstageError) throw error;
    throw new WarpstageError(
      { code: 'WS4003', message: `the device file ${path} cannot be read: ${(error as Error).message}` },
      { cause: error },
    );
  }
}
