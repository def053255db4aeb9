// A region's threads, one after the other: row by row, and in a row by lanes where that is
// possible, or by one copy where all that they do is to copy. A row is the threads that differ in
// threadIdx.x alone.

import type { Expression, Region, View } from '../../compiler/ir.ts';
import type { Uniformity } from '../analysis/uniformity.ts';
import { assignedIn } from '../analysis/walk.ts';
import { copyOf, writeCopyIfRight } from './copies.ts';
import type { Code, Label, Local } from './encoder/code.ts';
import { pushExpression } from './expressions.ts';
import { Hoisting } from './hoisting.ts';
import { jointCopy } from './joint-copies.ts';
import { cutBeforePrefix, prefixOf } from './prefix.ts';
import type { Lanes } from './simd/lanes.ts';
import { planLanes, writeLaneRow } from './simd/region.ts';
import { writeStatements } from './statements.ts';
import type { ThreadContext } from './thread-context.ts';
import type { Unit } from './unit.ts';
import type { Variables } from './variables.ts';

export interface RowsParts {
  readonly unit: Unit;
  readonly code: Code;
  readonly region: Omit<Region, 'range'>;
  readonly lanes: Lanes;
  /** What all the threads find the same. */
  readonly uniformity: Pick<Uniformity, 'isUniform'>;
  readonly variables: Variables;
  readonly uniform: ThreadContext;
  /** The context of a thread by its rank; `endOfThread` is where its code ends, null where none of it leaves. */
  readonly threadContext: (rank: Local, endOfThread: Label | null, hoisting: Hoisting) => ThreadContext;
}

/** Writes a loop over all threads of the block; returns whether it runs any of them in lanes. */
export function writeRows(parts: RowsParts): { readonly vectorised: boolean } {
  const { unit, code, lanes, uniformity, variables, uniform } = parts;
  const hoistingBeside = (assigned: ReadonlySet<number>) => new Hoisting(uniform, uniformity, assigned);
  const cut = cutBeforePrefix(unit, parts.region, hoistingBeside);
  if (cut !== null) {
    const [head, tail] = cut.map((each) => writeRows({ ...parts, region: each }));
    return { vectorised: head!.vectorised || tail!.vectorised };
  }
  const hoisting = hoistingBeside(assignedIn(parts.region.body));
  const prefix = prefixOf(unit, parts.region, hoisting);
  const region = prefix === null ? parts.region : { ...parts.region, body: prefix.body };
  const [only] = region.body.length === 1 ? region.body : [];
  const own = only === undefined ? null : copyOf(only);
  // What is borrowed is not copied by lanes: it is said where it lies.
  const plan = own !== null && isBorrowed(unit, own.destination) ? null : planLanes(lanes, region);
  const copy = own === null || prefix !== null ? null : jointCopy(unit, lanes, own);
  const resets = region.resets.map((id) => ({ id, entry: code.local(unit.wasmTypeOfVariable(id)) }));
  const writeEntry = () => {
    for (const { id, entry } of resets) code.get(entry).set(variables.local(id));
  };
  const [row] = unit.program.block;
  code.withTemporaries((take) => {
    const rank = take('i32');
    const end = take('i32');
    let writePrologue = () => {};
    const rows = code.capture(() => {
      code.i32(0).set(rank);
      if (prefix === null) code.i32(row).set(end);
      else writeCount(uniform, prefix.count, row, end);
      code.loop((nextRow) => {
        code.block((done) => {
          if (plan !== null) {
            const inLanes = writeLaneRow({
              unit,
              code,
              plan,
              region,
              variables,
              hoisting,
              uniform,
              rank,
              end: prefix === null ? null : end,
              rowEnd: end,
              rowDone: done,
              threadContext: (each) => parts.threadContext(each, null, hoisting),
              writeEntry,
            });
            writePrologue = inLanes.writePrologue;
          }
          if (copy !== null) {
            const context = parts.threadContext(rank, null, hoisting);
            writeCopyIfRight(context, copy, () => void code.get(end).set(rank).br(done));
          }
          if (plan !== null || prefix !== null) code.get(rank).get(end).op('i32.ge_u').brIf(done);
          code.loop((next) => {
            code.block((endOfThread) => {
              writeEntry();
              for (const id of region.loads) variables.writeReload(id, rank);
              writeStatements(parts.threadContext(rank, endOfThread, hoisting), region.body);
              for (const id of region.stores) variables.writeSpill(id, rank);
            });
            code.get(rank).i32(1).op('i32.add').tee(rank).get(end).op('i32.lt_u').brIf(next);
          });
        });
        if (row === unit.blockSize) return;
        code.get(end).i32(row).op('i32.add').tee(end);
        code.i32(unit.blockSize).op('i32.le_u').brIf(nextRow);
      });
    });
    for (const { id, entry } of resets) code.get(variables.local(id)).set(entry);
    const constants = code.capture(writePrologue);
    hoisting.write();
    code.append(constants);
    code.append(rows);
  });
  return { vectorised: plan !== null };
}

function isBorrowed(unit: Unit, { array: { space, id } }: View): boolean {
  return space === 'shared' && unit.borrowed.has(id);
}

/** Sets a local to how many threads of a row there are in a prefix. */
function writeCount(context: ThreadContext, count: Expression, row: number, end: Local): void {
  const { code } = context;
  pushExpression(context, count);
  code.tee(end).i32(row).get(end).i32(row).op('i32.lt_s', 'select').tee(end);
  code.i32(0).get(end).i32(0).op('i32.gt_s', 'select').set(end);
}
