// The version of this package, also in a bundle, which has no package.json beside it.

import { version } from './version.text.js';

/** As package.json had it when the package was built. */
export function packageVersion(): string {
  return version;
}
