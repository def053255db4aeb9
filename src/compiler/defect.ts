// What goes wrong inside warpstage while a kernel is compiled, reported like any other error: with a code, the
// kernel, and the place in it as far as it is known.

import { WarpstageError } from '../diagnostics/error.ts';
import { type KernelSource, locationOf, type Range } from '../diagnostics/source.ts';

/** What was to be compiled, and where it stands. */
export interface CompiledPlace {
  /** In words: 'kernel `scale` for WebAssembly'. */
  readonly what: string;
  readonly sources: readonly KernelSource[];
  /** By default the beginning of the kernel. */
  readonly range?: Range;
}

/** Carries out a step of a compiler, and tells what it throws as an error of warpstage's. */
export function compiling<T>(place: CompiledPlace, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw asDefect(error, place);
  }
}

/** The error itself if it is one of the kernel's, else WS1015 with the error as its cause. */
export function asDefect(
  error: unknown,
  { what, sources, range = beginning }: CompiledPlace,
): WarpstageError {
  if (error instanceof WarpstageError) return error;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const issue = {
    code: 'WS1015',
    message: `warpstage failed to compile ${what}: ${text}`,
    hint: 'this is a mistake of warpstage: please report it with the kernel',
    location: locationOf(sources, range),
  } as const;
  return new WarpstageError(issue, { cause: error });
}

const beginning: Range = { source: 0, start: 0, end: 0 };
