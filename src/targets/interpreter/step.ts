// What a statement is compiled to.
//
// Only what can make a thread wait is a coroutine; everything else is a plain function. A step
// gives back how the thread goes on: 0 in order, else a jump.

import type { Thread, Wait } from './thread.ts';

/** How a thread goes on after a statement. */
export type Completion = number;

export const normal: Completion = 0;
/** The thread returns. */
export const returns: Completion = 1;
export const breaks = (label: number): Completion => 2 * label + 2;
export const continues = (label: number): Completion => 2 * label + 3;

export type Step =
  | { readonly kind: 'plain'; readonly run: (thread: Thread) => Completion }
  /**
   * Waits for what `begin` gives, if anything; then `end`. Even what is there already is waited for, so
   * that threads that were released together go on in the order of the schedule.
   */
  | {
      readonly kind: 'wait';
      readonly begin: (thread: Thread) => Wait | null;
      readonly end: (thread: Thread) => void;
    }
  | { readonly kind: 'coroutine'; readonly run: (thread: Thread) => Generator<Wait, Completion, void> };

/** Steps in sequence. */
export type Sequence = Extract<Step, { kind: 'plain' } | { kind: 'coroutine' }>;

/** A plain step of an effect. */
export function effect(run: (thread: Thread) => void): Step {
  return {
    kind: 'plain',
    run: (thread) => {
      run(thread);
      return normal;
    },
  };
}

/** Steps one after the other: plain if all are. */
export function sequence(steps: readonly Step[]): Sequence {
  const plain = steps.map((step) => (step.kind === 'plain' ? step.run : null));
  if (plain.every((run) => run !== null)) return { kind: 'plain', run: plainSequence(plain) };
  return {
    kind: 'coroutine',
    *run(thread) {
      for (const step of steps) {
        if (step.kind === 'wait') {
          const wait = step.begin(thread);
          if (wait !== null) yield wait;
          step.end(thread);
          continue;
        }
        const completion = step.kind === 'plain' ? step.run(thread) : yield* step.run(thread);
        if (completion !== normal) return completion;
      }
      return normal;
    },
  };
}

function plainSequence(runs: readonly ((thread: Thread) => Completion)[]): (thread: Thread) => Completion {
  const [first, second] = runs;
  if (first === undefined) return () => normal;
  if (second === undefined) return first;
  if (runs.length === 2) return (thread) => first(thread) || second(thread);
  return (thread) => {
    for (const run of runs) {
      const completion = run(thread);
      if (completion !== normal) return completion;
    }
    return normal;
  };
}
