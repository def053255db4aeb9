// All that is known of a program before it runs, found once and asked by every target.
//
// - `at`: between which bounds an integer lies, by what it is divisible, or its value, wherever a thread
//   evaluates it (values.ts, flow.ts);
// - `inThread`: the same by what follows from the rank of the thread;
// - `among`: what the threads of a block, or of a row of it, find the same, and where they come together
//   (uniformity.ts);
// - `cohort`: the same of threads that have come the same way so far (cohorts.ts);
// - `affine`: what grows evenly from thread to thread (affine.ts);
// - `indices`: what is known of an index before the statements that it stands in (indices.ts).
//
// A program is plain data and never changes, so its facts are kept as long as it lives.

import {
  type BuiltIn,
  type Expression,
  narrowIndexLimit,
  type Program,
  type Statement,
} from '../../compiler/ir.ts';
import { isFloat } from '../../compiler/number-types.ts';
import { partOf } from '../../kernel/layout.ts';
import { AffineForms } from './affine.ts';
import { CohortUniformity } from './cohorts.ts';
import { factsAfter } from './comparisons.ts';
import { elementOf, lengthAs } from './elements.ts';
import { Flow } from './flow.ts';
import { Indices } from './indices.ts';
import { analyseLiveness, has, type Liveness } from './liveness.ts';
import { analyseUniformity, type Uniformity } from './uniformity.ts';
import { between, computed, exactLimit, exactly, type Fact, join, unknown } from './values.ts';
import { anyOperand, assignedBy, forEachStatement, operandsOf } from './walk.ts';

/** A function that says what holds of an expression. */
export type FactOf = (expression: Expression) => Fact;

/** What holds of a variable. */
type OfVariable = (id: number) => Fact;

type BuiltInExpression = Extract<Expression, { kind: 'builtin' }>;

/** What is known where an expression stands. */
interface Known {
  readonly variable: OfVariable;
  readonly builtin: (expression: BuiltInExpression) => Fact;
}

const known = new WeakMap<Program, Facts>();

/** The facts of a program. */
export function factsOf(program: Program): Facts {
  const facts = known.get(program) ?? new Facts(program);
  known.set(program, facts);
  return facts;
}

export class Facts {
  readonly #program: Program;
  readonly #among = new Map<'block' | 'row', Uniformity>();
  #flow: Flow | null = null;
  #liveness: Liveness | null = null;
  #cohort: CohortUniformity | null = null;
  #definitions: ReadonlyMap<number, Expression> | null = null;
  #indices: Indices | null = null;
  #rankFollowers: ReadonlySet<number> | null = null;
  /** What holds in every thread of variables that follow from no rank. */
  readonly #ofAllThreads = new Map<number, Fact>();

  constructor(program: Program) {
    this.#program = program;
  }

  get liveness(): Liveness {
    this.#liveness ??= analyseLiveness(this.#program.body);
    return this.#liveness;
  }

  /** What all threads of a block find the same, or those of each row, which differ in threadIdx.x alone. */
  among(threads: 'block' | 'row'): Uniformity {
    const [, y, z] = this.#program.block;
    const among = y * z === 1 ? 'block' : threads;
    const uniformity = this.#among.get(among) ?? analyseUniformity(this.#program, this.liveness, among);
    this.#among.set(among, uniformity);
    return uniformity;
  }

  /** What the threads of a cohort do and find together. */
  get cohort(): CohortUniformity {
    this.#cohort ??= new CohortUniformity(this.#program);
    return this.#cohort;
  }

