// Host functions: a function of JavaScript at its place in a stream, as cudaLaunchHostFunc.

import { WarpstageError } from '../diagnostics/error.ts';
import { nextTurn } from './turn.ts';

/** Runs on the main thread when all before it in the stream is done; what comes behind waits for it. */
export type HostFunction = () => unknown;

export interface HostWork {
  readonly kind: 'host';
  readonly run: HostFunction;
}

/** Throws unless it is a function. */
export function hostWork(run: unknown): HostWork {
  if (typeof run === 'function') return { kind: 'host', run: run as HostFunction };
  throw new WarpstageError({
    code: 'WS4007',
    message: `launchHostFunction takes a function, not ${run === null ? 'null' : typeof run}`,
    hint: 'write for example stream.launchHostFunction(() => { … })',
  });
}

/**
 * Calls it. Its error, or null: at once, so that what it throws is known as soon as it has thrown it; or when the
 * promise that it gave is settled. Never throws or rejects.
 */
export function callHost({ run }: HostWork): WarpstageError | null | Promise<WarpstageError | null> {
  try {
    const result = run();
    return isThenable(result) ? settled(result) : null;
  } catch (cause) {
    return functionThrew(cause);
  }
}

function isThenable(result: unknown): result is PromiseLike<unknown> {
  return typeof result === 'object' && result !== null && 'then' in result;
}

async function settled(result: PromiseLike<unknown>): Promise<WarpstageError | null> {
  try {
    await result;
    return null;
  } catch (cause) {
    return functionThrew(cause);
  }
}

/**
 * Resolves when what functions have thrown by now was taken note of. A promise that was rejected says so in
 * microtasks, all of which run before the event loop takes its next turn.
 */
export function thrownIsKnown(): Promise<void> {
  return nextTurn();
}

function functionThrew(cause: unknown): WarpstageError {
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new WarpstageError(
    {
      code: 'WS4008',
      message: `a host function in a stream threw ${reason}`,
      hint: 'catch what it may throw inside the function; commands behind it in the stream fail with it',
    },
    { cause },
  );
}

/** The source of a copy has still to be filled by a copy that waits for a host function, or for another device, for which nothing can wait. */
export function sourceBehindFunction(): WarpstageError {
  return new WarpstageError({
    code: 'WS4007',
    message:
      'memcpy host to device: the source is still to be filled by a copy that waits for a host function or for another device',
    hint: 'await the stream of that copy first, or copy from and to a page-locked array: device.allocPinned(…)',
  });
}
