// The event loop's next turn, in Node and in a browser.

/** Calls a function in the event loop's next turn, when all microtasks have run. */
export function inNextTurn(call: () => void): void {
  if (typeof setImmediate === 'function') {
    setImmediate(call);
    return;
  }
  // A timer of a browser waits for milliseconds; a message does not.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    call();
  };
  port2.postMessage(null);
}

/** Milliseconds for which the event loop may be kept from turning. */
const longest = 1;

/**
 * Lets the event loop turn now and then for who waits without leaving: timers and other programs' sockets would never have
 * their turn where what is waited for is always there at once.
 */
export class Turns {
  #since: number | null = null;

  /** A turn of the event loop, if it was kept from one for long; else null. */
  due(): Promise<void> | null {
    const now = performance.now();
    if (this.#since === null) {
      this.#since = now;
      inNextTurn(() => {
        this.#since = null;
      });
      return null;
    }
    return now - this.#since < longest ? null : nextTurn();
  }
}

/** Resolves in the event loop's next turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => inNextTurn(resolve));
}
