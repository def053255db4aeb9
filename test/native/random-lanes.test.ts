// Random kernels for lanes of every width of element, with vectors of every width: the bits of the interpreter and of
// WebAssembly. They read neighbours, go round loops, choose and branch; what is read and written has 8, 16 and 32 bits.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Schema } from '#warpstage/kernel/schema.js';
import { hostArrays } from '#warpstage/kernel/types.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { moduleForProcessor } from '#warpstage/targets/wasm/compile.js';
import { randomLimit, randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeOfWidth } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type HostArray } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm } from '../support/wasm.ts';

const block = 256;
const around = 8;
const elements = ['i8', 'u8', 'i16', 'u16', 'i32', 'f32'] as const;
const integers = elements.filter((element) => element !== 'f32');

const schema: Schema = {
  count: 'i32',
  ...Object.fromEntries(
    elements.flatMap((element) => [
      [`x_${element}`, `readonly ${element}[]` as const],
      [`y_${element}`, `${element}[]` as const],
    ]),
  ),
};

/** An integer, of i32. */
function integer(tape: Tape, depth: number, names: readonly string[]): string {
  if (depth === 0 || tape.chance(1, 5)) {
    if (tape.chance(1, 4)) return tape.pick([...names, '3', '-7', '255']);
    return `x_${tape.pick(integers)}[i + ${tape.below(around)}]`;
  }
  const [a, b] = [integer(tape, depth - 1, names), integer(tape, depth - 1, names)];
  return tape.pick([
    `(${a} ${tape.pick(['+', '-', '*', '&', '|', '^'])} ${b} | 0)`,
    `(${a} ${tape.pick(['<<', '>>'])} ${tape.below(32)} | 0)`,
    `(${a} >>> ${1 + tape.below(31)} | 0)`,
    `Math.${tape.pick(['min', 'max'])}(${a}, ${b})`,
    `(${a} ${tape.pick(['<', '>=', '===', '!=='])} ${b} ? ${a} : ${b})`,
    `cuda.${tape.pick(['u8', 'i8', 'u16', 'i16', 'i32'])}(${a})`,
    `(${a} % ${tape.pick([`(${b} | 1)`, '640', 'count'])} | 0)`,
    `Math.trunc(${a} / ${tape.pick([`(${b} | 1)`, '-7', 'count'])})`,
    `cuda.i32(cuda.u32(${a}) % cuda.u32(${b} | 1))`,
  ]);
}

/** A float, exact on every machine. */
function float(tape: Tape, depth: number, names: readonly string[]): string {
  if (depth === 0 || tape.chance(1, 5))
    return tape.pick([`x_f32[i + ${tape.below(around)}]`, `cuda.f32(${integer(tape, 1, names)})`]);
  const [a, b] = [float(tape, depth - 1, names), float(tape, depth - 1, names)];
  return tape.pick([
    `(${a} ${tape.pick(['+', '-', '*', '/'])} ${b})`,
    `Math.${tape.pick(['min', 'max'])}(${a}, ${b})`,
    `Math.${tape.pick(['sqrt', 'abs', 'floor', 'ceil', 'trunc'])}(${a})`,
    `(${integer(tape, 1, names)} > 9 ? ${a} : ${b})`,
  ]);
}

/** Stores to one element of each output, or to some in a branch. */
function random(tape: Tape): string {
  const lines: string[] = [];
  const names = ['sum'];
  // What each of them reaches, however few there are.
  lines.push('sum = sum + x_i8[i] + x_u8[i + 1] + x_i16[i + 2] + x_u16[i + 3] | 0;');
  if (tape.chance(1, 2)) {
    const added = `sum * 3 + ${integer(tape, 1, ['sum'])}`;
    lines.push(
      `for (let k = 0; k < ${2 + tape.below(4)}; k++) sum = ${added} + x_${tape.pick(integers)}[i + k] | 0;`,
    );
  }
  for (const element of elements) {
    const isSure = element === 'u8' || element === 'i16';
    if (!isSure && tape.chance(1, 3)) continue;
    const value = element === 'f32' ? float(tape, 3, names) : integer(tape, 3, names);
    const store = `y_${element}[i] = ${value};`;
    lines.push(!isSure && tape.chance(1, 4) ? `if (${integer(tape, 1, names)} > 60) { ${store} }` : store);
  }
  return `({ ${Object.keys(schema).join(', ')} }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let sum = cuda.i32(i);
  ${lines.join('\n  ')}
}`;
}

const length = block + around;
const valuesOf = (element: (typeof elements)[number], salt: number) =>
  Array.from({ length }, (_, i) => {
    const bits = Math.imul(i + salt, 2_654_435_761);
    return element === 'f32'
      ? i % 31 === 7
        ? NaN
        : i % 23 === 5
          ? -0
          : (bits >> 12) / 64
      : bits >> (i % 25);
  });

function argumentsOf(): Record<string, HostArray> {
  return Object.fromEntries(
    elements.flatMap((element, salt) => [
      [`x_${element}`, new hostArrays[element](valuesOf(element, salt + 1))],
      [`y_${element}`, new hostArrays[element](block).fill(77)],
    ]),
  );
}

/** Which instructions of wide vectors the text has. */
function wideInstructions(made: ReturnType<typeof kernel>, width: 2 | 4): readonly string[] {
  const { program } = specialise(made, {
    block: [block, 1, 1],
    cooperative: true,
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  const { text } = nativeText(moduleForProcessor(program, width).bytes, width);
  const found = text.match(new RegExp(`\\bws_v128_(load|store)(8|16)x4(_[su])?_${width}\\(m `, 'g')) ?? [];
  return found.map((each) => each.replace(/_\d\(m $/, ''));
}

/** That of one is what random kernels of other tests have. */
const widths = nativeOfWidth.filter(([width]) => atLength || width !== 1);

describe.each(widths)('random kernels with width %i', (width, target) => {
  test(
    'have the bits of the interpreter and of WebAssembly',
    () => {
      const seen = new Set<string>();
      const ways: boolean[] = [];
      fc.assert(
        fc.property(tapes(200), (tape) => {
          const text = random(tape);
          const made = kernel(schema, new Function(`return ${text}`)(), { name: 'random' });
          const outcome = (by: typeof wasm) => {
            const args = argumentsOf();
            const given = { count: 77, ...args };
            const { fault, executable } = runKernel(by, made, { grid: 1, block, arguments: given });
            expect(fault).toBeNull();
            if (by === target && executable.target === 'wasm') ways.push(executable.vectorised);
            return Object.fromEntries(Object.entries(args).map(([name, array]) => [name, bitsOf(array)]));
          };
          const expected = outcome(interpreter('eager'));
          expect(outcome(wasm), text).toEqual(expected);
          expect(outcome(target), text).toEqual(expected);
          if (width !== 1) for (const each of wideInstructions(made, width)) seen.add(each);
        }),
        randomRuns(5),
      );
      // Lanes are what most of them are for.
      expect(ways.filter((way) => way).length).toBeGreaterThan(ways.length / 2);
      // Each way to load and to store narrow elements was reached.
      if (width !== 1)
        expect([...seen].sort()).toEqual([
          'ws_v128_load16x4_s',
          'ws_v128_load16x4_u',
          'ws_v128_load8x4_s',
          'ws_v128_load8x4_u',
          'ws_v128_store16x4',
          'ws_v128_store8x4',
        ]);
    },
    randomLimit(12),
  );
});
