// The state of lowering one kernel: the program so far, and where in the text we are.
//
// An expression of the kernel becomes a Value; whatever has an effect becomes statements, which
// are emitted in JavaScript's order into the current list. A value's expressions are meant at
// the point where it was made: who holds one across statements that might change what it reads
// settles it first (`inOrder`, `settle`).
//
// How each kind of node is lowered stands in the rules (statements.ts, expressions.ts, …); they
// call back through this class, so that the files of the rules need not know each other.

import type { AnyNode, Expression as ExpressionNode, Node } from 'acorn';
import type { Code } from '../diagnostics/codes.ts';
import {
  type AnyFunction,
  createKernelSource,
  type KernelSource,
  type Range,
} from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import type { Advice } from './advice.ts';
import { constant, mapOperands, numberConstant, variable } from './build.ts';
import { withDestructors } from './destructors.ts';
import { Frame, type ReturnTarget } from './frame.ts';
import type { Inference } from './infer.ts';
import type { Given } from './intrinsics/arguments.ts';
import type {
  ArrayReference,
  Expression,
  LocalArray,
  Parameter,
  Program,
  SharedArray,
  Statement,
  ValueType,
  Variable,
} from './ir.ts';
import type { Pipeline } from './ir-pipelines.ts';
import { type LoweredBarrier, LoweringFailure, type LoweringOptions, type Rules } from './lowering-rules.ts';
import { mapExpressions } from './map-value.ts';
import { Mistakes } from './mistakes.ts';
import { type NumberType, valueType } from './number-types.ts';
import { OwnQueue } from './own-queue.ts';
import { type ParsedFunction, parseFunction } from './parse.ts';
import { Scopes } from './scopes.ts';
import type { Value } from './values.ts';

export class Lowering {
  readonly block: Extent3;
  readonly indexType: 'i32' | 'i64';
  /** Whether the launch is. */
  readonly cooperative: boolean;
  /** Whether all blocks of the grid lie along x. */
  readonly flatGrid: boolean;
  readonly inference: Inference;
  readonly sources: KernelSource[] = [];
  readonly parameters: Parameter[] = [];
  readonly sharedArrays: SharedArray[] = [];
  readonly localArrays: LocalArray[] = [];
  readonly views: ArrayReference[] = [];
  readonly pipelines: Pipeline[] = [];
  /** For copies that name no pipeline. */
  readonly ownQueue = new OwnQueue(this.pipelines);
  readonly barriers: LoweredBarrier[] = [];
  /** The blocks around the statement that is lowered. */
  readonly scopes = new Scopes();
  /** Each function that was entered, as often as it was. */
  readonly activations: Frame[] = [];
  /** Each member that was asked of something that docs/intrinsics.md lists the members of. */
  readonly members: { readonly receiver: string; readonly name: string; readonly range: Range }[] = [];
  /** Functions that are being inlined, outermost first: what is here already is recursion. */
  readonly calls: { readonly callee: object; readonly name: string }[] = [];
  readonly #rules: Rules;
  readonly mistakes = new Mistakes(this.sources);
  readonly #variables: Variable[] = [];
  /** Variables that are assigned once, with what they are assigned; null if that is no expression. */
  readonly #definitions = new Map<number, Expression | null>();
  readonly #names = new Map<Node, string>();
  readonly #unused = new Set<Node>();
  readonly #texts: string[] = [];
  readonly #sourceIds = new Map<AnyFunction, number>();
  #labels = 0;
  #pipelineStates = 0;
  #statements: Statement[] = [];
  #frame: Frame | null = null;

  constructor({ block, indexType, cooperative, flatGrid, inference, rules }: LoweringOptions) {
    this.block = block;
    this.indexType = indexType;
    this.cooperative = cooperative;
    this.flatGrid = flatGrid;
    this.inference = inference;
    this.#rules = rules;
  }

