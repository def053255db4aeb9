// Bytes that move: any number of them, from and to any place, into themselves as well, as WebAssembly moves them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileNow, findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries, libraryName, withOutputNow } from '#warpstage/runtime/cpu/native/libraries.js';
import { libraryFunctions, loadLibrary } from '#warpstage/runtime/cpu/native/runner.js';
import { foreignFunctionsPath } from '#warpstage/runtime/cuda/library.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { Code } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import { randomRuns } from '../differential/tape.ts';
import { compilers } from '../support/native.ts';

/** Two copies, of which the second begins as much further on as the caller says. */
function moduleOfCopies(): Uint8Array<ArrayBuffer> {
  const writer = new ModuleWriter();
  const names = ['to', 'from', 'bytes', 'step'] as const;
  const code = new Code(names.map((name) => ({ name, type: 'i32' })));
  const [to, from, bytes, step] = [0, 1, 2, 3];
  const end = code.local('i32');
  code.get(from).get(step).i32(2).op('i32.mul', 'i32.add').set(end);
  code.loop((next) => {
    code.get(to).get(from).get(bytes).memoryCopy();
    code.get(to).get(step).op('i32.add').set(to);
    code.get(from).get(step).op('i32.add').tee(from).get(end).op('i32.ne').brIf(next);
  });
  writer.function('run', code, ['i32', 'i32', 'i32', 'i32'], [], { exported: true });
  return writer.encode();
}

const bytes = moduleOfCopies();

const place = fc.integer({ min: 0, max: 3 * 4096 });
const move = fc.record({
  to: place,
  from: fc.option(place),
  /** From where it goes, if not from anywhere. */
  beside: fc.integer({ min: -300, max: 300 }),
  bytes: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 200, max: 9000 })),
  step: fc.integer({ min: 1, max: 9000 }),
});

describe.each(compilers)('by %s', (command) => {
  test('bytes lie afterwards where WebAssembly moves them', async () => {
    const native = nativeText(bytes);
    const compiler = await findCompiler({ WARPSTAGE_CC: command });
    const libraries = new Libraries(null);
    const name = libraryName(compiler.identity, native.text);
    withOutputNow((output) => {
      expect(compileNow(compiler, native.text, output)).toEqual({ failed: null });
      libraries.keep(name, output);
    });
    const page = () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const [memory, portable] = [page(), page()];
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory: portable },
    });
    const code = { ...native, path: libraries.pathOf(name), koffi: foreignFunctionsPath() };
    const library = loadLibrary(code);
    const { run } = libraryFunctions(library, code, { memory, print: () => {} }, null);
    fc.assert(
      fc.property(move, ({ to, from, beside, bytes: count, step }) => {
        const start = from ?? Math.max(0, to + beside);
        for (const each of [memory, portable]) {
          const words = new Uint32Array(each.buffer);
          for (const i of words.keys()) words[i] = Math.imul(i + 1, 2_654_435_761);
        }
        run!(to, start, count, step);
        (exports.run as (...values: number[]) => void)(to, start, count, step);
        expect(Buffer.compare(Buffer.from(memory.buffer), Buffer.from(portable.buffer))).toBe(0);
      }),
      randomRuns(200),
    );
    library.unload();
  });
});

test('each copy asks for what may come next, by a variable of its own', () => {
  const { text } = nativeText(bytes);
  expect(text).toMatch(/ws_address c0 = 0;[\s\S]*\bb0: [\s\S]*ws_copy\(m, t\d+, t\d+, t\d+, &c0\);/);
  expect(text).toMatch(/__builtin_prefetch\(m \+ \(ws_address\)\(from \+ step \+ i\)\)/);
});
