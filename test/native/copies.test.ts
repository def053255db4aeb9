// What may be carried out together by vectors of the machine's width, and what may not: copies written by hand, run by
// WebAssembly and as C of every width.

import { describe, expect, test } from 'vitest';
import { compileNow, findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries, libraryName, withOutputNow } from '#warpstage/runtime/cpu/native/libraries.js';
import { libraryFunctions, loadLibrary } from '#warpstage/runtime/cpu/native/runner.js';
import { foreignFunctionsPath } from '#warpstage/runtime/cuda/library.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { Code, type Local } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import { hasCompiler } from '../support/native.ts';

const [from, to] = [1024, 4096];
const four = [0, 1, 2, 3];

interface Example {
  /** Whether four copies become one. */
  readonly goesTogether: boolean;
  readonly write: (code: Code, base: Local) => void;
}

/** Loads the four vectors at `from` into locals. */
function loaded(code: Code, base: Local): readonly Local[] {
  const locals = four.map(() => code.local('v128'));
  for (const vector of four) {
    code.op('nop');
    code
      .get(base)
      .memory('v128.load', 16 * vector)
      .set(locals[vector]!);
  }
  code.op('nop');
  return locals;
}

function stored(code: Code, base: Local, locals: readonly Local[]): void {
  for (const vector of four) {
    code.op('nop');
    code
      .get(base)
      .get(locals[vector]!)
      .memory('v128.store', to - from + 16 * vector);
  }
  code.op('nop');
}

function each(code: Code, write: (vector: number) => void): void {
  for (const vector of four) {
    code.op('nop');
    write(vector);
  }
  code.op('nop');
}

const examples: Readonly<Record<string, Example>> = {
  'copies of their own': {
    goesTogether: true,
    write: (code, base) => {
      const x = loaded(code, base);
      each(code, (i) => code.get(x[i]!).get(x[i]!).op('i32x4.add').set(x[i]!));
      stored(code, base, x);
    },
  },
  'what the first leaves for all': {
    goesTogether: true,
    write: (code, base) => {
      const x = loaded(code, base);
      const shared = code.local('v128');
      each(code, (i) => {
        code.get(x[i]!);
        if (i === 0) code.get(base).memory('v128.load32_splat', 4).tee(shared);
        else code.get(shared);
        code.op('i32x4.mul').set(x[i]!);
      });
      stored(code, base, x);
    },
  },
  // GCC 12 repeats their first lanes where vectors of 256 or 512 bits move as bytes.
  'constants that end in zeros': {
    goesTogether: true,
    write: (code, base) => {
      const x = loaded(code, base);
      each(code, (i) => code.get(x[i]!).get(x[i]!).op('i32x4.add').set(x[i]!));
      const stores = [...x.keys()].map((first) => (vector: number) => {
        const one = vector <= first ? 1 : 0;
        code
          .get(base)
          .i32x4([one, one, one, one])
          .memory('v128.store', to - from + 16 * (vector + 4 * first));
      });
      for (const store of stores) each(code, store);
    },
  },
  'a sum that goes from copy to copy': {
    goesTogether: false,
    write: (code, base) => {
      const x = loaded(code, base);
      const sum = code.local('v128');
      each(code, (i) => code.get(sum).get(x[i]!).op('i32x4.add').set(sum));
      each(code, (i) => code.get(sum).get(x[i]!).op('v128.xor').set(x[i]!));
      stored(code, base, x);
    },
  },
  'copies that read the next': {
    goesTogether: false,
    write: (code, base) => {
      const x = loaded(code, base);
      each(code, (i) =>
        code
          .get(x[(i + 1) % 4]!)
          .get(x[i]!)
          .op('i32x4.sub')
          .set(x[i]!),
      );
      stored(code, base, x);
    },
  },
  'copies in another order': {
    goesTogether: false,
    write: (code, base) => {
      const x = loaded(code, base);
      each(code, (i) =>
        code
          .get(x[3 - i]!)
          .i32x4([i, i, i, i])
          .op('i32x4.add')
          .set(x[3 - i]!),
      );
      stored(code, base, x);
    },
  },
  'loads that are not side by side': {
    goesTogether: false,
    write: (code, base) => {
      const x = loaded(code, base);
      each(code, (i) =>
        code
          .get(x[i]!)
          .get(base)
          .memory('v128.load', 32 * i)
          .op('v128.xor')
          .set(x[i]!),
      );
      stored(code, base, x);
    },
  },
};

function moduleOf({ write }: Example): Uint8Array<ArrayBuffer> {
  const writer = new ModuleWriter();
  const code = new Code([{ name: 'base', type: 'i32' }]);
  write(code, 0);
  writer.function('run', code, ['i32'], [], { exported: true });
  return writer.encode();
}

/** A memory with numbers in it, of which none is another's double. */
function memoryOf(): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const words = new Uint32Array(memory.buffer, from, 64);
  for (const i of words.keys()) words[i] = Math.imul(i + 1, 2654435761) >>> 3;
  return memory;
}

const resultOf = (memory: WebAssembly.Memory) => [...new Uint32Array(memory.buffer, to, 64)];

describe.runIf(hasCompiler)('copies', () => {
  test.each(Object.entries(examples))('%s', async (_, example) => {
    const bytes = moduleOf(example);
    const memory = memoryOf();
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
    (exports.run as (base: number) => void)(from);
    const expected = resultOf(memory);
    const compiler = await findCompiler();
    const libraries = new Libraries(null);
    for (const width of [1, 2, 4] as const) {
      const native = nativeText(bytes, width);
      const name = libraryName(compiler.identity, native.text);
      withOutputNow((output) => {
        expect(compileNow(compiler, native.text, output)).toEqual({ failed: null });
        libraries.keep(name, output);
      });
      const code = { ...native, path: libraries.pathOf(name), koffi: foreignFunctionsPath() };
      const library = loadLibrary(code);
      const own = memoryOf();
      libraryFunctions(library, code, { memory: own, print: () => {} }, null).run!(from);
      expect(resultOf(own)).toEqual(expected);
      library.unload();
    }
    // The loads and the stores go together in any case, where their locals do.
    const { text } = nativeText(bytes, 4);
    const operation = /const ws_v512 t\d+ = \(ws_v512\)\(\(ws_u32x16\)|const ws_v512 t\d+ = t\d+ \^/;
    if (example.goesTogether) expect(text).toMatch(operation);
  });
});
