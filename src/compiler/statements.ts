// Statements: one rule for each kind of node.
//
// A statement that cannot be lowered is reported and left out, and the next one is lowered
// nevertheless: independent mistakes are reported together.

import type {
  AnyNode,
  Expression,
  FunctionDeclaration,
  LabeledStatement,
  Node,
  ReturnStatement,
  VariableDeclaration,
} from 'acorn';
import { assign, declarationOf, declare } from './cells.ts';
import { branch } from './conditional.ts';
import { asDefect } from './defect.ts';
import { arrayOfList, isListOfArrays } from './lists.ts';
import { doWhileLoop, forLoop, jump, labelledBlock, whileLoop } from './loops.ts';
import type { Lowering } from './lowering.ts';
import { LoweringFailure } from './lowering-rules.ts';
import { boundNames } from './nodes.ts';
import { bindPattern } from './patterns.ts';
import { returned } from './returned.ts';
import { switchStatement } from './switch.ts';
import { describe, undefinedValue, type Value } from './values.ts';

export function lowerStatement(lowering: Lowering, node: AnyNode): void {
  try {
    statement(lowering, node, []);
  } catch (error) {
    if (!(error instanceof LoweringFailure)) {
      const { sources } = lowering;
      throw asDefect(error, { what: 'this statement', sources, range: lowering.range(node) });
    }
    // What it was to declare is no further mistake where it is used.
    if (node.type === 'VariableDeclaration') breakNames(lowering, node);
  }
}

function statement(lowering: Lowering, node: AnyNode, names: readonly string[]): void {
  switch (node.type) {
    case 'ExpressionStatement':
      if (!node.directive) lowering.effect(node.expression);
      break;
    case 'VariableDeclaration':
      variableDeclaration(lowering, node);
      break;
    case 'BlockStatement':
      if (names.length > 0) labelledBlock(lowering, node, names);
      else lowering.scopes.block(lowering, node, () => statements(lowering, node.body));
      break;
    case 'IfStatement': {
      const { consequent, alternate } = node;
      branch(
        lowering,
        lowering.condition(node.test),
        () => lowering.statement(consequent),
        alternate ? () => lowering.statement(alternate) : null,
        node,
      );
      break;
    }
    case 'ForStatement':
      forLoop(lowering, node, names);
      break;
    case 'WhileStatement':
      whileLoop(lowering, node, names);
      break;
    case 'DoWhileStatement':
      doWhileLoop(lowering, node, names);
      break;
    case 'SwitchStatement':
      switchStatement(lowering, node, names);
      break;
    case 'BreakStatement':
    case 'ContinueStatement':
      jump(lowering, node);
      break;
    case 'ReturnStatement':
      returnStatement(lowering, node);
      break;
    case 'LabeledStatement':
      labelled(lowering, node, names);
      break;
    case 'FunctionDeclaration':
      declareFunction(lowering, node);
      break;
    case 'EmptyStatement':
    case 'DebuggerStatement':
      break;
    default: {
      const [name, hint] = unsupported[node.type] ?? [`'${node.type}'`, 'use plain statements'];
      lowering.fail(node, 'WS1006', `kernels do not have ${name}`, hint);
    }
  }
}

const unsupported: { readonly [type: string]: readonly [name: string, hint: string] } = {
  ForOfStatement: ["'for … of'", 'count: for (let i = 0; i < a.length; i++)'],
  ForInStatement: ["'for … in'", 'count: for (let i = 0; i < a.length; i++)'],
  TryStatement: ["'try'", 'nothing is thrown in a kernel; a wrong access ends the launch with an error'],
  ThrowStatement: ["'throw'", 'write a flag to an array, and look at it on the host'],
  ClassDeclaration: ['classes', 'use functions and arrays'],
};

function statements(lowering: Lowering, nodes: readonly AnyNode[]): void {
  for (const node of nodes) if (node.type === 'FunctionDeclaration') declareFunction(lowering, node);
  for (const node of nodes) lowering.statement(node);
}

