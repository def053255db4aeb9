// Between which values an integer lies, as far as constants, the block's shape and counting loops say.
//
// It decides which accesses need no test, so it is careful: a sum or product whose bounds leave its
// type may have wrapped, and says nothing. A variable lies between the bounds of all that is assigned to
// it, and 0, which it is before. One that counts is never beyond the limit of its loop: each
// `v = v + step` is the update of a loop that tests `v < limit` before each turn and whose body
// leaves v alone; inside that body it is below the limit.

import type { ArrayReference, Expression, Program } from '../../compiler/ir.ts';
import { forEachAssignment } from '../analysis/assignments.ts';
import { elementOf } from '../analysis/elements.ts';
import { assignedIn, forEachStatement } from '../analysis/walk.ts';
import { conjunctsOf, isVariable, type Loop } from '../legalise/loops.ts';

/** Both ends belong to it. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

const types: Readonly<Record<string, Bounds>> = {
  i32: { least: -(2 ** 31), most: 2 ** 31 - 1 },
  u32: { least: 0, most: 2 ** 32 - 1 },
  // A number holds these exactly; what goes beyond is not known.
  i64: { least: -(2 ** 53), most: 2 ** 53 },
};

export class Ranges {
  readonly #program: Program;
  readonly #assigned = new Map<number, (Expression | null)[]>();
  /** The loop in whose update a variable is increased, for each such sum. */
  readonly #counting = new Map<Expression, { readonly limit: Expression; readonly step: number }>();
  readonly #known = new Map<number, Bounds | null>();
  /** Limits that hold where the writer is, by variable. */
  readonly #below: { readonly variable: number; readonly limit: Expression }[] = [];

  constructor(program: Program) {
    this.#program = program;
    forEachAssignment(program.body, (variable, value) => {
      const values = this.#assigned.get(variable) ?? [];
      values.push(value);
      this.#assigned.set(variable, values);
    });
    forEachStatement(program.body, (statement) => {
      if (statement.kind !== 'loop') return;
      for (const { variable, limit } of limitsOf(statement)) {
        const [step] = statement.update;
        if (statement.update.length !== 1 || step?.kind !== 'assign' || step.variable !== variable) continue;
        const by = stepOf(variable, step.value);
        if (by !== null) this.#counting.set(step.value, { limit, step: by });
      }
    });
  }

  /** Writes the body of a loop, in which its limits hold. */
  within(loop: Loop, write: () => void): void {
    const limits = limitsOf(loop);
    this.#below.push(...limits);
    write();
    this.#below.length -= limits.length;
  }

  /** The bounds of a value where the writer is; null if nothing is known. */
  of(expression: Expression): Bounds | null {
    const type = types[expression.type];
    if (type === undefined) return null;
    const bounds = this.#of(expression);
    return bounds !== null && bounds.least >= type.least && bounds.most <= type.most ? bounds : null;
  }

  #of(expression: Expression): Bounds | null {
    switch (expression.kind) {
      case 'constant':
        return exactly(Number(expression.value));
      case 'builtin':
        return this.#builtin(expression);
      case 'variable':
        return this.#variable(expression.id);
      case 'binary':
        return this.#blocks(expression) ?? this.#binary(expression);
      case 'load':
        return this.#element(expression.array);
      case 'convert':
        return expression.format === undefined ? this.of(expression.operand) : null;
      default:
        return null;
    }
  }

  #builtin(expression: Extract<Expression, { kind: 'builtin' }>): Bounds | null {
    const [x, y, z] = this.#program.block;
    switch (expression.name) {
      case 'threadRank':
        return { least: 0, most: x * y * z - 1 };
      case 'threadIdx.x':
        return { least: 0, most: x - 1 };
      case 'threadIdx.y':
        return { least: 0, most: y - 1 };
      case 'threadIdx.z':
        return { least: 0, most: z - 1 };
      default:
        return this.#blocks(expression);
    }
  }

  /** A number of a block, or of blocks: with an index of 32 bits a grid has fewer than 2^31 threads. */
  #blocks(expression: Expression): Bounds | null {
    const cover = coverOf(expression);
    if (cover === null) return null;
    const { block, indexType } = this.#program;
    const [x, y, z] = block;
    if (indexType === 'i64') return cover.axes.length > 1 ? null : { least: 0, most: 2 ** 31 - 1 };
    const most = Math.floor((2 ** 31 - 1) / (x * y * z));
    return { least: 0, most: cover.isBelow ? most - 1 : most };
  }

  #element(array: ArrayReference): Bounds | null {
    switch (elementOf(this.#program, array)) {
      case 'u8':
        return { least: 0, most: 255 };
      case 'i8':
        return { least: -128, most: 127 };
      case 'u16':
        return { least: 0, most: 65_535 };
      case 'i16':
        return { least: -32_768, most: 32_767 };
      default:
        return null;
    }
  }

  #binary({ operator, left, right }: Extract<Expression, { kind: 'binary' }>): Bounds | null {
    const a = this.of(left);
    const b = this.of(right);
    if (operator === 'remainder' && b !== null && b.least > 0) {
      const most = b.most - 1;
      return { least: a !== null && a.least >= 0 ? 0 : -most, most };
    }
    if (a === null || b === null) return null;
    switch (operator) {
      case 'add':
      case 'subtract':
      case 'multiply':
        return boundsOf(operator, a, b);
      default:
        return null;
    }
  }

  #variable(id: number): Bounds | null {
    const known = this.#assignedBounds(id);
    if (known === null) return null;
    const most = this.#below.reduce((most, { variable, limit }) => {
      const bounds = variable === id ? this.of(limit) : null;
      return bounds === null ? most : Math.min(most, bounds.most - 1);
    }, known.most);
    return { least: known.least, most };
  }

  #assignedBounds(id: number): Bounds | null {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    // While it is looked for, and for good if it depends on itself.
    this.#known.set(id, null);
    let bounds: Bounds | null = exactly(0);
    for (const value of this.#assigned.get(id) ?? []) {
      const next = value === null ? null : this.#assignment(value);
      bounds = bounds === null || next === null ? null : union(bounds, next);
    }
    this.#known.set(id, bounds);
    return bounds;
  }

  /** What is assigned, wherever the writer is. */
  #assignment(value: Expression): Bounds | null {
    const counting = this.#counting.get(value);
    const here = this.#below.splice(0);
    try {
      if (counting === undefined) return this.of(value);
      const limit = this.of(counting.limit)?.most ?? types[value.type]?.most;
      const most = limit === undefined ? Number.POSITIVE_INFINITY : limit - 1 + counting.step;
      // Its least is what it starts with: the step only adds.
      return most <= (types[value.type]?.most ?? -1) ? { least: 0, most: Math.max(0, most) } : null;
    } finally {
      this.#below.push(...here);
    }
  }
}

