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

/** Whether an error says only that the device was closed, which its owner knows. */
export function isOfClosing(error: WarpstageError): boolean {
  return ofClosing.has(error);
}
