// A kernel's parameters as they lie in memory: arrays, scalars, dynamic shared arrays, and at the end the channel
// of a kernel that tells something. Each lies at the next multiple of its size.

import type { Value } from '../../compiler/arithmetic.ts';
import { elementBytes } from '../../kernel/types.ts';
import { sharedAlignment } from '../../targets/cuda/generate.ts';
import type { Executable } from '../../targets/executable.ts';
import { sharedAlignments } from '../../targets/shared-alignment.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import type { LaunchWork } from '../launch.ts';
import { setScalar } from '../scalar-bytes.ts';

type CudaExecutable = Extract<Executable, { target: 'cuda' }>;
type ProgramParameter = CudaExecutable['program']['parameters'][number];
type ScalarType = Extract<ProgramParameter, { kind: 'scalar' }>['type'];

/** Where a scalar lies: its position among a launch's values, and its byte. */
interface ScalarPlace {
  readonly position: number;
  readonly at: number;
  readonly type: ScalarType;
}

export interface Parameters {
  readonly bytes: Uint8Array;
  readonly scalars: readonly ScalarPlace[];
  /** Dynamic shared memory of a block. */
  readonly sharedBytes: number;
  /** Where among the parameters the channel is, and behind it the launch's number; null for a kernel that tells nothing. */
  readonly channelAt: number | null;
}

const scalarBytes: Partial<Readonly<Record<ScalarType, number>>> = { bool: 1, i32: 4, u32: 4, f32: 4 };

export function packParameters(
  { values, shared }: LaunchWork,
  { program, shared: places, plainPointers, sites }: CudaExecutable,
): Parameters {
  const bytes = new Uint8Array(16 * (program.parameters.length + program.sharedArrays.length + 1));
  const view = new DataView(bytes.buffer);
  const scalars: ScalarPlace[] = [];
  let at = 0;
  const align = (bytes: number) => {
    at = Math.ceil(at / bytes) * bytes;
    const here = at;
    at += bytes;
    return here;
  };
  const index = (value: number) => {
    if (program.indexType === 'i64') setWide(view, align(8), value);
    else view.setInt32(align(4), value, true);
  };
  for (const [position, parameter] of program.parameters.entries()) {
    const value = values[position]!;
    if (value instanceof DeviceMemoryArray) {
      setWide(view, align(8), value.address);
      if (!plainPointers) index(value.length);
      continue;
    }
    if (parameter.kind === 'array') throw new TypeError(`no array for ${parameter.name}`);
    const { type } = parameter;
    scalars.push({ position, at: align(scalarBytes[type] ?? 8), type });
  }
  setScalars(view, 0, scalars, values);
  const alignments = sharedAlignments(program, sharedAlignment);
  let end = 0;
  for (const [id, { element }] of program.sharedArrays.entries()) {
    const { length } = shared[id]!;
    const offset = Math.ceil(end / alignments[id]!) * alignments[id]!;
    end = offset + length * elementBytes[element];
    if (places[id] === null) {
      view.setUint32(align(4), offset, true);
      index(length);
    }
  }
  const channelAt = sites === undefined ? null : align(8);
  if (sites !== undefined) align(4);
  return { bytes: bytes.slice(0, at), scalars, sharedBytes: end, channelAt };
}

/** Writes a launch's scalars to where its parameters begin. */
export function setScalars(
  view: DataView,
  begin: number,
  scalars: readonly ScalarPlace[],
  values: LaunchWork['values'],
): void {
  for (const { position, at, type } of scalars) setScalar(view, begin + at, type, values[position] as Value);
}

/** Writes an integer that a number holds exactly as 64 bits; faster than by way of a bigint. */
function setWide(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setInt32(at + 4, Math.floor(value / 2 ** 32), true);
}
