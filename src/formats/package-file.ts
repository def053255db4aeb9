// Files of this package that threads load by their names.

import { existsSync } from 'node:fs';

/**
 * A file of the package's folder dist/, asked for by the code at `from`, which is a folder deeper. Undefined in a
 * bundle, or where sources are run, which have no such file.
 */
export function packageFile(name: string, from: string | undefined): URL | undefined {
  if (!from) return undefined;
  const url = new URL(`../${name}`, from);
  return existsSync(url) ? url : undefined;
}
