// Questions to nodes of the syntax tree.

import type { AnyNode, Function as FunctionNode, Identifier, Node, Pattern } from 'acorn';

export function isFunction(node: AnyNode): node is AnyNode & FunctionNode {
  return (
    node.type === 'FunctionExpression' ||
    node.type === 'FunctionDeclaration' ||
    node.type === 'ArrowFunctionExpression'
  );
}

/** The identifiers that a pattern declares. */
export function boundNames(pattern: Pattern): Identifier[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern];
    case 'AssignmentPattern':
      return boundNames(pattern.left);
    case 'RestElement':
      return boundNames(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : boundNames(element)));
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === 'RestElement' ? property.argument : property.value),
      );
    case 'MemberExpression':
      return [];
  }
}

/** The defaults and computed keys inside a pattern, which are evaluated. */
export function patternExpressions(pattern: Pattern): AnyNode[] {
  switch (pattern.type) {
    case 'AssignmentPattern':
      return [...patternExpressions(pattern.left), pattern.right as AnyNode];
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : patternExpressions(element)));
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => {
        if (property.type === 'RestElement') return patternExpressions(property.argument);
        const key = property.computed ? [property.key as AnyNode] : [];
        return [...key, ...patternExpressions(property.value)];
      });
    default:
      return [];
  }
}

/** The nodes directly inside a node that are evaluated: keys and labels are left out. */
export function children(node: AnyNode): AnyNode[] {
  switch (node.type) {
    case 'MemberExpression':
      return (node.computed ? [node.object, node.property] : [node.object]) as AnyNode[];
    case 'Property':
    case 'PropertyDefinition':
    case 'MethodDefinition':
      return (node.computed ? [node.key, node.value] : [node.value]).filter(Boolean) as AnyNode[];
    case 'LabeledStatement':
      return [node.body as AnyNode];
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
      return [];
    default:
      return Object.values(node).flatMap((value: unknown) => {
        if (Array.isArray(value)) return value.filter(isNode);
        return isNode(value) ? [value] : [];
      });
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Where an object in the text gives a member. */
export function memberNode(object: Node, name: string): Node {
  const node = object as AnyNode;
  if (node.type !== 'ObjectExpression') return object;
  const property = node.properties.find(
    (one) =>
      one.type === 'Property' &&
      ((one.key.type === 'Identifier' && one.key.name === name) ||
        (one.key.type === 'Literal' && one.key.value === name)),
  );
  return property?.type === 'Property' ? property.value : object;
}
