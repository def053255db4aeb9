// CUDA_MEMCPY3D: the driver's description of a copy of rows and planes.

import type * as Koffi from 'koffi';
import type { CopyWork, Side } from '../copies.ts';

/** CUmemorytype */
const memoryType = { host: 1, device: 2 } as const;

/** The name that prototypes give the structure. */
export const copy3DType = 'CUDA_MEMCPY3D';

const sideFields = (side: 'src' | 'dst') => ({
  [`${side}XInBytes`]: 'size_t',
  [`${side}Y`]: 'size_t',
  [`${side}Z`]: 'size_t',
  [`${side}LOD`]: 'size_t',
  [`${side}MemoryType`]: 'uint',
  [`${side}Host`]: 'void *',
  [`${side}Device`]: 'uint64_t',
  [`${side}Array`]: 'uint64_t',
  [`${side}Context`]: 'uint64_t',
  [`${side}Pitch`]: 'size_t',
  [`${side}Height`]: 'size_t',
});

/** Makes the structure known to the FFI; once, before a prototype names it. */
export function defineCopy3D(koffi: typeof Koffi): void {
  koffi.struct(copy3DType, {
    ...sideFields('src'),
    ...sideFields('dst'),
    WidthInBytes: 'size_t',
    Height: 'size_t',
    Depth: 'size_t',
  });
}

function describeSide(name: 'src' | 'dst', { memory, row, plane }: Side): Record<string, unknown> {
  const onDevice = memory.kind === 'device';
  const host = memory.kind === 'shared' ? new Uint8Array(memory.buffer, memory.offset) : null;
  return {
    [`${name}XInBytes`]: 0,
    [`${name}Y`]: 0,
    [`${name}Z`]: 0,
    [`${name}LOD`]: 0,
    [`${name}MemoryType`]: onDevice ? memoryType.device : memoryType.host,
    [`${name}Host`]: memory.kind === 'pageable' ? memory.bytes : host,
    [`${name}Device`]: onDevice ? memory.address : 0,
    [`${name}Array`]: 0,
    [`${name}Context`]: 0,
    [`${name}Pitch`]: row,
    [`${name}Height`]: row === 0 ? 0 : Math.floor(plane / row),
  };
}

/** Describes a copy of a box. */
export function describeCopy3D({ source, destination, box }: CopyWork): Record<string, unknown> {
  return {
    ...describeSide('src', source),
    ...describeSide('dst', destination),
    WidthInBytes: box.width,
    Height: box.height,
    Depth: box.depth,
  };
}
