// The error of a device that was closed.

import { WarpstageError } from '../diagnostics/error.ts';

const ofClosing = new WeakSet<WarpstageError>();

/** Something was asked of a closed device, or was still to be done when it was closed. */
export function deviceClosed(purpose: string): WarpstageError {
  const error = new WarpstageError({
    code: 'WS4006',
    message: `${purpose}: the device was closed`,
    hint: 'close a device when all its streams are synchronised',
  });
  ofClosing.add(error);
  return error;
}

/** Warns that work was cancelled which nothing waited for: what it was to copy or compute is not there. */
export function warnOfCancelled(): void {
  const message = 'close() cancelled work of a device that nothing waited for: its results are not there';
  const detail = 'await stream.synchronize() or device.synchronize() before the device is closed';
  if (globalThis.process?.emitWarning === undefined) console.warn(`WS4006: ${message}\n${detail}`);
  else process.emitWarning(message, { type: 'WarpstageWarning', code: 'WS4006', detail });
}

/** Whether an error says only that the device was closed, which its owner knows. */
export function isOfClosing(error: WarpstageError): boolean {
  return ofClosing.has(error);
}