  /** Forms of integers that grow evenly along a row. */
  affine(): AffineForms {
    const { isUniform } = this.among('row');
    return new AffineForms(this.#program, isUniform);
  }

  /** Indices, with the counters of the loops that they move in. */
  get indices(): Indices {
    this.#indices ??= new Indices(this.#program.body, this.definitions);
    return this.#indices;
  }

  /** What holds of the expressions of a statement; without one, wherever an expression stands. */
  at(statement: Statement | null): FactOf {
    let ofVariable: OfVariable | null = null;
    return (expression) => {
      ofVariable ??= statement === null ? (id) => this.#values.anywhere[id]! : this.#values.at(statement);
      return this.#evaluate(expression, { variable: ofVariable, builtin: this.#builtin });
    };
  }

  get #values(): Flow {
    this.#flow ??= new Flow(this.#program, (expression, variable) =>
      this.#evaluate(expression, { variable, builtin: this.#builtin }),
    );
    return this.#flow;
  }

  /** What holds of expressions in the thread of a rank, wherever they stand. */
  inThread(rank: number): FactOf {
    const { anywhere } = this.#values;
    const found = new Map<number, Fact>();
    const ofVariable = (id: number): Fact => {
      const before = found.get(id);
      if (before !== undefined) return before;
      const { type } = this.#program.variables[id]!;
      // What is never reached may be defined by itself.
      found.set(id, unknown(type));
      const definition = this.definitions.get(id);
      const shared = this.#ofAllThreads.get(id);
      const fact = shared ?? (definition === undefined ? anywhere[id]! : of(definition));
      found.set(id, fact);
      if (shared === undefined && !this.#followsRank.has(id)) this.#ofAllThreads.set(id, fact);
      return fact;
    };
    const builtin = (expression: BuiltInExpression): Fact => {
      const value = builtInOfRank(this.#program, expression.name, rank);
      return value === null ? this.#builtin(expression) : between(expression.type, value, value);
    };
    const of: FactOf = (expression) => this.#evaluate(expression, { variable: ofVariable, builtin });
    return of;
  }

  /** Variables whose definitions read the rank of the thread, or other such variables. */
  get #followsRank(): ReadonlySet<number> {
    this.#rankFollowers ??= followersOfRank(this.#program, this.definitions);
    return this.#rankFollowers;
  }

  /** The values of variables that are assigned at one place, which every thread has passed where it reads them. */
  get definitions(): ReadonlyMap<number, Expression> {
    this.#definitions ??= definitionsOf(this.#program, this.liveness);
    return this.#definitions;
  }

  #evaluate(expression: Expression, known: Known): Fact {
    switch (expression.kind) {
      case 'variable':
        return known.variable(expression.id);
      case 'constant':
        return exactly(expression.type, expression.value);
      case 'scalar':
        return this.#scalar(expression);
      case 'length':
        return this.#length(expression);
      case 'load':
        return this.#element(expression);
      case 'builtin':
        return known.builtin(expression);
      case 'conditional': {
        const then = this.#branch(expression, true, known);
        const otherwise = this.#branch(expression, false, known);
        if (then === null || otherwise === null) return then ?? otherwise ?? unknown(expression.type);
        return join(then, otherwise);
      }
      default: {
        const blocks = this.#blocks(expression);
        if (blocks !== null) return blocks;
        const operands: Fact[] = [];
        for (const operand of operandsOf(expression)) {
          const fact = this.#evaluate(operand, known);
          // Of a float nothing is known but its value, and for that all operands are needed.
          if (fact.value === null && isFloat(expression.type)) return unknown(expression.type);
          operands.push(fact);
        }
        return computed(expression, operands);
      }
    }
  }

  /** What holds of a conditional where its test holds, or where it does not; null where it never ends so. */
  #branch(
    { test, then, otherwise }: Extract<Expression, { kind: 'conditional' }>,
    holds: boolean,
    known: Known,
  ): Fact | null {
    const of: FactOf = (one) => this.#evaluate(one, known);
    const { value } = of(test);
    if (value !== null && value !== holds) return null;
    const found = value === null ? factsAfter(test, holds, of) : [];
    return found && this.#evaluate(holds ? then : otherwise, narrowed(known, found));
  }

  #scalar({ id, type }: Expression & { readonly kind: 'scalar' }): Fact {
    const parameter = this.#program.parameters[id]!;
    if (parameter.kind !== 'scalar' || !parameter.isIndex) return unknown(type);
    const limit = type === 'i32' ? narrowIndexLimit : exactLimit;
    return between(type, -limit, limit);
  }

  #length({ array, type }: Expression & { readonly kind: 'length' }): Fact {
    const { space, id } = array;
    const { localArrays, sharedArrays } = this.#program;
    if (space === 'local') return between(type, localArrays[id]!.count, localArrays[id]!.count);
    const count = space === 'shared' ? sharedArrays[id]!.count : null;
    if (count?.kind === 'constant') {
      const length = lengthAs(this.#program, array, Number(count.value));
      return between(type, length, length);
    }
    // An array seen as smaller elements may have more of them than an index of 32 bits counts.
    const most = array.as === undefined ? narrowIndexLimit - 1 : 2 ** 31 - 1;
    return between(type, 0, type === 'i32' ? most : exactLimit);
  }

  #element({ array, type, component }: Expression & { readonly kind: 'load' }): Fact {
    switch (partOf(elementOf(this.#program, array), component).element) {
      case 'u8':
        return between(type, 0, 255);
      case 'i8':
        return between(type, -128, 127);
      case 'u16':
      case 'f16':
      case 'bf16':
        return between(type, 0, 65_535);
      case 'i16':
        return between(type, -32_768, 32_767);
      default:
        return unknown(type);
    }
  }

  readonly #builtin = (expression: BuiltInExpression): Fact => {
    const { name, type } = expression;
    const [x, y, z] = this.#program.block;
    switch (name) {
      case 'threadRank':
        return between(type, 0, x * y * z - 1);
      case 'threadIdx.x':
        return between(type, 0, x - 1);
      case 'threadIdx.y':
        return between(type, 0, y - 1);
      case 'threadIdx.z':
        return between(type, 0, z - 1);
      default:
        return this.#blocks(expression) ?? unknown(type);
    }
  };

  /** A number of a block, or of blocks: with an index of 32 bits a grid has fewer than 2^31 threads. */
  #blocks(expression: Expression): Fact | null {
    const cover = coverOf(expression);
    if (cover === null) return null;
    const { block, indexType } = this.#program;
    const [x, y, z] = block;
    if (indexType === 'i64') return cover.axes.length > 1 ? null : between('i64', 0, 2 ** 31 - 1);
    const most = Math.floor((2 ** 31 - 1) / (x * y * z));
    return between('i32', 0, cover.isBelow ? most - 1 : most);
  }
}

