// Every instruction of lanes as one of 256 and of 512 bits: four copies of it that lie side by side, as WebAssembly carries
// them out one by one and as C does together, give the same bits for edge values and for random ones. (The bits of a
// NaN are not specified.)

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileNow, findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries, libraryName, withOutputNow } from '#warpstage/runtime/cpu/native/libraries.js';
import { libraryFunctions, loadLibrary } from '#warpstage/runtime/cpu/native/runner.js';
import { foreignFunctionsPath } from '#warpstage/runtime/cuda/library.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { Code } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import type { MemoryInstruction } from '#warpstage/targets/wasm/encoder/opcodes.js';
import { writeLaneLoad, writeLaneStore } from '#warpstage/targets/wasm/simd/elements.js';
import { randomRuns } from '../differential/tape.ts';
import { compilers } from '../support/native.ts';
import { cases } from './instruction-cases.ts';

const four = [0, 1, 2, 3];
/** Each operand's four vectors, and behind them the values that all copies share. */
const [operandsAt, sharedAt, resultAt] = [1024, 1536, 2049];

interface Wide {
  readonly name: string;
  /** Writes one of the copies. */
  readonly write: (code: Code, copy: number) => void;
  /** Whether it is carried out lane by lane, and so together. */
  readonly goesTogether: boolean;
}

const ofLanes = cases.filter(
  ({ name, result, operands }) =>
    result === 'v128' && operands.length > 0 && name !== 'shuffle' && !name.includes('_lane'),
);
const elements = ['i8', 'u8', 'i16', 'u16', 'i32', 'f32'] as const;
const bytesOf = (element: string) => Number(element.slice(1)) / 8;

const wides: readonly Wide[] = [
  ...ofLanes.map(
    ({ name, operands, write }): Wide => ({
      name,
      goesTogether: operands.includes('v128') && !/extend|promote|demote|convert_low/.test(name),
      write: (code, copy) => {
        code.i32(resultAt);
        for (const [i, type] of operands.entries())
          if (type === 'v128') code.i32(operandsAt + 64 * i).memory('v128.load', 16 * copy, 1);
          else code.i32(sharedAt + 8 * i).memory(`${type}.load` as MemoryInstruction);
        write(code);
        code.memory('v128.store', 16 * copy, 1);
      },
    }),
  ),
  ...elements.map(
    (element): Wide => ({
      name: `loads of ${element}`,
      goesTogether: true,
      write: (code, copy) => {
        code.i32(resultAt).i32(operandsAt + 1);
        writeLaneLoad(code, element, 4 * bytesOf(element) * copy);
        code.memory('v128.store', 16 * copy, 1);
      },
    }),
  ),
  ...elements.map(
    (element): Wide => ({
      name: `stores of ${element}`,
      goesTogether: true,
      write: (code, copy) => {
        code
          .i32(resultAt)
          .i32(operandsAt)
          .memory('v128.load', 16 * copy, 1);
        writeLaneStore(code, element, 4 * bytesOf(element) * copy);
      },
    }),
  ),
];

const writer = new ModuleWriter();
for (const [number, { write }] of wides.entries()) {
  const code = new Code();
  for (const copy of four) {
    code.op('nop');
    write(code, copy);
  }
  code.op('nop');
  writer.function(`c${number}`, code, [], [], { exported: true });
}
const bytes = writer.encode();

const page = () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const portable = page();
const asWasm = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory: portable } }).exports;

/** What four copies left: 64 bytes, or less of what is narrow. NaN has one form. */
function outcome({ buffer }: WebAssembly.Memory, name: string) {
  const copy = new Uint8Array(buffer).slice(resultAt, resultAt + 66).buffer;
  if (/^f64x2|^select f64/.test(name)) {
    const view = new Float64Array(copy, 0, 8);
    for (const [i, value] of view.entries()) if (Number.isNaN(value)) view[i] = NaN;
  } else if (/^f32x4/.test(name)) {
    const view = new Float32Array(copy, 0, 16);
    for (const [i, value] of view.entries()) if (Number.isNaN(value)) view[i] = NaN;
  }
  return { name, bytes: [...new Uint8Array(copy)] };
}

const float = fc.oneof(
  fc.constantFrom(0, -0, 0.5, -0.5, 1.5, -2.5, 1e-45, 2147483520, 2147483648, -2147483648, 4294967296),
  fc.constantFrom(Infinity, -Infinity, NaN, 3.4e38, -1e300, 1e-310),
  fc.float(),
  fc.double(),
);
const integer = fc.oneof(
  fc.constantFrom(0, 1, 2, 31, 32, 33, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
);
/** Pairs of lanes: two integers, two floats or a double. */
interface Pair {
  readonly kind: string;
  readonly a: number;
  readonly b: number;
  readonly x: number;
  readonly y: number;
}
const pair: fc.Arbitrary<Pair> = fc.record({
  kind: fc.constantFrom('i', 'f', 'd'),
  a: integer,
  b: integer,
  x: float,
  y: float,
});
const pairs = fc.array(pair, { minLength: 70, maxLength: 70 });

function fill({ buffer }: WebAssembly.Memory, values: readonly Pair[]): void {
  new Uint8Array(buffer, resultAt, 66).fill(0);
  const view = new DataView(buffer, operandsAt);
  for (const [i, { kind, a, b, x, y }] of values.entries()) {
    if (kind === 'd') view.setFloat64(8 * i, x, true);
    else if (kind === 'f') {
      view.setFloat32(8 * i, x, true);
      view.setFloat32(8 * i + 4, y, true);
    } else {
      view.setUint32(8 * i, a, true);
      view.setUint32(8 * i + 4, b, true);
    }
  }
}

describe.each([2, 4] as const)('with vectors %i times as wide', (width) => {
  const native = nativeText(bytes, width);

  test('what is done lane by lane goes together', () => {
    const bodies = native.text.match(/^static void f\d+\(struct ws_env \*e\) \{[\s\S]*?^\}/gm)!;
    expect(bodies).toHaveLength(wides.length);
    const type = width === 2 ? 'ws_v256' : 'ws_v512';
    const together = bodies.map((body) => new RegExp(`const ${type} t\\d+ = `).test(body));
    expect(wides.filter((_, i) => together[i] !== wides[i]!.goesTogether).map(({ name }) => name)).toEqual(
      [],
    );
  });

  test.each(compilers)('every instruction gives the same bits, by %s', async (command) => {
    const compiler = await findCompiler({ WARPSTAGE_CC: command });
    const libraries = new Libraries(null);
    const name = libraryName(compiler.identity, native.text);
    withOutputNow((output) => {
      expect(compileNow(compiler, native.text, output)).toEqual({ failed: null });
      libraries.keep(name, output);
    });
    const memory = page();
    const code = { ...native, path: libraries.pathOf(name), koffi: foreignFunctionsPath() };
    const library = loadLibrary(code);
    const functions = libraryFunctions(library, code, { memory, print: () => {} }, null);
    fc.assert(
      fc.property(pairs, (values) => {
        for (const [number, one] of wides.entries()) {
          for (const each of [portable, memory]) fill(each, values);
          (asWasm[`c${number}`] as () => void)();
          functions[`c${number}`]!();
          expect(outcome(memory, one.name)).toEqual(outcome(portable, one.name));
        }
      }),
      randomRuns(20),
    );
    library.unload();
  });
});