type Axis = 'x' | 'y' | 'z';

/**
 * The axes of the grid over whose blocks an expression counts: it is at most the product of their extents, or
 * below it. So is the rank of a block, (z * gridDim.y + y) * gridDim.x + x, and each part of that.
 */
function coverOf(
  expression: Expression,
): { readonly axes: readonly Axis[]; readonly isBelow: boolean } | null {
  if (expression.kind === 'builtin') {
    const [name, axis] = expression.name.split('.');
    if (name !== 'blockIdx' && name !== 'gridDim') return null;
    return { axes: [axis as Axis], isBelow: name === 'blockIdx' };
  }
  if (expression.kind !== 'binary') return null;
  const [left, right] = [coverOf(expression.left), coverOf(expression.right)];
  if (left === null || right === null) return null;
  if (expression.operator === 'multiply') {
    if (left.axes.some((axis) => right.axes.includes(axis))) return null;
    return { axes: [...left.axes, ...right.axes], isBelow: left.isBelow || right.isBelow };
  }
  // a * gridDim.x + blockIdx.x, with an a below what it counts.
  const { left: product } = expression;
  const [axis] = right.axes;
  const counts =
    expression.operator === 'add' &&
    right.isBelow &&
    right.axes.length === 1 &&
    product.kind === 'binary' &&
    product.operator === 'multiply' &&
    product.right.kind === 'builtin' &&
    product.right.name === `gridDim.${axis!}` &&
    coverOf(product.left)?.isBelow === true;
  return counts ? left : null;
}

/** The bounds of an operation that does not wrap. */
export function boundsOf(operator: 'add' | 'subtract' | 'multiply', a: Bounds, b: Bounds): Bounds {
  switch (operator) {
    case 'add':
      return { least: a.least + b.least, most: a.most + b.most };
    case 'subtract':
      return { least: a.least - b.most, most: a.most - b.least };
    case 'multiply': {
      const products = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
      return { least: Math.min(...products), most: Math.max(...products) };
    }
  }
}

function exactly(value: number): Bounds {
  return { least: value, most: value };
}

function union(a: Bounds, b: Bounds): Bounds {
  return { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) };
}

/** The tests `v < limit` that hold all through the body of a loop. */
function limitsOf({
  test,
  testFirst,
  body,
}: Loop): { readonly variable: number; readonly limit: Expression }[] {
  if (test === null || !testFirst) return [];
  const assigned = assignedIn(body);
  return conjunctsOf(test).flatMap((each) => {
    if (each.kind !== 'compare' || each.operator !== 'less' || each.left.kind !== 'variable') return [];
    const { id } = each.left;
    return assigned.has(id) ? [] : [{ variable: id, limit: each.right }];
  });
}

/** The constant that is added to a variable; null where it is not a positive one. */
function stepOf(variable: number, value: Expression): number | null {
  if (value.kind !== 'binary' || value.operator !== 'add' || !isVariable(value.left, variable)) return null;
  const { right } = value;
  return right.kind === 'constant' && Number(right.value) > 0 ? Number(right.value) : null;
}