  program(name: string): Program {
    const body = withDestructors(this.#statements, this.scopes, this.#variables);
    return {
      name,
      block: this.block,
      indexType: this.indexType,
      parameters: this.parameters,
      variables: this.#variables,
      sharedArrays: this.sharedArrays,
      localArrays: this.localArrays,
      ...(this.views.length > 0 && { views: this.views }),
      pipelines: this.pipelines,
      barriers: this.barriers.map(({ barrier }) => barrier),
      body: [...this.ownQueue.made(), ...body],
    };
  }

  // Where we are

  get frame(): Frame {
    return this.#frame!;
  }

  /** The source and the tree of a function, which thereby takes part in the program. */
  open(fn: AnyFunction, name: string): { readonly parsed: ParsedFunction; readonly source: number } {
    const source = createKernelSource(fn, name);
    const parsed = parseFunction(fn, source);
    let id = this.#sourceIds.get(fn);
    if (id === undefined) {
      id = this.sources.push(source) - 1;
      this.#sourceIds.set(fn, id);
    }
    return { parsed, source: id };
  }

  /** Runs `inside` in a new activation of a function. */
  within<T>(
    { parsed, source, parent }: { parsed: ParsedFunction; source: number; parent: Frame | null },
    path: string,
    returns: ReturnTarget | null,
    inside: (frame: Frame) => T,
  ): T {
    const outer = this.#frame;
    const frame = new Frame(parsed, source, parent, path, returns);
    this.activations.push(frame);
    this.#frame = frame;
    try {
      return inside(frame);
    } finally {
      this.#frame = outer;
    }
  }

  /** Runs `inside` in the kernel itself. */
  enter(parsed: ParsedFunction, source: number, inside: () => void): void {
    this.within({ parsed, source, parent: null }, '', null, inside);
  }

  /** A key for a node of the current activation, the same in every pass. */
  key(node: Node): string {
    return `${this.frame.path}/${node.start}`;
  }

  range(node: Node): Range {
    const { parsed, source } = this.frame;
    return { source, start: node.start - parsed.shift, end: node.end - parsed.shift };
  }

  /** Reports what is wrong with a node, and gives its statement up. */
  fail(node: Node, code: Code, message: string, hint: string | Advice): never {
    const advice = typeof hint === 'string' ? { hint } : hint;
    this.mistakes.note({ code, message, ...advice, range: this.range(node) });
    throw new LoweringFailure(message);
  }

  /** Gives the statement up because of an error that was reported already. */
  broken(): never {
    throw new LoweringFailure('already reported');
  }

  // The rules

  statement(node: Node): void {
    this.#rules.statement(this, node as AnyNode);
  }

  value(node: Node): Value {
    return this.#rules.value(this, node as AnyNode);
  }

  condition(node: Node): Expression {
    return this.#rules.condition(this, node as AnyNode);
  }

  effect(node: ExpressionNode): void {
    this.#rules.effect(this, node as AnyNode);
  }

  call(callee: Value, given: readonly Given[], node: Node): Value {
    return this.#rules.call(this, callee, given, node);
  }

  // Statements

  emit(statement: Statement): void {
    const last = this.#statements.at(-1);
    // Nothing after a jump is ever run.
    if (last?.kind === 'break' || last?.kind === 'continue' || last?.kind === 'return') return;
    this.#statements.push(statement);
  }

  /** The statements that `inside` emits, instead of emitting them here. */
  collect(inside: () => void): Statement[] {
    const outer = this.#statements;
    const statements: Statement[] = [];
    this.#statements = statements;
    try {
      inside();
    } finally {
      this.#statements = outer;
    }
    return statements;
  }

  /**
   * Makes values one after the other, as JavaScript evaluates operands: what a later one does
   * changes nothing in an earlier one.
   */
  inOrder<T extends readonly Value[]>(...makers: { readonly [K in keyof T]: () => T[K] }): T {
    const values: Value[] = [];
    for (const make of makers) {
      let value: Value | undefined;
      const effects = this.collect(() => {
        value = make();
      });
      // Naming a value changes none that was made before.
      if (effects.some((effect) => effect.kind !== 'assign' || !this.#definitions.has(effect.variable))) {
        values.forEach((earlier, position) => {
          values[position] = this.#withNames(earlier, 'operand', (expression) => this.isStable(expression));
        });
      }
      for (const effect of effects) this.emit(effect);
      values.push(value!);
    }
    return values as unknown as T;
  }

  /** Notes that nobody uses the value of a node. */
  markUnused(node: Node): void {
    this.#unused.add(node);
  }

  isUnused(node: Node): boolean {
    return this.#unused.has(node);
  }

  newLabel(): number {
    return this.#labels++;
  }

  // Pipelines

  newPipelineState(): number {
    return this.#pipelineStates++;
  }

  // Variables and expressions

  /** Notes that the kernel calls the value of a node so. */
  name(node: Node, name: string): void {
    this.#names.set(node, name);
  }

  /** What the kernel calls the value of a node, or else `other`. */
  nameOf(node: Node, other: string): string {
    return this.#names.get(node) ?? other;
  }

  newVariable(name: string, type: ValueType): number {
    return this.#variables.push({ name, type }) - 1;
  }

  /** A variable that is assigned once, by a statement of another kind than an assignment. */
  newFixedVariable(name: string, type: ValueType): number {
    const id = this.newVariable(name, type);
    this.#definitions.set(id, null);
    return id;
  }

  /** An expression that stays what it is now, whatever is assigned or stored later. */
  settleExpression(expression: Expression, name: string): Expression {
    return this.#isAtom(expression) ? expression : this.#define(expression, name);
  }

  /** The value with everything in it settled. */
  settle<T extends Value>(value: T, name: string): T {
    return this.#withNames(value, name, (expression) => this.#isAtom(expression)) as T;
  }

  #withNames(value: Value, name: string, keep: (expression: Expression) => boolean): Value {
    return mapExpressions(value, (expression) =>
      keep(expression) ? expression : this.#define(expression, name),
    );
  }

  /** A name for an expression, whose definition the compiler knows. */
  #define(expression: Expression, name: string): Expression {
    const id = this.newVariable(name, expression.type);
    this.#definitions.set(id, expression);
    this.emit({ kind: 'assign', variable: id, value: expression, range: expression.range });
    return variable(id, expression.type, expression.range);
  }

