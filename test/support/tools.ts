// Compilers that tests use where they are installed. Where they must be, as in CI, one that is missing is an
// error and not a reason to skip.

import { spawnSync } from 'node:child_process';

/** Whether a program is here. Throws if WARPSTAGE_EXPECT_TOOLS lists it, as in `nvcc,cc`, and it is not. */
export function hasTool(name: string): boolean {
  const has = spawnSync(name, ['--version']).status === 0;
  const expected = (process.env.WARPSTAGE_EXPECT_TOOLS ?? '').split(',');
  if (!has && expected.includes(name)) throw new Error(`${name} is expected here, and cannot be run`);
  return has;
}
