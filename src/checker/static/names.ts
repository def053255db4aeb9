// What the names in a file's kernels stand for: what an editor shows where one points at them.
//
// The compiler has found it: a kernel is compiled once, and each use of a name is looked up in the activations of
// the functions that it is in. A kernel with a mistake has the names that were bound nevertheless.

import type { Binding } from '../../compiler/frame.ts';
import type { Lowering } from '../../compiler/lowering.ts';
import { specialise } from '../../compiler/specialise.ts';
import { describe, type GroupValue, type Value, type ViewValue } from '../../compiler/values.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { offsetAt } from '../../diagnostics/lines.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { type Launch, launches, specialisationFor } from './launches.ts';
import { Modules, type ReadText, Unknown } from './modules.ts';

/** A name in the text of a kernel, or of a function that a kernel calls. */
export interface NameInKernel {
  readonly name: string;
  /** Where it stands in the file, in UTF-16 units from 0. */
  readonly start: number;
  readonly end: number;
  /** What it stands for, as a type: `readonly f32[]`, `i32`. Several where calls of a function differ; empty for a member. */
  readonly type: string;
  /** Of a member: whose it is, `cuda`, `block` or `pipeline`, as docs/intrinsics.md lists them; null of other names. */
  readonly receiver: string | null;
}

/** The names in the kernels of a file, in their order. Nothing is run. A file that cannot be parsed has none. */
export function namesInKernels(file: string, read: ReadText): readonly NameInKernel[] {
  const found = new Map<number, NameInKernel>();
  try {
    const module = new Modules(read).get(file);
    for (const { call } of module?.kernels() ?? []) {
      try {
        collect(module!.valueOf(call) as Kernel, launches[0]!, file, found);
      } catch (error) {
        if (!(error instanceof Unknown || error instanceof WarpstageError)) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

function collect(kernel: Kernel, launch: Launch, file: string, found: Map<number, NameInKernel>): void {
  try {
    specialise(kernel, specialisationFor(kernel, launch), (lowering) => look(lowering, file, found));
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
  }
}

/** Adds the names of a compilation that is done. */
function look(lowering: Lowering, file: string, found: Map<number, NameInKernel>): void {
  const add = (one: NameInKernel) => {
    const other = found.get(one.start);
    const types = new Set([...(other?.type.split(' | ') ?? []), ...one.type.split(' | ')]);
    found.set(one.start, { ...one, type: [...types].join(' | ') });
  };
  const begins = lowering.sources.map((source) => {
    const place = source.locate(0);
    return place.file === file ? offsetAt(place.text, place) : undefined;
  });
  for (const frame of lowering.activations) {
    const begin = begins[frame.source];
    if (begin === undefined) continue;
    const { resolution, shift } = frame.parsed;
    for (const [identifier, declaration] of resolution.declarations) {
      const binding = frame.lookUp(declaration);
      const meant = binding && meaningOf(binding, lowering);
      if (meant === undefined) continue;
      const { name } = identifier;
      const start = begin + identifier.start - shift;
      add({ name, start, end: start + name.length, ...meant });
    }
  }
  for (const { receiver, name, range } of lowering.members) {
    const begin = begins[range.source];
    // `object.name`; what is written otherwise has its name elsewhere.
    if (begin === undefined || !lowering.sources[range.source]!.text.slice(0, range.end).endsWith(name))
      continue;
    const end = begin + range.end;
    add({ name, start: end - name.length, end, type: '', receiver });
  }
}

type Meaning = Pick<NameInKernel, 'type' | 'receiver'>;

function meaningOf(binding: Binding, { inference }: Lowering): Meaning | undefined {
  if (binding.kind === 'value') return valueMeaning(binding.value);
  const { cell } = binding;
  if (cell.holds === 'number') return ofType(inference.typeOf(cell.key));
  if (cell.holds === 'text') return ofType('string');
  return cell.value === null ? undefined : valueMeaning(cell.value);
}

function valueMeaning(value: Value): Meaning | undefined {
  switch (value.kind) {
    case 'number':
    case 'vector':
      return ofType(value.type);
    case 'literal':
      return ofType(typeof value.value === 'bigint' ? `${value.value}n` : String(value.value));
    case 'view':
      return ofType(arrayType(value));
    case 'arrayChoice':
      return ofType(arrayType(value.options[0]!));
    case 'group':
      return ofType(groupType(value));
    case 'pipeline':
      return ofType('Pipeline');
    case 'barrier':
      return ofType('Barrier');
    case 'barriers':
      return ofType(`Barrier[${value.count}]`);
    case 'intrinsic': {
      const [receiver = '', member = ''] = value.name.split('.');
      return { type: member, receiver };
    }
    case 'namespace':
      return ofType(value.name === 'cuda' ? 'Cuda' : value.name);
    case 'broken':
    case 'undefined':
      return undefined;
    default:
      return ofType(describe(value));
  }
}

function ofType(type: string | undefined): Meaning | undefined {
  return type === undefined ? undefined : { type, receiver: null };
}

function groupType({ group }: GroupValue): string {
  const names: Readonly<Record<string, string>> = { grid: 'Grid', block: 'ThreadBlock', thread: 'Thread' };
  return group.kind === 'tile' ? `Tile of ${group.size} threads` : (names[group.kind] ?? group.kind);
}

/** `f32[]`, with what may be done with it, where it lies, and its length if the kernel gives it. */
function arrayType({ element, readonly, array, length, dimensions }: ViewValue): string {
  const extents = (dimensions ?? [{ extent: length }]).map(({ extent }) =>
    extent?.kind === 'constant' ? `[${extent.value}]` : '[]',
  );
  const space = array.space === 'global' ? '' : `${array.space} `;
  return `${readonly ? 'readonly ' : ''}${space}${element}${extents.join('')}`;
}
