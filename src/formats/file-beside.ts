// Files of this package that threads load by their names.

import { existsSync } from 'node:fs';

/** The file beside the module `from`; undefined in a bundle, or where sources are run, which have no such file. */
export function fileBeside(name: string, from: string | undefined): URL | undefined {
  if (!from) return undefined;
  const url = new URL(name, from);
  return existsSync(url) ? url : undefined;
}
