// Words in which threads count: what a cohort adds for all of its threads at once, and whether a test of words holds.

import type { Expression } from '../../../compiler/ir.ts';
import type { CountCall } from '../../../compiler/ir-cohorts.ts';
import type { CoreCall, CoreOperation } from '../../../compiler/ir-core.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import type { Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { pushWord } from '../memory.ts';
import type { ThreadContext } from '../thread-context.ts';
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
  const write = (context: ThreadContext, pushSum: () => void) => {
    code.withTemporary('i32', (address) => {
      const offset = pushWord(context, array, index, pushExpression);
      code.tee(address).get(address).memory('i32.load', offset);
      pushSum();
      code.op('i32.add').memory('i32.store', offset);
    });
  };
  if (result !== null || !facts.isUniform(index) || !facts.isUniform(by)) {
    cohort.forEachThread((rank) => {
      const context = thread(rank);
      write(context, () => pushExpression(context, by));
      if (result === null) return;
      const offset = pushWord(context, array, index, pushExpression);
      code.memory('i32.load', offset).set(variables.local(result));
      variables.writeSpill(result, rank);
    });
    return;
  }
  write(uniform, () => {
    code.get(cohort.count);
    if (isOne(by)) return;
    pushExpression(uniform, by);
    code.op('i32.mul');
  });
}

/** Each thread learns whether the test holds. */
export function writeAnswer(
  { code, cohort, variables }: CohortWriter,
  { operation: { test }, result }: CountCall,
  thread: (rank: Local) => ThreadContext,
): void {
  cohort.forEachThread((rank) => {
    pushExpression(thread(rank), test);
    code.set(variables.local(result!));
    variables.writeSpill(result!, rank);
  });
}

function isOne(expression: Expression): boolean {
  return expression.kind === 'constant' && Number(expression.value) === 1;
}
