// What a processor is asked to fetch ahead: the elements behind those that a group of threads accesses side by side.
//
// Where a block is one row of threads, they are mostly what the next groups and blocks access. Processors see such streams
// themselves, but begin anew at each page, and the more instructions stand between two loads, the fewer of these are under way. A fetch
// of what is not there does nothing. Rows of a block lie apart, and what lies behind each of them is another block's, much later.

import type { Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { arrayKey } from '../../analysis/expression-key.ts';
import { anyStatement } from '../../analysis/walk.ts';
import type { Code } from '../encoder/code.ts';
import type { Unit } from '../unit.ts';
import type { Address } from './checkpoints.ts';

/** Bytes ahead, and those that are fetched at once. */
const [ahead, line] = [2048, 64];

/** Has the code of a region fetch ahead of a group of so many threads, from these addresses. */
export function writeAhead(
  unit: Unit,
  code: Code,
  body: readonly Statement[],
  addresses: readonly Address[],
  threads: number,
): void {
  if (!unit.forProcessor || !unit.does('ahead') || unit.blockSize > unit.program.block[0]) return;
  for (const { array, step, local } of addresses) {
    const isThere = array.space === 'global' || (array.space === 'shared' && unit.borrowed.has(array.id));
    if (!isThere || step !== 1) continue;
    const key = arrayKey(array);
    const isStored = anyStatement(body, (each) => each.kind === 'store' && arrayKey(each.array) === key);
    for (let at = 0; at < threads * bytesOf(unit.elementOf(array)); at += line) {
      code
        .get(local!)
        .address(unit.addressType, ahead + at)
        .op(`${unit.addressType}.add`)
        .processor(isStored ? 'prefetch_w' : 'prefetch');
    }
  }
}
