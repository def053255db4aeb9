// The user's own text, for hints: on one line, without comments, and as an operand in the parentheses it needs.

import { type AnyNode, type Node, type Token, tokenizer, tokTypes } from 'acorn';
import type { Lowering } from './lowering.ts';

/** A node as it is written, with `.` for `?.`; a sequence keeps its parentheses. */
export function written(lowering: Lowering, node: Node): string {
  const text = join(lowering, node);
  return node.type === 'SequenceExpression' ? `(${text})` : text;
}

/** A node as an operand of any operator: in parentheses, where it is not one thing by itself. */
export function writtenOperand(lowering: Lowering, node: Node): string {
  const text = join(lowering, node);
  const isPart = textOf(lowering, node).isPart && !/^[\w$.]+$/.test(text);
  return isOneThing(node as AnyNode) && !isPart ? text : `(${text})`;
}

/** A node's text; where the function's text was made, what the user wrote in its place. */
function textOf(lowering: Lowering, node: Node): { readonly text: string; readonly isPart: boolean } {
  const { source, start, end } = lowering.range(node);
  const of = lowering.sources[source]!;
  const part = of.writtenAs?.(start, end);
  return { text: part ?? of.text.slice(start, end), isPart: part !== undefined };
}

function isOneThing({ type }: AnyNode): boolean {
  switch (type) {
    case 'Identifier':
    case 'Literal':
    case 'MemberExpression':
    case 'CallExpression':
    case 'ChainExpression':
    case 'TemplateLiteral':
    case 'ParenthesizedExpression':
      return true;
    default:
      return false;
  }
}

function join(lowering: Lowering, node: Node): string {
  const { text } = textOf(lowering, node);
  const tokens = [...tokenizer(text, { ecmaVersion: 'latest', sourceType: 'module' })];
  let line = '';
  tokens.forEach((token, position) => {
    const before = tokens[position - 1];
    const isApart = before !== undefined && before.end < token.start;
    if (isApart && !opening.has(before.type) && !closing.has(token.type)) line += ' ';
    line +=
      token.type === tokTypes.questionDot
        ? plainly(tokens[position + 1])
        : text.slice(token.start, token.end);
  });
  return line;
}

/** What stands for `?.` before a token. */
function plainly(next: Token | undefined): string {
  return next?.type === tokTypes.bracketL || next?.type === tokTypes.parenL ? '' : '.';
}

const opening = new Set<unknown>([tokTypes.parenL, tokTypes.bracketL]);
const closing = new Set<unknown>([tokTypes.parenR, tokTypes.bracketR, tokTypes.comma]);
