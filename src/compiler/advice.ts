// Hints that propose code: the words, in the user's own text, and the same as edits of it.
//
// An edit is as small as can be, so that types and comments in the text stay.

import type { AnyNode, Node } from 'acorn';
import type { FixInText } from '../diagnostics/fix.ts';
import type { Lowering } from './lowering.ts';
import { written, writtenOperand } from './written.ts';

/** A hint, and what it says to write as edits: each way by itself, none where the text does not tell. */
export interface Advice {
  readonly hint: string;
  readonly fixes: readonly FixInText[];
}

/** The name that a function has for its intrinsics; null where it takes none. */
function intrinsicsName(lowering: Lowering): string | null {
  const second = lowering.frame.parsed.node.params[1];
  return second?.type === 'Identifier' ? second.name : null;
}

/** `cuda.f32` as the function at hand calls it. */
export function intrinsic(lowering: Lowering, name: string): string {
  return `${intrinsicsName(lowering) ?? 'cuda'}.${name}`;
}

/** What casts a node: `cast it: cuda.i32(x)`, and more words. */
export function castAdvice(
  lowering: Lowering,
  node: Node,
  type: string,
  more = '',
  words = 'cast it',
): Advice {
  const call = `${intrinsic(lowering, type)}(${written(lowering, node)})`;
  return { hint: `${words}: ${call}${more}`, fixes: castFix(lowering, node, type) };
}

/** A cast around a node; none where the function takes no intrinsics. */
export function castFix(lowering: Lowering, node: Node, type: string): readonly FixInText[] {
  return intrinsicsName(lowering) === null ? [] : [callFix(lowering, node, intrinsic(lowering, type))];
}

/** A call of a function around a node. */
export function callFix(lowering: Lowering, node: Node, name: string): FixInText {
  const { source, start, end } = lowering.range(node);
  const isList = node.type === 'SequenceExpression';
  return {
    title: `write ${name}(${written(lowering, node)})`,
    within: { source, start, end },
    edits: [
      { range: { source, start, end: start }, replacement: isList ? `${name}((` : `${name}(` },
      { range: { source, start: end, end }, replacement: isList ? '))' : ')' },
    ],
  };
}

/** Something else in place of a node. */
export function replacement(lowering: Lowering, node: Node, text: string): FixInText {
  const range = lowering.range(node);
  return { title: `write ${text}`, within: range, edits: [{ range, replacement: text }] };
}

/** What is to be written in place of a node. */
export function replacementAdvice(lowering: Lowering, node: Node, text: string): Advice {
  return { hint: `write ${text}`, fixes: [replacement(lowering, node, text)] };
}

/** Another name in place of one. */
export function nameAdvice(lowering: Lowering, node: Node, name: string): Advice {
  const isName = (node as AnyNode).type === 'Identifier';
  return { hint: `did you mean '${name}'?`, fixes: isName ? [replacement(lowering, node, name)] : [] };
}

/** A comparison behind a node: `x !== 0`. */
export function comparisonAdvice(lowering: Lowering, node: Node, test: string): Advice {
  const text = `${writtenOperand(lowering, node)} ${test}`;
  return { hint: `compare it: ${text}`, fixes: [replacement(lowering, node, text)] };
}
