// Words to write a program of the IR by hand, as the front end would make it.
//
// Every statement and expression gets a range of its own, so that a test can tell which one a
// fault names.

import type {
  ArrayReference,
  AtomicOperator,
  BinaryOperator,
  BuiltIn,
  Call,
  CompareOperator,
  Expression,
  Group,
  LocalArray,
  MathFunction,
  Parameter,
  Program,
  SharedArray,
  Statement,
  UnaryOperator,
  ValueType,
  Variable,
} from '#warpstage/compiler/ir.js';
import { elementValueType } from '#warpstage/compiler/ir.js';
import type { Barrier } from '#warpstage/compiler/ir-barriers.js';
import type { CoreOperation, MbarrierArray } from '#warpstage/compiler/ir-core.js';
import type { Pipeline } from '#warpstage/compiler/ir-pipelines.js';
import type { Range } from '#warpstage/diagnostics/source.js';
import type { HalfFormat } from '#warpstage/kernel/half.js';
import { type ElementType, type Extent3, isVectorType } from '#warpstage/kernel/types.js';

let lastOffset = 0;

function range(): Range {
  lastOffset += 1;
  return { source: 0, start: lastOffset, end: lastOffset + 1 };
}

/** An array of the program under construction; `load` and `store` need its element type. */
export interface ArrayHandle extends ArrayReference {
  readonly element: ElementType;
}

/** A variable under construction. */
export interface VariableHandle {
  readonly id: number;
  readonly value: Expression;
  set(value: Expression): Statement;
}

/** Collects the declarations of a program. */
export class ProgramBuilder {
  readonly #parameters: Parameter[] = [];
  readonly #variables: Variable[] = [];
  readonly #shared: SharedArray[] = [];
  readonly #local: LocalArray[] = [];
  readonly #pipelines: Pipeline[] = [];
  readonly #barriers: Barrier[] = [];
  readonly #mbarriers: MbarrierArray[] = [];
  readonly name: string;
  readonly block: Extent3;
  readonly indexType: 'i32' | 'i64';
  #labels = 0;

  constructor(
    name: string,
    block: number | Extent3,
    { indexType = 'i32' }: { indexType?: 'i32' | 'i64' } = {},
  ) {
    this.name = name;
    this.block = typeof block === 'number' ? [block, 1, 1] : block;
    this.indexType = indexType;
  }

  get blockSize(): number {
    const [x, y, z] = this.block;
    return x * y * z;
  }

  array(name: string, element: ElementType, access: 'readonly' | 'writable' = 'writable'): ArrayHandle {
    const id = this.#parameters.length;
    this.#parameters.push({ kind: 'array', name, element, readonly: access === 'readonly' });
    return { space: 'global', id, element };
  }

  scalar(name: string, type: ValueType): Expression {
    const id = this.#parameters.length;
    this.#parameters.push({ kind: 'scalar', name, type });
    return { kind: 'scalar', id, type, range: range() };
  }

  shared(name: string, element: ElementType, count: Expression | number): ArrayHandle {
    const id = this.#shared.length;
    const expression = typeof count === 'number' ? this.index(count) : count;
    this.#shared.push({ name, element, count: expression, range: range() });
    return { space: 'shared', id, element };
  }

  local(name: string, element: ElementType, count: number): ArrayHandle {
    const id = this.#local.length;
    this.#local.push({ name, element, count });
    return { space: 'local', id, element };
  }

  variable(name: string, type: ValueType): VariableHandle {
    const id = this.#variables.length;
    this.#variables.push({ name, type });
    return {
      id,
      get value(): Expression {
        return { kind: 'variable', id, type, range: range() };
      },
      set: (value) => ({ kind: 'assign', variable: id, value, range: range() }),
    };
  }

  pipeline(
    name: string,
    stages: number,
    partition: Pipeline['partition'] = 'unified',
    group: Group = { kind: 'block' },
  ): number {
    this.#pipelines.push(
      stages === 0
        ? { name, scope: 'thread', stages, state: null, group: { kind: 'thread' }, partition }
        : { name, scope: 'block', stages, state: this.#pipelines.length, group, partition },
    );
    return this.#pipelines.length - 1;
  }

  barrier(
    name: string,
    { group = { kind: 'block' }, count = null, completes = false }: Partial<Omit<Barrier, 'name'>> = {},
  ): number {
    return this.#barriers.push({ name, group, count, completes }) - 1;
  }

