// `switch`: a chain of comparisons, or nested blocks where cases fall through.

import type { AnyNode, SwitchCase, SwitchStatement } from 'acorn';
import { conditional } from './build.ts';
import { branch } from './conditional.ts';
import type { JumpTarget } from './frame.ts';
import type { Expression, Statement } from './ir.ts';
import { inside } from './loops.ts';
import type { Lowering } from './lowering.ts';
import { toBool } from './numbers.ts';
import { binaryOperation } from './operators.ts';
import type { Value } from './values.ts';

/** One or more cases that share their statements. */
interface Arm {
  readonly tests: readonly AnyNode[];
  readonly isDefault: boolean;
  readonly body: readonly AnyNode[];
  readonly node: SwitchCase;
}

export function switchStatement(lowering: Lowering, node: SwitchStatement, names: readonly string[]): void {
  const value = lowering.settle(lowering.value(node.discriminant), 'switch');
  lowering.scopes.block(lowering, node, () => cases(lowering, value, node, names));
}

function cases(lowering: Lowering, value: Value, node: SwitchStatement, names: readonly string[]): void {
  const arms = armsOf(node.cases);
  const { depth } = lowering.scopes;
  const target: JumpTarget = { names, kind: 'switch', label: lowering.newLabel(), depth, used: false };
  const body = lowering.collect(() =>
    inside(lowering, target, () => {
      if (arms.every((arm, position) => position === arms.length - 1 || leaves(arm.body))) {
        chain(lowering, value, arms, node);
      } else {
        nest(lowering, value, arms, target, node);
      }
    }),
  );
  if (!target.used) {
    for (const statement of body) lowering.emit(statement);
    return;
  }
  lowering.emit({ kind: 'block', label: target.label, body, range: lowering.range(node) });
}

/** `case 1: case 2: …` is one arm. */
function armsOf(cases: readonly SwitchCase[]): Arm[] {
  const arms: Arm[] = [];
  let tests: AnyNode[] = [];
  let isDefault = false;
  cases.forEach((one, position) => {
    if (one.test) tests.push(one.test as AnyNode);
    else isDefault = true;
    if (one.consequent.length === 0 && position < cases.length - 1) return;
    arms.push({ tests, isDefault, body: one.consequent as AnyNode[], node: one });
    tests = [];
    isDefault = false;
  });
  return arms;
}

/** Whether a list of statements ends with a jump, so that nothing falls out of it. */
function leaves(body: readonly AnyNode[]): boolean {
  const last = body.at(-1);
  switch (last?.type) {
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'ReturnStatement':
      return true;
    case 'BlockStatement':
      return leaves(last.body);
    default:
      return false;
  }
}

/** The statements without the `break` at their end, where nothing follows. */
function withoutBreak(body: readonly AnyNode[]): AnyNode[] {
  const last = body.at(-1);
  if (last?.type === 'BreakStatement' && !last.label) return body.slice(0, -1);
  return [...body];
}

function chain(lowering: Lowering, value: Value, arms: readonly Arm[], node: SwitchStatement): void {
  const lowerBody = (arm: Arm) => {
    const body =
      arm.body.length === 1 && arm.body[0]!.type === 'BlockStatement' ? arm.body[0]!.body : arm.body;
    lowering.scopes.block(lowering, arm.node, () => {
      for (const statement of withoutBreak(body)) lowering.statement(statement);
    });
  };
  const fallback = arms.find((arm) => arm.isDefault);
  const others = arms.filter((arm) => arm !== fallback);
  const from = (position: number): void => {
    const arm = others[position];
    if (arm === undefined) {
      if (fallback !== undefined) lowerBody(fallback);
      return;
    }
    branch(
      lowering,
      matches(lowering, value, arm),
      () => lowerBody(arm),
      () => from(position + 1),
      node,
    );
  };
  from(0);
}

/**
 * Each arm's statements stand behind a block; leaving the block is going to the arm, and
 * running on from one arm to the next is falling through.
 */
function nest(
  lowering: Lowering,
  value: Value,
  arms: readonly Arm[],
  target: JumpTarget,
  node: SwitchStatement,
): void {
  const range = lowering.range(node);
  const labels = arms.map(() => lowering.newLabel());
  const jumpTo = (label: number): Statement => ({ kind: 'break', label, range });
  let inner = lowering.collect(() => {
    arms.forEach((arm, position) => {
      if (arm.tests.length === 0) return;
      branch(
        lowering,
        matches(lowering, value, arm),
        () => lowering.emit(jumpTo(labels[position]!)),
        null,
        node,
      );
    });
    const fallback = arms.findIndex((arm) => arm.isDefault);
    if (fallback < 0) target.used = true;
    lowering.emit(jumpTo(fallback < 0 ? target.label : labels[fallback]!));
  });
  arms.forEach((arm, position) => {
    const block: Statement = { kind: 'block', label: labels[position]!, body: inner, range };
    inner = lowering.collect(() => {
      lowering.emit(block);
      for (const statement of arm.body) lowering.statement(statement);
    });
  });
  for (const statement of inner) lowering.emit(statement);
}

/** Whether the value equals one of an arm's; they are compared in turn. */
function matches(lowering: Lowering, value: Value, arm: Arm): Expression {
  const range = lowering.range(arm.node);
  return arm.tests
    .map((test) => {
      const equal = binaryOperation(lowering, '===', value, lowering.value(test), test);
      return toBool(lowering, equal, test);
    })
    .reduceRight<Expression>(
      (rest, test) => conditional(test, lowering.boolConstant(true, arm.node), rest, range),
      lowering.boolConstant(false, arm.node),
    );
}
