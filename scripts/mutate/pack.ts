// A pack: built mutants, the tree, and of node_modules what tests need, in one archive for another machine.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Mutant } from './mutants.ts';

const notPacked = new Set(['node_modules', '.git', 'coverage', '.mutate', 'toolchains', 'bench']);

/** Large, and used by no test that a mutation names. */
const notNeeded =
  /^(\.vite.*|\.cache|@biomejs|vega-datasets|playwright-core|puppeteer.*|chromium-bidi|devtools-protocol|bare-.*|@tootallnate|re2-wasm|@babel|rollup.*|dependency-cruiser|axe-core|lightningcss-.*)$/;

export async function pack(mutants: readonly Mutant[], file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wm-pack-'));
  try {
    mkdirSync(join(folder, 'tree'));
    for (const entry of readdirSync('.')) {
      if (!notPacked.has(entry)) cpSync(entry, join(folder, 'tree', entry), { recursive: true });
    }
    const packages = join(folder, 'node_modules');
    mkdirSync(packages);
    for (const entry of readdirSync('node_modules')) {
      if (!notNeeded.test(entry)) symlinkSync(resolve('node_modules', entry), join(packages, entry));
    }
    writeFileSync(join(folder, 'mutants.json'), JSON.stringify(mutants));
    await build({
      entryPoints: ['scripts/mutate/packed.ts'],
      outfile: join(folder, 'mutate.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    });
    // -h packs what the links lead to.
    const env = { ...process.env, XZ_OPT: '-T0 -6' };
    execFileSync('tar', ['-chJf', resolve(file), '-C', folder, '.'], { env });
    console.log(`${file}: ${mutants.length} mutants`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
