// The jobs and kernels among a module's exports.
//
// They are called by the names they are exported under; a default export that has no other name
// by the module's.

import { basename, extname } from 'node:path';
import { WarpstageError } from '../diagnostics/error.ts';
import { type Kernel, nameAfterExport } from '../kernel/kernel.ts';
import { jobText } from '../overlap/no-job.ts';
import { jobsOf } from '../overlap/sequence.ts';
import type { NamedWork, Work } from './assign-files.ts';
import { listNames, usageError } from './failure.ts';
import type { LoadedModule } from './load-module.ts';

/** The exports of one kind (`kernel`, `job`) by name. */
export function exportsOfKind<T extends { readonly kind: string }>(
  module: LoadedModule,
  kind: T['kind'],
): Map<string, T> {
  const found = new Map<string, T>();
  const { default: unnamed, ...named } = module.exports;
  const isOne = (value: unknown): value is T => (value as T | null | undefined)?.kind === kind;
  // In the order of their names, as Node gives the exports of a module; other loaders have another order.
  for (const [name, value] of Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (isOne(value)) found.set(name, value);
  }
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

/** The module's jobs and sequences by name. */
export function exportedJobs(module: LoadedModule): Map<string, Work> {
  return new Map<string, Work>([
    ...exportsOfKind<Work>(module, 'job'),
    ...exportsOfKind<Work>(module, 'sequence'),
  ]);
}

/** The job to run: the one of that name, or the only one. Throws WS5001 if there is none. */
export function findJob(module: LoadedModule, name: string | undefined): NamedWork {
  const kernels = exportedKernels(module);
  const jobs = exportedJobs(module);
  if (jobs.size === 0) throw noJob(module, kernels);
  for (const [exported, work] of jobs) {
    for (const { definition } of jobsOf(work)) nameAfterExport(definition.kernel, exported);
  }
  // A job that is a pass of an exported sequence is part of it, and is run alone only by name.
  const passes = new Set(
    [...jobs.values()].flatMap((work) => (work.kind === 'sequence' ? jobsOf(work) : [])),
  );
  const wholes = [...jobs]
    .filter(([, work]) => work.kind === 'sequence' || !passes.has(work))
    .map(([key]) => key);
  if (name === undefined && wholes.length > 1) {
    throw usageError(
      `${module.name} exports several jobs: ${listNames(jobs.keys())}`,
      `choose one, for example --job ${wholes[0]}`,
    );
  }
  const chosen = name ?? wholes[0]!;
  const work = jobs.get(chosen);
  if (work === undefined) {
    throw usageError(`${module.name} exports no job \`${chosen}\``, `its jobs are ${listNames(jobs.keys())}`);
  }
  return { name: chosen, work };
}

/** The kernel to show: the one exported under that name, or that of the job; without a name the only one. */
export function findKernel(module: LoadedModule, name: string | undefined): Kernel {
  const kernels = exportedKernels(module);
  for (const [exported, work] of exportedJobs(module)) {
    for (const { definition } of jobsOf(work)) {
      nameAfterExport(definition.kernel, exported);
      if (![...kernels.values()].includes(definition.kernel)) kernels.set(exported, definition.kernel);
    }
  }
  const names = [...kernels.keys()];
  if (names.length === 0) {
    throw new WarpstageError({
      code: 'WS5001',
      message: `${module.name} exports no kernel and no job`,
      hint: 'export what kernel() gives: `export const scale = kernel({ … }, …)`',
    });
  }
  if (name === undefined && names.length > 1) {
    throw usageError(
      `${module.name} has several kernels: ${listNames(names)}`,
      `choose one, for example --kernel ${names[0]}`,
    );
  }
  const kernel = kernels.get(name ?? names[0]!);
  if (kernel === undefined)
    throw usageError(`${module.name} has no kernel \`${name}\``, `its kernels are ${listNames(names)}`);
  return kernel;
}

function noJob(module: LoadedModule, kernels: ReadonlyMap<string, Kernel>): WarpstageError {
  const names = Object.keys(module.exports);
  const has =
    kernels.size > 0
      ? `only the kernels ${listNames(kernels.keys())}`
      : names.length > 0
        ? `only ${listNames(names)}`
        : 'nothing';
  const [kernel] = kernels.values();
  const example = 'job({ kernel: myKernel, inputs: { x: {} }, outputs: { y: {} } })';
  return new WarpstageError({
    code: 'WS5001',
    message: `${module.name} exports no job, ${has}`,
    hint: `say what streams through a kernel: \`export const myJob = ${kernel === undefined ? example : jobText(kernel)}\``,
  });
}
