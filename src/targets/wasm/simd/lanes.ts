// What four lanes at a time can do, and how: the one place where that is decided.
//
// The lanes of a vector are threads beside each other in a row. A uniform expression is
// computed once, as a scalar. An access at base + threadIdx.x is contiguous: one vector load or
// store. A local array at a uniform index is contiguous too, for threads' elements lie side by
// side. At base + c * threadIdx.x, and of elements of several parts, it is strided: what lanes access lies evenly apart. Everything else of a region must be made of operations that lanes have.
//
// Under a mask only part of the lanes are there. Then nothing may be done that could fail for
// the sake of a lane that is not.

import type {
  ArrayReference,
  Call,
  Expression,
  Program,
  Statement,
  ValueType,
  View,
} from '../../../compiler/ir.ts';

import { bytesOf, isNumberElement, smallestBytes } from '../../../kernel/layout.ts';
import { AffineForms } from '../../analysis/affine.ts';
import { constantOf } from '../../analysis/elements.ts';
import { factsOf } from '../../analysis/facts.ts';
import { mayFail } from '../../analysis/failing.ts';
import type { Bounds, Indices } from '../../analysis/indices.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import {
  anyExpression,
  anyOperand,
  anyStatement,
  assignedIn,
  expressionsOf,
  forEachExpression,
  forEachStatement,
  leaves,
  listsOf,
  operandsOf,
} from '../../analysis/walk.ts';
import { type CopyCall, copyOf } from '../copies.ts';
import { convertsInLanes, isLaneType, laneInstruction } from '../instructions.ts';
import type { Unit } from '../unit.ts';
import { forEachAccess, isDivision, isPowerOfTwoDivision } from './accesses.ts';
import { fillsLane, fitsLanes } from './elements.ts';
import { type Indexed, type Limited, limitsOf } from './limits.ts';

/** How the elements lie that the lanes of a group access; `strided` is evenly apart, `separate` anywhere. */
export type AccessShape = 'uniform' | 'contiguous' | 'strided' | 'separate';

/** An access to an element, or to a part of it. */
type Place = Pick<Indexed, 'array' | 'index'>;

/** What can be asked of an index before a list: between which bounds it lies, and below what it has to. */
export interface Checkable extends Bounds {
  readonly limit: Expression;
  /** By how much it is larger from each lane to the next. */
  readonly step: number;
}

/**
 * How lanes go through a branch, a loop or a block. `uniform`: together, as one thread would. `masked`: all through
 * all of it, those that are not there without effect. `branch`: together while all agree; else by `masked`
 * code where that can be, or one by one.
 */
export type Mode = 'uniform' | 'masked' | 'branch';

type List = readonly Statement[];
type Structure = Extract<Statement, { kind: 'if' | 'loop' | 'block' }>;
type Loop = Extract<Statement, { kind: 'loop' }>;

/** Operations of a branch up to which carrying it out for nothing is cheaper than to jump over it. */
const cheap = 16;

/** Bytes from lane to lane beyond which elements are nowhere near each other. */
const furthest = 4096;

export class Lanes {
  readonly #unit: Unit;
  readonly #uniformity: Uniformity;
  readonly #forms: AffineForms;
  readonly #modes = new Map<Statement, Mode>();
  readonly #strides: boolean;

  /** `uniformity` says what is uniform in a row. */
  constructor(unit: Unit, uniformity: Uniformity, strides = unit.does('strides')) {
    this.#unit = unit;
    this.#uniformity = uniformity;
    this.#strides = strides;
    this.#forms = new AffineForms(unit.program, (expression) => this.isUniform(expression));
  }

  get program(): Program {
    return this.#unit.program;
  }

  /** Lanes that access what lies evenly apart one by one, with checks where they do; null where they do so anyhow. */
  withoutStrides(): Lanes | null {
    return this.#strides ? new Lanes(this.#unit, this.#uniformity, false) : null;
  }

