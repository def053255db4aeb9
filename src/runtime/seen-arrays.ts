// Arrays of a launch that a kernel sees as elements of other types: whether they begin where those may.

import { narrowIndexLimit, type Program } from '../compiler/ir.ts';
import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { alignmentOf, bytesOf } from '../kernel/layout.ts';
import { elementOf, lengthAs } from '../targets/analysis/elements.ts';

/** Whether a kernel sees arrays of its launch as other elements. */
export function seesArrays({ views = [] }: Program): boolean {
  return views.some(({ space }) => space === 'global');
}

/** Throws unless each array begins at a multiple of the alignment of all that it is seen as. `what` begins messages. */
export function checkSeenArrays(
  program: Program,
  what: string,
  placeOf: (id: number) => { readonly address: number; readonly length: number },
): void {
  const issues = (program.views ?? []).flatMap((view): Issue[] => {
    if (view.space !== 'global') return [];
    const { name } = program.parameters[view.id]!;
    const as = view.as!;
    const { address, length } = placeOf(view.id);
    const alignment = alignmentOf(as);
    if (address % alignment !== 0) {
      const own = bytesOf(elementOf(program, { space: 'global', id: view.id }));
      return [
        {
          code: 'WS2002',
          message: `${what}: argument \`${name}\` begins ${address % alignment} bytes behind a multiple of ${alignment}, and the kernel sees it as ${as}`,
          hint: `pass a part that begins at a multiple of ${Math.max(1, alignment / own)} elements, or an array of its own`,
        },
      ];
    }
    const seen = lengthAs(program, view, length);
    if (program.indexType === 'i64' || seen < narrowIndexLimit) return [];
    return [
      {
        code: 'WS2002',
        message: `${what}: argument \`${name}\` has ${seen} elements as ${as}, more than an index of 32 bits counts`,
        hint: 'pass it in parts',
      },
    ];
  });
  if (issues.length > 0) throw new WarpstageError(issues);
}
