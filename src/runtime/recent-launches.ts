// Launches that were bound before: most launches repeat one of the last few, so that their
// arguments need no second check.
//
// A launch repeats another if kernel, grid, block, signal and all arguments are the same. If only
// scalars differ, what was bound is taken over with the new values, where nothing that was
// decided for the launch can depend on them: the width of the index, the sizes of shared arrays.

import type { Value } from '../compiler/arithmetic.ts';
import { type SchemaParameter, scalarProblem } from '../kernel/parameters.ts';
import type { Extent } from '../kernel/types.ts';
import { DeviceMemoryArray } from './arrays.ts';
import type { LaunchConfiguration } from './device.ts';
import type { LaunchWork } from './launch.ts';

type Given = Readonly<Record<string, unknown>>;

/** Turns a scalar into the form that a program's type has. */
export type ScalarForm = (position: number, value: number | boolean) => Value;

interface Recent {
  readonly grid: Extent;
  readonly block: Extent;
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  /** For each argument: its position among the work's values if it is a scalar that may differ. */
  readonly scalars: readonly (number | null)[];
  readonly types: readonly (SchemaParameter & { readonly kind: 'scalar' })['type'][];
  readonly work: LaunchWork;
  readonly form: ScalarForm;
}

/** So many launches are remembered of each kernel. */
const capacity = 16;
/** Scalars of these types are passed as they are given. */
const plainTypes: readonly string[] = ['index', 'i32', 'u32', 'f32', 'f64', 'bool'];
/** A scalar of type index within these bounds leaves the index as wide as it is. */
const indexLimit = 2 ** 31;

/** The launches of one kernel. */
export class RecentLaunches {
  readonly #recent: Recent[] = [];
  #next = 0;

  /** The work of a launch that repeats a former one, or null. */
  find(configuration: LaunchConfiguration, given: Given): LaunchWork | null {
    if (configuration === undefined || given === undefined || given === null) return null;
    if (configuration.cooperative) return null;
    let similar: Recent | null = null;
    for (const recent of this.#recent) {
      const match = matchOf(recent, configuration, given);
      if (match === 'same') return recent.work;
      if (match === 'similar') similar ??= recent;
    }
    return similar === null ? null : this.#vary(similar, given);
  }

  add(
    configuration: LaunchConfiguration,
    given: Given,
    parameters: readonly SchemaParameter[],
    work: LaunchWork,
    form: ScalarForm,
  ): void {
    if (configuration.cooperative) return;
    const { program } = work.executable;
    const names = Object.keys(given);
    const sized = program.sharedArrays.some(({ count }) => count.kind !== 'constant');
    const schema = names.map((name) => parameters.find((parameter) => parameter.name === name)!);
    this.#remember({
      grid: copyOf(configuration.grid),
      block: copyOf(configuration.block),
      names,
      values: names.map((name) => given[name]),
      scalars: schema.map((parameter) =>
        parameter.kind === 'scalar' && plainTypes.includes(parameter.type) && !sized
          ? program.parameters.findIndex(({ name }) => name === parameter.name)
          : null,
      ),
      types: schema.map((parameter) => (parameter.kind === 'scalar' ? parameter.type : 'i32')),
      work,
      form,
    });
  }

  #remember(recent: Recent): void {
    this.#recent[this.#next] = recent;
    this.#next = (this.#next + 1) % capacity;
  }

  /** The work of a launch of which only scalars differ; null if one of them is not what it should be. */
  #vary({ names, types, scalars, work, form }: Recent, given: Given): LaunchWork | null {
    const values = [...work.values];
    for (const [i, name] of names.entries()) {
      const position = scalars[i]!;
      if (position === null) continue;
      const value = given[name];
      if (scalarProblem(types[i]!, value) !== null) return null;
      if (types[i] === 'index' && !(Number(value) < indexLimit && Number(value) >= -indexLimit)) return null;
      if (position >= 0) values[position] = form(position, value as number | boolean);
    }
    return { ...work, values };
  }
}

function copyOf(extent: Extent): Extent {
  return typeof extent === 'number' ? extent : [...extent];
}

function sameExtent(a: Extent, b: Extent): boolean {
  if (a === b) return typeof a === 'number';
  if (typeof a === 'number' || !Array.isArray(b)) return false;
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}

function sameArray(a: unknown, b: unknown): boolean {
  return (
    a instanceof DeviceMemoryArray &&
    b instanceof DeviceMemoryArray &&
    a.allocation === b.allocation &&
    a.offset === b.offset &&
    a.length === b.length &&
    a.element === b.element &&
    a.device === b.device
  );
}

function matchOf(
  recent: Recent,
  { grid, block, signal }: LaunchConfiguration,
  given: Given,
): 'same' | 'similar' | null {
  const { names, values, scalars, work } = recent;
  if (work.signal !== (signal ?? null)) return null;
  let match: 'same' | 'similar' = 'same';
  for (let i = 0; i < names.length; ++i) {
    const value = given[names[i]!];
    if (Object.is(value, values[i]) || sameArray(value, values[i])) continue;
    if (scalars[i] === null) return null;
    match = 'similar';
  }
  let count = 0;
  for (const _ in given) count += 1;
  if (count !== names.length || !sameExtent(recent.grid, grid) || !sameExtent(recent.block, block))
    return null;
  for (const allocation of work.allocations) if (allocation.freed) return null;
  return match;
}
