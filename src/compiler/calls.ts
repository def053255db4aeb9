// Calls: functions of the kernel and device functions are inlined where they are called.

import type { AnyNode, Function as FunctionNode, Node } from 'acorn';
import { parseSchema, type SchemaParameter, scalarProblem } from '../kernel/parameters.ts';
import type { DeviceFunction } from '../kernel/schema.ts';
import { numberConstant } from './build.ts';
import { refuseCaptures } from './captures.ts';
import { newCell, read } from './cells.ts';
import type { Frame, ReturnTarget } from './frame.ts';
import type { Given } from './intrinsics/arguments.ts';
import { useIntrinsic } from './intrinsics/table.ts';
import type { Lowering } from './lowering.ts';
import { nearestName } from './nearest.ts';
import { knownNumber, numeric, rounded, toStored } from './numbers.ts';
import { unaryOperation } from './operators.ts';
import type { ParsedFunction } from './parse.ts';
import { bindPattern } from './patterns.ts';
import {
  type ClosureValue,
  type DeviceFunctionValue,
  describe,
  isNumeric,
  number,
  undefinedValue,
  type Value,
} from './values.ts';
import { refuseReadonly } from './views.ts';

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

interface Activation {
  readonly name: string;
  readonly node: FunctionNode;
  readonly parsed: ParsedFunction;
  readonly source: number;
  readonly parent: Frame | null;
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

function callDeviceFunction(
  lowering: Lowering,
  { function: callee, name }: DeviceFunctionValue,
  given: readonly Given[],
  at: Node,
): Value {
  const data = deviceFunctionData(lowering, callee, name, given, at);
  return callBody(lowering, callee, name, data, at);
}

function callBody(lowering: Lowering, callee: DeviceFunction, name: string, data: Value, at: Node): Value {
  const { parsed, source } = lowering.open(callee.body, name);
  refuseCaptures(lowering, parsed, source, callee.schema);
  const cuda: Value = { kind: 'namespace', name: 'cuda' };
  return inline(lowering, { name, node: parsed.node, parsed, source, parent: null }, at, () => {
    const [first, second] = parsed.node.params;
    if (first) bindPattern(lowering, first, data);
    if (second) bindPattern(lowering, second, cuda);
  });
}

/** The first parameter of a device function, made of what a call passes. */
function deviceFunctionData(
  lowering: Lowering,
  callee: DeviceFunction,
  name: string,
  given: readonly Given[],
  at: Node,
): Value {
  const parameters = parseSchema(callee.schema);
  const [argument, ...more] = given;
  const passed = argument?.value ?? { kind: 'object', members: new Map(), name };
  if (passed.kind === 'broken') return lowering.broken();
  if (passed.kind !== 'object' || more.length > 0) {
    const names = parameters.map((parameter) => parameter.name).join(', ');
    return lowering.fail(
      argument?.node ?? at,
      'WS1009',
      `the device function '${name}' takes one object, and is given ${more.length > 0 ? `${given.length} arguments` : describe(passed)}`,
      `name the arguments: ${name}({ ${names} })`,
    );
  }
  const place = argument?.node ?? at;
  for (const key of passed.members.keys()) {
    if (parameters.some((parameter) => parameter.name === key)) continue;
    const nearest = nearestName(
      key,
      parameters.map((parameter) => parameter.name),
    );
    lowering.fail(
      memberNode(place, key),
      'WS1009',
      `the device function '${name}' has no parameter '${key}'`,
      nearest !== null
        ? `did you mean '${nearest}'?`
        : `its schema has ${parameters.map((parameter) => parameter.name).join(', ')}`,
    );
  }
  const members = new Map<string, Value>();
  for (const parameter of parameters) {
    const value = passed.members.get(parameter.name);
    members.set(
      parameter.name,
      argumentOf(lowering, name, parameter, value, memberNode(place, parameter.name)),
    );
  }
  return { kind: 'object', name: `the data of '${name}'`, members };
}

/** Where an object in the text gives a member. */
function memberNode(object: Node, name: string): Node {
  const node = object as AnyNode;
  if (node.type !== 'ObjectExpression') return object;
  const property = node.properties.find(
    (one) =>
      one.type === 'Property' &&
      ((one.key.type === 'Identifier' && one.key.name === name) ||
        (one.key.type === 'Literal' && one.key.value === name)),
  );
  return property?.type === 'Property' ? property.value : object;
}

function argumentOf(
  lowering: Lowering,
  callee: string,
  parameter: SchemaParameter,
  value: Value | undefined,
  node: Node,
): Value {
  const { name } = parameter;
  const what = `'${name}' of '${callee}'`;
  if (value?.kind === 'broken') return lowering.broken();
  if (value === undefined || value.kind === 'undefined') {
    if (parameter.kind === 'function') {
      return { kind: 'deviceFunction', function: parameter.function, name };
    }
    if (parameter.kind === 'constant' && parameter.default !== undefined) {
      return constantOf(lowering, parameter, parameter.default, node);
    }
    return lowering.fail(
      node,
      'WS1009',
      `the device function '${callee}' is not given '${name}'`,
      `pass it: ${callee}({ …, ${name} })`,
    );
  }
  switch (parameter.kind) {
    case 'array': {
      if (value.kind !== 'view') return refuseKind(lowering, what, 'an array', value, node);
      if (value.element !== parameter.element) {
        lowering.fail(
          node,
          'WS1004',
          `${what} is an array of ${parameter.element}, and is given ${describe(value)}`,
          'the element types must be the same',
        );
      }
      if (!parameter.readonly) refuseReadonly(lowering, value, node);
      return { ...lowering.settle(value, name), readonly: parameter.readonly || value.readonly };
    }
    case 'scalar': {
      const expression = toStored(lowering, value, parameter.type, node, what);
      return lowering.settle(number(parameter.type, expression), name);
    }
    case 'constant': {
      const known = knownNumber(lowering, numeric(lowering, value, node, what));
      if (known !== null) return constantOf(lowering, parameter, known, node);
      return lowering.fail(
        node,
        'WS1013',
        `${what} is a constant, and this is not known when the kernel is compiled`,
        `pass a literal or a constant of the schema, or declare it as '${parameter.type}'`,
      );
    }
    case 'function':
      if (value.kind === 'deviceFunction' || value.kind === 'closure') return value;
      return refuseKind(lowering, what, 'a function', value, node);
  }
}

function constantOf(
  lowering: Lowering,
  parameter: Extract<SchemaParameter, { kind: 'constant' }>,
  value: number | boolean,
  node: Node,
): Value {
  const { name } = parameter;
  const problem = scalarProblem(parameter.type, parameter.type === 'bool' ? Boolean(value) : value);
  if (problem !== null)
    lowering.fail(node, 'WS1009', `the constant '${name}' ${problem}`, 'pass another value');
  const type = lowering.valueType(parameter.type);
  return number(parameter.type, numberConstant(type, Number(value), lowering.range(node)));
}

function refuseKind(lowering: Lowering, what: string, wanted: string, value: Value, node: Node): never {
  return lowering.fail(
    node,
    'WS1009',
    `${what} must be ${wanted}, and is ${describe(value)}`,
    `pass ${wanted}`,
  );
}

/** Lowers a function's body in place of its call. */
function inline(lowering: Lowering, activation: Activation, at: Node, bind: () => void): Value {
  const { name, node, parsed } = activation;
  refuseRecursion(lowering, activation, at);
  const path = lowering.key(at);
  const body = node.body as AnyNode;
  const returns = returnTarget(lowering, parsed, node, at);
  lowering.calls.push({ callee: node, name });
  try {
    return lowering.within(activation, path, returns, () => {
      bind();
      if (body.type !== 'BlockStatement') return rounded(lowering, lowering.value(body));
      return inlineBlock(lowering, body, returns, parsed.resolution.returns.get(node) ?? 0);
    });
  } finally {
    lowering.calls.pop();
  }
}

function returnTarget(
  lowering: Lowering,
  parsed: ParsedFunction,
  node: FunctionNode,
  at: Node,
): ReturnTarget {
  const body = node.body as AnyNode;
  const last = body.type === 'BlockStatement' ? body.body.at(-1) : undefined;
  const count = parsed.resolution.returns.get(node) ?? 0;
  return {
    label: lowering.newLabel(),
    cell: newCell(lowering, 'result', at, ':result'),
    last: last?.type === 'ReturnStatement' ? last : null,
    isOnly: count === 1,
    used: false,
    // A return that cannot be lowered leaves it so.
    value: count > 0 ? { kind: 'broken' } : undefinedValue,
  };
}

function inlineBlock(lowering: Lowering, body: Node, returns: ReturnTarget, count: number): Value {
  if (count === 0 || (returns.isOnly && returns.last !== null)) {
    lowering.statement(body);
    return returns.value;
  }
  const statements = lowering.collect(() => lowering.statement(body));
  if (returns.used) {
    lowering.emit({ kind: 'block', label: returns.label, body: statements, range: lowering.range(body) });
  } else {
    for (const statement of statements) lowering.emit(statement);
  }
  if (returns.cell.holds !== 'nothing') return read(lowering, returns.cell, body);
  return lowering.hasMistakes ? { kind: 'broken' } : undefinedValue;
}

function refuseRecursion(lowering: Lowering, { name, node }: Activation, at: Node): void {
  const position = lowering.calls.findIndex(({ callee }) => callee === node);
  if (position < 0) return;
  const chain = [...lowering.calls.slice(position).map((one) => one.name), name];
  const message =
    chain.length === 2 ? `'${name}' calls itself` : chain.map((one) => `'${one}'`).join(' calls ');
  lowering.fail(
    at,
    'WS1007',
    message,
    'functions are inlined where they are called, so none may call itself: use a loop',
  );
}
