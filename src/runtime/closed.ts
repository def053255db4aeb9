// The error of a device that was closed.

import { WarpstageError } from '../diagnostics/error.ts';

/** Something was asked of a closed device, or was still to be done when it was closed. */
export function deviceClosed(purpose: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4006',
    message: `${purpose}: the device was closed`,
    hint: 'close a device when all its streams are synchronised',
  });
}
