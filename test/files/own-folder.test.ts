// Folders for code that is run later: what another user of the machine could change is not taken for one's own.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { cacheFolder } from '#warpstage/files/cache-folders.js';
import { ownFolder, trustedFolder } from '#warpstage/files/own-folder.js';
import { stranger, strangerRuns } from '../support/stranger.ts';

let top: string;
beforeEach(() => {
  top = newFolder();
});
const at = (...names: string[]) => join(top, ...names);

/** A folder that others may look into. */
function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'warpstage-own-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  return folder;
}

function folder(path: string, mode = 0o755): string {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

describe('a folder of the own user', () => {
  test('is made for this user alone, with the folders on the way', () => {
    expect(ownFolder(at('a', 'b', 'c'))).toBe(at('a', 'b', 'c'));
    for (const made of [at('a'), at('a', 'b'), at('a', 'b', 'c')])
      expect(lstatSync(made).mode & 0o777).toBe(0o700);
    expect(ownFolder(at('a', 'b', 'c'))).toBe(at('a', 'b', 'c'));
  });

  test('may be reached by links of this user, and below a sticky folder', () => {
    folder(at('shared'), 0o1777);
    folder(at('shared', 'mine'));
    symlinkSync('shared/../shared/./mine', at('link'));
    symlinkSync(at('link'), at('absolute'));
    expect(ownFolder(at('absolute', 'cache'))).toBe(at('shared', 'mine', 'cache'));
  });

  test.each([
    ['which others may write to', 0o777],
    ['which its group may write to', 0o775],
    ['which is sticky, and where others may put what they like', 0o1777],
  ])('is none %s', (_, mode) => {
    folder(at('cache'), mode);
    expect(ownFolder(at('cache'))).toBeNull();
    expect(trustedFolder(at('cache'))).toBeNull();
  });

  test('is none below a folder where others could exchange it, and nothing is made there', () => {
    folder(at('open'), 0o777);
    folder(at('open', 'cache'));
    expect(ownFolder(at('open', 'cache'))).toBeNull();
    expect(ownFolder(at('open', 'new'))).toBeNull();
    expect(existsSync(at('open', 'new'))).toBe(false);
  });

  test('is none where a file is, a link leads nowhere or in a circle, or the disk takes nothing', () => {
    writeFileSync(at('file'), '');
    expect(ownFolder(at('file'))).toBeNull();
    expect(ownFolder(at('file', 'below'))).toBeNull();
    symlinkSync('circle', at('circle'));
    expect(ownFolder(at('circle'))).toBeNull();
    symlinkSync('nowhere/..', at('dangling'));
    expect(ownFolder(at('dangling'))).toBeNull();
    expect(ownFolder('/proc/warpstage')).toBeNull();
    expect(ownFolder('a\0b')).toBeNull();
    expect(trustedFolder(at('absent'))).toBeNull();
  });

  test('is where the cache is kept, unless none is wanted', () => {
    const { WARPSTAGE_CACHE: before } = process.env;
    onTestFinished(() => {
      if (before === undefined) delete process.env.WARPSTAGE_CACHE;
      else process.env.WARPSTAGE_CACHE = before;
    });
    process.env.WARPSTAGE_CACHE = `${at('cache')}:${at('other')}`;
    expect(cacheFolder('modules')).toBe(at('cache', 'modules'));
    process.env.WARPSTAGE_CACHE = '';
    expect(cacheFolder('modules')).toBeNull();
  });
});

/** What stands for one name of a path. */
const step = fc.record({
  mode: fc.constantFrom(0o700, 0o755, 0o755, 0o775, 0o777, 0o1777),
  owner: fc.constantFrom(0, 0, 0, stranger),
  group: fc.constantFrom(0, 0, stranger),
  link: fc.constantFrom('none', 'none', 'none', 'own', 'other') as fc.Arbitrary<'none' | 'own' | 'other'>,
});

// With the rights of root a test can make what belongs to another user, and be that user.
describe.runIf(strangerRuns)('against another user', () => {
  test('a folder or a link of theirs is not taken', () => {
    folder(at('theirs'));
    chownSync(at('theirs'), stranger, stranger);
    expect(ownFolder(at('theirs'))).toBeNull();
    expect(ownFolder(at('theirs', 'new'))).toBeNull();
    expect(existsSync(at('theirs', 'new'))).toBe(false);
    folder(at('sticky'), 0o1777);
    folder(at('sticky', 'mine'));
    expect(ownFolder(at('sticky', 'mine'))).toBe(at('sticky', 'mine'));
    chownSync(at('sticky'), stranger, stranger);
    // The owner of a sticky folder may rename what others have in it.
    expect(ownFolder(at('sticky', 'mine'))).toBeNull();
    folder(at('shared'), 0o1777);
    folder(at('mine'));
    const asThem = { uid: stranger, gid: stranger };
    expect(spawnSync('ln', ['-s', at('mine'), at('shared', 'link')], asThem).status).toBe(0);
    expect(ownFolder(at('shared', 'link'))).toBeNull();
    expect(ownFolder(at('shared', 'link', 'new'))).toBeNull();
  });

  test('whatever the folders on the way are, what is kept in one cannot be changed or exchanged', () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (steps) => {
        const begin = newFolder();
        const { path, places } = build(begin, steps);
        const found = ownFolder(path);
        const honest = steps.every(({ mode, owner, link }, i) => {
          const closed = (mode & 0o022) === 0 || (mode === 0o1777 && i < steps.length - 1);
          return owner === 0 && closed && link !== 'other';
        });
        expect(found !== null).toBe(honest);
        if (found === null) {
          seen.refused += 1;
          return;
        }
        seen.taken += 1;
        writeFileSync(join(found, 'code'), 'ours', { mode: 0o600 });
        attack([...places, path, found]);
        expect(readFileSync(join(path, 'code'), 'utf8')).toBe('ours');
        expect(existsSync(join(path, 'planted'))).toBe(false);
      }),
      { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 100) },
    );
    expect(seen.taken).toBeGreaterThan(5);
    expect(seen.refused).toBeGreaterThan(5);
  });
});

/** Makes a path of such steps: its names, and every place that it leads through. */
function build(
  begin: string,
  steps: readonly { mode: number; owner: number; group: number; link: 'none' | 'own' | 'other' }[],
): { readonly path: string; readonly places: readonly string[] } {
  const places: string[] = [];
  let path = begin;
  for (const [i, { mode, owner, group, link }] of steps.entries()) {
    const place = join(path, link === 'none' ? `step${i}` : `real${i}`);
    mkdirSync(place);
    places.push(place);
    chownSync(place, owner, group);
    chmodSync(place, mode);
    if (link !== 'none') {
      const name = join(path, `step${i}`);
      symlinkSync(`real${i}`, name);
      if (link === 'other') spawnSync('chown', ['-h', `${stranger}`, name]);
      places.push(name);
    }
    path = join(path, `step${i}`);
  }
  return { path, places };
}

/** Another user tries what the system lets them: to exchange each place, to write into it. */
function attack(places: readonly string[]): void {
  const script = places.flatMap((place) => [
    `echo theirs > '${place}/planted'`,
    `echo theirs > '${place}/code'`,
    `mv '${place}/code' '${place}/moved'`,
    `rm -f '${place}/code'`,
    `mv -T '${place}' '${place}.away' && mkdir '${place}'`,
    `ln -sfn /tmp '${place}'`,
  ]);
  spawnSync('sh', ['-c', script.join('\n')], { uid: stranger, gid: stranger });
}
