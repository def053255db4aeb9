// Launches that were bound before: most launches repeat one of the last few, so that their
// arguments need no second check.
//
// A launch repeats another if kernel, grid, block, signal and all arguments are the same. Arguments are
// compared by what they were at the launch, not by which object they are: a vector may be changed between two
// launches. If only numbers and arrays differ, what was bound is taken over with the new ones, where nothing
// that was decided for the launch can depend on them: the width of the index, the sizes of shared arrays, the
// alignments that code was compiled for. So launches that go through parts of an array, with a number that
// counts, are one launch with other arguments. Programs that go through chunks repeat their launches in turn,
// so the one that came next the last time is looked at first.

import type { Value } from '../compiler/arithmetic.ts';
import { narrowIndexLimit, type Program } from '../compiler/ir.ts';
import { type ScalarValue, type SchemaParameter, scalarProblem } from '../kernel/parameters.ts';
import {
  componentCount,
  componentNames,
  type Extent,
  type ScalarType,
  vectorTypes,
} from '../kernel/types.ts';
import { type Allocation, DeviceMemoryArray, ShapedMemoryArray } from './arrays.ts';
import type { LaunchConfiguration } from './device.ts';
import type { LaunchWork } from './launch.ts';
import { addressAlignment, besideWritten, overlap } from './proven-alignment.ts';

type Given = Readonly<Record<string, unknown>>;

/** Turns a scalar into the form that a program's type has. */
export type ScalarForm = (position: number, value: ScalarValue) => Value;

/** A launch that was bound, as it was given. */
export interface BoundLaunch {
  readonly grid: Extent;
  readonly block: Extent;
  /** The arguments, read once. */
  readonly given: Given;
  /** The numbers among them, by the names of the program's parameters: `a`, `v.x`. */
  readonly scalars: Readonly<Record<string, ScalarValue>>;
  readonly work: LaunchWork;
  readonly form: ScalarForm;
}

/** A number of an argument: a scalar is one, a vector has one for each component. */
interface Part {
  /** The component; null for a scalar. */
  readonly key: string | null;
  readonly type: ScalarType;
  readonly value: unknown;
  /** Its position among the work's values; null where the launch depends on it. */
  readonly position: number | null;
}

interface Argument {
  readonly name: string;
  readonly value: unknown;
  /** Null for what is the same only as a whole: arrays, constants, device functions. */
  readonly parts: readonly Part[] | null;
  /** Of an array, its position among the work's values; null where the launch depends on it. */
  readonly position: number | null;
}

/** An array of the work, and the alignment that the code was compiled for. */
interface Proof {
  readonly position: number;
  /** Where among the values the arrays are that the kernel writes; null for one of these. */
  readonly written: readonly number[] | null;
  readonly alignment: number;
}

interface Recent {
  /** The launch that came after this one the last time: the same ones often come in the same order. */
  next: Recent | null;
  readonly grid: Extent;
  readonly block: Extent;
  readonly names: readonly string[];
  /** Whether every object has properties of some of these names. */
  readonly isInherited: boolean;
  readonly arguments: readonly Argument[];
  readonly work: LaunchWork;
  readonly form: ScalarForm;
  /** Empty where code does not depend on it. */
  readonly proofs: readonly Proof[];
}

/** What is still to be found. */
const unknown: readonly Allocation[] = [];

/** So many launches are remembered of each kernel. */
const capacity = 64;
/** Scalars of these types are passed as they are given. */
const plainTypes: readonly ScalarType[] = ['index', 'i32', 'u32', 'f32', 'f64', 'bool'];

/** The launches of one kernel. */
export class RecentLaunches {
  readonly #usesAlignments: boolean;
  readonly #recent: Recent[] = [];
  #replaced = 0;
  #last: Recent | null = null;

  constructor(usesAlignments: boolean) {
    this.#usesAlignments = usesAlignments;
  }

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

  add(launch: BoundLaunch, parameters: readonly SchemaParameter[]): void {
    const { grid, block, given, work, form } = launch;
    if (work.cooperative) return;
    const taken = parameters.filter(({ name }) => Object.hasOwn(given, name));
    const recent: Recent = {
      next: null,
      grid: copyOf(grid),
      block: copyOf(block),
      names: taken.map(({ name }) => name),
      isInherited: taken.some(({ name }) => name in Object.prototype),
      arguments: taken.map((parameter) => argumentOf(parameter, launch)),
      work,
      form,
      proofs: this.#usesAlignments ? proofsOf(work, parameters) : [],
    };
    this.#recent[this.#replaced] = recent;
    this.#replaced = (this.#replaced + 1) % capacity;
    this.#follow(recent, work);
  }
}

function argumentOf(parameter: SchemaParameter, { given, scalars, work }: BoundLaunch): Argument {
  const { program } = work.executable;
  const { name } = parameter;
  const isSized = program.sharedArrays.some(({ count }) => count.kind !== 'constant');
  const part = (key: string | null, type: ScalarType, value: unknown): Part => {
    const own = key === null ? name : `${name}.${key}`;
    const varies = !isSized && plainTypes.includes(type);
    return { key, type, value, position: varies ? positionOf(program, own) : null };
  };
  switch (parameter.kind) {
    case 'scalar':
      return { name, value: given[name], parts: [part(null, parameter.type, given[name])], position: null };
    case 'vector': {
      const { component } = vectorTypes[parameter.type];
      const keys = componentNames.slice(0, componentCount(parameter.type));
      const parts = keys.map((key) => part(key, component, scalars[`${name}.${key}`]));
      return { name, value: null, parts, position: null };
    }
    case 'array':
      return { name, value: given[name], parts: null, position: isSized ? null : positionOf(program, name) };
    default:
      return { name, value: given[name], parts: null, position: null };
  }
}

