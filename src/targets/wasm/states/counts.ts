// Words in which threads count: what a cohort adds for all of its threads at once.

import type { Expression } from '../../../compiler/ir.ts';
import type { CoreCall, CoreOperation } from '../../../compiler/ir-core.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import type { Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { pushWord } from '../memory.ts';
import type { ThreadContext } from '../thread-context.ts';
import { writeSum } from '../words.ts';
import type { CohortWriter } from './writer.ts';

type Post = CoreCall & { readonly operation: Extract<CoreOperation, { kind: 'post' }> };

export function isPost(call: CoreCall): call is Post {
  return call.operation.kind === 'post';
}

/** All threads of the cohort add. To one word they add the same all at once. */
export function writePost(
  { code, cohort, uniform, variables }: CohortWriter,
  facts: CohortUniformity,
  { operation: { array, index, by }, result }: Post,
  thread: (rank: Local) => ThreadContext,
): void {
  if (result !== null || !facts.isUniform(index) || !facts.isUniform(by)) {
    cohort.forEachThread((rank) => {
      const context = thread(rank);
      writeSum(context, array, index, () => pushExpression(context, by));
      if (result === null) return;
      const offset = pushWord(context, array, index, pushExpression);
      code.memory('i32.load', offset).set(variables.local(result));
      variables.writeSpill(result, rank);
    });
    return;
  }
  writeSum(uniform, array, index, () => {
    code.get(cohort.count);
    if (isOne(by)) return;
    pushExpression(uniform, by);
    code.op('i32.mul');
  });
}

function isOne(expression: Expression): boolean {
  return expression.kind === 'constant' && Number(expression.value) === 1;
}
