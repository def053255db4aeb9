// Whether tests run with addresses of 64 bits: with WARPSTAGE_TEST_ADDRESSES=64, on an engine that has such memories.
//
// Then what tests compile is compiled so, and arrays begin at 4 GiB, so that an address which lost its upper half
// anywhere is that of another byte.

import { hasMemory64 } from '#warpstage/runtime/cpu/linear-memory.js';
import type { WasmOptions } from '#warpstage/targets/wasm/compile.js';
import { forMemory64 } from '#warpstage/targets/wasm/memory64.js';

export const hasWideAddresses = process.env.WARPSTAGE_TEST_ADDRESSES === '64';
if (hasWideAddresses && !hasMemory64()) throw new Error('this engine has no memories of 64 bits');

/** What else modules are compiled with. */
export const addressing: Pick<WasmOptions, 'memory64'> = hasWideAddresses ? { memory64: forMemory64 } : {};

/** Where arrays begin. */
export const arraysBegin = hasWideAddresses ? 2 ** 32 : 64;

let wide: WebAssembly.Memory | null = null;

/** A memory of so many bytes at least; what lies in it is undefined. */
export function memoryOf(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / 65536);
  if (!hasWideAddresses) return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  // One for all, since each takes 16 GiB of the address space until it is collected.
  const limits = { address: 'i64', initial: BigInt(pages), maximum: 2n ** 18n, shared: true };
  wide ??= new WebAssembly.Memory(limits as unknown as WebAssembly.MemoryDescriptor);
  const missing = pages - wide.buffer.byteLength / 65536;
  if (missing > 0) wide.grow(BigInt(missing) as never);
  return wide;
}
