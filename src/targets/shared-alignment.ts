// At which multiples shared arrays begin, beside what a target likes: what copies promise of them.

import type { Program } from '../compiler/ir.ts';
import { forEachStatement } from './analysis/walk.ts';

/** As devices align the arrays that they allocate: no promise of more holds for those. */
export const arrayAlignment = 256;

/** For each shared array, the most that a copy from it or to it promises (`cuda.alignedSize`); at least `least`. */
export function sharedAlignments(program: Program, least: number): readonly number[] {
  const alignments = program.sharedArrays.map(() => least);
  forEachStatement(program.body, (statement) => {
    if (statement.kind !== 'call' || statement.intrinsic !== 'memcpyAsync') return;
    for (const { array } of [statement.destination, statement.source]) {
      if (array.space !== 'shared') continue;
      const promised = Math.min(arrayAlignment, statement.alignment);
      alignments[array.id] = Math.max(alignments[array.id]!, promised);
    }
  });
  return alignments;
}
