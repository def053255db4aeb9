// Loops, and the jumps out of them.

import type {
  AnyNode,
  BreakStatement,
  ContinueStatement,
  DoWhileStatement,
  Expression as ExpressionNode,
  ForStatement,
  Node,
  WhileStatement,
} from 'acorn';
import { knownTruth, unary, variable } from './build.ts';
import type { JumpTarget } from './frame.ts';
import type { Expression, Statement } from './ir.ts';
import type { Lowering } from './lowering.ts';

export function forLoop(lowering: Lowering, node: ForStatement, names: readonly string[]): void {
  lowering.scopes.block(lowering, node, () => {
    if (node.init?.type === 'VariableDeclaration') lowering.statement(node.init);
    else if (node.init) lowering.effect(node.init);
    const { update } = node;
    loop(lowering, node, names, node.test ?? null, update ? () => lowering.effect(update) : null);
  });
}

export function whileLoop(lowering: Lowering, node: WhileStatement, names: readonly string[]): void {
  loop(lowering, node, names, node.test, null);
}

function loop(
  lowering: Lowering,
  node: ForStatement | WhileStatement,
  names: readonly string[],
  testNode: ExpressionNode | null,
  update: (() => void) | null,
): void {
  const range = lowering.range(node);
  const label = lowering.newLabel();
  const { depth } = lowering.scopes;
  const { test, before } = testOf(lowering, testNode);
  if (test !== null && before.length === 0 && knownTruth(test) === false) return;
  const body = lowering.collect(() => {
    // A test with effects is made inside, where it is made again for each round.
    for (const statement of before) lowering.emit(statement);
    if (test !== null && before.length > 0) lowering.emit(leaveUnless(test, label));
    inside(lowering, { names, kind: 'loop', label, depth, used: false }, () => lowering.statement(node.body));
  });
  lowering.emit({
    kind: 'loop',
    label,
    test: before.length > 0 || (test !== null && knownTruth(test)) ? null : test,
    testFirst: true,
    body,
    update: update === null ? [] : lowering.collect(update),
    range,
  });
}

export function doWhileLoop(lowering: Lowering, node: DoWhileStatement, names: readonly string[]): void {
  const range = lowering.range(node);
  const label = lowering.newLabel();
  const { depth } = lowering.scopes;
  const body = lowering.collect(() => {
    inside(lowering, { names, kind: 'loop', label, depth, used: false }, () => lowering.statement(node.body));
  });
  let { test, before } = testOf(lowering, node.test);
  if (before.length > 0 && test !== null) {
    // `continue` goes on with the test, so its effects belong to the update.
    const again = lowering.newVariable('again', 'bool');
    before = [...before, { kind: 'assign', variable: again, value: test, range }];
    test = variable(again, 'bool', range);
  }
  lowering.emit({ kind: 'loop', label, test, testFirst: false, body, update: before, range });
}

function testOf(
  lowering: Lowering,
  node: ExpressionNode | null,
): { test: Expression | null; before: Statement[] } {
  if (node === null) return { test: null, before: [] };
  let test: Expression | null = null;
  const before = lowering.collect(() => {
    test = lowering.condition(node);
  });
  return { test, before };
}

function leaveUnless(test: Expression, label: number): Statement {
  const { range } = test;
  const leave: Statement = { kind: 'break', label, range };
  return { kind: 'if', test: unary('not', test, range), then: [leave], otherwise: [], range };
}

/** Lowers what a jump target encloses. */
export function inside(lowering: Lowering, target: JumpTarget, lower: () => void): void {
  const { jumps } = lowering.frame;
  jumps.push(target);
  try {
    lower();
  } finally {
    jumps.pop();
  }
}

/** A block that has a label in the text, which `break` may leave. */
export function labelledBlock(lowering: Lowering, node: Node, names: readonly string[]): void {
  const { depth } = lowering.scopes;
  const target: JumpTarget = { names, kind: 'block', label: lowering.newLabel(), depth, used: false };
  const body = lowering.collect(() => inside(lowering, target, () => lowering.statement(node)));
  if (target.used) {
    lowering.emit({ kind: 'block', label: target.label, body, range: lowering.range(node) });
  } else {
    for (const statement of body) lowering.emit(statement);
  }
}

export function jump(lowering: Lowering, node: BreakStatement | ContinueStatement): void {
  const isBreak = node.type === 'BreakStatement';
  const name = node.label?.name ?? null;
  const target = lowering.frame.jumps.findLast((one) =>
    name !== null ? one.names.includes(name) : one.kind === 'loop' || (isBreak && one.kind === 'switch'),
  );
  // The parser has seen to it that there is one.
  if (target === undefined) lowering.broken();
  target.used = true;
  lowering.scopes.leave(lowering, target.depth, node);
  lowering.emit({
    kind: isBreak ? 'break' : 'continue',
    label: target.label,
    range: lowering.range(node as AnyNode),
  });
}
