// The version of many files as a whole, by the versions of each.

import { createHash } from 'node:crypto';
import type { FileWithin } from '../files/folder.ts';
import type { UrlVersion } from './url-versions.ts';

/** The version of files as a whole. It is a tag where all of theirs are, of what is there whatever the query. */
export function versionOfAll(
  files: readonly FileWithin[],
  versions: ReadonlyMap<string, UrlVersion>,
): UrlVersion {
  const sum = createHash('sha256');
  let bytes = 0;
  let isTag = true;
  for (const { path, size } of files) {
    const { version } = versions.get(path)!;
    sum.update(JSON.stringify([path, size, version]));
    isTag &&= version.startsWith('"');
    bytes += size;
  }
  const version = sum.digest('hex').slice(0, 32);
  return { version: isTag ? `"${version}"` : version, bytes };
}
