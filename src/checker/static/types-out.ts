// A module without its types: blanks in their place, so that every offset stays what it is.
//
// What is left is JavaScript where the types are of the kind that can be taken out. Of enums, namespaces and
// parameter properties, which are code, nothing is taken; no kernel can use them.

import type { AnyNode } from 'acorn';

/** A node of JavaScript or of TypeScript's syntax. */
export interface TypedNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** The nodes inside a node. */
export function* typedChildren(node: TypedNode): Iterable<TypedNode> {
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) yield one;
  }
}

function isNode(value: unknown): value is TypedNode {
  return typeof value === 'object' && value !== null && typeof (value as TypedNode).type === 'string';
}

/** An expression without the assertions around it: `x` of `x as const`, `(x)!` and `<T>x`. */
export function withoutAssertions(node: TypedNode): AnyNode {
  return /^(TS(As|Satisfies|NonNull)Expression|TSTypeAssertion|ParenthesizedExpression)$/.test(node.type)
    ? withoutAssertions((node as unknown as { expression: TypedNode }).expression)
    : (node as AnyNode);
}

/** The text of a node, with blanks in place of types. */
export function withoutTypes(text: string, root: TypedNode): string {
  const letters = text.slice(root.start, root.end).split('');
  const blank = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      if (!/[\n\r\u2028\u2029]/.test(text[at]!)) letters[at - root.start] = ' ';
    }
  };
  const visit = (node: TypedNode): void => {
    switch (node.type) {
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression': {
        const { expression } = node as unknown as { expression: TypedNode };
        visit(expression);
        // A bracket around the expression closes after it.
        blank(expression.end + /^[\s)]*/.exec(text.slice(expression.end, node.end))![0].length, node.end);
        return;
      }
      case 'TSTypeAssertion': {
        const { expression } = node as unknown as { expression: TypedNode };
        blank(node.start, expression.start);
        visit(expression);
        return;
      }
      case 'Identifier': {
        const { name, typeAnnotation, optional } = node as unknown as Identifier;
        if (typeAnnotation || optional) blank(node.start + name.length, typeAnnotation?.end ?? node.end);
        return;
      }
    }
    if (node.type.startsWith('TS')) {
      blank(node.start, node.end);
      return;
    }
    for (const child of typedChildren(node)) visit(child);
  };
  visit(root);
  return letters.join('');
}

interface Identifier {
  readonly name: string;
  readonly typeAnnotation?: TypedNode;
  readonly optional?: boolean;
}
