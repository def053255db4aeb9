// Cold start: a whole `warpstage run` on a tiny file as a process of its own, against the bare
// start of Node, and the compilation of a guide kernel.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { specialise } from '#warpstage/compiler/specialise.js';
import { compileWasm } from '#warpstage/targets/wasm/compile.js';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import type { Suite } from '../main.ts';
import { inTurn } from '../measure.ts';

async function tinyFile() {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-cold-'));
  const input = join(folder, 'in.f32');
  writeFileSync(input, new Uint8Array(new Float32Array(1024).buffer));
  const run = [
    'dist/cli/main.js',
    'run',
    'examples/affine.ts',
    input,
    join(folder, 'out.f32'),
    '--dtype',
    'f32',
    '--quiet',
  ];
  try {
    return await inTurn(
      { suite: 'cold', work: 'tiny-file', bytes: 4096 },
      {
        'warpstage run': () => void execFileSync(process.execPath, run),
        'node -e 0': () => void execFileSync(process.execPath, ['-e', '0']),
      },
      9,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The first compilation in a process is what a user waits for; the later ones say what the compiler costs by itself. */
async function compile() {
  const once = (block: number) => {
    const { program } = specialise(withStagingUnified, {
      block: [block, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    compileWasm(program);
  };
  const begin = performance.now();
  once(256);
  const first = (performance.now() - begin) / 1000;
  const rows = await inTurn(
    { suite: 'cold', work: 'compile', bytes: 0 },
    { 'a guide kernel to WebAssembly, again': () => once(128), 'the first time in a process': () => first },
    25,
  );
  return [...rows, { ...rows[0]!, variant: 'the first time in a process', ratio: 1, seconds: first }];
}

export const suite: Suite = { 'tiny-file': tinyFile, compile };