/** The same with what a test says of variables and built-in values. */
function narrowed(known: Known, found: readonly (readonly [Expression, Fact])[]): Known {
  if (found.length === 0) return known;
  const ofVariables = new Map<number, Fact>();
  const ofBuiltIns = new Map<BuiltIn, Fact>();
  for (const [side, fact] of found) {
    if (side.kind === 'variable') ofVariables.set(side.id, fact);
    if (side.kind === 'builtin') ofBuiltIns.set(side.name, fact);
  }
  return {
    variable: (id) => ofVariables.get(id) ?? known.variable(id),
    builtin: (expression) => ofBuiltIns.get(expression.name) ?? known.builtin(expression),
  };
}

/** The value of what the rank of a thread alone decides; null for anything else. */
export function builtInOfRank({ block }: Pick<Program, 'block'>, name: BuiltIn, rank: number): number | null {
  const [x, y] = block;
  switch (name) {
    case 'threadRank':
      return rank;
    case 'threadIdx.x':
      return rank % x;
    case 'threadIdx.y':
      return Math.floor(rank / x) % y;
    case 'threadIdx.z':
      return Math.floor(rank / (x * y));
    default:
      return null;
  }
}

/** Until a round finds no more: a variable may be defined behind those that it is read by. */
function followersOfRank(
  program: Program,
  definitions: ReadonlyMap<number, Expression>,
): ReadonlySet<number> {
  const followers = new Set<number>();
  const follows = (each: Expression) =>
    each.kind === 'variable'
      ? followers.has(each.id)
      : each.kind === 'builtin' && builtInOfRank(program, each.name, 0) !== null;
  for (let size = -1; size < followers.size; ) {
    size = followers.size;
    for (const [id, definition] of definitions) if (anyOperand(definition, follows)) followers.add(id);
  }
  return followers;
}

function definitionsOf({ body }: Program, { atStart }: Liveness): ReadonlyMap<number, Expression> {
  const definitions = new Map<number, Expression>();
  const assigned = new Set<number>();
  forEachStatement(body, (statement) => {
    const variable = assignedBy(statement);
    if (variable === null) return;
    const isOnly = statement.kind === 'assign' && !assigned.has(variable) && !has(atStart, variable);
    if (isOnly) definitions.set(variable, statement.value);
    else definitions.delete(variable);
    assigned.add(variable);
  });
  return definitions;
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
  const { operator } = expression;
  if (operator !== 'multiply' && operator !== 'add') return null;
  const right = coverOf(expression.right);
  const left = right && coverOf(expression.left);
  if (left === null || right === null) return null;
  if (operator === 'multiply') {
    if (left.axes.some((axis) => right.axes.includes(axis))) return null;
    return { axes: [...left.axes, ...right.axes], isBelow: left.isBelow || right.isBelow };
  }
  // a * gridDim.x + blockIdx.x, with an a below what it counts.
  const { left: product } = expression;
  const [axis] = right.axes;
  const counts =
    right.isBelow &&
    right.axes.length === 1 &&
    product.kind === 'binary' &&
    product.operator === 'multiply' &&
    product.right.kind === 'builtin' &&
    product.right.name === `gridDim.${axis!}` &&
    coverOf(product.left)?.isBelow === true;
  return counts ? left : null;
}
