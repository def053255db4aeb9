// A slot: a copy of the tree in a folder of its own, where one mutant at a time takes the place of what was built.
//
// The tests import the package by its own name, which Node resolves by the nearest package.json: so a copy of
// tests and dist/ is complete. There each module is a file of dist/, so that one can be replaced. Only
// node_modules is shared, by a link for each package. Caches and temporary files are the slot's, and are gone
// before the next run: no mutant leaves anything to the next.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const notCopied = new Set(['node_modules', '.git', 'coverage', '.mutate', 'build']);

export class Slot {
  readonly folder: string;

  /** Copies a tree, and links the packages of a node_modules. */
  constructor(folder: string, tree: string, modules: string) {
    this.folder = folder;
    mkdirSync(folder);
    for (const entry of readdirSync(tree)) {
      if (!notCopied.has(entry)) cpSync(join(tree, entry), join(folder, entry), { recursive: true });
    }
    for (const part of ['chunks', 'internals']) rmSync(join(folder, 'dist', part), { recursive: true });
    cpSync(join(tree, 'build'), join(folder, 'dist'), { recursive: true });
    const description = readFileSync(join(tree, 'package.json'), 'utf8');
    writeFileSync(join(folder, 'package.json'), description.replace('./dist/internals/*', './dist/*'));
    mkdirSync(join(folder, 'node_modules'));
    for (const entry of readdirSync(modules)) {
      if (!entry.startsWith('.vite')) symlinkSync(join(modules, entry), join(folder, 'node_modules', entry));
    }
  }

  /** Where a run's reporter writes. */
  get report(): string {
    return join(this.folder, 'report.json');
  }

  /** The variables of a run, whose folders are empty. No GPU: what the mutants change is tested without one. */
  environment(): NodeJS.ProcessEnv {
    const folders = { TMPDIR: join(this.folder, 'tmp'), XDG_CACHE_HOME: join(this.folder, 'cache') };
    for (const folder of Object.values(folders)) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
    }
    rmSync(this.report, { force: true });
    // At length: what `npm test` looks at in part may lie in the other part.
    const length = { WARPSTAGE_LENGTH: 'all', WARPSTAGE_RANDOM_MORE: '2' };
    return { ...process.env, ...length, ...folders, CUDA_VISIBLE_DEVICES: '-1', CI: '1', NO_COLOR: '1' };
  }

  /** Puts a mutant in the place of what was built: modules of build/, which are dist/ here. Returns how to take it away. */
  install(replaced: Readonly<Record<string, string>>): () => void {
    const texts = Object.entries(replaced).map(
      ([path, text]) => [join(this.folder, path.replace(/^build\//, 'dist/')), text] as const,
    );
    const before = texts.map(([path]) => [path, readFileSync(path)] as const);
    for (const [path, text] of texts) writeFileSync(path, text);
    return () => {
      for (const [path, bytes] of before) writeFileSync(path, bytes);
    };
  }
}
