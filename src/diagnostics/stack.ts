// Stacks that begin with the user's call, whatever of this package lies between it and the error.
//
// This package's frames are known by its folder. In a bundle there is no such folder, and stacks
// are left as they are.

import type { AnyFunction } from './source.ts';

/** More than the package ever has between a call of the user and an error. */
const deepest = 60;

/** Captures the stack of an error anew: above the call of `caller`, if that is given, and above this package. */
export function beginStackAtUser(error: Error, caller: AnyFunction | undefined): void {
  const limit = Error.stackTraceLimit;
  if (Error.captureStackTrace === undefined || !(limit > 0)) return;
  Error.stackTraceLimit = limit + deepest;
  try {
    Error.captureStackTrace(error, caller ?? (error.constructor as AnyFunction));
    const { stack } = error;
    if (typeof stack === 'string')
      error.stack = withoutOwnFrames(stack, `${error.name}: ${error.message}`, limit);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

function withoutOwnFrames(stack: string, header: string, limit: number): string {
  if (!stack.startsWith(header)) return stack;
  const frames = stack.slice(header.length + 1).split('\n');
  let own = 0;
  for (const [i, frame] of frames.entries()) {
    if (isOwn(frame)) own = i + 1;
    else if (!isBuiltIn(frame)) break;
  }
  const rest = frames.slice(own);
  // Nothing of the user is there if the error came by a message from another thread.
  return [header, ...(rest.every(isBuiltIn) ? [] : rest.slice(0, limit))].join('\n');
}

const folder =
  /^(.*\/)(?:dist\/(?:chunks\/diagnostics|diagnostics\/stack)|src\/diagnostics\/stack)\.[jt]s$/.exec(
    import.meta.url,
  )?.[1];
const places = folder === undefined ? [] : [folder, decodeURIComponent(new URL(folder).pathname)];

function isOwn(frame: string): boolean {
  return places.some((place) => frame.includes(`${place}dist/`) || frame.includes(`${place}src/`));
}

function isBuiltIn(frame: string): boolean {
  return /(^\s*$|[( ]node:|\(<anonymous>\)|\(native\))/.test(frame);
}
