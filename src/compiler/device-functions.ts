// Calls of device functions: one object, whose members are checked and converted by the schema.

import type { Node } from 'acorn';
import {
  parseDeviceSchema,
  type ScalarValue,
  type SchemaParameter,
  scalarProblem,
} from '../kernel/parameters.ts';
import type { DeviceFunction } from '../kernel/schema.ts';
import { refuseCaptures } from './captures.ts';
import { inline } from './inline.ts';
import type { Given } from './intrinsics/arguments.ts';
import type { Lowering } from './lowering.ts';
import { constantValue, narrowed } from './narrow.ts';
import { nearestName } from './nearest.ts';
import { memberNode } from './nodes.ts';
import { computedType } from './number-types.ts';
import { knownValue, numeric, toStored } from './numbers.ts';
import { bindParameters } from './patterns.ts';
import { refuseFlat, refuseRows } from './shapes.ts';
import { type DeviceFunctionValue, describe, number, type Value, type ViewValue } from './values.ts';
import { toVector } from './vectors.ts';
import { refuseReadonly, refuseWindow } from './views.ts';

/** Calls a device function with what is given. */
export function callDeviceFunction(
  lowering: Lowering,
  { function: callee, name }: DeviceFunctionValue,
  given: readonly Given[],
  at: Node,
): Value {
  const data = dataOf(lowering, callee, name, given, at);
  const { parsed, source } = lowering.open(callee.body, name);
  refuseCaptures(lowering, parsed, source, callee.schema);
  return inline(
    lowering,
    { name, node: parsed.node, parsed, source, parent: null, results: callee.results },
    at,
    () => {
      bindParameters(lowering, parsed.node.params, data, callee.schema);
    },
  );
}

/** The first parameter of a device function, made of what a call passes. */
function dataOf(
  lowering: Lowering,
  callee: DeviceFunction,
  name: string,
  given: readonly Given[],
  at: Node,
): Value {
  const parameters = parseDeviceSchema(callee.schema);
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
  // The function of a row is the user's, and its name `map()`'s or `reduce()`'s.
  const owner = callee.results === undefined ? `the data of '${name}'` : 'a row';
  return { kind: 'object', name: owner, members };
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
  if (parameter.kind === 'struct') return { kind: 'elementType', element: parameter.element };
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
      if (value.kind === 'arrayChoice') {
        const passed = (option: ViewValue) =>
          argumentOf(lowering, callee, parameter, option, node) as ViewValue;
        return lowering.settle({ ...value, options: value.options.map(passed) }, name);
      }
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
      refuseWindow(lowering, value, node);
      if (parameter.dimensions === undefined) refuseRows(lowering, value, node);
      else refuseFlat(lowering, what, parameter.dimensions, value, node);
      return {
        ...lowering.settle(value, name),
        readonly: parameter.readonly || value.readonly,
        ...windowOf(parameter),
      };
    }
    case 'scalar': {
      const type = computedType(parameter.type);
      const expression = toStored(lowering, value, type, node, what, parameter.type);
      return lowering.settle(number(type, narrowed(lowering, expression, parameter.type, node)), name);
    }
    case 'vector':
      return lowering.settle(toVector(lowering, value, parameter.type, node, what), name);
    case 'constant': {
      const known = knownValue(lowering, numeric(lowering, value, node, what));
      if (known !== null) return constantOf(lowering, parameter, known, node);
      return lowering.fail(
        node,
        'WS1013',
        `${what} is a constant, and this is not known when the kernel is compiled`,
        `pass a literal or a constant of the schema, or declare it as '${parameter.type}'`,
      );
    }
    case 'pipeline':
      if (value.kind === 'pipeline') return value;
      return refuseKind(lowering, what, 'a pipeline', value, node);
    case 'barrier':
      if (value.kind === 'barrier') return lowering.settle(value, name);
      return refuseKind(lowering, what, 'a barrier', value, node);
    case 'barriers':
      if (value.kind === 'barriers') return value;
      return refuseKind(lowering, what, 'an array of barriers', value, node);
    case 'function':
      if (value.kind === 'deviceFunction' || value.kind === 'closure') return value;
      return refuseKind(lowering, what, 'a function', value, node);
  }
}

function windowOf({ window, name }: Extract<SchemaParameter, { kind: 'array' }>): Partial<ViewValue> {
  return window === undefined ? {} : { window, name };
}

function constantOf(
  lowering: Lowering,
  parameter: Extract<SchemaParameter, { kind: 'constant' }>,
  value: ScalarValue,
  node: Node,
): Value {
  const { name } = parameter;
  const problem = scalarProblem(parameter.type, parameter.type === 'bool' ? Boolean(value) : value);
  if (problem !== null)
    lowering.fail(node, 'WS1009', `the constant '${name}' ${problem}`, 'pass another value');
  return constantValue(lowering, parameter.type, value, lowering.range(node));
}

function refuseKind(lowering: Lowering, what: string, wanted: string, value: Value, node: Node): never {
  return lowering.fail(
    node,
    'WS1009',
    `${what} must be ${wanted}, and is ${describe(value)}`,
    `pass ${wanted}`,
  );
}
