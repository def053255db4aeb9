// The library of issuing.c, which the build puts into the package for each system that it has a compiler for.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { foreignFunctions, type NativeFunction } from '../library.ts';

/** Its functions; a queue is a pointer of the FFI's. */
export interface IssuingLibrary {
  readonly make: (driver: string) => unknown;
  readonly start: (queue: unknown, context: number, patience: number) => number;
  readonly wake: (queue: unknown) => void;
  readonly settle: (queue: unknown) => void;
  readonly stop: (queue: unknown) => void;
}

let opened: IssuingLibrary | null | undefined;

/** The library; null where the package has none for this system, or it cannot be loaded. */
export function issuingLibrary(): IssuingLibrary | null {
  if (opened === undefined) opened = open();
  return opened;
}

/** From the package's file to its folder `dist`, and from this module to it where each has a file. */
const towards = ['..', '../../..'];

function open(): IssuingLibrary | null {
  const path = towards
    .map((way) => new URL(`${way}/native/issuing-${process.platform}-${process.arch}.so`, import.meta.url))
    .map((url) => fileURLToPath(url))
    .find((one) => existsSync(one));
  if (path === undefined) return null;
  try {
    const library = foreignFunctions().load(path);
    const bound = (name: string, result: string, ...parameters: string[]) =>
      library.func(`issuing_${name}`, result, parameters) as unknown;
    return {
      make: bound('make', 'void *', 'const char *') as IssuingLibrary['make'],
      start: bound('start', 'int', 'void *', 'uint64_t', 'int') as NativeFunction,
      wake: bound('wake', 'void', 'void *') as IssuingLibrary['wake'],
      settle: bound('settle', 'void', 'void *') as IssuingLibrary['settle'],
      stop: bound('stop', 'void', 'void *') as IssuingLibrary['stop'],
    };
  } catch {
    return null;
  }
}
