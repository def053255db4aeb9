// Says with conditions what a kernel says with jumps, where that is the same.
//
// A jump to the end of the list that it stands in only skips what follows it:
//   if (a) { x; continue; } y;       becomes   if (a) { x; } else { y; }
// and a break at the beginning of a loop's body belongs to its test:
//   while (a) { if (b) break; x; }   becomes   while (a && !b) { x; }
// What is left without jumps can be carried out by several threads at a time.

import type { Expression, Statement } from '../../../compiler/ir.ts';

/** Rewrites the body of a program. */
export function structure(body: readonly Statement[]): readonly Statement[] {
  return structured(body, (statement) => statement.kind === 'return');
}

type IsJump = (statement: Statement) => boolean;

/** `isJumpToEnd` says which jumps lead to the end of this list. */
function structured(list: readonly Statement[], isJumpToEnd: IsJump): readonly Statement[] {
  const result: Statement[] = [];
  for (const [position, statement] of list.entries()) {
    if (isJumpToEnd(statement)) return result;
    const rest = list.slice(position + 1);
    if (statement.kind === 'if') {
      const endsThen = endsWith(statement.then, isJumpToEnd);
      if (endsThen || endsWith(statement.otherwise, isJumpToEnd)) {
        const then = structured(endsThen ? statement.then : [...statement.then, ...rest], isJumpToEnd);
        const otherwise = structured(
          endsThen ? [...statement.otherwise, ...rest] : statement.otherwise,
          isJumpToEnd,
        );
        result.push({ ...statement, then, otherwise });
        return result;
      }
    }
    result.push(inner(statement, rest.length === 0 ? isJumpToEnd : () => false));
  }
  return result;
}

function endsWith(list: readonly Statement[], isJump: IsJump): boolean {
  const last = list.at(-1);
  return last !== undefined && isJump(last);
}

/** `isJumpToEnd` says which jumps lead to where the statement ends. */
function inner(statement: Statement, isJumpToEnd: IsJump): Statement {
  switch (statement.kind) {
    case 'if': {
      const then = structured(statement.then, isJumpToEnd);
      return { ...statement, then, otherwise: structured(statement.otherwise, isJumpToEnd) };
    }
    case 'block': {
      const isJump: IsJump = (each) =>
        isJumpToEnd(each) || (each.kind === 'break' && each.label === statement.label);
      return { ...statement, body: structured(statement.body, isJump) };
    }
    case 'loop': {
      const loop = withBreaksInTest(statement);
      const body = structured(loop.body, (each) => each.kind === 'continue' && each.label === loop.label);
      return { ...loop, body, update: structured(loop.update, () => false) };
    }
    default:
      return statement;
  }
}

type Loop = Extract<Statement, { kind: 'loop' }>;

function withBreaksInTest(loop: Loop): Loop {
  const [first, ...rest] = loop.body;
  if (!loop.testFirst || first?.kind !== 'if' || first.then.length !== 1) return loop;
  const [jump] = first.then;
  if (jump!.kind !== 'break' || jump!.label !== loop.label) return loop;
  const { test: leaves, otherwise } = first;
  const stays: Expression = {
    kind: 'unary',
    operator: 'not',
    operand: leaves,
    type: 'bool',
    range: leaves.range,
  };
  return withBreaksInTest({
    ...loop,
    test: loop.test === null ? stays : bothOf(loop.test, stays),
    body: [...otherwise, ...rest],
  });
}

function bothOf(test: Expression, then: Expression): Expression {
  const otherwise: Expression = { kind: 'constant', type: 'bool', value: false, range: then.range };
  return { kind: 'conditional', test, then, otherwise, type: 'bool', range: test.range };
}
