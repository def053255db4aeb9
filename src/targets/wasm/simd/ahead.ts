// What a processor is asked to fetch ahead: the elements behind those that a group of threads accesses side by side.
//
// Where a block is one row of threads, they are mostly what the next groups and blocks access. Processors see such streams
// themselves, but begin anew at each page, and the more instructions stand between two loads, the fewer of these are under way. A fetch
// of what is not there does nothing. Rows of a block lie apart, and what lies behind each of them is another block's, much later:
// what they access next is what lies there in the next turn of the loop that the block goes through.

import type { Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import type { Loop } from '../../analysis/counters.ts';
import { arrayKey } from '../../analysis/expression-key.ts';
import { growthIn } from '../../analysis/indices.ts';
import { anyStatement, listsOf } from '../../analysis/walk.ts';
import { pushExpression } from '../expressions.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Address } from './checkpoints.ts';

type List = readonly Statement[];

/** Bytes ahead, and those that are fetched at once. */
const [ahead, line] = [2048, 64];

/** Has the code of a region fetch ahead of a group of so many threads, from these addresses. `uniform`: what all of them share. */
export function writeAhead(
  uniform: ThreadContext,
  body: readonly Statement[],
  addresses: readonly Address[],
  threads: number,
): void {
  const { unit, code } = uniform;
  if (!unit.forProcessor || !unit.does('ahead')) return;
  const isRow = unit.blockSize === unit.program.block[0];
  const loop = isRow ? null : loopAround(body, unit.program.body);
  if (!isRow && loop === null) return;
  const type = unit.addressType;
  for (const { array, step, local, common } of addresses) {
    const isThere = array.space === 'global' || (array.space === 'shared' && unit.borrowed.has(array.id));
    if (!isThere || step !== 1) continue;
    const bytes = bytesOf(unit.elementOf(array));
    const growth = loop === null || common === null ? null : growthIn(loop, common);
    if (loop !== null && growth === null) continue;
    const key = arrayKey(array);
    const isStored = anyStatement(body, (each) => each.kind === 'store' && arrayKey(each.array) === key);
    code.withTemporary(type, (from) => {
      code.get(local!);
      if (growth === null) code.address(type, ahead);
      else {
        pushExpression(uniform, growth.factor);
        unit.writeAsAddress(code);
        code.address(type, growth.step * bytes).op(`${type}.mul`);
      }
      code.op(`${type}.add`).set(from);
      for (let at = 0; at < threads * bytes; at += line) {
        code.get(from);
        if (at > 0) code.address(type, at).op(`${type}.add`);
        code.processor(isStored ? 'prefetch_w' : 'prefetch');
      }
    });
  }
}

/** The innermost loop that a list stands in. */
function loopAround(list: List, within: List, around: Loop | null = null): Loop | null {
  if (list === within) return around;
  for (const statement of within) {
    for (const inner of listsOf(statement)) {
      const found = loopAround(list, inner, statement.kind === 'loop' ? statement : around);
      if (found !== null) return found;
    }
  }
  return null;
}
