// Random copies and waits: WebAssembly, as it chooses and as state machines, and a GPU do what the interpreter
// does under every policy of delivery; and the checker finds nothing wrong.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { isForCompiler } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { outcomeOf } from '../warps/support.ts';
import { asyncInputLength, asyncKernelText } from './random-async.ts';
import { randomLimit, randomRuns, type Tape, tapes } from './tape.ts';

sayWithoutGpu();

function randomLaunch(tape: Tape, block: number) {
  const text = asyncKernelText(tape);
  const body = new Function(`return ${text}`)();
  const random = kernel({ out: 'i32[]', x: 'readonly i32[]', size: 'constant index' }, body);
  const x = Int32Array.from({ length: asyncInputLength }, (_, i) => (i * 2_654_435_761) | 0);
  const launch = { grid: 1, block, arguments: { out: new Int32Array(block), x, size: block } };
  return { text, random, launch };
}

test.each([8, 40])(
  'blocks of %i threads',
  (block) => {
    const seen = { regions: 0, states: 0 };
    fc.assert(
      fc.property(tapes(60), (tape) => {
        const { text, random, launch } = randomLaunch(tape, block);
        const outcome = outcomeOf(random, launch, { native: isForCompiler(text) });
        expect(outcome.fault, text).toBeNull();
        seen[outcome.mode] += 1;
      }),
      randomRuns(20),
    );
    expect(seen.regions).toBeGreaterThan(0);
    expect(seen.states).toBeGreaterThan(0);
  },
  randomLimit(20),
);

test('under the checker', () => {
  fc.assert(
    fc.property(tapes(60), (tape) => {
      const { text, random, launch } = randomLaunch(tape, 16);
      const { findings, verdict } = check(random, launch as never, { schedules: 3 });
      // A wait of no time at all is right here, and reported because it is not in CUDA.
      const others = findings.filter(({ code }) => code !== 'WS7017');
      expect(
        others.map(({ code, message }) => `${code}: ${message}`),
        text,
      ).toEqual([]);
      expect(verdict).not.toBe('inconclusive');
    }),
    randomRuns(20),
  );
});
