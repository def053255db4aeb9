// Instructions of relaxed SIMD: a product and a sum are rounded once where a kernel allows it, and nowhere else.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { hasRelaxedSimd } from '#warpstage/targets/wasm/encoder/module.js';
import { randomRuns } from '../differential/tape.ts';
import { disassemble } from '../support/disassemble.ts';
import { interpreter } from '../support/interpreter.ts';
import { withRelaxedSimd } from '../support/relaxed-simd.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const schema = { out: 'f32[]', a: 'readonly f32[]', b: 'readonly f32[]', c: 'readonly f32[]' } as const;

/** Each with what it is: a product, and what is added to it. */
const forms: Readonly<Record<string, (a: number, b: number, c: number) => readonly [number, number]>> = {
  'a * b + c': (a: number, b: number, c: number) => [a * b, c],
  'c + a * b': (a: number, b: number, c: number) => [a * b, c],
  'a * b - c': (a: number, b: number, c: number) => [a * b, -c],
  'c - a * b': (a: number, b: number, c: number) => [-a * b, c],
};

function kernelOf(form: string, fma: boolean): Kernel {
  const text = `({ out, a: x, b: y, c: z }, cuda) => {
    const i = cuda.threadIdx.x;
    const a = x[i], b = y[i], c = z[i];
    out[i] = ${form};
  }`;
  return kernel(schema, new Function(`return ${text}`)(), { fma }) as unknown as Kernel;
}

function outcome(target: Target, given: Kernel, a: Float32Array, b: Float32Array, c: Float32Array) {
  const out = new Float32Array(a.length);
  const { fault } = runKernel(target, given, { grid: 1, block: a.length, arguments: { out, a, b, c } });
  expect(fault).toBeNull();
  return out;
}

function textOf(given: Kernel, without: readonly 'relaxed'[] = []): string {
  const options = { block: [16, 1, 1], indexType: 'i32', cooperative: false } as const;
  const { program } = specialise(given, { ...options, constants: {}, functions: {} });
  return disassemble(wasmBytes(program, { without }));
}

// Of so few bits, and so near to each other, that the sum of a product and another is exact in f64.
const value = fc.integer({ min: -(2 ** 20), max: 2 ** 20 }).map((integer) => integer / 2 ** 10);
const values = fc.array(value, { minLength: 16, maxLength: 16 }).map((each) => Float32Array.from(each));

describe.each(Object.entries(forms))('%s', (form, exact) => {
  test('is rounded once or twice where the kernel allows it', () => {
    let once = 0;
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const given = kernelOf(form, true);
        const results = withRelaxedSimd(() => outcome(wasm, given, a, b, c));
        for (const [i, result] of results.entries()) {
          const [product, added] = exact(a[i]!, b[i]!, c[i]!);
          const rounded = [Math.fround(product + added), Math.fround(Math.fround(product) + added)];
          expect(rounded).toContain(result);
          if (result !== rounded[1]) once += 1;
        }
        // The interpreter, and those that leave the pass out, round twice.
        const strict = outcome(interpreter('eager'), given, a, b, c);
        expect(withRelaxedSimd(() => outcome(wasmWithout('relaxed'), given, a, b, c))).toEqual(strict);
        expect(withRelaxedSimd(() => outcome(wasm, kernelOf(form, false), a, b, c))).toEqual(strict);
      }),
      randomRuns(30),
    );
    // A machine without fused multiply-add rounds twice; none rounds once in some vectors alone.
    expect(once === 0 || once > 12).toBe(true);
  });

  test('is one instruction where the engine has it', () => {
    const given = kernelOf(form, true);
    const fused = /f32x4\.relaxed_n?madd/;
    expect(withRelaxedSimd(() => textOf(given))).toMatch(fused);
    expect(withRelaxedSimd(() => textOf(given, ['relaxed']))).not.toMatch(fused);
    expect(withRelaxedSimd(() => textOf(kernelOf(form, false)))).not.toMatch(fused);
    expect(fused.test(textOf(given))).toBe(hasRelaxedSimd());
  });
});

test('a module for an engine without relaxed SIMD has none of it', () => {
  const chosen = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
    const i = cuda.threadIdx.x;
    out[i] = out[i]! > 3 ? i : 7;
  }) as unknown as Kernel;
  expect(textOf(chosen).includes('relaxed')).toBe(hasRelaxedSimd());
  expect(withRelaxedSimd(() => textOf(chosen))).toContain('i32x4.relaxed_laneselect');
  expect(withRelaxedSimd(() => textOf(chosen, ['relaxed']))).toContain('v128.bitselect');
});
