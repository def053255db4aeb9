// CUDA_MEMCPY3D: the driver's description of a copy of rows and planes, as 200 bytes.

import type { CopyWork, Memory, Side } from '../copies.ts';
import { foreignFunctions } from './library.ts';

/** CUmemorytype */
const memoryType = { host: 1, device: 2 } as const;
/** Offsets of the two sides in the structure, and of the extents behind them. */
const layout = { source: 0, destination: 88, extent: 176, bytes: 200 } as const;
/** Offsets within a side. */
const field = { type: 32, host: 40, device: 48, pitch: 72, height: 80 } as const;

/** The address of host memory. */
function hostAddress(memory: Exclude<Memory, { kind: 'device' }>): bigint {
  const bytes = memory.kind === 'shared' ? new Uint8Array(memory.buffer, memory.offset) : memory.bytes;
  const koffi = foreignFunctions();
  return BigInt(koffi.address(koffi.as(bytes, 'uint8_t *') as never));
}

/** Describes a copy of a box. Valid as long as the arrays of the host are. */
export function encodeCopy3D({ source, destination, box }: CopyWork): Uint8Array {
  const bytes = new Uint8Array(layout.bytes);
  const view = new DataView(bytes.buffer);
  const side = (at: number, { memory, row, plane }: Side) => {
    const onDevice = memory.kind === 'device';
    view.setUint32(at + field.type, onDevice ? memoryType.device : memoryType.host, true);
    if (onDevice) view.setBigUint64(at + field.device, BigInt(memory.address), true);
    else view.setBigUint64(at + field.host, hostAddress(memory), true);
    view.setBigUint64(at + field.pitch, BigInt(row), true);
    view.setBigUint64(at + field.height, BigInt(row === 0 ? 0 : Math.floor(plane / row)), true);
  };
  side(layout.source, source);
  side(layout.destination, destination);
  view.setBigUint64(layout.extent, BigInt(box.width), true);
  view.setBigUint64(layout.extent + 8, BigInt(box.height), true);
  view.setBigUint64(layout.extent + 16, BigInt(box.depth), true);
  return bytes;
}
