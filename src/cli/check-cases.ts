// What of a module is checked: the launches that it declares, and a made-up chunk of each job whose kernel
// it declares none for. Kernels that are left over are named, as nothing checked them.

import type { CheckCase } from '../checker/case.ts';
import type { CheckLaunch } from '../checker/launch.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { type Kernel, nameAfterExport } from '../kernel/kernel.ts';
import { parseSchema } from '../kernel/parameters.ts';
import { vectorTypes } from '../kernel/types.ts';
import type { Job } from '../overlap/job.ts';
import { jobsOf } from '../overlap/sequence.ts';
import { checkSettings } from '../overlap/settings.ts';
import { syntheticChunk } from '../overlap/synthetic-chunk.ts';
import { listNames, usageError } from './failure.ts';
import { exportedJobs, exportedKernels } from './find-exports.ts';
import type { LoadedModule } from './load-module.ts';
import type { Settings } from './values.ts';

/** A launch to be checked, with the name under which the report has it. */
export interface NamedCase extends Omit<CheckCase, 'kind'> {
  readonly name: string;
}

export interface ModuleCases {
  readonly cases: readonly NamedCase[];
  /** Kernels that are exported, and that no launch is known for. */
  readonly unchecked: readonly string[];
}

/** Rows of a made-up chunk: a few blocks, the last one not full. */
const chunkRows = 1000;

/** The cases of a module, or those of one of its kernels. */
export function casesOf(
  module: LoadedModule,
  { kernel, set = {} }: { readonly kernel?: string; readonly set?: Settings },
): ModuleCases {
  const kernels = exportedKernels(module);
  const jobs = exportedJobs(module);
  for (const [name, work] of jobs) {
    for (const { definition } of jobsOf(work)) nameAfterExport(definition.kernel, name);
  }
  checkSettings([...jobs.values()].flatMap(jobsOf), set);
  const declared = declaredCases(module);
  const covered = new Set(declared.map((one) => one.kernel));
  const chunks = [...jobs].flatMap(([name, work]) =>
    jobsOf(work)
      .filter(({ definition }) => !covered.has(definition.kernel))
      .flatMap((job, pass, passes) => {
        covered.add(job.definition.kernel);
        return chunkCase(passes.length > 1 ? `${name}, pass ${pass + 1}` : name, job, set);
      }),
  );
  const all = [...declared, ...chunks];
  const unchecked = [...kernels].filter(([, one]) => !covered.has(one)).map(([name]) => name);
  if (kernel === undefined) {
    if (all.length === 0) throw nothingToCheck(module, unchecked, kernels);
    return { cases: all, unchecked };
  }
  const isMeant = (one: Kernel) => one.name === kernel || kernels.get(kernel) === one;
  const cases = all.filter((one) => isMeant(one.kernel) || one.name === kernel);
  if (cases.length > 0) return { cases, unchecked: [] };
  if (unchecked.includes(kernel)) throw nothingToCheck(module, [kernel], kernels);
  const names = [...new Set([...kernels.keys(), ...all.map((one) => one.kernel.name)])];
  throw usageError(`${module.name} has no kernel \`${kernel}\``, `its kernels are ${listNames(names)}`);
}

/** The module's check cases, alone or in lists, in the order of their exports' names. */
function declaredCases(module: LoadedModule): NamedCase[] {
  const exports = Object.entries(module.exports).sort(([a], [b]) => (a < b ? -1 : 1));
  const seen = new Set<unknown>();
  return exports.flatMap(([name, value]) => {
    const list = Array.isArray(value) ? value : [value];
    return list.flatMap((one: Partial<CheckCase> | null | undefined, position) => {
      if (one?.kind !== 'check-case' || seen.has(one)) return [];
      seen.add(one);
      const { kernel, launch, options } = one as CheckCase;
      return [{ name: Array.isArray(value) ? `${name}[${position}]` : name, kernel, launch, options }];
    });
  });
}

function chunkCase(name: string, job: Job, set: Settings): NamedCase {
  const { kernel, grid, block, arguments: given } = syntheticChunk(job, set, chunkRows);
  const launch = { grid, block, arguments: given } as unknown as CheckLaunch<never>;
  return { name: `a chunk of ${name}`, kernel, launch, options: {} };
}

function nothingToCheck(
  module: LoadedModule,
  kernels: readonly string[],
  known: ReadonlyMap<string, Kernel>,
): WarpstageError {
  const [first = 'myKernel'] = kernels;
  const kernel = known.get(first);
  const has = kernels.length === 0 ? 'no job and no kernel' : `no launch of ${listNames(kernels)}`;
  return new WarpstageError({
    code: 'WS5001',
    message: `${module.name} declares nothing to check: ${has}`,
    hint: `declare a small launch beside the kernel: \`export const checks = [checkCase(${first}, { grid: 2, block: 64, arguments: ${kernel === undefined ? '{ … }' : argumentsText(kernel)} })]\`, with checkCase of warpstage/check`,
  });
}

/** The text of arguments that a small launch of a kernel could have. */
function argumentsText({ schema }: Kernel): string {
  const value = (type: string) => (type === 'bool' ? 'true' : /^[iu]64$/.test(type) ? '1n' : '1');
  const given = parseSchema(schema).flatMap((one) => {
    if (one.kind === 'array') {
      const { dimensions } = one;
      return `${one.name}: ${dimensions === undefined ? '{ length: 128 }' : `{ shape: [${new Array(dimensions).fill(8).join(', ')}] }`}`;
    }
    if (one.kind === 'scalar' || (one.kind === 'constant' && one.default === undefined))
      return `${one.name}: ${value(one.type)}`;
    if (one.kind !== 'vector') return [];
    const { component, components } = vectorTypes[one.type];
    const parts = ['x', 'y', 'z', 'w'].slice(0, components).map((part) => `${part}: ${value(component)}`);
    return `${one.name}: { ${parts.join(', ')} }`;
  });
  return given.length === 0 ? '{}' : `{ ${given.join(', ')} }`;
}