  /** Whether evaluating it again, at any later point of its scope, gives the same. */
  isStable(expression: Expression): boolean {
    switch (expression.kind) {
      case 'constant':
      case 'scalar':
      case 'builtin':
      case 'length':
      case 'variable':
        return this.#isAtom(expression);
      case 'load':
        return false;
      case 'unary':
      case 'convert':
        return this.isStable(expression.operand);
      case 'binary':
      case 'compare':
        return this.isStable(expression.left) && this.isStable(expression.right);
      case 'conditional':
        return [expression.test, expression.then, expression.otherwise].every((part) => this.isStable(part));
      case 'math':
        return expression.operands.every((operand) => this.isStable(operand));
    }
  }

  /** Stable, and nothing to compute. */
  #isAtom(expression: Expression): boolean {
    switch (expression.kind) {
      case 'constant':
      case 'scalar':
      case 'builtin':
      case 'length':
        return true;
      case 'variable':
        return this.#definitions.has(expression.id);
      default:
        return false;
    }
  }

  /** What an expression is, behind the variables that are assigned once. */
  definition(expression: Expression): Expression {
    if (expression.kind !== 'variable') return expression;
    const defined = this.#definitions.get(expression.id);
    return defined ? this.definition(defined) : expression;
  }

  /** The expression with all variables that are assigned once replaced by their definitions. */
  expanded(expression: Expression): Expression {
    return mapOperands(this.definition(expression), (operand) => this.expanded(operand));
  }

  valueType(type: NumberType): ValueType {
    return valueType(type, this.indexType);
  }

  /** A constant of the index type. */
  indexConstant(value: number, node: Node): Expression {
    return numberConstant(this.indexType, value, this.range(node));
  }

  boolConstant(value: boolean, node: Node): Expression {
    return constant('bool', value, this.range(node));
  }

  // Strings

  /** The number that stands for a string in the program. */
  textCode(text: string): number {
    const known = this.#texts.indexOf(text);
    return known >= 0 ? known : this.#texts.push(text) - 1;
  }
}
