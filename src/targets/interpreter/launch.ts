// A launch as the interpreter reads it from memory: the record and the arena that
// executable.ts describes.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Program, ValueType } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Extent3 } from '../../kernel/types.ts';
import type { RunnerContext } from '../executable.ts';
import { type Elements, elementsAt, poisonBytes } from './memory.ts';
import type { ObservedProgram, Observer } from './observer.ts';

/** What all blocks of a launch share. */
export interface Launch {
  readonly program: Program;
  readonly grid: Extent3;
  /** By parameter; a hole where the other kind stands. */
  readonly arrays: readonly (Elements | undefined)[];
  readonly scalars: readonly (Value | undefined)[];
  /** In the arena, which one block after the other uses. */
  readonly sharedArrays: readonly Elements[];
  /** The same for a block that has an arena of its own. */
  ofBlock(linear: number): Launch;
  readonly print: RunnerContext['print'];
  readonly observer: Observer | null;
}

export function readLaunch(
  program: ObservedProgram,
  context: RunnerContext,
  record: number,
  arena: number,
): Launch {
  const { buffer } = context.memory;
  const view = new DataView(buffer);
  const word = (address: number) => view.getUint32(address, true);
  const long = (address: number) => Number(view.getBigUint64(address, true));
  const arrays: (Elements | undefined)[] = [];
  const scalars: (Value | undefined)[] = [];
  program.parameters.forEach((parameter, id) => {
    const slot = record + 16 * (1 + id);
    if (parameter.kind === 'array') {
      arrays[id] = elementsAt(parameter.name, parameter.element, buffer, long(slot), long(slot + 8));
    } else {
      scalars[id] = readScalar(view, slot, parameter.type);
    }
  });
  const sharedArraysIn = (place: number) =>
    program.sharedArrays.map(({ name, element }, id) => {
      const slot = record + 16 * (1 + program.parameters.length + id);
      return elementsAt(name, element, buffer, place + long(slot), long(slot + 8));
    });
  const arenaStride = word(record + 12);
  const ofBlock = (linear: number) => {
    const own = sharedArraysIn(arena + linear * arenaStride);
    // What the blocks have in common lies in the first's arena.
    const inArena = program.sharedArrays.map(({ ofGrid }, id) => (ofGrid ? sharedArrays[id]! : own[id]!));
    return { ...launch, sharedArrays: inArena };
  };
  const grid: Extent3 = [word(record), word(record + 4), word(record + 8)];
  const { observer = null } = program;
  const { print } = context;
  const sharedArrays = sharedArraysIn(arena);
  const launch: Launch = { program, grid, arrays, scalars, sharedArrays, ofBlock, print, observer };
  return launch;
}

function readScalar(view: DataView, address: number, type: ValueType): Value {
  switch (type) {
    case 'bool':
      return view.getUint32(address, true) !== 0;
    case 'i32':
      return view.getInt32(address, true);
    case 'u32':
      return view.getUint32(address, true);
    case 'i64':
      return view.getBigInt64(address, true);
    case 'u64':
      return view.getBigUint64(address, true);
    case 'f32':
      return view.getFloat32(address, true);
    case 'f64':
      return view.getFloat64(address, true);
    default:
      return type satisfies never;
  }
}

/** Makes a block's shared memory undefined, but for words in which threads count. Arrays start on multiples of 16 bytes, so whole words may be filled. */
export function poisonShared(launch: Launch): void {
  for (const [id, { bytes }] of launch.sharedArrays.entries()) {
    if (launch.program.sharedArrays[id]!.counts)
      new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).fill(0);
    else poisonBytes(bytes.buffer, bytes.byteOffset, Math.ceil(bytes.byteLength / 4) * 4);
  }
}

/** The local arrays of all threads of a block, by thread; undefined at the start, like shared memory. */
export function localArraysOf(program: Program, threads: number): Elements[][] {
  const arrays = program.localArrays.map(({ name, element, count }) => {
    const bytes = Math.ceil((count * bytesOf(element)) / 16) * 16;
    const buffer = new ArrayBuffer(bytes * threads);
    poisonBytes(buffer, 0, buffer.byteLength);
    return (rank: number) => elementsAt(name, element, buffer, bytes * rank, count);
  });
  return Array.from({ length: threads }, (_, rank) => arrays.map((of) => of(rank)));
}
