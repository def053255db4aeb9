import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostArrays } from '#warpstage/kernel/types.js';
import { runAsJavaScript } from '../support/run-as-javascript.ts';
import type { HostArray } from '../support/run-program.ts';
import {
  kernelCounterLength,
  kernelElements,
  kernelInputLength,
  kernelOwnElements,
  randomKernel,
} from './random-kernel.ts';
import { randomRuns, tapes } from './tape.ts';

test('js', () => {
  let k = 0;
  fc.assert(
    fc.property(tapes(400), (tape) => {
      const random = randomKernel(tape);
      const args: Record<string, HostArray | number | boolean> = {
        count: 3,
        scalar_i32: -7,
        scalar_u32: 4e9,
        scalar_f32: Math.fround(0.7),
        scalar_f64: -1e9 / 7,
        scalar_bool: true,
        counters: new Uint32Array(kernelCounterLength),
      };
      for (const e of kernelElements) {
        args[`in_${e}`] = new hostArrays[e](kernelInputLength).map((_: number, i: number) =>
          e[0] === 'f' ? (i * 37 - 4000) / 8 : i * 2_654_435_761,
        ) as HostArray;
        args[`out_${e}`] = new hostArrays[e](random.grid * random.block * kernelOwnElements);
      }
      if (k++ === 30) console.log(random.text);
      try {
        runAsJavaScript(random.text, { grid: random.grid, block: random.block, arguments: args });
      } catch (e) {
        console.log(random.text);
        throw e;
      }
      expect(1).toBe(1);
    }),
    randomRuns(200),
  );
});
