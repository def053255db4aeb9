// Copies, whichever statement asks for them.

import type { Group, Statement } from '../../compiler/ir.ts';

/** The group that makes a copy, if that is what a statement does. */
export function groupOfCopy(statement: Statement): Group | null {
  if (statement.kind !== 'call') return null;
  if (statement.intrinsic === 'memcpyAsync') return statement.group;
  if (statement.intrinsic !== 'core' || statement.operation.kind !== 'copyNow') return null;
  return statement.operation.group;
}
