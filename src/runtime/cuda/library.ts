// Shared libraries, found at run time and never required: the way to the driver and to NVRTC.
//
// A library is looked for under each of its names in each of the places where systems, toolkits
// and Python wheels put it; what was tried is part of the error.

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Koffi from 'koffi';
import { WarpstageError } from '../../diagnostics/error.ts';

/** Names of C types as koffi spells them: the result first, then the parameters. */
export type Prototype = readonly [result: string, ...parameters: string[]];

/** A bound function of a library. Handles and device addresses are numbers, or bigints beyond 2^53. */
export type NativeFunction = (...args: unknown[]) => number;

/** What koffi gives its functions beside the call itself: the call on a thread of libuv's pool. */
interface Aside {
  readonly async?: (...args: unknown[]) => void;
}

/** Calls on another thread, while the event loop goes on; what is passed must stay as it is until then. */
export function callAside(call: NativeFunction & Aside, ...args: readonly unknown[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // What the library lacks says so as it would on this thread.
    if (call.async === undefined) resolve(call(...args));
    else call.async(...args, (error: unknown, result: number) => (error ? reject(error) : resolve(result)));
  });
}

let koffi: typeof Koffi | undefined;

/** Where the FFI package is looked for: from this module, or from the program if a bundle has no module's URL. */
const packages = () =>
  createRequire(import.meta.url || pathToFileURL(process.argv[1] ?? join(process.cwd(), 'program.js')));

/** Where the FFI package is, for a thread that has no place of its own to look for it. */
export function foreignFunctionsPath(): string {
  return packages().resolve('koffi');
}

/** The FFI package, loaded on first use: it is optional. `wants`: for whom an error says that it is missing. */
export function foreignFunctions(wants = 'NVIDIA GPUs need'): typeof Koffi {
  try {
    koffi ??= packages()('koffi') as typeof Koffi;
    return koffi;
  } catch (cause) {
    throw new WarpstageError(
      {
        code: 'WS4003',
        message: `${wants} the package koffi, and it cannot be loaded`,
        hint: 'install it beside warpstage: npm install koffi',
      },
      { cause },
    );
  }
}

/** Every path under which one of the names could be found, in the order in which they are tried. */
function candidates(names: readonly string[], folders: readonly string[]): readonly string[] {
  const files = folders.flatMap((folder) => {
    if (!existsSync(folder)) return [];
    const present = readdirSync(folder);
    return names.flatMap((name) =>
      present
        .filter((file) => file === name || file.startsWith(`${name}.`))
        .map((file) => join(folder, file)),
    );
  });
  return [...names, ...files];
}

/** Opens the first library that can be opened; null, with what was tried, if there is none. */
export function openLibrary(
  names: readonly string[],
  folders: readonly string[],
):
  | { readonly library: Koffi.LibraryHandle; readonly path: string }
  | { readonly library: null; readonly tried: readonly string[] } {
  const koffi = foreignFunctions();
  const tried = candidates(names, folders);
  for (const path of tried) {
    try {
      const library = koffi.load(path);
      keepLoaded(path);
      return { library, path };
    } catch {
      // Not here: the next one.
    }
  }
  return { library: null, tried };
}

/** RTLD_NOW and RTLD_NOLOAD, the same in all C libraries of Linux */
const asItIs = 2 | 4;

/**
 * Keeps a library where it is until the process has ended. The FFI closes its libraries when the thread that opened
 * them ends, or the process; by then the driver and CUPTI have threads of their own, which go on running in them.
 */
function keepLoaded(path: string): void {
  if (process.platform !== 'linux') return;
  try {
    foreignFunctions().load(null).func('dlopen', 'void *', ['const char *', 'int'])(path, asItIs);
  } catch {
    // A C library without it: nothing is kept.
  }
}

/**
 * Loads the libraries beside another whose names begin so, and keeps them: one that it opens by its name alone is then found,
 * wherever it lies.
 */
export function loadBeside(path: string, prefix: string): void {
  const folder = dirname(path);
  if (folder === '.' || !existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    if (!file.startsWith(prefix)) continue;
    try {
      foreignFunctions().load(join(folder, file));
      keepLoaded(join(folder, file));
    } catch {
      // What needs it says that it is not there.
    }
  }
}

/** Binds functions of a library; one that it lacks, as older versions do, says so when it is called. */
export function bind<T extends Readonly<Record<string, Prototype>>>(
  library: Koffi.LibraryHandle,
  prototypes: T,
): { readonly [K in keyof T]: NativeFunction } {
  const entries = Object.entries(prototypes).map(([name, [result, ...parameters]]) => [
    name,
    bound(library, name, result, parameters),
  ]);
  return Object.fromEntries(entries) as { readonly [K in keyof T]: NativeFunction };
}

function bound(
  library: Koffi.LibraryHandle,
  name: string,
  result: string,
  parameters: readonly string[],
): NativeFunction {
  try {
    return library.func(name, result, [...parameters]) as NativeFunction;
  } catch {
    return () => {
      throw new WarpstageError({
        code: 'WS4003',
        message: `the NVIDIA driver or compiler on this machine is too old: it lacks ${name}`,
        hint: 'install a newer one',
      });
    };
  }
}

/** Where the bytes of a typed array lie. What it is a view of must be kept as long as the address is used. */
export function addressOf(bytes: ArrayBufferView): number {
  return Number(foreignFunctions().address(bytes));
}
