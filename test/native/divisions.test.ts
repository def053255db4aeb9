// Lanes of integers that are divided together: the quotients and remainders of JavaScript, and the faults of WebAssembly.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { compileNow, findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries, libraryName, withOutputNow } from '#warpstage/runtime/cpu/native/libraries.js';
import { libraryFunctions, loadLibrary } from '#warpstage/runtime/cpu/native/runner.js';
import { foreignFunctionsPath } from '#warpstage/runtime/cuda/library.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { Code } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import { type ProcessorInstruction, processorOpcodes } from '#warpstage/targets/wasm/encoder/opcodes.js';
import { randomRuns } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { compilers, nativeOfWidth } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import { wasm } from '../support/wasm.ts';

type Division = Extract<ProcessorInstruction, `i32x4.${string}`>;
const instructions = Object.keys(processorOpcodes).filter((name) => name.startsWith('i32x4.')) as Division[];
const [dividendsAt, divisorsAt, resultAt] = [1024, 1088, 2048];

/** What JavaScript computes, of two integers of 32 bits. */
const expectedOf: Readonly<Record<Division, (a: number, b: number) => number>> = {
  'i32x4.div_s': (a, b) => Math.trunc((a | 0) / (b | 0)) >>> 0,
  'i32x4.div_u': (a, b) => Math.trunc(a / b) >>> 0,
  'i32x4.rem_s': (a, b) => ((a | 0) % (b | 0)) >>> 0,
  'i32x4.rem_u': (a, b) => (a % b) >>> 0,
};

const writer = new ModuleWriter();
for (const [number, instruction] of instructions.entries()) {
  const code = new Code();
  for (const copy of [0, 1, 2, 3]) {
    code.op('nop').i32(resultAt);
    for (const at of [dividendsAt, divisorsAt]) code.i32(at).memory('v128.load', 16 * copy);
    code.processor(instruction).memory('v128.store', 16 * copy);
  }
  code.op('nop');
  writer.function(`c${number}`, code, [], [], { exported: true });
}
const bytes = writer.encode();

const edges = [
  0, 1, 2, 3, 7, 255, 65_535, 65_536, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
];
const integer = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
const divisor = fc.oneof(integer, fc.integer({ min: 1, max: 300 })).map((value) => value || 1);
const lanes = fc.tuple(
  fc.array(integer, { minLength: 16, maxLength: 16 }),
  fc.array(divisor, { minLength: 16, maxLength: 16 }),
);

describe.each(compilers)('by %s', (command) => {
  test.each([1, 2, 4] as const)('lanes divide as JavaScript does, vectors of width %i', async (width) => {
    const native = nativeText(bytes, width);
    if (width > 1) expect(native.text).toMatch(new RegExp(`= ws_i32x4_rem_u_${width}\\(`));
    const compiler = await findCompiler({ WARPSTAGE_CC: command });
    const libraries = new Libraries(null);
    const name = libraryName(compiler.identity, native.text);
    withOutputNow((output) => {
      expect(compileNow(compiler, native.text, output)).toEqual({ failed: null });
      libraries.keep(name, output);
    });
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const code = { ...native, path: libraries.pathOf(name), koffi: foreignFunctionsPath() };
    const library = loadLibrary(code);
    const functions = libraryFunctions(library, code, { memory, print: () => {} }, null);
    fc.assert(
      fc.property(lanes, ([dividends, divisors]) => {
        new Uint32Array(memory.buffer, dividendsAt).set(dividends);
        new Uint32Array(memory.buffer, divisorsAt).set(divisors);
        for (const [number, instruction] of instructions.entries()) {
          functions[`c${number}`]!();
          const expected = dividends.map((a, lane) => expectedOf[instruction](a, divisors[lane]!));
          const found = [...new Uint32Array(memory.buffer, resultAt, 16)];
          expect({ instruction, found }).toEqual({ instruction, found: expected });
        }
      }),
      randomRuns(100),
    );
    library.unload();
  });
});

const quotients = kernel(
  { y: 'i32[]', z: 'u32[]', a: 'readonly i32[]', b: 'readonly i32[]', columns: 'i32' },
  ({ y, z, a, b, columns }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    const row = Math.trunc(a[i]! / columns);
    y[i] = row * 1000 + (a[i]! % columns) + Math.trunc(a[i]! / b[i]!);
    z[i] = cuda.u32(a[i]!) % cuda.u32(b[i]!);
  },
);

describe.each(nativeOfWidth)('of width %i', (_, target) => {
  const run = (by: typeof wasm, b: Int32Array, columns: number) => {
    const n = b.length;
    const a = Int32Array.from({ length: n }, (__, i) => Math.imul(i + 3, 2_654_435_761));
    a[5] = -(2 ** 31);
    const [y, z] = [new Int32Array(n), new Uint32Array(n)];
    const { fault } = runKernel(by, quotients, {
      grid: 1,
      block: n,
      arguments: { y, z, a, b: b.slice(), columns },
    });
    return { fault, y, z };
  };
  const all = Int32Array.from({ length: 128 }, (__, i) => (i % 13 === 5 ? -1 : ((i * 37) % 101) - 50 || 7));

  test('lanes have the quotients of WebAssembly', () => {
    for (const columns of [640, -1, 1, -(2 ** 31)]) {
      const found = run(target, all, columns);
      expect(found.fault).toBeNull();
      expect(found).toEqual(run(wasm, all, columns));
      expect(found).toEqual(run(interpreter('eager'), all, columns));
    }
  });

  test('who divides by zero is told as by WebAssembly', () => {
    for (const zero of [0, 3, 70, 127]) {
      const b = all.slice();
      b[zero] = 0;
      const { fault } = run(target, b, 640);
      expect(fault).toMatchObject({ kind: 'division-by-zero' });
      expect(fault).toEqual(run(wasm, b, 640).fault);
    }
    const { fault } = run(target, all, 0);
    expect(fault).toMatchObject({ kind: 'division-by-zero' });
    expect(fault).toEqual(run(wasm, all, 0).fault);
  });
});
