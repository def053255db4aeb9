// Calls: of intrinsics, of device functions, and of the kernel's own functions.

import type { Node } from 'acorn';
import { callDeviceFunction } from './device-functions.ts';
import { inline } from './inline.ts';
import type { Given } from './intrinsics/arguments.ts';
import { useIntrinsic } from './intrinsics/table.ts';
import type { Lowering } from './lowering.ts';
import { rounded } from './numbers.ts';
import { unaryOperation } from './operators.ts';
import { bindPattern } from './patterns.ts';
import { type ClosureValue, describe, isNumeric, undefinedValue, type Value } from './values.ts';

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
      // Number(x) makes a number of a bool, as +x does.
      const [argument] = given;
      if (callee.name !== 'Number' || argument === undefined) return refuseCall(lowering, callee, node);
      return unaryOperation(lowering, '+', argument.value, argument.node);
    }
    default:
      return refuseCall(lowering, callee, node);
  }
}

function refuseCall(lowering: Lowering, callee: Value, node: Node): never {
  return lowering.fail(
    node,
    'WS1006',
    `${describe(callee)} cannot be called`,
    isNumeric(callee)
      ? 'it is a value: write it without (…)'
      : 'a kernel calls intrinsics, device functions of its schema, and functions that it declares itself',
  );
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
