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

/** Resolves in the event loop's next turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => inNextTurn(resolve));
}
