// Branches that are never taken, so that an engine computes near the loads.
//
// V8 carries out all the loads of straight code before it computes anything, since nothing but a branch, or a store,
// tells it where a value is wanted; sixteen products of a tile then want a hundred registers, and go through the stack. It
// moves no load over a branch, and computes in front of it what is read behind it on the way that is never gone. Each
// branch asks for another rank that no thread has: of two that ask for the same, the engine leaves one out.

import type { Statement } from '../../../compiler/ir.ts';
import { forEachExpression } from '../../analysis/walk.ts';
import type { Local } from '../encoder/code.ts';
import type { GroupContext } from './group.ts';
import { vectorsOf } from './pairs.ts';

/** So many loads of straight code fit into an engine's registers beside what is computed. */
const fewLoads = 4;

export class Cuts {
  readonly #group: GroupContext;
  #count = 0;

  /** Of a group whose first lane's rank is below the block's size. */
  constructor(group: GroupContext) {
    this.#group = group;
  }

  /** Whether there are more loads in a list than engines should carry out at once. */
  areWanted(list: readonly Statement[]): boolean {
    const { unit, lanes } = this.#group;
    if (!unit.does('near')) return false;
    let loads = 0;
    for (const statement of list) {
      if (statement.kind !== 'assign') continue;
      forEachExpression([statement], (each) => {
        if (each.kind === 'load' && !lanes.isUniform(each)) loads += 1;
      });
    }
    return loads > fewLoads;
  }

  /** Has these vectors computed here, from what is loaded in front. */
  write(vectors: readonly Local[]): void {
    const [first, ...others] = vectors;
    if (first === undefined) return;
    const { unit, code, rank } = this.#group;
    this.#count += 1;
    unit.tell('near', 'branches that are never taken, between loads');
    code
      .get(rank)
      .i32(unit.blockSize + this.#count)
      .op('i32.eq');
    code.if(() => {
      code.get(rank).get(first);
      for (const each of others) code.get(each).op('v128.or');
      code.memory('v128.store', 0, 1).op('unreachable');
    });
  }
}

/** The group's vectors of what a statement assigns. */
export function vectorsOfVariable(group: GroupContext, statement: Statement): Local[] {
  if (statement.kind !== 'assign' || !group.lanes.varies(statement.variable)) return [];
  const { variable, value } = statement;
  const count = group.vectors * vectorsOf(value.type);
  return Array.from({ length: count }, (_, vector) => group.variable(variable, vector));
}
