// Kernels written by hand for the device's threads: each does one thing that a test of the
// device needs and that a compiled kernel could not (hold a thread, throw, end it).
//
// Memory is as src/targets/executable.ts says.

import { threadId } from 'node:worker_threads';

const zero = [0, 0, 0];
const range = { source: 0, start: 0, end: 1 };

/** @type {Record<string, (launch: { words: Int32Array, grid: number, block: number, slot: (i: number) => number, arena: number, print: (line: string) => void, first: number, end: number }) => object | null>} */
const kernels = {
  /** y[i] = y[i] * 3 + a */
  step({ words, slot, block, first, end }) {
    const [y, length, a] = [slot(1) / 4, slot(1, 2), slot(2)];
    for (let i = first * block; i < Math.min(length, end * block); ++i) words[y + i] = words[y + i] * 3 + a;
    return null;
  },
  /** Waits until flag[0] is not 0, then sets out[0] to it. */
  gate({ words, slot }) {
    let value = 0;
    while (value === 0) value = Atomics.load(words, slot(1) / 4);
    words[slot(2) / 4] = value;
    return null;
  },
  /** Runs until it is stopped; running[0] says that it does. */
  endless({ words, slot }) {
    for (;;) Atomics.store(words, slot(1) / 4, 1);
  },
  /** out[block] = the thread that ran it; the first two blocks wait for each other. */
  meet({ words, slot, first, end }) {
    const [out, arrived] = [slot(1) / 4, slot(2) / 4];
    for (let block = first; block < end; ++block) {
      Atomics.store(words, out + block, threadId);
      if (block === first) {
        Atomics.add(words, arrived, 1);
        const giveUp = performance.now() + 10_000;
        while (Atomics.load(words, arrived) < 2 && performance.now() < giveUp);
      }
    }
    return null;
  },
  /** out[block] = the arena's address. */
  arena({ words, slot, arena, first, end }) {
    for (let block = first; block < end; ++block) words[slot(1) / 4 + block] = arena;
    return null;
  },
  /** Fails in block `at`. */
  fault({ slot, first, end }) {
    const at = slot(1);
    if (at < first || at >= end) return null;
    const where = { range, thread: zero, block: [at, 0, 0] };
    return { kind: 'out-of-range', ...where, array: 'y', access: 'write', index: 7, count: 1, length: 5 };
  },
  deadlock() {
    const waiting = [
      { range, what: 'consumerWait on stage 0 of pipeline', threads: [0, 1, 2, 5] },
      { range: { source: 0, start: 1, end: 2 }, what: 'sync of the block', threads: [3] },
    ];
    return { kind: 'deadlock', block: zero, waiting };
  },
  print({ print, first, end }) {
    for (let block = first; block < end; ++block) print(`block ${block}`, zero, [block, 0, 0]);
    return null;
  },
  crash() {
    throw new RangeError('a defect');
  },
  leave() {
    process.exit(3);
  },
};

export function createRunner({ program }, { memory, print }) {
  const kernel = kernels[program.name];
  const block = program.block[0] * program.block[1] * program.block[2];
  return (record, arena, first, end) => {
    const words = new Int32Array(memory.buffer);
    const slot = (i, word = 0) => words[record / 4 + 4 * i + word] >>> 0;
    return kernel({ words, slot, block, arena, print, first, end });
  };
}
