// Launches that were bound before: most launches repeat one of the last few, so that their
// arguments need no second check.
//
// A launch repeats another if kernel, grid, block, signal and all arguments are the same. If only
// scalars differ, what was bound is taken over with the new values, where nothing that was
// decided for the launch can depend on them: the width of the index, the sizes of shared arrays.
// Programs that go through chunks repeat their launches in turn, so the one that came next the last time is
// looked at first.

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
  /** The launch that came after this one the last time: the same ones often come in the same order. */
  next: Recent | null;
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
const capacity = 64;
/** Scalars of these types are passed as they are given. */
const plainTypes: readonly string[] = ['index', 'i32', 'u32', 'f32', 'f64', 'bool'];
/** A scalar of type index within these bounds leaves the index as wide as it is. */
const indexLimit = 2 ** 31;

/** The launches of one kernel. */
export class RecentLaunches {
  readonly #recent: Recent[] = [];
  #replaced = 0;
  #last: Recent | null = null;

  /** The work of a launch that repeats a former one, or null. */
  find(configuration: LaunchConfiguration, given: Given): LaunchWork | null {
    if (configuration === undefined || given === undefined || given === null) return null;
    if (configuration.cooperative) return null;
    const expected = this.#last?.next ?? null;
    const repeated = expected === null ? null : repeat(expected, configuration, given);
    if (repeated !== null) return this.#follow(expected!, repeated);
    for (const recent of this.#recent) {
      const work = repeat(recent, configuration, given);
      if (work !== null) return this.#follow(recent, work);
    }
    return null;
  }

  #follow(recent: Recent, work: LaunchWork): LaunchWork {
    if (this.#last !== null) this.#last.next = recent;
    this.#last = recent;
    return work;
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
    const recent: Recent = {
      next: null,
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
    };
    this.#recent[this.#replaced] = recent;
    this.#replaced = (this.#replaced + 1) % capacity;
    this.#follow(recent, work);
  }
}

/** The work of a launch, taken over from a former one; null if it does not repeat that. */
function repeat(recent: Recent, configuration: LaunchConfiguration, given: Given): LaunchWork | null {
  const match = matchOf(recent, configuration, given);
  return match === 'same' ? recent.work : match === 'similar' ? vary(recent, given) : null;
}

/** The work of a launch of which only scalars differ; null if one of them is not what it should be. */
function vary({ names, types, scalars, work, form }: Recent, given: Given): LaunchWork | null {
  const values = [...work.values];
  for (let i = 0; i < names.length; ++i) {
    const position = scalars[i]!;
    if (position === null) continue;
    const value = given[names[i]!];
    if (scalarProblem(types[i]!, value) !== null) return null;
    if (types[i] === 'index' && !(Number(value) < indexLimit && Number(value) >= -indexLimit)) return null;
    if (position >= 0) values[position] = form(position, value as number | boolean);
  }
  return { ...work, values, variantOf: work };
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

type Match = 'same' | 'similar';

function matchOf(recent: Recent, { grid, block, signal }: LaunchConfiguration, given: Given): Match | null {
  const { names, values, scalars, work } = recent;
  if (work.signal !== (signal ?? null)) return null;
  let match: Match = 'same';
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
