// Ctrl-C: the first one cancels what runs, cleanly; the second ends the process at once.
//
// SIGTERM and a reader of standard output that goes away cancel in the same way. What is
// cancelled cleans up after itself and fails; the exit code then says who cancelled it, as
// shells expect: 128 and the number of the signal.

import { constants } from 'node:os';
import { WarpstageError } from '../diagnostics/error.ts';
import { onReaderGone, type Terminal } from './terminal.ts';

/** Who cancelled a command. */
export type Canceller = 'SIGINT' | 'SIGTERM' | 'SIGPIPE';

/** Watches for a reason to cancel a command while it runs. */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #canceller: Canceller | null = null;

  constructor(terminal: Terminal) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const listener = () => this.#cancel(signal);
      process.on(signal, listener);
      this.#undo.push(() => process.off(signal, listener));
    }
    this.#undo.push(onReaderGone(terminal.output, () => this.#cancel('SIGPIPE')));
  }

  /** Aborted when the command is to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Who cancelled the command; null if nobody did. */
  get canceller(): Canceller | null {
    return this.#canceller;
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
  }

  #cancel(by: Canceller): void {
    if (this.#canceller !== null && by !== 'SIGPIPE') process.exit(exitCodeOf(by));
    this.#canceller ??= by;
    const message = by === 'SIGPIPE' ? 'the reader of standard output went away' : `stopped by ${by}`;
    this.#controller.abort(new WarpstageError({ code: 'WS5009', message: `The command was ${message}` }));
  }
}

/** The exit code that shells give to a program that ended by a signal. */
export function exitCodeOf(canceller: Canceller): number {
  return 128 + constants.signals[canceller];
}
