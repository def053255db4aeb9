// The version of this package.

import { readFileSync } from 'node:fs';

/** As package.json has it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
