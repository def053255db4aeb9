// Several rows of a block at a time: the block of registers that a product of tiles wants.
//
// Threads of several rows that stand at the same threadIdx.x often read the same elements (a column of a tile). Where a region is
// no more than values and stores, it is written for all these rows statement by statement: what they share is loaded once, and
// the chains of one row's operations overlap with the others'. Where a check fails in any row, or there are fewer rows
// left, nothing has happened yet, and the rows go one by one. Engines get two rows. Code for a processor gets up to eight, whose
// vectors are held in turn: a chain of additions waits four times as long as an addition takes to begin.

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

/** Vectors of two rows that there are registers for. */
const mostVectors = 8;
/** Vectors of more rows, for a processor: as many as keep its adders busy. */
const enoughVectors = 16;

/** How many rows a region is written for at a time: 1 where they go one by one. */
export function rowsOfJam(
  lanes: Lanes,
  { body, loads, resets }: Omit<Region, 'range'>,
  vectors: number,
): number {
  const { unit, program } = lanes;
  const row = program.block[0];
  if (!unit.does('jam') || unit.blockSize < 2 * row || row % (4 * vectors) !== 0) return 1;
  if (2 * vectors > unit.registers * mostVectors || resets.length > 0 || lanes.hasSeparate(body)) return 1;
  // What is the same in a row, but not in the others, has but one local.
  if (!loads.every((id) => lanes.varies(id))) return 1;
  const plain = body.every(
    (statement) =>
      (statement.kind === 'assign' && lanes.varies(statement.variable)) ||
      (statement.kind === 'store' && lanes.isSideBySide(statement)),
  );
  if (!plain || !anyExpression(body, (each) => each.kind === 'load' && isAlike(lanes, each))) return 1;
  const wanted = [8, 4].find(
    (each) => each * vectors <= enoughVectors && unit.blockSize % (each * row) === 0,
  );
  return (unit.forProcessor ? wanted : null) ?? 2;
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
 * Writes the loop over the groups of these rows, the first of which begins at the first one's rank; goes to `single` where
 * they are not fit for it. Behind it that rank is behind the last row.
 */
export function writeJam(rows: readonly RowOfGroups[], region: Omit<Region, 'range'>, single: Label) {
  const [{ group, rank }, ...others] = rows as [RowOfGroups, ...RowOfGroups[]];
  const { code, unit } = group;
  const row = unit.program.block[0];
  const threads = 4 * group.vectors;
  const cuts = new Cuts(group);
  const parts = cuts.areWanted(region.body);
  unit.tell('jam', `${rows.length} rows of a block at a time`);
  code
    .get(rank)
    .i32(unit.blockSize - rows.length * row)
    .op('i32.gt_u')
    .brIf(single);
  for (const [before, other] of others.entries()) {
    code
      .get(rank)
      .i32(row * (1 + before))
      .op('i32.add')
      .set(other.rank);
  }
  for (const { writer } of rows) writer.writeChecks(region.body, row, single);
  code.withTemporary('i32', (end) => {
    code.get(others[0]!.rank).set(end);
    for (const { writer } of rows) writer.writeAddresses(region.body);
    code.loop((next) => {
      for (const { writer } of rows) for (const id of region.loads) writer.writeReload(id);
      for (const statement of region.body) {
        writeStatement(rows, statement, parts && unit.forProcessor);
        if (parts && !unit.forProcessor && statement !== region.body.at(-1)) {
          cuts.write(rows.flatMap((each) => vectorsOfVariable(each.group, statement)));
        }
      }
      for (const { writer } of rows) for (const id of region.stores) writer.writeSpill(id);
      for (const { writer } of rows) writer.advanceAddresses(region.body);
      for (const other of others) code.get(other.rank).i32(threads).op('i32.add').set(other.rank);
      code.get(rank).i32(threads).op('i32.add').tee(rank).get(end).op('i32.lt_u').brIf(next);
    });
  });
  code.get(others.at(-1)!.rank).set(rank);
}

/** A statement for each vector of all rows, which take turns. `holds`: no row's chain goes ahead of the others. */
function writeStatement(rows: readonly RowOfGroups[], statement: Statement, holds: boolean): void {
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
          if (holds) code.processor('v128.held');
          code.set(group.variable(statement.variable, vector));
        }
      }
    }
    unit.mark(code);
  });
}
