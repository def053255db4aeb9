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
import type { ExitCode } from './exit-codes.ts';
import { onReaderGone, type Terminal } from './terminal.ts';

/** Who cancelled a command. */
export type Canceller = 'SIGINT' | 'SIGTERM' | 'SIGPIPE' | 'deadline';

/** How a command listens. */
export interface Listening {
  /** Whether what is written until then stays for another run. */
  readonly kept?: boolean | undefined;
  /** Seconds after which it stops by itself. */
  readonly deadline?: number | undefined;
}

/** The reasons to cancel a command, watched until it is disposed of. */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
  #canceller: Canceller | null = null;
  #left = 'nothing of the output is left';

  constructor(terminal: Terminal) {
    this.#undo.push(onReaderGone(terminal.output, () => this.#cancel('SIGPIPE')));
  }

  /** Listens to signals from now on, and returns what is aborted when the command is to stop. */
  listen({ kept = false, deadline }: Listening = {}): AbortSignal {
    this.#left = kept ? 'what it has written is kept' : 'nothing of the output is left';
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const listener = () => this.#cancel(signal);
      process.on(signal, listener);
      this.#undo.push(() => process.off(signal, listener));
    }
    if (deadline !== undefined) {
      const timer = setTimeout(() => this.#cancel('deadline'), 1000 * deadline).unref();
      this.#undo.push(() => clearTimeout(timer));
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
    if (this.#canceller !== null && by === 'deadline') return;
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
  deadline: 'its deadline',
};

/** The exit code that shells give to a program that ended by a signal; of a deadline, the one of what may be tried again. */
export function exitCodeOf(canceller: Canceller): number {
  if (canceller === 'deadline') return 75 satisfies ExitCode;
  return 128 + constants.signals[canceller];
}
