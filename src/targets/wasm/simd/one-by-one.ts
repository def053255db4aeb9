// The scalar fallback of a group of lanes: every thread carries out a statement, one after the other.
//
// Variables that differ between lanes pass through the block's scratch memory. What they share has one local, which each
// thread finds as it was before the statement.

import type { Statement } from '../../../compiler/ir.ts';
import { analyseLiveness, bit, has } from '../../analysis/liveness.ts';
import { assignedIn, readIn } from '../../analysis/walk.ts';
import type { Local } from '../encoder/code.ts';
import { writeStatement } from '../statements.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Variables } from '../variables.ts';
import type { GroupContext } from './group.ts';

export interface OneByOneParts {
  readonly group: GroupContext;
  readonly variables: Variables;
  /** The context of a single thread whose rank a local holds. */
  readonly threadContext: (rank: Local) => ThreadContext;
  /** Leaves the group's values of a variable in scratch memory. */
  readonly writeSpill: (id: number) => void;
  /** Brings them from there. */
  readonly writeReload: (id: number) => void;
}

/** Every lane of a group carries out a statement, one after the other. */
export function writeOneByOne(statement: Statement, parts: OneByOneParts): void {
  const { group, variables, threadContext } = parts;
  const { code, lanes, unit } = group;
  const assigned = [...assignedIn([statement])];
  const varying = assigned.filter((id) => lanes.varies(id));
  // A value that only some lanes give is that of before in the others.
  const exposed = analyseLiveness(
    [statement],
    varying.reduce((set, id) => set | bit(id), 0n),
  ).atStart;
  const taken = [...new Set([...varying, ...readIn([statement])])].filter(
    (id) => lanes.varies(id) && has(exposed, id),
  );
  const own = assigned.filter((id) => !lanes.varies(id) && has(exposed, id));
  for (const id of taken) parts.writeSpill(id);
  code.withTemporaries((take) => {
    const rank = take('i32');
    const end = take('i32');
    const entries = own.map((id) => ({ id, entry: take(unit.wasmTypeOfVariable(id)) }));
    for (const { id, entry } of entries) code.get(variables.local(id)).set(entry);
    code
      .get(group.rank)
      .tee(rank)
      .i32(4 * group.vectors)
      .op('i32.add')
      .set(end);
    code.loop((next) => {
      for (const { id, entry } of entries) code.get(entry).set(variables.local(id));
      for (const id of taken) variables.writeReload(id, rank);
      writeStatement(threadContext(rank), statement);
      for (const id of varying) variables.writeSpill(id, rank);
      code.get(rank).i32(1).op('i32.add').tee(rank).get(end).op('i32.lt_u').brIf(next);
    });
  });
  for (const id of varying) parts.writeReload(id);
}
