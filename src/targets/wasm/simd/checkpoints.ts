// Where contiguous accesses are checked, all lanes at once.
//
// A checkpoint is the beginning of a list of statements that all lanes of a group are about to
// carry out: the region itself, where the whole row is checked, the body of a loop, a branch.
// An access is checked at the outermost one at which its index is known: no variable in it is
// assigned from there on, or it follows from what is known. Where a check fails, nothing of the
// list has happened yet, and the threads go through it one by one; the one that is wrong stops
// there, at its own access.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import { assignedIn, expressionsOf, forEachOperand } from '../analysis/walk.ts';
import { keyOf } from '../expression-key.ts';
import { type Lanes, leaves } from './lanes.ts';

/** An access of all lanes, by the index that the first one has. */
export interface Access {
  readonly array: ArrayReference;
  readonly index: Expression;
}

type List = readonly Statement[];

interface Checkpoint {
  readonly list: List;
  readonly assigned: ReadonlySet<number>;
  readonly accesses: Map<string, Access>;
}

export class Checkpoints {
  readonly #lanes: Lanes;
  readonly #checkpoints = new Map<List, Checkpoint>();
  #complete = true;

  constructor(lanes: Lanes, region: List) {
    this.#lanes = lanes;
    const outermost = this.#checkpoint(region);
    this.#list(region, [outermost], false);
  }

  /** Whether every access is checked somewhere. */
  get complete(): boolean {
    return this.#complete;
  }

  /** What is checked at the beginning of a list. */
  at(list: List): readonly Access[] {
    return [...(this.#checkpoints.get(list)?.accesses.values() ?? [])];
  }

  #checkpoint(list: List): Checkpoint {
    const checkpoint = { list, assigned: assignedIn(list), accesses: new Map<string, Access>() };
    this.#checkpoints.set(list, checkpoint);
    return checkpoint;
  }

  /** `masked`: lanes may go through this list under a mask, where nothing is checked any more. */
  #list(list: List, enclosing: readonly Checkpoint[], masked: boolean): void {
    for (const statement of list) this.#statement(statement, enclosing, masked);
  }

  #statement(statement: Statement, enclosing: readonly Checkpoint[], masked: boolean): void {
    if (statement.kind === 'store') this.#access(statement.array, statement.index, enclosing);
    for (const expression of expressionsOf(statement)) {
      forEachOperand(expression, (each) => {
        if (each.kind === 'load') this.#access(each.array, each.index, enclosing);
      });
    }
    switch (statement.kind) {
      case 'if': {
        const mode = this.#lanes.modeOf(statement);
        const lists = [statement.then, statement.otherwise];
        const inside = masked || (mode !== 'uniform' && lists.every((list) => this.#lanes.canMask(list)));
        for (const list of lists) {
          const own = mode === 'branch' && !masked ? [this.#checkpoint(list)] : [];
          this.#list(list, [...enclosing, ...own], inside);
        }
        return;
      }
      case 'loop': {
        const inside = masked || this.#lanes.modeOf(statement) === 'masked';
        // Threads can go on one by one only through what they all come out of at its end.
        const own = inside || leaves(statement) ? [] : [this.#checkpoint(statement.body)];
        this.#list(statement.body, [...enclosing, ...own], inside);
        this.#list(statement.update, enclosing, inside);
        return;
      }
      case 'block':
        this.#list(statement.body, enclosing, masked);
        return;
      default:
    }
  }

  #access(array: ArrayReference, index: Expression, enclosing: readonly Checkpoint[]): void {
    // A local array's index is uniform, as is a uniform access; both are checked where they are.
    if (array.space === 'local' || this.#lanes.shapeOf(array, index) !== 'contiguous') return;
    for (const { assigned, accesses } of enclosing) {
      const known = this.#lanes.knownBefore(index, assigned);
      if (known === null) continue;
      accesses.set(`${array.space} ${array.id} ${keyOf(known)}`, { array, index: known });
      return;
    }
    this.#complete = false;
  }
}
