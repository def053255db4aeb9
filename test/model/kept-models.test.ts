// What a calibration leaves for later runs: found again for the device of that name alone, and believed only where no
// other user could have written it.

import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from 'warpstage';
import { modelText } from '#warpstage/runtime/model/device-file.js';
import { keepModel, knownModel } from '#warpstage/runtime/model/known.js';
import { presets } from '#warpstage/runtime/model/presets.js';
import { stranger, strangerRuns } from '../support/stranger.ts';

const gpu = (name: string) => ({ properties: { kind: 'cuda', name } }) as unknown as Device;
const named = (name: string) => ({ ...presets.h200!, name });

let folder: string;
const { WARPSTAGE_CACHE: former } = process.env;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'warpstage-models-'));
  process.env.WARPSTAGE_CACHE = join(folder, 'cache');
});
afterEach(() => {
  process.env.WARPSTAGE_CACHE = former;
  if (former === undefined) delete process.env.WARPSTAGE_CACHE;
  rmSync(folder, { recursive: true });
});

function keep(name: string): string {
  const model = named(name);
  return keepModel(model, modelText(model))!;
}

test('a model is known again by the name of its device, also where two names give one file', () => {
  expect(knownModel(gpu('GPU 1'))).toBeUndefined();
  const first = keep('GPU 1');
  expect(knownModel(gpu('GPU 1'))).toEqual(named('GPU 1'));
  expect(keep('GPU/1')).toBe(first);
  expect(knownModel(gpu('GPU/1'))).toEqual(named('GPU/1'));
  expect(knownModel(gpu('GPU 1'))).toBeUndefined();
  expect(keep('../../GPU').startsWith(join(folder, 'cache', 'devices'))).toBe(true);
});

test('folders that are listed behind the first are read', () => {
  keep('GPU');
  process.env.WARPSTAGE_CACHE = `${join(folder, 'none')}:${join(folder, 'cache')}`;
  expect(knownModel(gpu('GPU'))).toEqual(named('GPU'));
});

const changes: readonly (readonly [string, (file: string) => void])[] = [
  ['that others may write', (file) => chmodSync(file, 0o666)],
  ['in a folder that others may write to', (file) => chmodSync(join(file, '..'), 0o777)],
  [
    'behind a link',
    (file) => {
      renameSync(file, join(folder, 'elsewhere'));
      symlinkSync(join(folder, 'elsewhere'), file);
    },
  ],
  [
    'in a folder behind a link through where others may write',
    (file) => {
      const bait = join(folder, 'bait');
      mkdirSync(bait);
      renameSync(join(file, '..'), join(bait, 'devices'));
      chmodSync(bait, 0o777);
      symlinkSync(join(bait, 'devices'), join(file, '..'));
    },
  ],
  ...(strangerRuns
    ? [['of another user', (file: string) => chownSync(file, stranger, stranger)] as const]
    : []),
];
test.each(changes)('a file %s is none', (_, change) => {
  const file = keep('GPU');
  expect(knownModel(gpu('GPU'))).toBeDefined();
  change(file);
  expect(knownModel(gpu('GPU'))).toBeUndefined();
});

test('nothing is written through a link', () => {
  const file = keep('GPU');
  renameSync(file, join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), file);
  keep('GPU');
  expect(knownModel(gpu('GPU'))).toEqual(named('GPU'));
});
