// The C library of the system: found like the driver, and its functions bound when they are needed.

import type * as Koffi from 'koffi';
import { openLibrary } from './library.ts';

const names =
  process.platform === 'win32'
    ? ['msvcrt.dll']
    : ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1'];

let library: Koffi.LibraryHandle | null | undefined;

/** Binds a function of the C library; null where the library or the function is not found. */
export function cFunction(
  name: string,
  result: string,
  ...parameters: string[]
): Koffi.KoffiFunc<(...args: unknown[]) => number> | null {
  library ??= openLibrary(names, []).library;
  try {
    return library?.func(name, result, parameters) ?? null;
  } catch {
    return null;
  }
}