  mbarrier(name: string, count = 1): number {
    const plain = { group: { kind: 'block' }, made: 'hardware', completes: false, barrier: null } as const;
    return this.#mbarriers.push({ name, count, ...plain }) - 1;
  }

  label(): number {
    this.#labels += 1;
    return this.#labels;
  }

  /** A constant of the index type. */
  index(value: number): Expression {
    return this.indexType === 'i64' ? constant('i64', BigInt(value)) : constant('i32', value);
  }

  builtin(name: BuiltIn): Expression {
    return { kind: 'builtin', name, type: this.indexType, range: range() };
  }

  length({ space, id }: ArrayReference): Expression {
    return { kind: 'length', array: { space, id }, type: this.indexType, range: range() };
  }

  /** Rank of the thread in the grid, one-dimensional. */
  gridRank(): Expression {
    return add(multiply(this.builtin('blockIdx.x'), this.index(this.blockSize)), this.builtin('threadRank'));
  }

  /** `for (variable = from; test; variable += 1) body` */
  countUp(
    variable: VariableHandle,
    from: Expression,
    test: Expression,
    body: readonly Statement[],
    label = this.label(),
  ): Statement[] {
    const update = [variable.set(add(variable.value, one(variable.value.type)))];
    return [variable.set(from), { kind: 'loop', label, test, testFirst: true, body, update, range: range() }];
  }

  build(body: readonly Statement[]): Program {
    return {
      name: this.name,
      block: this.block,
      indexType: this.indexType,
      parameters: this.#parameters,
      variables: this.#variables,
      sharedArrays: this.#shared,
      localArrays: this.#local,
      pipelines: this.#pipelines,
      barriers: this.#barriers,
      ...(this.#mbarriers.length === 0 ? {} : { mbarriers: this.#mbarriers }),
      body,
    };
  }
}

// Expressions

export function constant(type: ValueType, value: number | bigint | boolean): Expression {
  return { kind: 'constant', value, type, range: range() };
}

function one(type: ValueType): Expression {
  return constant(type, type === 'i64' || type === 'u64' ? 1n : 1);
}

export function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator, left, right, type: left.type, range: range() };
}

export const add = (left: Expression, right: Expression) => binary('add', left, right);
export const subtract = (left: Expression, right: Expression) => binary('subtract', left, right);
export const multiply = (left: Expression, right: Expression) => binary('multiply', left, right);

export function unary(operator: UnaryOperator, operand: Expression): Expression {
  return { kind: 'unary', operator, operand, type: operand.type, range: range() };
}

export function compare(operator: CompareOperator, left: Expression, right: Expression): Expression {
  return { kind: 'compare', operator, left, right, type: 'bool', range: range() };
}

export function convert(operand: Expression, type: ValueType): Expression {
  return operand.type === type ? operand : { kind: 'convert', operand, type, range: range() };
}

export function conditional(test: Expression, then: Expression, otherwise: Expression): Expression {
  return { kind: 'conditional', test, then, otherwise, type: then.type, range: range() };
}

export function math(name: MathFunction, ...operands: Expression[]): Expression {
  return { kind: 'math', function: name, operands, type: operands[0]!.type, range: range() };
}

/** Of vectors one component, by default the second. */
export function load({ space, id, element }: ArrayHandle, index: Expression, component = 1): Expression {
  const type = elementValueType(element);
  const whole = { kind: 'load', array: { space, id }, index, type, range: range() } as const;
  return isVectorType(element) ? { ...whole, component } : whole;
}

/** The value of the bits of a float of 16, or its bits. */
export function recode(operand: Expression, type: 'u32' | 'f32', format: HalfFormat): Expression {
  return { kind: 'convert', operand, type, format, range: range() };
}

// Statements

/** Of vectors one component, by default the second. */
export function store(
  { space, id, element }: ArrayReference & { readonly element?: ElementType },
  index: Expression,
  value: Expression,
  component = 1,
): Statement {
  const whole = { kind: 'store', array: { space, id }, index, value, range: range() } as const;
  return element !== undefined && isVectorType(element) ? { ...whole, component } : whole;
}

export function when(
  test: Expression,
  then: readonly Statement[],
  otherwise: readonly Statement[] = [],
): Statement {
  return { kind: 'if', test, then, otherwise, range: range() };
}

