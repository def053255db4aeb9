// What is loaded when: a process that opens a GPU waits for no more than it needs before the driver starts.
//
// The imports of the built modules are followed, those inside functions left out.

import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const imported = /^(?:import|export)\s(?:[\w*\s{},$]*?\sfrom\s)?\s*["']([^"']+)["']/gm;

/** The modules that a module loads before its first line runs, itself among them; packages by their names. */
function loadedWith(module: string): readonly string[] {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(relative(dist, path))) return;
    found.add(relative(dist, path));
    for (const [, name] of readFileSync(path, 'utf8').matchAll(imported)) {
      if (name!.startsWith('.')) visit(join(dirname(path), name!));
      else if (!name!.startsWith('node:')) found.add(name!);
    }
  };
  visit(join(dist, module));
  return [...found];
}

const rooms = (modules: readonly string[]) => [...new Set(modules.map((module) => module.split('/')[0]))];

test('the imports of a module are seen', () => {
  const device = loadedWith('runtime/cuda/device.js');
  expect(device).toContain('targets/cuda/generate.js');
  expect(device).toContain('runtime/cuda/library.js');
  expect(loadedWith('compiler/parse.js')).toContain('acorn');
});

test('the package loads no device, and of the compiler what reads a function of rows', () => {
  const modules = loadedWith('index.js');
  expect(rooms(modules).sort()).toEqual([
    'acorn',
    'compiler',
    'diagnostics',
    'formats',
    'index.js',
    'kernel',
    'overlap',
    'runtime',
    'timeline',
  ]);
  const read = ['compiler/nodes.js', 'compiler/parse.js', 'compiler/resolve.js'];
  expect(modules.filter((module) => module.startsWith('compiler/')).sort()).toEqual(read);
  expect(modules.filter((module) => module.startsWith('runtime/'))).toEqual(['runtime/open.js']);
  expect(modules.length).toBeLessThan(60);
});

test('the driver is started before the compiler and the device are loaded', () => {
  const modules = loadedWith('runtime/cuda/aside.js');
  expect(modules.filter((module) => !module.startsWith('diagnostics/')).sort()).toEqual([
    'runtime/cuda/aside.js',
    'runtime/cuda/context.js',
    'runtime/cuda/driver.js',
    'runtime/cuda/gpu.js',
    'runtime/cuda/library.js',
  ]);
});
