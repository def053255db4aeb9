// Waits for an event of another device.
//
// Such a wait is a command of the stream that waits: it is over when what the event stands for is, and fails with what has
// failed there, so that everything behind it follows from the order within its own device. What a device cannot wait for by
// itself the host waits for: it hears when the other device's commands are settled.

import type { WarpstageError } from '../diagnostics/error.ts';
import { type Command, type Dispatcher, failedOf } from './command.ts';

/** Points of another device. */
export interface ForeignPoints {
  readonly dispatcher: Dispatcher;
  readonly commands: readonly Command[];
}

export interface WaitWork {
  readonly kind: 'wait';
  readonly others: ForeignPoints;
}

/** Why a wait that is over fails, if it does: what came before it has, or what it waited for. */
export function failureOfWait(command: Command, { others }: WaitWork): WarpstageError | null {
  const failed = failedOf(command.dependencies) ?? failedOf(others.commands);
  return failed === null ? null : failed.failure;
}

/** The waits of a device whose end the host has to notice. */
export class HostWaits {
  readonly #open = new Set<ForeignPoints>();
  #isAsking = false;

  /**
   * Calls back when all is settled that a wait waits for, on its own device and on the other; at once if it is. `watch`: has its
   * own device settle a command as soon as it is complete.
   */
  add(command: Command, { others }: WaitWork, watch: (command: Command) => void, over: () => void): void {
    const own = command.dependencies.filter(({ status }) => status === 'queued');
    const foreign = others.commands.filter(({ status }) => status === 'queued');
    let left = own.length + foreign.length;
    if (left === 0) {
      over();
      return;
    }
    this.#open.add(others);
    const settled = () => {
      if (--left > 0) return;
      this.#open.delete(others);
      over();
    };
    for (const one of [...own, ...foreign]) one.whenSettled(settled);
    for (const one of own) watch(one);
    for (const one of foreign) others.dispatcher.watch(one);
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Asks the other devices whether they have come there. */
  ask(): void {
    // These may wait for this device in turn, and ask it.
    if (this.#isAsking || this.#open.size === 0) return;
    this.#isAsking = true;
    try {
      for (const { dispatcher, commands } of [...this.#open]) dispatcher.poll(commands);
    } finally {
      this.#isAsking = false;
    }
  }
}
