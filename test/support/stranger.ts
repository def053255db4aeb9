// Another user of this machine, for tests of what such a one could do. Only root can be another user.

import { spawnSync } from 'node:child_process';

/** The number of a user that owns nothing. */
export const stranger = 65534;

/** Whether processes can run as that user here. */
export const strangerRuns =
  process.geteuid?.() === 0 && spawnSync('true', { uid: stranger, gid: stranger }).status === 0;
