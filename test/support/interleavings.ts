// Two threads at each other's steps, in one thread: what one does is run once for each of its steps of Atomics, and
// the whole of what the other does is done right before that step. So no order of the two is left to chance.
//
// A wait is where the one thread sleeps: the other one runs then, if it has not, and must wake it.

import { expect } from 'vitest';

export interface Scenario {
  readonly one: () => void;
  readonly other: () => void;
  /** What must hold when both are done. */
  readonly check: () => void;
}

/** Runs a scenario, made anew each time, in every order. Returns how many there were. */
export function inEveryOrder(make: () => Scenario): number {
  for (let step = 0; ; ++step) {
    const scenario = make();
    const wasReached = runWith(scenario, step);
    scenario.check();
    if (!wasReached) return step;
  }
}

/** The other one comes before a step, or at last. Returns whether that step was reached. */
function runWith({ one, other }: Scenario, step: number): boolean {
  const real = Atomics;
  const notified = new Set<number>();
  let steps = 0;
  let isOther = false;
  let isOver = false;
  const runOther = () => {
    isOther = true;
    isOver = true;
    other();
    isOther = false;
  };
  const wait = (words: Int32Array, index: number, value: number) => {
    if (real.load(words, index) !== value) return 'not-equal';
    if (isOver)
      throw new Error(`sleeps for ever on word ${index}: the other one was done before step ${step}`);
    runOther();
    expect([...notified], 'words whose sleepers were woken').toContain(index);
    return 'ok';
  };
  const stepping = Object.fromEntries(
    Object.getOwnPropertyNames(real).map((name) => {
      const operation = (real as unknown as Record<string, (...operands: unknown[]) => unknown>)[name]!;
      return [
        name,
        (...operands: unknown[]) => {
          if (isOther) {
            if (name === 'notify') notified.add(operands[1] as number);
            return operation(...operands);
          }
          if (steps++ === step && !isOver) runOther();
          return name === 'wait' ? wait(...(operands as Parameters<typeof wait>)) : operation(...operands);
        },
      ];
    }),
  );
  globalThis.Atomics = stepping as unknown as typeof Atomics;
  try {
    one();
  } finally {
    globalThis.Atomics = real;
  }
  const wasReached = steps > step;
  if (!isOver) other();
  return wasReached;
}
