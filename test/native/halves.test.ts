// Halves in compiled code, with vectors of every width: the bits of the interpreter; and upper halves of all products.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { moduleForProcessor } from '#warpstage/targets/wasm/compile.js';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeOfWidth } from '../support/native.ts';
import { halvesExamples, outcomeOfHalves, randomHalves } from '../wasm/random-halves.ts';

/** The names of wide instructions of halves in the text. */
function instructionsOf(made: Kernel, width: 1 | 2 | 4): readonly string[] {
  const launch = { block: [128, 1, 1] as const, cooperative: false, indexType: 'i32' as const };
  const { program } = specialise(made, { ...launch, constants: {}, functions: {} });
  const { text } = nativeText(moduleForProcessor(program, width).bytes, width);
  const suffix = width === 1 ? '' : `_${width}`;
  const found =
    text.match(new RegExp(`[ =]ws_(v128_(load|store)8x8(_[su])?|mulhi)${suffix}\\((m |t)`, 'g')) ?? [];
  return found.map((each) => each.slice(1).replace(/\(.*/, ''));
}

test.each(nativeOfWidth)(
  'random kernels on narrow elements, with width %i',
  (width, target) => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(tapes(120), fc.constantFrom(256, 200), fc.constantFrom(0, 0, 3), (tape, count, missing) => {
        const { kernel: made, text } = randomHalves(tape);
        const instructions = instructionsOf(made, width);
        fc.pre(instructions.length > 0);
        for (const each of instructions) seen.add(each);
        const expected = outcomeOfHalves(interpreter('eager'), made, count, missing);
        expect(outcomeOfHalves(target, made, count, missing), text).toEqual(expected);
      }),
      randomRuns(24),
    );
    const suffix = width === 1 ? '' : `_${width}`;
    expect([...seen].sort()).toEqual(
      ['ws_mulhi', 'ws_v128_load8x8_s', 'ws_v128_load8x8_u', 'ws_v128_store8x8'].map(
        (name) => `${name}${suffix}`,
      ),
    );
  },
  randomLimit(24),
);

test.each(nativeOfWidth)('products and shifts, with width %i', (_, target) => {
  for (const [name, , made] of halvesExamples) {
    const expected = outcomeOfHalves(interpreter('eager'), made, 0, 0);
    expect({ name, ...outcomeOfHalves(target, made, 0, 0) }).toEqual({ name, ...expected });
  }
});

test('twice as many vectors are under way, of which two are one', () => {
  const [, , sums] = halvesExamples[0]!;
  const loads = instructionsOf(sums, 4).filter((each) => each.includes('load'));
  expect(loads).toHaveLength(2 * (128 / 32));
});
