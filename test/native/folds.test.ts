// What all vectors of a group have in common or have together, of wide variables: what WebAssembly finds one by one, for
// every lane that differs from the others.

import { describe, expect, test } from 'vitest';
import { compileNow, findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries, libraryName, withOutputNow } from '#warpstage/runtime/cpu/native/libraries.js';
import { libraryFunctions, loadLibrary } from '#warpstage/runtime/cpu/native/runner.js';
import { foreignFunctionsPath } from '#warpstage/runtime/cuda/library.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { Code, type Local } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import { compilers } from '../support/native.ts';

const [from, to] = [1024, 4096];
const vectors = Array.from({ length: 8 }, (_, vector) => vector);

type Put = 'v128.or' | 'v128.and';

/** Puts locals together, and writes what comes of it to a place. */
function writePut(code: Code, locals: readonly Local[], put: Put, at: number, test?: 'any' | 'all'): void {
  code.i32(to + at);
  for (const [i, local] of locals.entries()) {
    code.get(local);
    if (i > 0) code.op(put);
  }
  if (test === undefined) code.memory('v128.store');
  else code.op(test === 'any' ? 'v128.any_true' : 'i32x4.all_true').memory('i32.store');
}

/** Eight vectors, to which one is added together so that they are wide variables, put together in several ways. */
function moduleOfFolds(): Uint8Array<ArrayBuffer> {
  const writer = new ModuleWriter();
  const code = new Code();
  const locals = vectors.map(() => code.local('v128'));
  const each = (write: (vector: number) => void) => {
    for (const vector of vectors) {
      code.op('nop');
      write(vector);
    }
    code.op('nop');
  };
  each((i) =>
    code
      .i32(from)
      .memory('v128.load', 16 * i)
      .set(locals[i]!),
  );
  each((i) => code.get(locals[i]!).i32x4([1, 1, 1, 1]).op('i32x4.add').set(locals[i]!));
  writePut(code, locals, 'v128.or', 0);
  writePut(code, locals, 'v128.and', 16);
  writePut(code, locals, 'v128.or', 32, 'any');
  writePut(code, locals, 'v128.and', 36, 'any');
  writePut(code, locals, 'v128.or', 40, 'all');
  writePut(code, locals, 'v128.and', 44, 'all');
  writePut(code, locals.slice(0, 4), 'v128.or', 48, 'any');
  // Of the last only a part, and another order.
  writePut(code, locals.slice(0, 5), 'v128.or', 64);
  writePut(code, [...locals.slice(4), ...locals.slice(0, 4)], 'v128.and', 80);
  writePut(code, [...locals].reverse(), 'v128.or', 96);
  writePut(code, locals.slice(1), 'v128.or', 112);
  writer.function('run', code, [], [], { exported: true });
  return writer.encode();
}

const bytes = moduleOfFolds();
const page = () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

test('wide variables are put together whole', () => {
  const { text } = nativeText(bytes, 4);
  expect(text).toMatch(/ws_any_true_4\(w0 \| w1\)/);
  expect(text).toMatch(/ws_any_true_4\(w0\)/);
  expect(text).toMatch(/ws_and_4\(w0 & w1\)/);
  expect(text).toMatch(/ws_and_4\(w1 & w0\)/);
  expect(nativeText(bytes, 1).text).not.toMatch(/ws_(any_true|or|and)_/);
});

describe.each(compilers)('by %s', (command) => {
  test.each([1, 2, 4] as const)(
    'vectors have in common what WebAssembly says, of width %i',
    async (width) => {
      const native = nativeText(bytes, width);
      const compiler = await findCompiler({ WARPSTAGE_CC: command });
      const libraries = new Libraries(null);
      const name = libraryName(compiler.identity, native.text);
      withOutputNow((output) => {
        expect(compileNow(compiler, native.text, output)).toEqual({ failed: null });
        libraries.keep(name, output);
      });
      const [memory, portable] = [page(), page()];
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
        env: { memory: portable },
      });
      const code = { ...native, path: libraries.pathOf(name), koffi: foreignFunctionsPath() };
      const library = loadLibrary(code);
      const { run } = libraryFunctions(library, code, { memory, print: () => {} }, null);
      // All alike but one word, which is told from the others by one bit.
      for (const usual of [0, -1, 0x5a5a5a5a]) {
        for (let word = 0; word < 32; word += 1) {
          for (const { buffer } of [memory, portable]) {
            const words = new Uint32Array(buffer, from, 32).fill(usual - 1);
            words[word] = (usual ^ (1 << (word % 31))) - 1;
          }
          run!();
          (exports.run as () => void)();
          const found = [memory, portable].map(({ buffer }) => [...new Uint32Array(buffer, to, 32)]);
          expect(found[0]).toEqual(found[1]);
        }
      }
      library.unload();
    },
  );
});