/** The alignments that a launch's arrays have proven. */
function proofsOf({ executable, values }: LaunchWork, parameters: readonly SchemaParameter[]): Proof[] {
  const arrays = parameters.flatMap((parameter) => {
    const position = positionOf(executable.program, parameter.name);
    return parameter.kind !== 'array' || position === null
      ? []
      : [{ position, isWritten: !parameter.readonly }];
  });
  const written = arrays.filter(({ isWritten }) => isWritten).map(({ position }) => position);
  return arrays.map(({ position, isWritten }) => {
    const others = isWritten ? null : written;
    return { position, written: others, alignment: alignmentOf(position, others, values) };
  });
}

function alignmentOf(position: number, written: Proof['written'], values: LaunchWork['values']): number {
  const array = values[position] as DeviceMemoryArray;
  const alignment = addressAlignment(array);
  if (written === null || alignment <= besideWritten) return alignment;
  for (const other of written) if (overlap(array, values[other] as DeviceMemoryArray)) return besideWritten;
  return alignment;
}

/** Whether values prove what the code was compiled for, no less and no more. */
function holds(proofs: readonly Proof[], values: LaunchWork['values']): boolean {
  for (const { position, written, alignment } of proofs)
    if (alignmentOf(position, written, values) !== alignment) return false;
  return true;
}

/** Where a program has a parameter; null if it has none of this name. */
function positionOf({ parameters }: Program, name: string): number | null {
  const position = parameters.findIndex((parameter) => parameter.name === name);
  return position < 0 ? null : position;
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

/** Whether arrays have one shape, too. */
function sameShaped(a: unknown, b: unknown): boolean {
  return (
    a instanceof ShapedMemoryArray &&
    b instanceof ShapedMemoryArray &&
    sameArray(a.array, b.array) &&
    a.pitch === b.pitch &&
    sameExtent(a.shape, b.shape)
  );
}

/** The work of a launch, taken over from a former one; null if it does not repeat that. Reads each argument once. */
function repeat(recent: Recent, configuration: LaunchConfiguration, given: Given): LaunchWork | null {
  const { work } = recent;
  if (work.signal !== (configuration.signal ?? null)) return null;
  /** The work's values with those that differ; null as long as none does. */
  let varied: LaunchWork['values'][number][] | null = null;
  let allocations = work.allocations;
  /** Whether arrays are among those that differ. */
  let moved = false;
  const mustAsk = recent.isInherited || Object.getPrototypeOf(given) !== Object.prototype;
  for (const { name, value: former, parts, position } of recent.arguments) {
    const value = given[name];
    if ((value === undefined || mustAsk) && !Object.hasOwn(given, name)) return null;
    if (parts === null) {
      if (Object.is(value, former) || sameArray(value, former) || sameShaped(value, former)) continue;
      if (position === null || !mayReplace(value, former as DeviceMemoryArray)) return null;
      varied ??= work.values.slice();
      varied[position] = value;
      moved = true;
      if (value.allocation !== (former as DeviceMemoryArray).allocation) allocations = unknown;
      continue;
    }
    for (const part of parts) {
      const now = part.key === null ? value : (value as Given | null | undefined)?.[part.key];
      if (Object.is(now, part.value)) continue;
      if (part.position === null || !isInterchangeable(part, now)) return null;
      varied ??= work.values.slice();
      varied[part.position] = recent.form(part.position, now as ScalarValue);
    }
  }
  let next = 0;
  for (const name in given) {
    // Mostly they come in the same order.
    if (recent.names[next] !== name && !recent.names.includes(name)) return null;
    next += 1;
  }
  if (!sameExtent(recent.grid, configuration.grid) || !sameExtent(recent.block, configuration.block))
    return null;
  if (moved && !holds(recent.proofs, varied!)) return null;
  if (allocations === unknown) allocations = allocationsOf(varied!);
  for (const allocation of allocations) if (allocation.freed) return null;
  return varied === null ? work : variantOf(work, varied, allocations);
}

/** A launch with other arguments. Every property by its name: this is made for each launch, and several times as fast. */
function variantOf(
  work: LaunchWork,
  values: LaunchWork['values'],
  allocations: readonly Allocation[],
): LaunchWork {
  return {
    kind: 'launch',
    name: work.name,
    assignedName: work.assignedName,
    sources: work.sources,
    executable: work.executable,
    grid: work.grid,
    values,
    shared: work.shared,
    sharedBytes: work.sharedBytes,
    allocations,
    cooperative: work.cooperative,
    signal: work.signal,
    ranOn: work.ranOn,
    variantOf: work,
  };
}

/** Whether an array may come in the place of a former one: it is right, and needs an index as wide. */
function mayReplace(value: unknown, former: DeviceMemoryArray): value is DeviceMemoryArray {
  return (
    value instanceof DeviceMemoryArray &&
    value.device === former.device &&
    value.element === former.element &&
    isWide(value.length) === isWide(former.length)
  );
}

function allocationsOf(values: LaunchWork['values']): readonly Allocation[] {
  const allocations: Allocation[] = [];
  for (const value of values) if (value instanceof DeviceMemoryArray) allocations.push(value.allocation);
  return allocations;
}

/** Whether a number may come in the place of a former one: it is right, and needs an index as wide. */
function isInterchangeable({ type, value: former }: Part, value: unknown): boolean {
  if (type === 'f32' || type === 'f64') return typeof value === 'number';
  if (scalarProblem(type, value) !== null) return false;
  return type !== 'index' || isWide(value as number) === isWide(former as number);
}

function isWide(value: number): boolean {
  return value >= narrowIndexLimit || value < -narrowIndexLimit;
}
