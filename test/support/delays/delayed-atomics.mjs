// Atomics with delays before and after each operation: most are none, some are long enough for another thread to
// do all that it can. A thread sleeps meanwhile, so that the others run. It sleeps for half of its time at most, and
// the operation that a loop repeats is delayed once: what spins or polls would take minutes otherwise.

/** Stands alone, as its text is put into other modules. */
export function delayedAtomics(atomics, seed) {
  const bed = new Int32Array(new SharedArrayBuffer(4));
  let state = seed >>> 0;
  let last = '';
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const began = performance.now();
  let slept = 0;
  const delay = () => {
    const chance = random();
    if (chance >= 0.15 || slept > 5 + (performance.now() - began) / 2) return;
    const milliseconds = chance < 0.02 ? 1 + 4 * random() : 0.05 + 0.2 * random();
    slept += milliseconds;
    atomics.wait(bed, 0, 0, milliseconds);
  };
  const delayed = {};
  for (const name of Object.getOwnPropertyNames(atomics)) {
    const operation = atomics[name];
    if (typeof operation !== 'function') continue;
    delayed[name] = (array, index, ...operands) => {
      const step = `${name} ${array.length} ${index} ${operands}`;
      const again = step === last;
      last = step;
      if (!again) delay();
      const result = operation(array, index, ...operands);
      if (!again) delay();
      return result;
    };
  }
  return delayed;
}