export function loop(
  label: number,
  test: Expression | null,
  body: readonly Statement[],
  update: readonly Statement[] = [],
  testFirst = true,
): Statement {
  return { kind: 'loop', label, test, testFirst, body, update, range: range() };
}

export function block(label: number, body: readonly Statement[]): Statement {
  return { kind: 'block', label, body, range: range() };
}

export function leave(kind: 'break' | 'continue', label: number): Statement {
  return { kind, label, range: range() };
}

export function finish(): Statement {
  return { kind: 'return', range: range() };
}

export function sync(group: Group = { kind: 'block' }): Statement {
  return { kind: 'call', intrinsic: 'sync', group, range: range() };
}

/** An operation of a lowered program. */
export function core(operation: CoreOperation, result: VariableHandle | null = null): Statement {
  return { kind: 'call', intrinsic: 'core', operation, result: result?.id ?? null, range: range() };
}

export function makePipeline(pipeline: number, producers: Expression | null = null): Statement {
  return { kind: 'call', intrinsic: 'makePipeline', pipeline, producers, range: range() };
}

type PipelineVerb = 'producerAcquire' | 'producerCommit' | 'consumerWait' | 'consumerRelease';

export function pipelineCall(intrinsic: PipelineVerb, pipeline: number): Statement {
  return { kind: 'call', intrinsic, pipeline, range: range() };
}

export function quit(pipeline: number, result: VariableHandle | null = null): Statement {
  return { kind: 'call', intrinsic: 'quit', pipeline, result: result?.id ?? null, range: range() };
}

export function makeBarrier(barrier: number, expected: Expression | null = null): Statement {
  return { kind: 'call', intrinsic: 'makeBarrier', barrier, expected, range: range() };
}

/** A barrier, and which it is of its array. */
export type BarrierPlace = readonly [barrier: number, index: Expression];

export function barrierArrive([barrier, index]: BarrierPlace, result: VariableHandle | null): Statement {
  const call = { kind: 'call', intrinsic: 'barrierArrive', barrier, index, range: range() } as const;
  return { ...call, count: null, drop: false, result: result?.id ?? null };
}

export function barrierComplete([barrier, index]: BarrierPlace): Statement {
  return { kind: 'call', intrinsic: 'barrierComplete', barrier, index, range: range() };
}

export function barrierWait(
  [barrier, index]: BarrierPlace,
  awaited: { readonly by: 'token' | 'parity'; readonly phase: Expression },
): Statement {
  const call = { kind: 'call', intrinsic: 'barrierWait', barrier, index, range: range() } as const;
  return { ...call, ...awaited, limit: null, until: false, result: null };
}

/** A copy that a phase of a barrier waits for. */
export function memcpyToBarrier(
  [barrier, index]: BarrierPlace,
  operands: Omit<CopyOperands, 'pipeline'>,
): Call {
  const { pipeline: _, ...copy } = memcpyAsync({ ...operands, pipeline: 0 }) as PipelineCopy;
  return { ...copy, barrier, index };
}

type PipelineCopy = Extract<Call, { intrinsic: 'memcpyAsync'; pipeline: number }>;

export interface CopyOperands {
  readonly group?: Group;
  readonly to: readonly [array: ArrayReference, offset: Expression];
  readonly from: readonly [array: ArrayReference, offset: Expression];
  readonly count: Expression;
  readonly alignment?: number;
  readonly pipeline: number;
}

export function memcpyAsync(operands: CopyOperands): Call {
  const { group = { kind: 'block' }, to, from, count, alignment = 4, pipeline } = operands;
  const view = ([{ space, id }, offset]: CopyOperands['to']) => ({ array: { space, id }, offset });
  return {
    kind: 'call',
    intrinsic: 'memcpyAsync',
    group,
    destination: view(to),
    source: view(from),
    count,
    zeroFill: null,
    alignment,
    pipeline,
    range: range(),
  };
}

export function atomic(
  operator: AtomicOperator,
  [{ space, id }, index]: readonly [array: ArrayReference, index: Expression],
  value: Expression,
  {
    compare: compared = null,
    result = null,
  }: { compare?: Expression | null; result?: VariableHandle | null } = {},
): Statement {
  return {
    kind: 'call',
    intrinsic: 'atomic',
    operator,
    array: { space, id },
    index,
    value,
    compare: compared,
    result: result?.id ?? null,
    range: range(),
  };
}

export function print(...parts: (string | Expression)[]): Statement {
  return { kind: 'call', intrinsic: 'print', parts, range: range() };
}
