// Collecting garbage where the engine would not think of it.
//
// V8 does not count a SharedArrayBuffer's memory as garbage-collection pressure, since several
// threads may hold it: a program that allocates and frees large page-locked arrays would grow
// until the machine has no more. So when enough of them was freed, every thread that held them
// is asked to collect.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Freed bytes after which collecting is worth its pause. */
export const collectAfter = 256 * 1024 * 1024;

let collect: (() => void) | null = null;

/** Collects this thread's garbage. */
export function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