function declareFunction(
  lowering: Lowering,
  node: AnyNode & (FunctionDeclaration | { type: 'FunctionDeclaration' }),
): void {
  if (!node.id) return;
  const value: Value = { kind: 'closure', node, frame: lowering.frame, name: node.id.name };
  lowering.frame.bind(declarationOf(lowering, node.id), { kind: 'value', value });
}

function variableDeclaration(lowering: Lowering, node: VariableDeclaration): void {
  for (const { id, init } of node.declarations) {
    if (id.type !== 'Identifier') {
      if (init) bindPattern(lowering, id, lowering.settle(lowering.value(init), 'part'));
      continue;
    }
    if (init) lowering.name(init, id.name);
    const value = init ? lowering.value(init) : null;
    if (node.kind === 'using' && value !== null) refuseUsing(lowering, id.name, value, init!);
    const asArray = value?.kind === 'list' && declarationOf(lowering, id).indexed && !isListOfArrays(value);
    // `var x;` says nothing about an x that has a value already.
    const isRedeclared =
      value === null && node.kind === 'var' && lowering.frame.lookUp(declarationOf(lowering, id));
    if (isRedeclared) continue;
    declare(lowering, id, asArray ? arrayOfList(lowering, value, id.name, id) : value, init ?? id);
  }
}

/** What has no destructor is declared by `const`. */
function refuseUsing(lowering: Lowering, name: string, value: Value, node: Node): void {
  if (value.kind === 'pipeline' || value.kind === 'broken') return;
  lowering.fail(
    node,
    'WS1006',
    `'using' declares a pipeline, which quits at the end of the block, and '${name}' is ${describe(value)}`,
    'write const in place of using',
  );
}

function breakNames(lowering: Lowering, node: VariableDeclaration): void {
  for (const identifier of node.declarations.flatMap(({ id }) => boundNames(id))) {
    const declaration = declarationOf(lowering, identifier);
    if (lowering.frame.lookUp(declaration) !== undefined) continue;
    lowering.frame.bind(declaration, { kind: 'value', value: { kind: 'broken' } });
  }
}

/** What a kernel returns goes nowhere; it may be an effect, but not a value that is meant as a result. */
export function resultOfKernel(lowering: Lowering, node: Expression): void {
  if (isResult(node)) {
    lowering.fail(node, 'WS1006', 'a kernel gives no value back', 'write it to an array: y[i] = value');
  }
  lowering.effect(node);
}

function isResult(node: Expression): boolean {
  switch (node.type) {
    case 'Literal':
    case 'BinaryExpression':
    case 'MemberExpression':
    case 'ArrayExpression':
    case 'ObjectExpression':
      return true;
    case 'Identifier':
      return node.name !== 'undefined';
    case 'UnaryExpression':
      return node.operator !== 'void';
    default:
      return false;
  }
}

function returnStatement(lowering: Lowering, node: ReturnStatement): void {
  const { returns } = lowering.frame;
  const range = lowering.range(node);
  if (returns === null) {
    if (node.argument) resultOfKernel(lowering, node.argument);
    lowering.scopes.leave(lowering, 0, node);
    lowering.emit({ kind: 'return', range });
    return;
  }
  const value = node.argument ? returned(lowering, node.argument, returns) : undefinedValue;
  lowering.scopes.keep(value, returns.depth);
  if (returns.isOnly && node === returns.last) {
    returns.value = value;
    return;
  }
  if (value.kind !== 'undefined' && node.argument) assign(lowering, returns.cell, value, node.argument);
  if (node === returns.last) return;
  returns.used = true;
  lowering.scopes.leave(lowering, returns.depth, node);
  lowering.emit({ kind: 'break', label: returns.label, range });
}

function labelled(lowering: Lowering, node: LabeledStatement, names: readonly string[]): void {
  const all = [...names, node.label.name];
  const body = node.body as AnyNode;
  switch (body.type) {
    case 'ForStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'SwitchStatement':
    case 'BlockStatement':
    case 'LabeledStatement':
      statement(lowering, body, all);
      break;
    default:
      labelledBlock(lowering, body, all);
  }
}
