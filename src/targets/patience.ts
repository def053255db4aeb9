// How long the threads of a block may wait for what does not come, before that is a deadlock: on every device the same.

const defaultSeconds = 30;

/** Milliseconds: the seconds that WARPSTAGE_PATIENCE says, if that is a number above 0; else 30 seconds. */
export function patienceOf(environment: NodeJS.ProcessEnv | undefined = globalThis.process?.env): number {
  const seconds = Number(environment?.WARPSTAGE_PATIENCE);
  return (seconds > 0 ? seconds : defaultSeconds) * 1000;
}
