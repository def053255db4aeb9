// Native memory that the driver reads: parameters of launches, descriptions of copies.

import { foreignFunctions } from './library.ts';

export interface NativeMemory {
  readonly address: number;
  readonly view: DataView;
  readonly bytes: Uint8Array;
}

/** Memory that is never given back: a few stretches for a device. */
export function allocateNative(bytes: number): NativeMemory {
  const koffi = foreignFunctions();
  const memory: unknown = koffi.alloc('uint8_t', bytes);
  const buffer = koffi.view(memory, bytes);
  return {
    address: Number(koffi.address(memory)),
    view: new DataView(buffer),
    bytes: new Uint8Array(buffer),
  };
}
