// Pipelines and barriers that are surely made wherever the block uses them: nothing needs to be asked there.

import type { Statement } from '../../../compiler/ir.ts';
import { forEachStatement } from '../../analysis/walk.ts';

/** Those that a program makes at its top level before anything is done with them, and does not use after it quits them. */
export function surelyMade(body: readonly Statement[], what: 'pipeline' | 'barrier'): ReadonlySet<number> {
  const made = new Set<number>();
  const known = new Set<number>();
  const excluded = new Set<number>();
  const of = (statement: Statement): number | null => {
    if (statement.kind !== 'call') return null;
    if (what === 'barrier') return 'barrier' in statement ? statement.barrier : null;
    return 'pipeline' in statement ? statement.pipeline : null;
  };
  for (const statement of body) {
    forEachStatement([statement], (each) => {
      const id = of(each);
      if (id === null || each.kind !== 'call') return;
      const isMade = each.intrinsic === 'makePipeline' || each.intrinsic === 'makeBarrier';
      if (each === statement && isMade) {
        made.add(id);
        known.add(id);
      } else if (!made.has(id)) excluded.add(id);
      if (each.intrinsic !== 'quit') return;
      if (each === statement) made.delete(id);
      else excluded.add(id);
    });
  }
  return new Set([...known].filter((id) => !excluded.has(id)));
}
