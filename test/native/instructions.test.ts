// Every instruction that our encoder has, as WebAssembly runs it and as C: the same bits for edge values and for random
// ones. (The bits of a NaN are not specified.) At length also for the vectors of ARM, by an emulator.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileNow, findCompiler, flags } from '#warpstage/runtime/cpu/native/compiler.js';
import { Libraries, libraryName, withOutputNow } from '#warpstage/runtime/cpu/native/libraries.js';
import { libraryFunctions, loadLibrary } from '#warpstage/runtime/cpu/native/runner.js';
import { foreignFunctionsPath } from '#warpstage/runtime/cuda/library.js';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { randomRuns } from '../differential/tape.ts';
import { compilers } from '../support/native.ts';
import { atLength } from '../support/thorough.ts';
import { hasTool } from '../support/tools.ts';
import {
  cases,
  dataAt,
  moduleOfCases,
  type Operands,
  operands,
  operandsAt,
  outcomeOf,
  prepare,
  resultAt,
} from './instruction-cases.ts';

const bytes = moduleOfCases();
const { text, imports, exports } = nativeText(bytes);
const page = () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

/** What WebAssembly does, which is right. */
const portable = page();
const asWasm = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory: portable } }).exports;

function expectedOf(number: number, values: Operands) {
  prepare(portable.buffer, cases[number]!, values);
  (asWasm[`c${number}`] as () => void)();
  return outcomeOf(portable.buffer, cases[number]!);
}

describe.each(compilers)('by %s', (command) => {
  test('every instruction gives the same bits', async () => {
    const compiler = await findCompiler({ WARPSTAGE_CC: command });
    const libraries = new Libraries(null);
    const name = libraryName(compiler.identity, text);
    withOutputNow((output) => {
      expect(compileNow(compiler, text, output)).toEqual({ failed: null });
      libraries.keep(name, output);
    });
    const memory = page();
    const code = { path: libraries.pathOf(name), koffi: foreignFunctionsPath(), imports, exports };
    const library = loadLibrary(code);
    const functions = libraryFunctions(library, code, { memory, print: () => {} }, null);
    fc.assert(
      fc.property(operands, (values) => {
        for (const [number, one] of cases.entries()) {
          prepare(memory.buffer, one, values);
          functions[`c${number}`]!();
          expect(outcomeOf(memory.buffer, one)).toEqual(expectedOf(number, values));
        }
      }),
      randomRuns(30),
    );
    library.unload();
  });
});

/** Reads operands of all cases, again and again, and writes what they leave. */
const program = `
#include <stdio.h>
static uint8_t memory[65536];
static int32_t stop;
static uint64_t (*const cases[])(struct ws_env *, ws_host *) = { ${cases.map((_, i) => `ws_export_c${i}`).join(', ')} };
int main(void) {
  struct ws_env env = { memory, &stop };
  for (;;) for (int i = 0; i < ${cases.length}; ++i) {
    if (fread(memory + ${operandsAt}, 1, 64, stdin) != 64) return 0;
    if (fread(memory + ${dataAt}, 1, 32, stdin) != 32) return 1;
    memset(memory + ${resultAt}, 0, 16);
    if (cases[i](&env, 0) > 0xffffffffu) return 2;
    fwrite(memory + ${resultAt}, 1, 16, stdout);
    fwrite(memory + ${dataAt}, 1, 32, stdout);
  }
}
`;

describe.runIf(atLength)('by another processor', () => {
  test.runIf(hasTool('aarch64-linux-gnu-gcc') && hasTool('qemu-aarch64-static'))(
    'every instruction gives the same bits on ARM',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
      const executable = join(folder, 'program');
      const options = flags.filter((flag) => !/native$|^-shared$/.test(flag));
      execFileSync(
        'aarch64-linux-gnu-gcc',
        [...options, '-static', '-x', 'c', '-', '-o', executable, '-lm'],
        {
          input: text + program,
        },
      );
      const all = fc.sample(operands, { numRuns: 400, seed: 11 });
      const memory = new ArrayBuffer(65536);
      const given = all.flatMap((values) =>
        cases.flatMap((one) => {
          prepare(memory, one, values);
          return [new Uint8Array(memory.slice(operandsAt, operandsAt + 64)), values.data];
        }),
      );
      const output = execFileSync('qemu-aarch64-static', [executable], {
        input: Buffer.concat(given),
        maxBuffer: 2 ** 30,
      });
      rmSync(folder, { recursive: true });
      expect(output.length).toBe(48 * all.length * cases.length);
      const bytesOut = new Uint8Array(memory);
      let at = 0;
      for (const values of all) {
        for (const [number, one] of cases.entries()) {
          bytesOut.set(output.subarray(at, at + 16), resultAt);
          bytesOut.set(output.subarray(at + 16, at + 48), dataAt);
          at += 48;
          expect(outcomeOf(memory, one)).toEqual(expectedOf(number, values));
        }
      }
    },
  );
});
