// The jobs and kernels among a module's exports.
//
// They are called by the names they are exported under; a default export that has no other name
// by the module's.

import { basename, extname } from 'node:path';
import { type Kernel, nameAfterExport } from '../kernel/kernel.ts';
import type { LoadedModule } from './load-module.ts';

/** The exports of one kind (`kernel`, `job`) by name. */
export function exportsOfKind<T extends { readonly kind: string }>(
  module: LoadedModule,
  kind: T['kind'],
): Map<string, T> {
  const found = new Map<string, T>();
  const { default: unnamed, ...named } = module.exports;
  const isOne = (value: unknown): value is T => (value as T | null | undefined)?.kind === kind;
  for (const [name, value] of Object.entries(named)) if (isOne(value)) found.set(name, value);
  if (isOne(unnamed) && ![...found.values()].includes(unnamed)) {
    found.set(basename(module.path, extname(module.path)), unnamed);
  }
  return found;
}

/** The module's kernels by name. */
export function exportedKernels(module: LoadedModule): Map<string, Kernel> {
  const kernels = exportsOfKind<Kernel>(module, 'kernel');
  for (const [name, kernel] of kernels) nameAfterExport(kernel, name);
  return kernels;
}

/** A list of names as a sentence has it. */
export function listNames(names: Iterable<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}
