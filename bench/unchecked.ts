// The compiler to WebAssembly without the tests of what kernels access, for the bench alone: the build's own modules, in
// which the functions that write such tests write nothing. The package has no way to leave them out.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Device, Kernel } from 'warpstage';
import { threads as surroundings } from '#warpstage/runtime/cpu/threads.js';
import { openCpu } from '#warpstage/runtime/open-cpu.js';
import { compileWasm, compileWithStages, type WasmExecutable } from '#warpstage/targets/wasm/compile.js';

const marked = ', not tested';

/** What is inserted behind a text that stands once in a module of the build. */
const insertions: readonly (readonly [module: string, behind: string, text: string])[] = [
  // Of a thread.
  [
    'memory',
    'export function writeCheck(context, { array, index: expression, range, fits }, index, access) {',
    'return;',
  ],
  [
    'memory',
    'export function writeBoundsCheck(context, { array, bounds = [], range }, access, push, asked) {',
    'return;',
  ],
  // Of lanes.
  ['simd/checks', 'export function writeCheck(first, check, threads, slow) {', 'return;'],
  ['simd/entering', '#askEach(check, slow, mask, isMask) {', 'return;'],
  // Of a copy.
  ['copies', 'function writeCopyCheck(context, call, locals) {', 'return;'],
  ['copies', 'function pushIsWrong(context, call, locals) {', 'context.code.i32(0);return;'],
];

const withInsertions: Plugin = {
  name: 'without tests',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const [module, behind, text] of insertions) {
        if (path !== resolve(`build/targets/wasm/${module}.js`)) continue;
        if (contents.split(behind).length !== 2) throw new Error(`${path} has not once: ${behind}`);
        contents = contents.replace(behind, `${behind}${text}`);
      }
      return { contents };
    });
  },
};

async function loadCompiler(): Promise<{ readonly compileWasm: typeof compileWasm }> {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-unchecked-'));
  try {
    const outfile = join(folder, 'compile.mjs');
    await build({
      entryPoints: ['build/targets/wasm/compile.js'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
      plugins: [withInsertions],
      ignoreAnnotations: true,
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same kernel, which a device of `openWithBoth` compiles without tests. */
export function withoutTests(kernel: Kernel): Kernel {
  return { ...kernel, name: `${kernel.name}${marked}` };
}

/** Opens the CPU with both compilers, so that the same kernel finds the same memory by either. */
export async function openWithBoth(threads: number): Promise<Device> {
  const without = await loadCompiler();
  return openCpu(
    { threads },
    { threads, loadMemory64: null, surroundings: async () => surroundings },
    {
      compile: (program) => {
        if (!program.name.endsWith(marked)) return compileWasm(program);
        const executable = without.compileWasm(program);
        const imported = WebAssembly.Module.imports(executable.module).map(({ name }) => name);
        if (imported.includes('outOfRange') || imported.includes('copy'))
          throw new Error(`${program.name}, and yet it is`);
        return executable;
      },
      withStages: (executable) => compileWithStages(executable as WasmExecutable),
      runners: 'wasm',
      parallel: true,
    },
  );
}
