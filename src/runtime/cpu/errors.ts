// What can go wrong with a command beside a kernel's own faults, in words.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Work } from '../command.ts';
import { kernelInWords } from '../launch.ts';
import type { EngineName } from './command-table.ts';

const spanNames = {
  set: 'memset',
  host: 'a host function',
  wait: 'a wait for an event',
  graph: 'a graph',
} as const;

function inWords(work: Work): string {
  if (work.kind === 'launch') return kernelInWords(work.name);
  return work.kind === 'copy' ? `memcpy ${work.direction}` : spanNames[work.kind];
}

/** An engine threw where nothing should. */
export function brokeOff(work: Work, stream: string, reason: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4006',
    message: `${inWords(work)} broke off in ${stream}: ${reason}`,
    hint: 'this is a defect of warpstage; please report it with the kernel',
  });
}

/** The main thread could not fill a pageable destination. */
export function destinationDetached(work: Work): WarpstageError {
  return new WarpstageError({
    code: 'WS4004',
    message: `${inWords(work)}: the destination was detached before the copy was done`,
    hint: 'transfer or resize an array only after the stream was synchronised',
  });
}

/** An engine's thread ended. */
export function lostThread(engine: EngineName, reason: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4006',
    message: `a thread of the ${engine} engine was lost: ${reason}`,
    hint: /EMFILE|ENFILE|EAGAIN|ENOMEM/.test(reason)
      ? 'the process may have no more threads, files or memory: raise its limit (ulimit -n, -u or -v), or open the device with fewer `threads`'
      : 'the device goes on with a new thread; issue the commands again',
  });
}

/** There is no room for more commands while threads are being stopped, which takes the event loop. */
export function noRoomWhileStopping(inFlight: number): WarpstageError {
  return new WarpstageError({
    code: 'WS4007',
    message: `${inFlight} commands are in flight while a kernel is being stopped, and there is no room for more`,
    hint: 'await stream.synchronize() after a kernel was cancelled',
  });
}

/** There is no room for more commands before a host function was called, which takes the event loop. */
export function noRoomBehindFunction(inFlight: number): WarpstageError {
  return new WarpstageError({
    code: 'WS4007',
    message: `${inFlight} commands are in flight, some of them behind a host function, and there is no room for more`,
    hint: 'await something, so that the host function can be called',
  });
}
