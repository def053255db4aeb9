// Where this package keeps on the disk what it would otherwise make again.
//
// The folder is WARPSTAGE_CACHE, else `warpstage` in the user's cache folder. WARPSTAGE_CACHE may list several,
// as PATH does: the first is written. Set and empty, it says that nothing is to be kept.

import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { ownFolder } from './own-folder.ts';

/** The folders, the one that is written first; none if WARPSTAGE_CACHE is empty, or the user has no home. */
export function cacheFolders(environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  const { WARPSTAGE_CACHE: own, XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = environment;
  if (own !== undefined) return own.split(delimiter).filter((folder) => folder !== '');
  if (xdg !== undefined && isAbsolute(xdg)) return [join(xdg, 'warpstage')];
  if (process.platform === 'win32' && local) return [join(local, 'warpstage')];
  const home = homeFolder();
  return home === undefined ? [] : [join(home, '.cache', 'warpstage')];
}

/**
 * A folder below the one that is written, which only this user can change, so that what is in it may be run.
 *
 * @returns null where nothing is to be kept, or could not be kept safely
 */
export function cacheFolder(name: string): string | null {
  const [folder] = cacheFolders();
  return folder === undefined ? null : ownFolder(join(folder, name));
}

function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    // A user that the system has no entry for, as in some containers.
    return undefined;
  }
}
