// The program in the editor: a module of TypeScript, as one would save it in a file.
//
// Its types are taken out, and no line moves. `warpstage` and `warpstage/check` are the page's own modules, and what
// makes a timeline's page is loaded only where the program names it. A kernel's text is a part of the program's, so a
// place in the kernel is a place in the editor.

import { transform } from 'sucrase';
import type { Device, Kernel, PinnedArray } from 'warpstage';
import type { CheckCase } from 'warpstage/check';

export interface Program {
  readonly checks: readonly CheckCase[];
  /** Issues commands to a device, for a schedule. */
  readonly schedule: ((device: Device, host?: PinnedArray<'f32'>) => Promise<void>) | undefined;
  /** The line of the editor in which the kernel's text begins, from 1; 1 where it was made otherwise. */
  firstLineOf(kernel: Kernel): number;
}

/** The modules that a program of this text imports. */
const modulesFor = (code: string): Readonly<Record<string, string>> => ({
  warpstage: /\btracePage\b/.test(code) ? './whole.js' : './warpstage.js',
  'warpstage/check': './check.js',
});

/** Runs the program. Throws what it throws, or a SyntaxError. */
export async function load(source: string, base: string): Promise<Program> {
  const { code } = transform(source, { transforms: ['typescript'], disableESTransforms: true });
  const modules = modulesFor(code);
  const linked = code.replaceAll(
    /(\bfrom\s*|\bimport\s+)(['"])([^'"\n]+)\2/g,
    (whole, before: string, _, name: string) =>
      Object.hasOwn(modules, name) ? `${before}'${new URL(modules[name]!, base).href}'` : whole,
  );
  const url = URL.createObjectURL(new Blob([linked], { type: 'text/javascript' }));
  try {
    const module = (await import(url)) as Record<string, unknown>;
    const given = Object.values(module).flat();
    const checks = given.filter((one) => (one as Partial<CheckCase> | null)?.kind === 'check-case');
    return {
      checks: checks as CheckCase[],
      schedule: typeof module.schedule === 'function' ? (module.schedule as Program['schedule']) : undefined,
      firstLineOf({ body }) {
        const at = code.indexOf(String(body));
        return at < 0 ? 1 : code.slice(0, at).split('\n').length;
      },
    };
  } finally {
    URL.revokeObjectURL(url);
  }
}
