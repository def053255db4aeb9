// The environment of the process, put back as it was. In place: threads are given what the system holds, which another object
// in place of `process.env` is not.

export function restoreEnvironment(before: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
}
