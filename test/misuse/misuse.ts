// A kernel with one fault, and its mended twin.
//
// Both are one kernel: where the constant `mended` is true, the fault is gone. So what mends it stands
// beside what is wrong. A comment `// <- WS7010` marks the line where the finding is expected, and
// `// <- other` lines that it must name beside that one (the conflicting access, the quit, the copy).

import type { Value } from '#warpstage/compiler/arithmetic.js';
import type { Code } from '#warpstage/diagnostics/codes.js';
import { linesOf } from '#warpstage/diagnostics/lines.js';
import { type AnyFunction, createKernelSource } from '#warpstage/diagnostics/source.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { isDeviceFunction } from '#warpstage/kernel/parameters.js';
import type { DeviceFunction } from '#warpstage/kernel/schema.js';
import type { Extent } from '#warpstage/kernel/types.js';
import type { HostArray } from '../support/run-program.ts';

export interface Misuse {
  readonly name: string;
  /** Of the reference's catalogue (`UB-9`, `PERF-1`), or what else is wrong: a race, a memory, its third section. */
  readonly row: string;
  readonly code: Code;
  readonly kernel: Kernel;
  readonly launch?: MisuseLaunch;
  /** Whether it depends on the order in which threads run or copies arrive: found by one of 32 seeds. */
  readonly timed?: true;
  /** A part of the finding's sentence. */
  readonly says?: string;
}

export interface MisuseLaunch {
  /** Default 1. */
  readonly grid?: Extent;
  /** Default 32. */
  readonly block?: Extent;
  readonly cooperative?: boolean;
  /** Of `out` and `x`, where `arguments` has none. Default 32. */
  readonly elements?: number;
  readonly arguments?: Readonly<Record<string, HostArray | Value | DeviceFunction>>;
}

/** What most of the kernels take. */
export const schema = {
  out: 'i32[]',
  x: 'readonly i32[]',
  mended: 'constant bool = false',
} as const;

/** The same with a number of batches, which is 4. */
export const batched = { ...schema, batches: 'constant index = 4' } as const;

/** A whole launch, with arrays made for it. */
export function launchOf({ kernel, launch = {} }: Misuse, mended: boolean) {
  const { grid = 1, block = 32, cooperative = false, elements = 32, arguments: given = {} } = launch;
  const arrays = {
    out: new Int32Array(elements),
    x: Int32Array.from({ length: elements }, (_, i) => i + 100),
  };
  const known = Object.entries({ ...arrays, ...given, mended }).filter(([name]) => name in kernel.schema);
  return { grid, block, cooperative, arguments: Object.fromEntries(known) };
}

/** The lines of the file that are marked in a kernel: where the finding is, and what else it names. */
export function markedLines({ kernel, code }: Misuse): {
  readonly at: readonly number[];
  readonly other: readonly number[];
} {
  const functions = Object.values(kernel.schema).filter((entry) => isDeviceFunction(entry));
  const lines = [kernel, ...functions].flatMap(({ body }) => linesOfFile(body));
  const marked = (word: string) =>
    lines.filter(({ text }) => text.includes(`<- ${word}`)).map(({ line }) => line);
  return { at: marked(code), other: marked('other') };
}

function linesOfFile(body: AnyFunction) {
  const source = createKernelSource(body, 'kernel');
  const first = source.locate(0);
  const last = source.locate(source.text.length - 1);
  return linesOf(first.text)
    .map((text, i) => ({ text, line: i + 1 }))
    .slice(first.line - 1, last.line);
}
