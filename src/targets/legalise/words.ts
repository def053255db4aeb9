// Expressions and statements that a lowering writes, at one place of the kernel's text.

import type {
  ArrayReference,
  BuiltIn,
  Call,
  Expression,
  Group,
  Statement,
  UnaryOperator,
  ValueType,
} from '../../compiler/ir.ts';
import type { CoreOperation } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';

type Binary = Extract<Expression, { kind: 'binary' }>['operator'];
type Compare = Extract<Expression, { kind: 'compare' }>['operator'];

export class Words {
  readonly range: Range;
  readonly indexType: 'i32' | 'i64';

  constructor(range: Range, indexType: 'i32' | 'i64') {
    this.range = range;
    this.indexType = indexType;
  }

  constant(type: ValueType, value: number | boolean): Expression {
    const wide = type === 'i64' || type === 'u64';
    return { kind: 'constant', type, value: wide ? BigInt(value) : value, range: this.range };
  }

  u32(value: number): Expression {
    return this.constant('u32', value);
  }

  index(value: number): Expression {
    return this.constant(this.indexType, value);
  }

  read(variable: number, type: ValueType): Expression {
    return { kind: 'variable', id: variable, type, range: this.range };
  }

  builtin(name: BuiltIn): Expression {
    return { kind: 'builtin', name, type: this.indexType, range: this.range };
  }

  get threadRank(): Expression {
    return this.builtin('threadRank');
  }

  binary(operator: Binary, left: Expression, right: Expression): Expression {
    return { kind: 'binary', operator, left, right, type: left.type, range: this.range };
  }

  unary(operator: UnaryOperator, operand: Expression): Expression {
    return { kind: 'unary', operator, operand, type: operand.type, range: this.range };
  }

  not(operand: Expression): Expression {
    return this.unary('not', operand);
  }

  compare(operator: Compare, left: Expression, right: Expression): Expression {
    return { kind: 'compare', operator, left, right, type: 'bool', range: this.range };
  }

  convert(operand: Expression, type: ValueType): Expression {
    return operand.type === type ? operand : { kind: 'convert', operand, type, range: this.range };
  }

  choose(test: Expression, then: Expression, otherwise: Expression): Expression {
    return { kind: 'conditional', test, then, otherwise, type: then.type, range: this.range };
  }

  load(array: ArrayReference, index: Expression, type: ValueType): Expression {
    return { kind: 'load', array, index, type, range: this.range };
  }

  assign(variable: number, value: Expression): Statement {
    return { kind: 'assign', variable, value, range: this.range };
  }

  when(test: Expression, then: readonly Statement[], otherwise: readonly Statement[] = []): Statement {
    return { kind: 'if', test, then, otherwise, range: this.range };
  }

  loop(label: number, test: Expression, body: readonly Statement[], update: readonly Statement[]): Statement {
    return { kind: 'loop', label, test, testFirst: true, body, update, range: this.range };
  }

  /** Statements that a thread carries out at once. */
  block(label: number, body: readonly Statement[]): Statement {
    return { kind: 'block', label, body, range: this.range };
  }

  core(operation: CoreOperation, result: number | null = null): Statement {
    return { kind: 'call', intrinsic: 'core', operation, result, range: this.range };
  }

  /** A copy that is done where it is issued. */
  copyNow(copy: Extract<Call, { intrinsic: 'memcpyAsync' }>): Statement {
    const { group, destination, source, count, zeroFill, alignment: promised } = copy;
    return this.core({ kind: 'copyNow', group, destination, source, count, zeroFill, promised });
  }

  sync(group: Group, apart = false): Statement {
    return { kind: 'call', intrinsic: 'sync', group, ...(apart ? { apart } : {}), range: this.range };
  }

  /** Gives all threads of a whole warp the rank of its first, an i32. */
  firstOfWarp(result: number): Statement {
    return {
      kind: 'call',
      intrinsic: 'warp',
      operator: 'shfl',
      group: { kind: 'tile', size: 32 },
      mask: this.u32(0xffffffff),
      value: this.convert(this.threadRank, 'i32'),
      lane: this.constant('i32', 0),
      width: 32,
      result,
      range: this.range,
    };
  }

  store(array: ArrayReference, index: Expression, value: Expression): Statement {
    return { kind: 'store', array, index, value, range: this.range };
  }

  /** The rank of a thread in its group. */
  rank(group: Group): Expression {
    if (group.kind === 'thread') return this.index(0);
    if (group.kind !== 'tile') return this.threadRank;
    return this.binary('remainder', this.threadRank, this.index(group.size));
  }

  /** Whether a thread is the first of its group. */
  isFirst(group: Group): Expression {
    return this.compare('equal', this.rank(group), this.index(0));
  }
}
