// What a program does with each of its arrays, as far as its text tells.

import type { ArrayReference, Program } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { forEachExpression, forEachStatement } from '../analysis/walk.ts';

export interface ArrayUse {
  /** Where it is written by stores and copies. */
  readonly writes: Range[];
  /** Whether it is read by a load or a copy. */
  read: boolean;
  /** Whether there are atomic operations on it. */
  updated: boolean;
  /** Whether it is an operand of asynchronous copies. */
  copied: boolean;
}

/** The uses of all arrays. */
export class ArrayUses {
  readonly #uses = new Map<string, ArrayUse>();

  constructor(program: Program) {
    forEachStatement(program.body, (statement) => {
      if (statement.kind === 'store') this.of(statement.array).writes.push(statement.range);
      if (statement.kind !== 'call') return;
      if ('array' in statement) this.of(statement.array).updated = true;
      const copy = statement.intrinsic === 'core' ? statement.operation : statement;
      if ('kind' in copy && copy.kind === 'copyCheck') return;
      if ('destination' in copy) {
        const use = this.of(copy.destination.array);
        use.writes.push(statement.range);
        use.copied = true;
      }
      if ('source' in copy) {
        const use = this.of(copy.source.array);
        use.read = true;
        use.copied = true;
      }
    });
    forEachExpression(program.body, (expression) => {
      if (expression.kind === 'load') this.of(expression.array).read = true;
    });
  }

  of({ space, id }: ArrayReference): ArrayUse {
    const key = `${space} ${id}`;
    let use = this.#uses.get(key);
    if (use === undefined) {
      use = { writes: [], read: false, updated: false, copied: false };
      this.#uses.set(key, use);
    }
    return use;
  }

  /** Whether the program changes it. */
  changes(array: ArrayReference): boolean {
    const { writes, updated } = this.of(array);
    return updated || writes.length > 0;
  }
}
