// Calls: of intrinsics, of device functions, and of the kernel's own functions.

import type { CallExpression, Node } from 'acorn';
import { type Advice, castAdvice, replacement, replacementAdvice } from './advice.ts';
import { callDeviceFunction } from './device-functions.ts';
import { inline } from './inline.ts';
import type { Given } from './intrinsics/arguments.ts';
import { useIntrinsic } from './intrinsics/table.ts';
import type { Lowering } from './lowering.ts';
import { isFloat } from './number-types.ts';
import { isBigintValue, numeric, rounded, toType } from './numbers.ts';
import { unaryOperation } from './operators.ts';
import { bindPattern } from './patterns.ts';
import {
  type ClosureValue,
  describe,
  hasFraction,
  isNumeric,
  literal,
  number,
  undefinedValue,
  type Value,
} from './values.ts';
import { written } from './written.ts';

/** Calls what can be called. */
export function call(lowering: Lowering, callee: Value, given: readonly Given[], node: Node): Value {
  switch (callee.kind) {
    case 'intrinsic':
      return useIntrinsic(lowering, callee.name, callee.receiver, given, node);
    case 'closure':
      return callClosure(lowering, callee, given, node);
    case 'deviceFunction':
      return callDeviceFunction(lowering, callee, given, node);
    case 'broken':
      return lowering.broken();
    case 'namespace': {
      // Number(x) makes a number of a bool, as +x does, and of a bigint.
      const [argument] = given;
      if (argument === undefined) return refuseCall(lowering, callee, node);
      if (callee.name === 'BigInt') return bigintOf(lowering, argument);
      if (callee.name !== 'Number') return refuseCall(lowering, callee, node);
      const { value } = argument;
      if (isNumeric(value) && isBigintValue(value)) {
        return number('f64', toType(lowering, value, 'f64', argument.node));
      }
      return unaryOperation(lowering, '+', value, argument.node);
    }
    default:
      return refuseCall(lowering, callee, node);
  }
}

/** BigInt(x): of integers alone; of a fraction JavaScript throws. */
function bigintOf(lowering: Lowering, { value, node }: Given): Value {
  const given = numeric(lowering, value, node, 'the argument of BigInt');
  if (given.kind === 'open' || isBigintValue(given)) return given;
  const isFraction = given.kind === 'number' ? isFloat(given.type) : hasFraction(given);
  if (isFraction) {
    lowering.fail(
      node,
      'WS1004',
      `BigInt takes integers, and is given ${describe(given)}`,
      castAdvice(lowering, node, 'i64', ' drops a fraction'),
    );
  }
  if (given.kind === 'literal') return literal(BigInt(given.value));
  return number('i64', toType(lowering, given, 'i64', node));
}

function refuseCall(lowering: Lowering, callee: Value, node: Node): never {
  return lowering.fail(
    node,
    'WS1006',
    `${describe(callee)} cannot be called`,
    isNumeric(callee)
      ? uncalled(lowering, node)
      : callee.kind === 'view'
        ? indexed(lowering, node)
        : 'a kernel calls intrinsics, device functions of its schema, and functions that it declares itself',
  );
}

/** A call without its brackets. */
function uncalled(lowering: Lowering, node: Node): Advice | string {
  const { callee } = node as Partial<CallExpression>;
  if (callee === undefined) return 'it is a value, and no function';
  const name = written(lowering, callee);
  return { hint: `it is a value: write ${name}`, fixes: [replacement(lowering, node, name)] };
}

/** An array that is called: the element that its argument counts to. */
function indexed(lowering: Lowering, node: Node): Advice {
  const { callee, arguments: given } = node as CallExpression;
  const name = written(lowering, callee);
  const [argument] = given;
  if (argument === undefined) return { hint: `take one of its elements: ${name}[0]`, fixes: [] };
  return replacementAdvice(lowering, node, `${name}[${written(lowering, argument)}]`);
}

function callClosure(lowering: Lowering, callee: ClosureValue, given: readonly Given[], at: Node): Value {
  const { node, frame, name } = callee;
  const settled = given.map(({ value }, position) => {
    const parameter = node.params[position];
    return lowering.settle(
      rounded(lowering, value),
      parameter?.type === 'Identifier' ? parameter.name : 'argument',
    );
  });
  const activation = { name, node, parsed: frame.parsed, source: frame.source, parent: frame };
  return inline(lowering, activation, at, () => {
    node.params.forEach((parameter, position) => {
      bindPattern(lowering, parameter, settled[position] ?? undefinedValue);
    });
  });
}
