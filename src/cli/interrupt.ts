// Ctrl-C: the first one cancels what runs, cleanly; the second ends the process at once.
//
// SIGTERM and a reader of standard output that goes away cancel in the same way. What is
// cancelled cleans up after itself and fails; the exit code then says who cancelled it, as
// shells expect: 128 and the number of the signal.
//
// Signals are listened to only from the moment when something can be cancelled. Until then they
// end the process as they always do, also while a user's module keeps the main thread busy.

import { constants } from 'node:os';
import { WarpstageError } from '../diagnostics/error.ts';
import { onReaderGone, type Terminal } from './terminal.ts';

/** Who cancelled a command. */
export type Canceller = 'SIGINT' | 'SIGTERM' | 'SIGPIPE';

/** The reasons to cancel a command, watched until it is disposed of. */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #canceller: Canceller | null = null;
  #left = 'nothing of the output is left';

  constructor(terminal: Terminal) {
    this.#undo.push(onReaderGone(terminal.output, () => this.#cancel('SIGPIPE')));
  }

  /**
   * Listens to signals from now on, and returns what is aborted when the command is to stop.
   *
   * @param kept whether what is written until then stays for another run
   */
  listen(kept = false): AbortSignal {
    this.#left = kept ? 'what it has written is kept' : 'nothing of the output is left';
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const listener = () => this.#cancel(signal);
      process.on(signal, listener);
      this.#undo.push(() => process.off(signal, listener));
    }
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
    const message = `stopped before the end by ${words[by]}; ${this.#left}`;
    this.#controller.abort(new WarpstageError({ code: 'WS5009', message }));
  }
}

const words: Readonly<Record<Canceller, string>> = {
  SIGINT: 'Ctrl-C',
  SIGTERM: 'SIGTERM',
  SIGPIPE: 'the reader of standard output, who went away',
};

/** The exit code that shells give to a program that ended by a signal. */
export function exitCodeOf(canceller: Canceller): number {
  return 128 + constants.signals[canceller];
}
