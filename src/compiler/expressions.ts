// Expressions: one rule for each kind of node.

import type {
  AnyNode,
  CallExpression,
  Expression as ExpressionNode,
  Literal,
  LogicalExpression,
  ObjectExpression,
} from 'acorn';
import { assignment, update } from './assignment.ts';
import { unary } from './build.ts';
import { call } from './calls.ts';
import { globals } from './captures.ts';
import { declarationOf, meaningOf, newCell, ownObject, read } from './cells.ts';
import { branch, choose } from './conditional.ts';
import type { Given } from './intrinsics/arguments.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { element, member } from './members.ts';
import { refuseChain, refuseComparison, refuseDefault } from './missing.ts';
import { rounded, toBool } from './numbers.ts';
import { binaryOperation, unaryOperation } from './operators.ts';
import { propertyName } from './patterns.ts';
import { refuseMoving } from './records.ts';
import { keepsName } from './resolve.ts';
import { memberValue } from './returned.ts';
import { describe, literal, number, undefinedValue, type Value } from './values.ts';

/** What an expression stands for. */
export function lowerValue(lowering: Lowering, node: AnyNode): Value {
  switch (node.type) {
    case 'Literal':
      return literalValue(lowering, node);
    case 'Identifier':
      return identifier(lowering, node);
    case 'MemberExpression': {
      const { property } = node;
      if (!node.computed) {
        const name = property.type === 'Identifier' ? property.name : '';
        return member(lowering, lowering.value(node.object), name, property);
      }
      const [object, index] = lowering.inOrder(
        () => lowering.value(node.object),
        () => lowering.value(property),
      );
      return element(lowering, object, index, node, property);
    }
    case 'CallExpression':
      return callExpression(lowering, node);
    case 'ChainExpression':
      return refuseChain(lowering, node);
    case 'BinaryExpression': {
      refuseComparison(lowering, node);
      const [left, right] = lowering.inOrder(
        () => lowering.value(node.left),
        () => lowering.value(node.right),
      );
      return binaryOperation(lowering, node.operator, left, right, node);
    }
    case 'LogicalExpression':
      return logical(lowering, node);
    case 'UnaryExpression':
      if (node.operator === 'void') {
        lowering.effect(node.argument);
        return undefinedValue;
      }
      return unaryOperation(lowering, node.operator, lowering.value(node.argument), node);
    case 'ConditionalExpression': {
      const test = lowering.condition(node.test);
      return choose(
        lowering,
        test,
        () => lowering.value(node.consequent),
        () => lowering.value(node.alternate),
        node,
      );
    }
    case 'AssignmentExpression':
      return assignment(lowering, node);
    case 'UpdateExpression':
      return update(lowering, node, node);
    case 'SequenceExpression': {
      for (const one of node.expressions.slice(0, -1)) lowering.effect(one);
      return lowering.value(node.expressions.at(-1)!);
    }
    case 'ParenthesizedExpression':
      return lowering.value(node.expression);
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return closure(lowering, node);
    case 'ArrayExpression':
      return {
        kind: 'list',
        items: lowering.inOrder<Value[]>(
          ...node.elements.map((item) => () => listItem(lowering, item, node)),
        ),
      };
    case 'ObjectExpression':
      return objectValue(lowering, node);
    case 'TemplateLiteral':
      return template(lowering, node);
    default:
      return lowering.fail(node, 'WS1006', `kernels do not have ${nameOf(node)}`, hintFor(node));
  }
}

/** An expression whose value nobody uses. */
export function lowerEffect(lowering: Lowering, node: AnyNode): void {
  lowering.markUnused(node);
  switch (node.type) {
    case 'SequenceExpression':
      for (const one of node.expressions) lowering.effect(one);
      break;
    case 'ParenthesizedExpression':
      lowering.effect(node.expression);
      break;
    case 'ConditionalExpression':
      branch(
        lowering,
        lowering.condition(node.test),
        () => lowering.effect(node.consequent),
        () => lowering.effect(node.alternate),
        node,
      );
      break;
    case 'LogicalExpression': {
      if (node.operator === '??') refuseDefault(lowering, node);
      const test = lowering.condition(node.left);
      const right = () => lowering.effect(node.right);
      if (node.operator === '&&') branch(lowering, test, right, null, node);
      else branch(lowering, test, () => {}, right, node);
      break;
    }
    case 'UnaryExpression':
      if (node.operator === 'delete') lowering.value(node);
      else lowering.effect(node.argument);
      break;
    default:
      refuseUncalled(lowering, lowering.value(node), node);
  }
}

