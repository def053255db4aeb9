// Keeps the main thread from its event loop.

/** Blocks for 300 ms, and on a slow machine on until `done`, for some seconds at most. */
export function busy(done: () => boolean): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const begin = performance.now();
  do Atomics.wait(nobody, 0, 0, 300);
  while (!done() && performance.now() - begin < 10_000);
}
