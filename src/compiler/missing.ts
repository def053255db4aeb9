// Asking whether something is there: `=== undefined`, `!= null`, `??`, `??=`, `?.`.
//
// In a kernel nothing is missing: a variable that was not assigned is 0, and an access outside of an array ends
// the launch. So such a question would have an answer that is not JavaScript's; it is an error, and the hint
// is what the user means in the user's own words.

import type {
  AnyNode,
  AssignmentExpression,
  BinaryExpression,
  Identifier,
  LogicalExpression,
  Node,
} from 'acorn';
import { type Advice, replacementAdvice } from './advice.ts';
import type { Lowering } from './lowering.ts';
import type { Declaration } from './resolve.ts';
import { written, writtenOperand } from './written.ts';

type Equality = '==' | '===' | '!=' | '!==';

/** Refuses `x === undefined` and the like, in any order, by what the text says. */
export function refuseComparison(lowering: Lowering, node: BinaryExpression): void {
  if (!isEquality(node.operator)) return;
  const [left, right] = [node.left, node.right] as AnyNode[];
  if (isNothing(lowering, right!)) refuseTest(lowering, node, left!, node.operator);
  if (isNothing(lowering, left!)) refuseTest(lowering, node, right!, node.operator);
}

/** Refuses a comparison in which a value turned out to be undefined. */
export function refuseComparedValue(lowering: Lowering, node: Node): never {
  const { left, operator } = node as Partial<BinaryExpression>;
  if (left !== undefined && operator !== undefined && isEquality(operator)) {
    refuseTest(lowering, node, left as AnyNode, operator);
  }
  return lowering.fail(
    node,
    'WS1006',
    'this is compared with undefined',
    'give it a value; a function gives what it returns',
  );
}

/** Refuses `x ?? y` and `x ??= y`. */
export function refuseDefault(lowering: Lowering, node: LogicalExpression | AssignmentExpression): never {
  const { operator } = node;
  const tested = node.left as AnyNode;
  const what = written(lowering, tested);
  const value = writtenOperand(lowering, node.right);
  const mended = (test: string) =>
    operator === '??=' ? `${what} = ${test} ? ${what} : ${value}` : `(${test} ? ${what} : ${value})`;
  return refuse(lowering, node, tested, {
    parameter: (name) => `give the parameter a default: ${name} = ${value}`,
    variable: (flag) =>
      `note in a variable whether it is assigned: let ${flag} = false, and write ${mended(flag)}`,
    element: (inside) => replacementAdvice(lowering, node, mended(inside)),
    anything: replacementAdvice(lowering, node, isNothing(lowering, tested) ? value : what),
  });
}

/** Refuses `x?.y`, `x?.[y]` and `x?.(y)`. */
export function refuseChain(lowering: Lowering, node: Node): never {
  return lowering.fail(
    node,
    'WS1006',
    "'?.' asks whether something is undefined, and in a kernel nothing is",
    replacementAdvice(lowering, node, written(lowering, node)),
  );
}

function refuseTest(lowering: Lowering, node: Node, tested: AnyNode, operator: Equality): never {
  const isMissing = operator.startsWith('=');
  return refuse(lowering, node, tested, {
    parameter: (name) => `give the parameter a default instead: ${name} = 0`,
    variable: (flag) =>
      `note in a variable whether it is assigned: let ${flag} = false, and write ${isMissing ? '!' : ''}${flag}`,
    element: (inside, outside) => replacementAdvice(lowering, node, isMissing ? outside : inside),
    anything: replacementAdvice(lowering, node, String(isMissing === isNothing(lowering, tested))),
  });
}

interface Hints {
  /** For a parameter of a function of the kernel. */
  parameter(name: string): string;
  /** For a variable, with a name for the variable that tells whether it was assigned. */
  variable(flag: string): string;
  /** For an element, with the tests that its index is inside and outside of its array. */
  element(inside: string, outside: string): Advice;
  readonly anything: Advice;
}

function refuse(lowering: Lowering, node: Node, asked: AnyNode, hints: Hints): never {
  const tested = asked.type === 'ChainExpression' ? asked.expression : asked;
  const what = written(lowering, tested);
  const fail = (message: string, hint: string | Advice) => lowering.fail(node, 'WS1006', message, hint);
  if (tested.type === 'MemberExpression' && tested.computed) {
    const array = writtenOperand(lowering, tested.object);
    const index = writtenOperand(lowering, tested.property);
    const message = `'${what}' is never undefined: an access outside of '${array}' ends the launch`;
    return fail(message, hints.element(`${index} < ${array}.length`, `${index} >= ${array}.length`));
  }
  const declaration = tested.type === 'Identifier' ? declarationOf(lowering, tested) : undefined;
  if (declaration?.kind === 'parameter' && !isData(lowering, declaration)) {
    return fail(`a kernel does not ask whether the parameter '${what}' is given`, hints.parameter(what));
  }
  if (declaration?.changes) {
    const flag = `has${what[0]!.toUpperCase()}${what.slice(1)}`;
    return fail(`'${what}' is never undefined: it is 0 until it is assigned`, hints.variable(flag));
  }
  const answer = isNothing(lowering, tested)
    ? `this asks whether '${what}' is undefined`
    : `'${what}' is never undefined`;
  return fail(answer, hints.anything);
}

function declarationOf(lowering: Lowering, identifier: Identifier): Declaration | undefined {
  return lowering.frame.parsed.resolution.declarations.get(identifier);
}

/** Whether a name belongs to a parameter of the kernel or device function itself: what its schema declares is there. */
function isData(lowering: Lowering, { node }: Declaration): boolean {
  return lowering.frame.parsed.node.params.some(({ start, end }) => start <= node.start && node.end <= end);
}

function isEquality(operator: string): operator is Equality {
  return operator === '==' || operator === '===' || operator === '!=' || operator === '!==';
}

/** Whether a node is `undefined`, `null` or `void 0`. */
function isNothing(lowering: Lowering, node: AnyNode): boolean {
  switch (node.type) {
    case 'Literal':
      return node.value === null && node.raw === 'null';
    case 'Identifier':
      return node.name === 'undefined' && declarationOf(lowering, node) === undefined;
    case 'UnaryExpression':
      return node.operator === 'void';
    default:
      return false;
  }
}
