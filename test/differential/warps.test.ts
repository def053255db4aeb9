// Random exchanges of lanes: WebAssembly, as it chooses and as state machines, and a GPU do what the
// interpreter does. So does what the state machines are made of, without a race.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { interpreted, threadsOf } from '../support/lowered.ts';
import { isForCompiler } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { outcomeOf } from '../warps/support.ts';
import { warpKernelText } from './random-warps.ts';
import { randomLimit, randomRuns, tapes } from './tape.ts';

sayWithoutGpu();

const found: string[] = [];
const cohorts = (['late', 1] as const).map((delivery) =>
  interpreted('cohorts', delivery, ({ message }) => void found.push(message), threadsOf),
);

test.each([64, 32, 40])(
  'blocks of %i threads',
  (block) => {
    const seen = { regions: 0, states: 0, faults: 0 };
    fc.assert(
      fc.property(tapes(60), (tape) => {
        const text = warpKernelText(tape);
        const body = new Function(`return ${text}`)();
        const random = kernel({ out: 'i32[]', x: 'readonly i32[]' }, body);
        const x = Int32Array.from({ length: 64 }, (_, i) => (i * 2_654_435_761) | 0);
        const launch = { grid: 1, block, arguments: { out: new Int32Array(64), x } };
        const outcome = outcomeOf(random, launch, { native: isForCompiler(text) });
        seen[outcome.mode] += 1;
        if (outcome.fault !== null) {
          seen.faults += 1;
          return;
        }
        for (const target of cohorts) {
          found.length = 0;
          const out = new Int32Array(64);
          const { fault } = runKernel(target, random, { ...launch, arguments: { out, x } });
          expect([fault, ...found], text).toEqual([null]);
          expect(out, text).toEqual(outcome.arguments.out);
        }
      }),
      randomRuns(12),
    );
    expect(seen.regions).toBeGreaterThan(0);
    expect(seen.states).toBeGreaterThan(0);
    // Only a last warp of fewer lanes has lanes that cannot be read.
    if (block % 32 === 0) expect(seen.faults).toBe(0);
  },
  randomLimit(12),
);
