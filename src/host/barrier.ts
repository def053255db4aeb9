// A barrier in shared memory: so many arrivals complete a phase, and whoever waits for that phase
// goes on. Two words: one with the number of the phase that is being filled and, in its low bits, the arrivals that it
// still needs; and how many a phase needs in all.
//
// The last arrival leaves none missing, and then begins the next phase by one addition: so nobody sees a phase that is not
// complete and yet needs arrivals again.

/** Words of one barrier. */
export const barrierWords = 2;

/** Of the first word, the bits of the arrivals; a phase more is as much. */
const arrivalBits = 16;
const phaseStep = 2 ** arrivalBits;

/** Threads that may arrive at a barrier. */
export const mostArrivals = phaseStep - 1;

export function initialiseBarrier(words: Int32Array, at: number, expected: number): void {
  words[at] = expected;
  words[at + 1] = expected;
}

/** One arrival; the last one of a phase wakes everybody who waits for it. */
export function arrive(words: Int32Array, at: number): void {
  if (missingOf(Atomics.sub(words, at, 1)) !== 1) return;
  Atomics.add(words, at, phaseStep + Atomics.load(words, at + 1));
  Atomics.notify(words, at);
}

/** Whether the phase of that parity is complete: the barrier fills one of the other parity. */
export function isComplete(words: Int32Array, at: number, parity: number): boolean {
  return !isFilled(Atomics.load(words, phaseWord(at)), parity);
}

/** Whether what the word of the phase said is that the phase of that parity is being filled. */
export function isFilled(word: number, parity: number): boolean {
  return ((word >>> arrivalBits) & 1) === parity;
}

/** The word that changes when a phase completes, for waiting on; it changes with each arrival, too. */
export function phaseWord(at: number): number {
  return at;
}

/** How many arrivals the phase that is being filled still needs; none while its last one begins the next. */
export function missingArrivals(words: Int32Array, at: number): number {
  return missingOf(Atomics.load(words, at));
}

function missingOf(word: number): number {
  return word & (phaseStep - 1);
}
