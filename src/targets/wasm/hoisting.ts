// What all threads of a region would compute alike is computed once, before the region.
//
// An expression is taken out if it is uniform, cannot fail, and reads no variable that the
// region assigns. While a region is written, each such expression gets a local, and the code
// that fills it is written to be put in front.

import type { Expression } from '../../compiler/ir.ts';
import { isInvariant } from '../analysis/counters.ts';
import { keyOf } from '../analysis/expression-key.ts';
import { mayFail } from '../analysis/failing.ts';
import type { Uniformity } from '../analysis/uniformity.ts';
import { anyOperand } from '../analysis/walk.ts';
import type { Local } from './encoder/code.ts';
import { pushExpression } from './expressions.ts';
import type { ThreadContext } from './thread-context.ts';
import { wasmType } from './types.ts';

export class Hoisting {
  readonly #uniform: ThreadContext;
  readonly #uniformity: Pick<Uniformity, 'isUniform'>;
  readonly #assigned: ReadonlySet<number>;
  readonly #locals = new Map<string, { readonly expression: Expression; readonly local: Local }>();

  /** `uniform` is the context at the uniform level, in front of the region; `assigned` is what the region assigns. */
  constructor(
    uniform: ThreadContext,
    uniformity: Pick<Uniformity, 'isUniform'>,
    assigned: ReadonlySet<number>,
  ) {
    this.#uniform = uniform;
    this.#uniformity = uniformity;
    this.#assigned = assigned;
  }

  /** The local that holds an expression, if it can be computed in front of the region and is worth it. */
  localOf(expression: Expression): Local | null {
    if (isSimple(expression) || !this.isFixed(expression)) return null;
    const key = keyOf(expression);
    const known = this.#locals.get(key);
    if (known !== undefined) return known.local;
    const local = this.#uniform.code.local(wasmType(expression.type));
    this.#locals.set(key, { expression, local });
    return local;
  }

  /** Whether an expression has one value for all threads all through the region. */
  isFixed(expression: Expression): boolean {
    return (
      isInvariant(expression, this.#assigned) &&
      this.#uniformity.isUniform(expression) &&
      !anyOperand(expression, (each) => each.kind === 'binary' && mayFail(each))
    );
  }

  /** Writes the code that fills the locals. */
  write(): void {
    const { code } = this.#uniform;
    for (const { expression, local } of this.#locals.values()) {
      pushExpression(this.#uniform, expression);
      code.set(local);
    }
  }
}

/** What is in a local, or a literal, as it is. */
function isSimple(expression: Expression): boolean {
  switch (expression.kind) {
    case 'constant':
    case 'variable':
    case 'scalar':
    case 'builtin':
      return expression.type !== 'i64' || expression.kind !== 'builtin';
    case 'length':
      return expression.type === 'i32';
    case 'convert':
      return isSimple(expression.operand) && wasmType(expression.type) === wasmType(expression.operand.type);
    default:
      return false;
  }
}
