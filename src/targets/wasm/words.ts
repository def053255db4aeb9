// Words in which threads count, changed by one of them or for several.

import type { ArrayReference, Expression } from '../../compiler/ir.ts';
import { pushExpression } from './expressions.ts';
import { pushWord } from './memory.ts';
import type { ThreadContext } from './thread-context.ts';

/** Adds what `push` pushes to a word. */
export function writeSum(
  context: ThreadContext,
  array: ArrayReference,
  index: Expression,
  push: () => void,
): void {
  const { code } = context;
  code.withTemporary('i32', (address) => {
    const offset = pushWord(context, array, index, pushExpression);
    code.tee(address).get(address).memory('i32.load', offset);
    push();
    code.op('i32.add').memory('i32.store', offset);
  });
}
