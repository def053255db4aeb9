// Vector clocks: who waits for a phase has seen what was done before the arrivals at it, and nothing later.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Clocks } from '#warpstage/targets/checker/clocks.js';
import type { Block } from '#warpstage/targets/interpreter/block.js';
import type { Thread } from '#warpstage/targets/interpreter/thread.js';

/** Blocks of so many threads in a row, as far as clocks look at them. */
function blocks(count: number, threads: number): { readonly clocks: Clocks; readonly threads: Thread[][] } {
  const clocks = new Clocks();
  const all = Array.from({ length: count }, (_, x) => {
    const block = { index: [x, 0, 0], launch: { grid: [count, 1, 1] }, threads: [] as unknown[] };
    for (let rank = 0; rank < threads; ++rank) block.threads.push({ rank, block });
    clocks.begin(block as unknown as Block);
    return block.threads as Thread[];
  });
  return { clocks, threads: all };
}

describe('who waits', () => {
  test('for any of the last phases has seen that one, however late', () => {
    for (let phase = 0; phase < 40; ++phase) {
      const { clocks, threads } = blocks(1, 2);
      const [arriving, waiting] = threads[0]!;
      const barrier = {};
      const times: number[] = [];
      for (let at = 0; at < 40; ++at) {
        times.push(clocks.of(arriving!).now);
        clocks.arrived(arriving!, barrier, at);
      }
      clocks.waited(waiting!, barrier, phase);
      const { block } = clocks.of(arriving!);
      const has = (time: number) => clocks.of(waiting!).hasSeen(block, 0, time);
      expect([has(times[phase]!), has(times[phase]! + 1)]).toEqual([true, false]);
    }
  });

  test('keeps what it knew, and what it did', () => {
    const { clocks, threads } = blocks(1, 3);
    const [one, two, three] = threads[0]! as [Thread, Thread, Thread];
    const [first, second] = [{}, {}];
    clocks.arrived(one, first, 0);
    clocks.waited(three, first, 0);
    clocks.arrived(three, {}, 0);
    const own = clocks.of(three).now;
    clocks.arrived(two, second, 0);
    clocks.waited(three, second, 0);
    const { block } = clocks.of(three);
    const knows = [0, 1].map((rank) => clocks.of(three).hasSeen(block, rank, 1));
    expect([...knows, clocks.of(three).now]).toEqual([true, true, own]);
  });

  test('has seen the copies of the phase, and not those of the next', () => {
    const { clocks, threads } = blocks(1, 2);
    const [one, two] = threads[0]! as [Thread, Thread];
    const barrier = {};
    const { block, component } = clocks.agentOf(one, barrier);
    clocks.arrived(one, barrier, 0);
    clocks.waited(two, barrier, 0);
    const has = (time: number) => clocks.of(two).hasSeen(block, component, time);
    expect([has(1), has(2)]).toEqual([true, false]);
  });

  test('knows of a block what reached it through another block', () => {
    const { clocks, threads } = blocks(3, 1);
    const [[one], [two], [three]] = threads as [[Thread], [Thread], [Thread]];
    const [first, second] = [{}, {}];
    clocks.arrived(one, first, 0);
    clocks.waited(two, first, 0);
    clocks.arrived(two, second, 0);
    clocks.waited(three, second, 0);
    const { block } = clocks.of(one);
    expect([clocks.of(three).hasSeen(block, 0, 1), clocks.of(three).hasSeen(block, 0, 2)]).toEqual([
      true,
      false,
    ]);
  });
});

test('any arrivals and waits order what a plain model says', () => {
  const step = fc.record({ thread: fc.nat(3), object: fc.nat(2), waits: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clocks, threads } = blocks(1, 4);
      const all = threads[0]!;
      const objects = [{}, {}, {}];
      // What each thread knows of each, and what the objects have collected by the end of each phase.
      const known: number[][] = all.map((_, own) => all.map((_, rank) => (rank === own ? 1 : 0)));
      const collected = objects.map(() => [] as number[][]);
      const join = (a: readonly number[], b: readonly number[]) =>
        a.map((time, at) => Math.max(time, b[at]!));
      for (const { thread, object, waits } of steps) {
        const phases = collected[object]!;
        if (waits) {
          if (phases.length === 0) continue;
          // One phase late.
          const phase = Math.max(0, phases.length - 2);
          clocks.waited(all[thread]!, objects[object]!, phase);
          known[thread] = join(known[thread]!, phases[phase]!);
        } else {
          clocks.arrived(all[thread]!, objects[object]!, phases.length);
          phases.push(join(known[thread]!, phases.at(-1) ?? [0, 0, 0, 0]));
          known[thread]![thread]! += 1;
        }
      }
      expect(all.map((thread) => [...clocks.of(thread).seen.slice(0, 4)])).toEqual(known);
    }),
    { numRuns: 300 },
  );
});
