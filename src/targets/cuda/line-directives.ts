// `#line` directives: where a statement of the generated C++ stands in the user's TypeScript.
//
// NVRTC's messages, cuda-gdb and Nsight then name the user's file and line. A place whose file is
// not known is named by the kernel, and counts the lines of its text.

import type { KernelSource, Range } from '../../diagnostics/source.ts';

/** A function that gives the directive of a range. */
export function lineDirectives(sources: readonly KernelSource[]): (range: Range) => string | null {
  const known = new Map<string, string>();
  return ({ source, start }) => {
    const origin = sources[source];
    if (origin === undefined) return null;
    const key = `${source}:${start}`;
    let directive = known.get(key);
    if (directive === undefined) {
      const { line, file = origin.name } = origin.locate(start);
      directive = `#line ${line} ${JSON.stringify(file)}`;
      known.set(key, directive);
    }
    return directive;
  };
}
