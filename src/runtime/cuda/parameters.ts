// A kernel's parameters as they lie in memory: arrays, scalars, dynamic shared arrays, and at the end the channel
// of a kernel that tells something. Each lies at the next multiple of its size.

import type { Value } from '../../compiler/arithmetic.ts';
import { bytesOf } from '../../kernel/layout.ts';

import { sharedAlignment } from '../../targets/cuda/generate.ts';
import type { Executable } from '../../targets/executable.ts';
import { sharedAlignments } from '../../targets/shared-alignment.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import type { LaunchWork } from '../launch.ts';
import { setScalar } from '../scalar-bytes.ts';

type CudaExecutable = Extract<Executable, { target: 'cuda' }>;
type ProgramParameter = CudaExecutable['program']['parameters'][number];
type ScalarType = Extract<ProgramParameter, { kind: 'scalar' }>['type'];

/** Where an array lies: its position among a launch's values, the byte of its address, and that of its length if it has one. */
interface ArrayPlace {
  readonly position: number;
  readonly at: number;
  readonly lengthAt: number | null;
}

/** Where a scalar lies: its position among a launch's values, and its byte. */
interface ScalarPlace {
  readonly position: number;
  readonly at: number;
  readonly type: ScalarType;
}

export interface PackedParameters {
  readonly bytes: Uint8Array;
  readonly arrays: readonly ArrayPlace[];
  readonly scalars: readonly ScalarPlace[];
  /** Whether lengths have 64 bits. */
  readonly isWide: boolean;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes: number;
  /** Where among the parameters the channel is, and behind it the launch's number; null for a kernel that tells nothing. */
  readonly channelAt: number | null;
}

const scalarBytes: Partial<Readonly<Record<ScalarType, number>>> = { bool: 1, i32: 4, u32: 4, f32: 4 };

export function packParameters(
  { values, shared }: LaunchWork,
  { program, shared: places, plainPointers, sites }: CudaExecutable,
): PackedParameters {
  const bytes = new Uint8Array(16 * (program.parameters.length + program.sharedArrays.length + 1));
  const view = new DataView(bytes.buffer);
  const arrays: ArrayPlace[] = [];
  const scalars: ScalarPlace[] = [];
  const isWide = program.indexType === 'i64';
  let at = 0;
  const align = (bytes: number) => {
    at = Math.ceil(at / bytes) * bytes;
    const here = at;
    at += bytes;
    return here;
  };
  const placeOfIndex = () => align(isWide ? 8 : 4);
  for (const [position, parameter] of program.parameters.entries()) {
    const value = values[position]!;
    if (value instanceof DeviceMemoryArray) {
      arrays.push({ position, at: align(8), lengthAt: plainPointers ? null : placeOfIndex() });
      continue;
    }
    if (parameter.kind === 'array') throw new TypeError(`no array for ${parameter.name}`);
    const { type } = parameter;
    scalars.push({ position, at: align(scalarBytes[type] ?? 8), type });
  }
  const own = { arrays, scalars, isWide };
  setArguments(view, 0, own, values);
  const alignments = sharedAlignments(program, sharedAlignment);
  let end = 0;
  for (const [id, { element }] of program.sharedArrays.entries()) {
    // What is known before the launch may be more than the kernel says: a stage that is kept twice.
    const length = places[id]?.length ?? shared[id]!.length;
    const offset = Math.ceil(end / alignments[id]!) * alignments[id]!;
    end = offset + length * bytesOf(element);
    if (places[id] === null) {
      view.setUint32(align(4), offset, true);
      setIndex(view, placeOfIndex(), length, isWide);
    }
  }
  const channelAt = sites === undefined ? null : align(8);
  if (sites !== undefined) align(4);
  return { ...own, bytes: bytes.slice(0, at), sharedBytes: end, channelAt };
}

/** Writes a launch's arrays and scalars to where its parameters begin; `former`: what stands there, if anything does. */
export function setArguments(
  view: DataView,
  begin: number,
  { arrays, scalars, isWide }: Pick<PackedParameters, 'arrays' | 'scalars' | 'isWide'>,
  values: LaunchWork['values'],
  former: LaunchWork['values'] | null = null,
): void {
  for (const { position, at, lengthAt } of arrays) {
    const array = values[position] as DeviceMemoryArray;
    if (former !== null && array === former[position]) continue;
    setAddress(view, begin + at, array.address);
    if (lengthAt !== null) setIndex(view, begin + lengthAt, array.length, isWide);
  }
  for (const { position, at, type } of scalars) {
    const value = values[position] as Value;
    if (former === null || !Object.is(value, former[position])) setScalar(view, begin + at, type, value);
  }
}

function setIndex(view: DataView, at: number, value: number, isWide: boolean): void {
  if (isWide) setAddress(view, at, value);
  else view.setInt32(at, value, true);
}

/** Writes an integer that a number holds exactly as 64 bits; faster than by way of a bigint. */
export function setAddress(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setInt32(at + 4, Math.floor(value / 2 ** 32), true);
}