/** `block.sync;` does nothing, and was meant to. */
function refuseUncalled(lowering: Lowering, value: Value, node: AnyNode): void {
  if (value.kind !== 'intrinsic') return;
  lowering.fail(node, 'WS1009', `${value.name} is named here, and not called`, 'write () after its name');
}

/** Whether an expression holds; of `a && b` and the like only that, not which of their values. */
export function lowerCondition(lowering: Lowering, node: AnyNode): Expression {
  const known = (value: boolean) => number('bool', lowering.boolConstant(value, node));
  const side = (part: AnyNode | ExpressionNode) => () => number('bool', lowering.condition(part));
  switch (node.type) {
    case 'LogicalExpression': {
      if (node.operator === '??') break;
      const left = lowering.condition(node.left);
      const isAnd = node.operator === '&&';
      const [then, otherwise] = isAnd
        ? [side(node.right), () => known(false)]
        : [() => known(true), side(node.right)];
      return toBool(lowering, choose(lowering, left, then, otherwise, node), node);
    }
    case 'UnaryExpression':
      if (node.operator !== '!') break;
      return unary('not', lowering.condition(node.argument), lowering.range(node));
    case 'ParenthesizedExpression':
      return lowering.condition(node.expression);
    case 'SequenceExpression':
      for (const one of node.expressions.slice(0, -1)) lowering.effect(one);
      return lowering.condition(node.expressions.at(-1)!);
  }
  return toBool(lowering, lowering.value(node), node);
}

function literalValue(lowering: Lowering, node: Literal): Value {
  const { value } = node;
  if (typeof value === 'number' || typeof value === 'bigint') return literal(value);
  if (typeof value === 'boolean') return number('bool', lowering.boolConstant(value, node));
  if (typeof value === 'string') return { kind: 'text', text: value };
  const what = value === null ? 'null' : 'regular expressions';
  return lowering.fail(
    node,
    'WS1006',
    `kernels do not have ${what}`,
    'kernels compute with numbers, bigints and booleans',
  );
}

function identifier(lowering: Lowering, node: Extract<AnyNode, { type: 'Identifier' }>): Value {
  const declaration = meaningOf(lowering, node);
  if (declaration === undefined) return globals[node.name] ?? lowering.broken();
  const binding = lowering.frame.lookUp(declaration);
  if (binding?.kind === 'value') return binding.value;
  if (binding?.kind === 'cell') return read(lowering, binding.cell, node);
  if (declaration.kind === 'var') {
    const cell = newCell(lowering, declaration.name, declaration.node);
    lowering.frame.bind(declaration, { kind: 'cell', cell });
    return read(lowering, cell, node);
  }
  return lowering.fail(node, 'WS1006', `'${node.name}' is used before it is declared`, 'declare it above');
}

function callExpression(lowering: Lowering, node: CallExpression): Value {
  const { callee } = node;
  const isCaptured = callee.type === 'Identifier' && !meaningOf(lowering, callee);
  if (isCaptured && keepsName(node, (name) => meaningOf(lowering, name)?.kind === 'function')) {
    const [fn, name] = node.arguments as AnyNode[];
    if (name?.type === 'Literal') lowering.name(fn!, String(name.value));
    return lowering.value(fn!);
  }
  const [target, ...values] = lowering.inOrder<Value[]>(
    () => lowering.value(callee),
    ...node.arguments.map((argument) => () => lowering.value(argument)),
  );
  const given: Given[] = values.map((value, position) => ({ value, node: node.arguments[position]! }));
  return call(lowering, target!, given, node);
}

function logical(lowering: Lowering, node: LogicalExpression): Value {
  if (node.operator === '??') return refuseDefault(lowering, node);
  const left = lowering.value(node.left);
  const test = toBool(lowering, left, node.left);
  const isBool = left.kind === 'number' && left.type === 'bool';
  const right = () => lowering.value(node.right);
  if (node.operator === '&&') {
    const kept: Value = isBool ? number('bool', lowering.boolConstant(false, node.left)) : left;
    return choose(lowering, test, right, () => kept, node);
  }
  const kept: Value = isBool ? number('bool', lowering.boolConstant(true, node.left)) : left;
  return choose(lowering, test, () => kept, right, node);
}

