// One clock for all threads: that of the main thread's `performance.now()`.
//
// Each thread's `performance.now()` counts from its own start. `process.hrtime` is the same
// in all of them, so the difference of the two tells a thread how far its own zero lies from
// the main thread's.

/** Milliseconds that this thread's `performance.now()` is behind the machine's clock. */
export function clockOffset(): number {
  let offset = 0;
  let narrowest = Number.POSITIVE_INFINITY;
  // The thread may be held up between two readings; the narrowest of a few brackets was not.
  for (let i = 0; i < 8; ++i) {
    const before = process.hrtime.bigint();
    const now = performance.now();
    const width = Number(process.hrtime.bigint() - before) / 1e6;
    if (width >= narrowest) continue;
    narrowest = width;
    offset = Number(before) / 1e6 + width / 2 - now;
  }
  return offset;
}

/** The main thread's time, in another thread. */
export function mainClock(mainOffset: number): () => number {
  const difference = clockOffset() - mainOffset;
  return () => performance.now() + difference;
}
