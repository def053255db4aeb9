// `using`, in the form that tools give it for engines that do not know it.
//
// tsc and SWC write `const x = add(env, value, false)` in a try statement that ends with `dispose(env)`; esbuild does
// so with a list and `__using`; Babel and oxc write `env.u(value)` and `env.d()`. Minifiers shorten all of these
// names, so it is the shape that counts: what a `finally` disposes of is what the declarations of its `try` are put
// into. The tree is changed back to what was written: a block with `using` in it.

import type {
  AnyNode,
  BlockStatement,
  CallExpression,
  Expression,
  Node,
  TryStatement,
  VariableDeclarator,
} from 'acorn';
import { children, isFunction } from './nodes.ts';

/** Turns the try statements that tools have made of `using` back into blocks. */
export function restoreUsing(node: AnyNode): void {
  for (const child of children(node)) restoreUsing(child);
  if (node.type === 'TryStatement') {
    const context = contextOf(node);
    if (context !== null) restore(node, context);
  }
  for (const list of statementLists(node)) dropContexts(list);
}

/** What each restored block was given its values through. */
const contexts = new WeakMap<Node, string>();

function restore(node: TryStatement, context: string): void {
  const { body } = node.block;
  takeBack(node.block, context);
  const block = node as unknown as BlockStatement;
  Object.assign(block, { type: 'BlockStatement', body });
  for (const part of ['block', 'handler', 'finalizer'] as const) delete (node as Partial<TryStatement>)[part];
  withoutDeclaration(body, context);
  contexts.set(block, context);
}

/** The name of what a `finally` disposes of; null of any other try statement. */
function contextOf({ handler, finalizer }: TryStatement): string | null {
  const [only, ...more] = finalizer?.body ?? [];
  if (!handler || only?.type !== 'ExpressionStatement' || more.length > 0) return null;
  const { expression } = only;
  if (expression.type !== 'CallExpression') return null;
  const { callee, arguments: given } = expression;
  if (callee.type === 'Identifier') return given[0]?.type === 'Identifier' ? given[0].name : null;
  return memberOf(callee as AnyNode, 'd');
}

/** Of `name.member` the name. */
function memberOf(node: AnyNode, member: string): string | null {
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier') return null;
  return node.property.name === member && node.object.type === 'Identifier' ? node.object.name : null;
}

/** Gives the declarations that go through a context their values back. */
function takeBack(node: AnyNode, context: string): void {
  if (isFunction(node)) return;
  if (node.type === 'VariableDeclaration') {
    for (const declarator of node.declarations) {
      const value = declarator.init?.type === 'CallExpression' ? valueIn(declarator.init, context) : null;
      if (value === null) continue;
      declarator.init = value;
      node.kind = 'using';
    }
  }
  for (const child of children(node)) takeBack(child, context);
}

function valueIn({ callee, arguments: given }: CallExpression, context: string): Expression | null {
  const [first, second] = given;
  if (callee.type === 'Identifier') {
    const isContext = first?.type === 'Identifier' && first.name === context;
    return isContext && second !== undefined && second.type !== 'SpreadElement' ? second : null;
  }
  if (memberOf(callee as AnyNode, 'u') !== context) return null;
  return first !== undefined && first.type !== 'SpreadElement' ? first : null;
}

function statementLists(node: AnyNode): AnyNode[][] {
  if (node.type === 'BlockStatement') return [node.body];
  return node.type === 'SwitchStatement' ? node.cases.map(({ consequent }) => consequent as AnyNode[]) : [];
}

/** Leaves out the declarations of what the restored blocks of a list were given their values through. */
function dropContexts(list: AnyNode[]): void {
  for (const statement of [...list]) {
    const context = contexts.get(statement);
    if (context !== undefined) withoutDeclaration(list, context);
  }
}

function withoutDeclaration(list: AnyNode[], name: string): void {
  list.forEach((statement, position) => {
    if (statement.type !== 'VariableDeclaration') return;
    const isOther = ({ id }: VariableDeclarator) => id.type !== 'Identifier' || id.name !== name;
    const declarations = statement.declarations.filter(isOther);
    if (declarations.length === statement.declarations.length) return;
    const { start, end } = statement;
    if (declarations.length > 0) statement.declarations = declarations;
    else list[position] = { type: 'EmptyStatement', start, end };
  });
}
