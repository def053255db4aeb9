// Values that depend on a condition: `a ? b : c`, `a && b`, `a || b`.

import type { Node } from 'acorn';
import { mergeArrays } from './array-choice.ts';
import { conditional, knownTruth, unary } from './build.ts';
import { commonType, openOf } from './common-type.ts';
import { textCode } from './comparisons.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { isBigintValue, isLiteral, rounded, toType } from './numbers.ts';
import { dividedTogether } from './quotients.ts';
import { refuseAssigned } from './records.ts';
import {
  describe,
  isArray,
  isNumeric,
  type Numeric,
  number,
  type ObjectValue,
  undefinedValue,
  type Value,
} from './values.ts';
import { mergeVectors } from './vectors.ts';

/** One of two values; only the one that is chosen is evaluated. */
export function choose(
  lowering: Lowering,
  test: Expression,
  then: () => Value,
  otherwise: () => Value,
  node: Node,
): Value {
  const known = knownTruth(lowering.definition(test));
  if (known !== null) return known ? then() : otherwise();
  const first = sideOf(lowering, then);
  const second = sideOf(lowering, otherwise);
  if (first.statements.length === 0 && second.statements.length === 0) {
    return merge(lowering, test, first.value, second.value, node);
  }
  const settledTest = lowering.settleExpression(test, 'condition');
  const [a, b] = [settleSide(lowering, first), settleSide(lowering, second)];
  const range = lowering.range(node);
  lowering.emit({ kind: 'if', test: settledTest, then: a.statements, otherwise: b.statements, range });
  return merge(lowering, settledTest, a.value, b.value, node);
}

/** Runs one of two lists of statements. */
export function branch(
  lowering: Lowering,
  test: Expression,
  then: () => void,
  otherwise: (() => void) | null,
  node: Node,
): void {
  const known = knownTruth(lowering.definition(test));
  if (known !== null) {
    if (known) then();
    else otherwise?.();
    return;
  }
  const [yes, no] = [lowering.collect(then), otherwise === null ? [] : lowering.collect(otherwise)];
  const range = lowering.range(node);
  if (yes.length > 0) lowering.emit({ kind: 'if', test, then: yes, otherwise: no, range });
  else if (no.length > 0)
    lowering.emit({ kind: 'if', test: unary('not', test, range), then: no, otherwise: [], range });
}

interface Side {
  readonly value: Value;
  readonly statements: ReturnType<Lowering['collect']>;
}

function sideOf(lowering: Lowering, make: () => Value): Side {
  let value: Value = undefinedValue;
  const statements = lowering.collect(() => {
    value = make();
  });
  return { value, statements };
}

/** The side with its value settled at its end, so that it holds after the other statements. */
function settleSide(lowering: Lowering, side: Side): Side {
  let { value } = side;
  const settling = lowering.collect(() => {
    value = lowering.settle(value, 'chosen');
  });
  return { value, statements: [...side.statements, ...settling] };
}

/** A value of two, as the test says. Both may be evaluated, one after the other's statements. */
function merge(lowering: Lowering, test: Expression, one: Value, other: Value, node: Node): Value {
  const [first, second] = dividedTogether(lowering, [one, other]);
  const [a, b] = [rounded(lowering, first), rounded(lowering, second)];
  const range = lowering.range(node);
  if (a.kind === 'broken' || b.kind === 'broken') return { kind: 'broken' };
  if (isLiteral(a) && isLiteral(b) && isBigintValue(a) === isBigintValue(b)) {
    if (a.kind === 'literal' && b.kind === 'literal' && Object.is(a.value, b.value)) return a;
    return { kind: 'either', test, then: a, otherwise: b };
  }
  if (isNumeric(a) && isNumeric(b)) return mergeNumbers(lowering, test, a, b, node);
  // Whether or not something happened, there is no value.
  if (a.kind === 'undefined' || b.kind === 'undefined') return undefinedValue;
  if (a.kind === 'text' && b.kind === 'text' && a.text === b.text) return a;
  if ((a.kind === 'text' || a.kind === 'choice') && (b.kind === 'text' || b.kind === 'choice')) {
    const codes = [textCode(lowering, a, node), textCode(lowering, b, node)] as const;
    return { kind: 'choice', code: conditional(test, codes[0], codes[1], range) };
  }
  if (a.kind === 'vector' && b.kind === 'vector' && a.type === b.type) {
    return mergeVectors(lowering, test, a, b, node);
  }
  if (isArray(a) && isArray(b)) return mergeArrays(lowering, test, a, b, node);
  if (a.kind === 'list' && b.kind === 'list' && a.items.length === b.items.length) {
    return {
      kind: 'list',
      items: a.items.map((item, position) => merge(lowering, test, item, b.items[position]!, node)),
    };
  }
  if (isSame(a, b)) return a;
  if (a.kind === 'object' && b.kind === 'object' && hasSameMembers(a, b)) {
    for (const value of [a, b]) refuseAssigned(lowering, value, node);
    const members = [...a.members].map(
      ([name, value]) => [name, merge(lowering, test, value, b.members.get(name)!, node)] as const,
    );
    return { kind: 'object', name: 'an object', members: new Map(members) };
  }
  if (a.kind === 'barrier' && b.kind === 'barrier' && a.id === b.id) {
    return { ...a, index: conditional(test, a.index, b.index, range) };
  }
  if (a.kind === 'token' && b.kind === 'token' && a.barrier === b.barrier) {
    return { ...a, phase: conditional(test, a.phase, b.phase, range) };
  }
  return lowering.fail(
    node,
    'WS1006',
    `this is ${describe(a)} or ${describe(b)}, as a condition says`,
    'numbers, vectors, strings, arrays, and lists and objects of them can depend on a condition; use an if statement',
  );
}

function mergeNumbers(lowering: Lowering, test: Expression, a: Numeric, b: Numeric, node: Node): Value {
  const common = commonType(lowering, [a, b], node, 'this choice');
  if (common === null) return openOf([a, b]);
  const areBools = [a, b].every((value) => value.kind === 'number' && value.type === 'bool');
  const type = common === 'bool' && !areBools ? 'i32' : common;
  const range = lowering.range(node);
  return number(
    type,
    conditional(test, toType(lowering, a, type, node), toType(lowering, b, type, node), range),
  );
}

function hasSameMembers(a: ObjectValue, b: ObjectValue): boolean {
  return a.members.size === b.members.size && [...a.members.keys()].every((name) => b.members.has(name));
}

function isSame(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.kind === 'pipeline' && b.kind === 'pipeline') return a.id === b.id;
  if (a.kind === 'group' && b.kind === 'group') {
    return JSON.stringify(a.group) === JSON.stringify(b.group);
  }
  return a.kind === 'namespace' && b.kind === 'namespace' && a.name === b.name;
}