  /** What its accesses are to; and which passes there are. */
  get unit(): Unit {
    return this.#unit;
  }

  get indices(): Indices {
    return factsOf(this.program).indices;
  }

  isUniform(expression: Expression): boolean {
    return this.#uniformity.isUniform(expression);
  }

  varies(variable: number): boolean {
    return this.#uniformity.varies(variable);
  }

  /** Whether an integer is larger by one from each lane to the next, but where it wraps. */
  growsByOne(expression: Expression): boolean {
    return this.#forms.of(expression)?.coefficient === 1;
  }

  /** How the elements lie that lanes access. */
  shapeOf({ array, index }: Place): AccessShape {
    const element = this.#unit.elementOf(array);
    if (array.space === 'local') {
      if (!this.isUniform(index)) return 'separate';
      if (fillsLane(element)) return 'contiguous';
      return !isNumberElement(element) && this.#isEven(array, 1) ? 'strided' : 'separate';
    }
    const step = this.#forms.of(index)?.coefficient ?? -1;
    if (step === 0) return 'uniform';
    if (step === 1 && fitsLanes(this.#unit, element)) return 'contiguous';
    return this.#isEven(array, step) ? 'strided' : 'separate';
  }

  /** Whether lanes can access together what lies so many elements apart. */
  #isEven(array: ArrayReference, step: number): boolean {
    const element = this.#unit.elementOf(array);
    const isWide = smallestBytes(element) >= 4 || this.#unit.does('narrow');
    return this.#strides && isWide && step > 0 && step * bytesOf(element) <= furthest;
  }

  /** By how much an index that has a form is larger from each lane to the next. */
  stepOf(index: Expression): number {
    return this.#forms.of(index)!.coefficient;
  }

  /** Bytes from each lane's element to the next one's, where they lie evenly apart. */
  strideOf({ array, index }: Place): number {
    return bytesOf(this.#unit.elementOf(array)) * (array.space === 'local' ? 1 : this.stepOf(index));
  }

  /** Whether lanes load or store their elements together. */
  isSideBySide(place: Place): boolean {
    return this.shapeOf(place) === 'contiguous';
  }

  /** Whether lanes access anything one by one. */
  hasSeparate(list: List): boolean {
    let found = false;
    forEachAccess(list, (access) => {
      if (this.shapeOf(access) === 'separate') found = true;
    });
    return found;
  }

  /** Whether lanes can carry out a whole region, and gain by it. */
  canRun(statements: readonly Statement[]): boolean {
    return this.program.indexType === 'i32' && this.#canAll(statements) && this.#gains(statements);
  }

  /** `masked`: under a mask, where lanes may jump without the others. */
  #canAll(statements: readonly Statement[], masked = false): boolean {
    return statements.every((statement) => this.#can(statement, masked));
  }

  #can(statement: Statement, masked: boolean): boolean {
    switch (statement.kind) {
      case 'assign':
        if (!this.varies(statement.variable)) return true;
        return (
          this.#fits(this.program.variables[statement.variable]!.type) && this.#canCompute(statement.value)
        );
      case 'store':
        if (this.#unit.isCounts(statement.array)) return false;
        switch (this.shapeOf(statement)) {
          case 'uniform':
            return expressionsOf(statement).every((each) => this.isUniform(each));
          case 'separate':
            return (
              statement.value.type !== 'f64' &&
              expressionsOf(statement).every((each) => this.#canCompute(each))
            );
          default:
            return expressionsOf(statement).every((each) => this.#canCompute(each));
        }
      case 'if':
        if (!listsOf(statement).every((list) => this.#canAll(list, masked))) return false;
        if (this.isUniform(statement.test)) return true;
        return this.#canCompute(statement.test) && (masked || !leaves([statement]));
      case 'loop': {
        const mode = this.modeOf(statement);
        const { test, testFirst, body, update } = statement;
        const inside = masked || mode === 'masked';
        if (!this.#canAll(body, inside) || !this.#canAll(update, inside)) return false;
        if (test !== null && !this.#canCompute(test)) return false;
        if (inside || mode === 'uniform') return true;
        return test !== null && testFirst && !this.isUniform(test) && !leaves([statement]);
      }
      case 'block': {
        const mode = this.modeOf(statement);
        return (masked || mode !== 'branch') && this.#canAll(statement.body, masked || mode === 'masked');
      }
      case 'break':
      case 'continue':
        return true;
      case 'return':
      case 'region':
        return false;
      case 'call':
        return this.#canCall(statement);
      default:
        return statement satisfies never;
    }
  }

  #canCall(call: Call): boolean {
    const copy = copyOf(call);
    if (copy !== null) return this.#canCopy(copy);
    if (call.intrinsic === 'atomic') return this.#canChange(call);
    // What stops the kernel may be done by any of them.
    if (call.intrinsic !== 'core') return false;
    return call.operation.kind === 'pipelineMisused' || call.operation.kind === 'barrierMisused';
  }

  /**
   * Lanes carry out an atomic operation one after the other; any order is right. No statement here may read what other
   * threads have made of the element: without a barrier, or a result of the operation, that would be a race.
   */
  #canChange({ array, index, value, compare, result }: Extract<Call, { intrinsic: 'atomic' }>): boolean {
    return (
      this.#unit.does('atomics') &&
      result === null &&
      compare === null &&
      fillsLane(this.#unit.elementOf(array)) &&
      array.space !== 'local' &&
      this.#canCompute(index) &&
      this.#canCompute(value)
    );
  }

  /** A copy in which each thread copies its own element, from one kind of memory to another. */
  #canCopy({ group, count, destination, source, zeroFill, alignment }: CopyCall): boolean {
    const isBeside = ({ array, offset }: View) =>
      fillsLane(this.#unit.elementOf(array)) && this.isSideBySide({ array, index: offset });
    return (
      group.kind === 'thread' &&
      constantOf(count) === 1 &&
      zeroFill === null &&
      alignment <= 4 &&
      destination.array.space !== source.array.space &&
      [destination, source].every((view) => view.array.space !== 'local' && isBeside(view))
    );
  }

  #fits(type: ValueType): boolean {
    return isLaneType(type) && (type !== 'f64' || this.#unit.does('pairs'));
  }

  /** Whether all lanes' values of an expression can be computed, where all lanes are there. */
  #canCompute(expression: Expression): boolean {
    if (!this.#fits(expression.type)) return false;
    if (this.isUniform(expression)) return true;
    const operands = () => operandsOf(expression).every((operand) => this.#canCompute(operand));
    switch (expression.kind) {
      case 'constant':
      case 'scalar':
      case 'length':
      case 'variable':
      case 'builtin':
        return true;
      case 'load':
        if (this.#unit.isCounts(expression.array)) return false;
        // What all lanes share, but atomics may change from one to the next, is for each alone.
        switch (this.shapeOf(expression)) {
          case 'uniform':
            return false;
          case 'separate':
            return expression.type !== 'f64' && operands();
          default:
            return operands();
        }
      case 'unary':
        return laneInstruction(expression.operator, expression.type) !== undefined && operands();
      case 'binary': {
        const { operator, type, left, right } = expression;
        if (operator === 'shiftLeft' || operator === 'shiftRight') {
          return this.isUniform(right) && this.#canCompute(left);
        }
        if (isPowerOfTwoDivision(expression)) return this.#canCompute(left);
        if (isDivision(expression)) return this.#unit.does('divisions') && operands();
        return laneInstruction(operator, type) !== undefined && operands();
      }
      case 'compare':
        return laneInstruction(expression.operator, expression.left.type) !== undefined && operands();
      case 'convert':
        return convertsInLanes(expression) && operands();
      case 'conditional':
        // Both branches are computed for all lanes.
        return operands() && !this.#mayFailInVain([expression.then, expression.otherwise]);
      case 'math':
        return false;
      default:
        return expression satisfies never;
    }
  }

  /** How lanes go through a branch, a loop or a block. */
  modeOf(statement: Structure): Mode {
    let mode = this.#modes.get(statement);
    if (mode === undefined) {
      mode = this.#chooseMode(statement);
      this.#modes.set(statement, mode);
    }
    return mode;
  }

  #chooseMode(statement: Structure): Mode {
    const parts = this.#uniformity.divergent.has(statement);
    const test = statement.kind === 'block' ? null : statement.test;
    if (!parts && (test === null || this.isUniform(test))) return 'uniform';
    if (statement.kind !== 'if') return this.canMask([statement]) ? 'masked' : 'branch';
    const lists = listsOf(statement);
    if (!lists.every((list) => this.canMask(list))) return 'branch';
    return lists.every((list) => this.isCheap(list)) ? 'masked' : 'branch';
  }

  /** Whether statements can be carried out under a mask. */
  canMask(list: List): boolean {
    const maskable = ['assign', 'store', 'if', 'loop'];
    if (this.#unit.does('jumps')) maskable.push('block', 'break', 'continue');
    if (anyStatement(list, ({ kind }) => !maskable.includes(kind)) || leaves(list)) return false;
    if (anyExpression(list, (each) => each.kind === 'binary' && mayFail(each))) return false;
    let can = true;
    const assigned = assignedIn(list);
    forEachAccess(list, (access, loops, stores) => {
      const shape = this.shapeOf(access);
      if (access.array.space === 'local' || shape === 'separate' || (stores && shape === 'uniform'))
        can = false;
      else if (limitsOf(access).some((each) => this.checkBefore(each, list, assigned, loops) === null))
        can = false;
    });
    return can;
  }

  /**
   * How an index of lanes is checked for all of them before a list, `loops` being those inside the list that it stands in. Null
   * where it cannot be: where it does not grow evenly from lane to lane, or its limit is not the same for all.
   */
  checkBefore(
    { index, limit }: Limited,
    list: List,
    assigned: ReadonlySet<number>,
    loops: readonly Loop[],
  ): Checkable | null {
    const step = this.#forms.of(index)?.coefficient ?? -1;
    const most = this.#strides ? furthest : 1;
    if (step < 0 || step > most || !this.isUniform(limit)) return null;
    const bounds = this.indices.boundsBefore(index, list, assigned, loops);
    const known = this.indices.knownBefore(limit, assigned);
    return bounds === null || known === null ? null : { ...bounds, limit: known, step };
  }

  /** Whether it is better to carry statements out under a mask than to look whether any lane is there. */
  isCheap(statements: readonly Statement[]): boolean {
    let cost = 0;
    forEachStatement(statements, (statement) => {
      if (statement.kind !== 'assign' && statement.kind !== 'if') cost = Number.POSITIVE_INFINITY;
    });
    forEachExpression(statements, (each) => {
      cost += each.kind === 'binary' && isDivision(each) ? cheap : 1;
    });
    return cost <= cheap;
  }

  /** Whether there is anything that is not checked for all lanes beforehand, and may fail. */
  #mayFailInVain(expressions: readonly Expression[]): boolean {
    const mayFailHere = (each: Expression) => {
      if (each.kind === 'binary') return mayFail(each);
      if (each.kind !== 'load') return false;
      return each.array.space === 'local' || this.shapeOf(each) === 'separate';
    };
    return expressions.some((expression) => anyOperand(expression, mayFailHere));
  }

  /** Whether anything is done in lanes that would otherwise be done thread by thread. */
  #gains(statements: readonly Statement[]): boolean {
    return anyStatement(
      statements,
      (statement) =>
        statement.kind === 'call' ||
        (statement.kind === 'assign' && this.varies(statement.variable)) ||
        (statement.kind === 'store' && !this.isUniform(statement.index)),
    );
  }
}
