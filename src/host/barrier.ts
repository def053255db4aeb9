// A barrier in shared memory: so many arrivals complete a phase, and whoever waits for that phase
// goes on. Three words: the arrivals that the phase still needs, how many a phase needs in all,
// and the number of the phase that is being filled.

/** Words of one barrier. */
export const barrierWords = 3;

export function initialiseBarrier(words: Int32Array, at: number, expected: number): void {
  words[at] = expected;
  words[at + 1] = expected;
  words[at + 2] = 0;
}

/** One arrival; the last one of a phase wakes everybody who waits for it. */
export function arrive(words: Int32Array, at: number): void {
  if (Atomics.sub(words, at, 1) !== 1) return;
  // Nobody arrives at the next phase before this one is complete, so the count may be set first.
  Atomics.store(words, at, Atomics.load(words, at + 1));
  Atomics.add(words, at + 2, 1);
  Atomics.notify(words, at + 2);
}

/** Whether the phase of that parity is complete: the barrier fills one of the other parity. */
export function isComplete(words: Int32Array, at: number, parity: number): boolean {
  return (Atomics.load(words, at + 2) & 1) !== parity;
}

/** The word that changes when a phase completes, for waiting on. */
export function phaseWord(at: number): number {
  return at + 2;
}

/** How many arrivals the phase that is being filled still needs. */
export function missingArrivals(words: Int32Array, at: number): number {
  return Atomics.load(words, at);
}
