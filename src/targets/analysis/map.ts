// Rewrites a program: a copy of its statements with every expression and statement put through
// a function, innermost first.

import type { Expression, Statement, View } from '../../compiler/ir.ts';
import { mapCore } from '../../compiler/ir-core.ts';

export interface Mapping {
  readonly expression: (mapped: Expression) => Expression;
  /** Gets a statement whose parts are mapped already, and the statement as it was. */
  readonly statement?: (mapped: Statement, original: Statement) => Statement;
}

export function mapStatements(statements: readonly Statement[], mapping: Mapping): readonly Statement[] {
  return statements.map((statement) => {
    const mapped = mapParts(statement, mapping);
    return mapping.statement === undefined ? mapped : mapping.statement(mapped, statement);
  });
}

export function mapExpression(expression: Expression, mapping: Mapping): Expression {
  return mapping.expression(mapOperands(expression, (operand) => mapExpression(operand, mapping)));
}

function mapParts(statement: Statement, mapping: Mapping): Statement {
  const map = (expression: Expression) => mapExpression(expression, mapping);
  const list = (statements: readonly Statement[]) => mapStatements(statements, mapping);
  const view = ({ array, offset }: View): View => ({ array, offset: map(offset) });
  switch (statement.kind) {
    case 'assign':
      return { ...statement, value: map(statement.value) };
    case 'store':
      return { ...statement, index: map(statement.index), value: map(statement.value) };
    case 'if': {
      const then = list(statement.then);
      return { ...statement, test: map(statement.test), then, otherwise: list(statement.otherwise) };
    }
    case 'loop': {
      const test = statement.test && map(statement.test);
      return { ...statement, test, body: list(statement.body), update: list(statement.update) };
    }
    case 'block':
    case 'region':
      return { ...statement, body: list(statement.body) };
    case 'break':
    case 'continue':
    case 'return':
      return statement;
    case 'call':
      break;
    default:
      return statement satisfies never;
  }
  switch (statement.intrinsic) {
    case 'sync':
      return statement.mask === undefined ? statement : { ...statement, mask: map(statement.mask) };
    case 'warp':
      return {
        ...statement,
        ...(statement.mask === undefined ? {} : { mask: map(statement.mask) }),
        value: map(statement.value),
        lane: statement.lane && map(statement.lane),
      };
    case 'makePipeline':
      return { ...statement, producers: statement.producers && map(statement.producers) };
    case 'memcpyAsync': {
      const { destination, source, count, zeroFill } = statement;
      const operands = {
        destination: view(destination),
        source: view(source),
        count: map(count),
        zeroFill: zeroFill && map(zeroFill),
      };
      return 'barrier' in statement
        ? { ...statement, ...operands, index: map(statement.index) }
        : { ...statement, ...operands };
    }
    case 'consumerWaitFor':
    case 'consumerWaitUntil':
      return { ...statement, time: map(statement.time) };
    case 'mark':
      return { ...statement, made: map(statement.made), batch: map(statement.batch) };
    case 'core':
      return { ...statement, operation: mapCore(statement.operation, map) };
    case 'nanosleep':
      return { ...statement, duration: map(statement.duration) };
    case 'makeBarrier':
      return { ...statement, expected: statement.expected && map(statement.expected) };
    case 'barrierArrive':
      return { ...statement, index: map(statement.index), count: statement.count && map(statement.count) };
    case 'barrierWait':
      return {
        ...statement,
        index: map(statement.index),
        phase: map(statement.phase),
        limit: statement.limit && map(statement.limit),
      };
    case 'barrierComplete':
    case 'barrierBind':
      return { ...statement, index: map(statement.index) };
    case 'atomic':
      return {
        ...statement,
        index: map(statement.index),
        value: map(statement.value),
        compare: statement.compare && map(statement.compare),
      };
    case 'print':
      return {
        ...statement,
        parts: statement.parts.map((part) => (typeof part === 'string' ? part : map(part))),
      };
    default:
      return statement;
  }
}

function mapOperands(expression: Expression, map: (operand: Expression) => Expression): Expression {
  switch (expression.kind) {
    case 'load':
      return { ...expression, index: map(expression.index) };
    case 'unary':
    case 'convert':
      return { ...expression, operand: map(expression.operand) };
    case 'binary':
    case 'compare':
      return { ...expression, left: map(expression.left), right: map(expression.right) };
    case 'conditional': {
      const then = map(expression.then);
      return { ...expression, test: map(expression.test), then, otherwise: map(expression.otherwise) };
    }
    case 'math':
      return { ...expression, operands: expression.operands.map(map) };
    default:
      return expression;
  }
}
