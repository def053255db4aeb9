// Two rows of a block at a time: the block of registers that a product of tiles wants.
//
// Threads of two rows that stand at the same threadIdx.x often read the same elements (a column of a tile). Where a region is no
// more than values and stores, it is written for both rows statement by statement: what they share is loaded once, and the
// chains of one row's operations overlap with the other's. Where a check fails in either row, or the last row
// has no other beside it, nothing has happened yet, and the rows go one by one.

import type { Expression, Region, Statement } from '../../../compiler/ir.ts';
import { arrayKey, keyOf } from '../../analysis/expression-key.ts';
import { anyExpression, anyOperand } from '../../analysis/walk.ts';
import type { Code, Label, Local } from '../encoder/code.ts';
import { pushLanes, writeVectorStore } from './expressions.ts';
import type { GroupContext, Shared } from './group.ts';
import type { Lanes } from './lanes.ts';
import { Cuts, vectorsOfVariable } from './near.ts';
import { vectorsOf } from './pairs.ts';
import type { LaneWriter } from './statements.ts';

type Load = Expression & { readonly kind: 'load' };

/** Vectors of both rows that there are registers for. */
const mostVectors = 8;

/** Whether a region is written for two rows at a time. */
export function canJam(
  lanes: Lanes,
  { body, loads, resets }: Omit<Region, 'range'>,
  vectors: number,
): boolean {
  const { unit, program } = lanes;
  const row = program.block[0];
  if (!unit.does('jam') || unit.blockSize < 2 * row || row % (4 * vectors) !== 0) return false;
  if (2 * vectors > unit.registers * mostVectors || resets.length > 0 || lanes.hasSeparate(body))
    return false;
  // What is the same in a row, but not in the other, has but one local.
  if (!loads.every((id) => lanes.varies(id))) return false;
  const plain = body.every(
    (statement) =>
      (statement.kind === 'assign' && lanes.varies(statement.variable)) ||
      (statement.kind === 'store' && lanes.isSideBySide(statement)),
  );
  return plain && anyExpression(body, (each) => each.kind === 'load' && isAlike(lanes, each));
}

/** Whether lanes of all rows load the same elements. */
export function isAlike(lanes: Lanes, load: Load): boolean {
  if (load.array.space === 'local' || !lanes.isSideBySide(load)) return false;
  return !anyOperand(load.index, (each) => {
    if (each.kind === 'load') return true;
    return each.kind === 'builtin' && ['threadIdx.y', 'threadIdx.z', 'threadRank'].includes(each.name);
  });
}

/** The loads of a statement that its rows share, by vector. */
export class AlikeLoads {
  readonly #lanes: Lanes;
  readonly #locals = new Map<string, Local>();

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
  }

  /** Pushes a vector that `push` loads, or that it has loaded for another row. */
  push(code: Code, shared: Shared, load: Load, vector: number, push: () => void): void {
    if (!isAlike(this.#lanes, load)) {
      push();
      return;
    }
    const key = `${arrayKey(load.array)} ${keyOf(load.index)} ${load.component ?? 0} ${vector}`;
    const known = this.#locals.get(key);
    if (known !== undefined) {
      code.get(known);
      return;
    }
    const local = shared.take('v128');
    push();
    code.tee(local);
    this.#locals.set(key, local);
  }
}

/** A row's group and what writes its code. */
export interface RowOfGroups {
  readonly group: GroupContext;
  readonly writer: LaneWriter;
  readonly rank: Local;
}

/**
 * Writes the loop over the groups of two rows, the first of which begins at the first one's rank; goes to `single` where
 * they are not fit for it. Behind it that rank is behind the second row.
 */
export function writeJam(
  rows: readonly [RowOfGroups, RowOfGroups],
  region: Omit<Region, 'range'>,
  single: Label,
) {
  const [{ group, rank }, second] = rows;
  const { code, unit } = group;
  const row = unit.program.block[0];
  const threads = 4 * group.vectors;
  const cuts = new Cuts(group);
  const cutting = cuts.areWanted(region.body);
  unit.tell('jam', 'two rows of a block at a time');
  code
    .get(rank)
    .i32(unit.blockSize - 2 * row)
    .op('i32.gt_u')
    .brIf(single);
  code.get(rank).i32(row).op('i32.add').set(second.rank);
  for (const { writer } of rows) writer.writeChecks(region.body, row, single);
  code.withTemporary('i32', (end) => {
    code.get(second.rank).set(end);
    for (const { writer } of rows) writer.writeAddresses(region.body);
    code.loop((next) => {
      for (const { writer } of rows) for (const id of region.loads) writer.writeReload(id);
      for (const statement of region.body) {
        writeStatement(rows, statement);
        if (cutting && statement !== region.body.at(-1)) {
          cuts.write(rows.flatMap((each) => vectorsOfVariable(each.group, statement)));
        }
      }
      for (const { writer } of rows) for (const id of region.stores) writer.writeSpill(id);
      for (const { writer } of rows) writer.advanceAddresses(region.body);
      code.get(second.rank).i32(threads).op('i32.add').set(second.rank);
      code.get(rank).i32(threads).op('i32.add').tee(rank).get(end).op('i32.lt_u').brIf(next);
    });
  });
  code.get(second.rank).set(rank);
}

/** A statement for each vector of both rows, which take turns. */
function writeStatement(rows: readonly RowOfGroups[], statement: Statement): void {
  if (statement.kind !== 'assign' && statement.kind !== 'store') throw new Error('rows part');
  const { code, unit, lanes, vectors } = rows[0]!.group;
  code.withTemporaries((take) => {
    const alike = new AlikeLoads(lanes);
    const each = rows.map((one) => ({
      group: { ...one.group, alike },
      shared: { locals: new Map(), take } satisfies Shared,
    }));
    for (let vector = 0; vector < vectors * vectorsOf(statement.value.type); vector += 1) {
      unit.mark(code);
      for (const { group, shared } of each) {
        if (statement.kind === 'store') writeVectorStore(group, shared, statement, vector);
        else {
          pushLanes(group, shared, statement.value, vector);
          code.set(group.variable(statement.variable, vector));
        }
      }
    }
    unit.mark(code);
  });
}