function closure(
  lowering: Lowering,
  node: Extract<AnyNode, { type: 'ArrowFunctionExpression' | 'FunctionExpression' }>,
): Value {
  if (node.async || node.generator) {
    lowering.fail(
      node,
      'WS1006',
      'kernels do not have async functions and generators',
      'use a plain function',
    );
  }
  const own = node.type === 'FunctionExpression' ? node.id?.name : undefined;
  const value: Value = {
    kind: 'closure',
    node,
    frame: lowering.frame,
    name: own ?? lowering.nameOf(node, 'function'),
  };
  if (node.type === 'FunctionExpression' && node.id) {
    lowering.frame.bind(declarationOf(lowering, node.id), { kind: 'value', value });
  }
  return value;
}

function listItem(lowering: Lowering, item: AnyNode | null, list: AnyNode): Value {
  if (item !== null) {
    const value = rounded(lowering, lowering.value(item));
    refuseMoving(lowering, value, item);
    return value;
  }
  return lowering.fail(list, 'WS1006', 'this list has a hole', 'write every element');
}

function objectValue(lowering: Lowering, node: ObjectExpression): Value {
  const properties = node.properties.map((property) => {
    if (property.type === 'SpreadElement') return { name: null, value: property.argument };
    if (property.kind !== 'init') {
      return lowering.fail(
        property,
        'WS1006',
        'kernels do not have accessors in objects',
        'name each member',
      );
    }
    return { name: propertyName(lowering, property), value: property.value };
  });
  const values = lowering.inOrder<Value[]>(
    ...properties.map(
      ({ name, value }) =>
        () =>
          name === null ? copied(lowering, value) : memberValue(lowering, node, name, value),
    ),
  );
  const members = new Map<string, Value>();
  properties.forEach(({ name, value: at }, position) => {
    const value = values[position]!;
    refuseMoving(lowering, value, at);
    if (name !== null) members.set(name, value);
    else if (value.kind === 'object') for (const [each, member] of value.members) members.set(each, member);
  });
  return ownObject(lowering, { kind: 'object', name: 'an object', members }, node);
}

/** The members that an object has now, for `{ ...object }`. */
function copied(lowering: Lowering, node: ExpressionNode): Value {
  const value = lowering.value(node);
  if (value.kind === 'broken') return lowering.broken();
  if (value.kind === 'object') return { kind: 'object', name: value.name, members: value.members };
  return lowering.fail(node, 'WS1006', `${describe(value)} has no members to copy`, 'name each member');
}

function template(lowering: Lowering, node: Extract<AnyNode, { type: 'TemplateLiteral' }>): Value {
  const values = lowering.inOrder<Value[]>(...node.expressions.map((one) => () => lowering.value(one)));
  const parts: Value[] = [];
  node.quasis.forEach((quasi, position) => {
    parts.push({ kind: 'text', text: quasi.value.cooked ?? '' });
    const value = values[position];
    if (value !== undefined) parts.push(value);
  });
  if (parts.every((part) => part.kind === 'text')) {
    return { kind: 'text', text: parts.map(({ text }) => text).join('') };
  }
  return { kind: 'template', parts };
}

const unsupported: { readonly [type: string]: readonly [name: string, hint: string] } = {
  NewExpression: ["'new'", "arrays come from the schema, cuda.sharedArray and cuda.localArray('f32', 4)"],
  ThisExpression: ["'this'", 'pass what is needed through the schema'],
  AwaitExpression: ["'await'", 'waiting is done by pipelines and sync()'],
  YieldExpression: ["'yield'", 'every thread runs to its end'],
  ClassExpression: ['classes', 'use functions and arrays'],
  SpreadElement: ["'...'", 'write each element'],
  TaggedTemplateExpression: ['tagged templates', 'call a function'],
  ImportExpression: ["'import'", 'pass device functions through the schema'],
  MetaProperty: ["'import.meta' and 'new.target'", 'pass what is needed through the schema'],
};

function nameOf(node: AnyNode): string {
  return unsupported[node.type]?.[0] ?? `'${node.type}'`;
}

function hintFor(node: AnyNode): string {
  return unsupported[node.type]?.[1] ?? 'use numbers, arrays and plain functions';
}
