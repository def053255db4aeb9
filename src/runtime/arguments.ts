// The arguments of a launch, checked against the kernel's schema.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import type { DeviceFunction } from '../kernel/kernel.ts';
import {
  isDeviceFunction,
  type KernelParameter,
  type ScalarValue,
  scalarProblem,
} from '../kernel/parameters.ts';
import { DeviceMemoryArray, PinnedMemoryArray } from './arrays.ts';
import type { Device } from './device.ts';
import { kernelInWords } from './launch.ts';
import { heldValue, takeVector } from './scalars.ts';

/** Checked arguments, by the kind of their parameter. */
export interface Arguments {
  readonly arrays: Readonly<Record<string, DeviceMemoryArray>>;
  /** By the name of the program's parameter: a vector is so many scalars, `v.x` and so on. */
  readonly scalars: Readonly<Record<string, ScalarValue>>;
  readonly constants: Readonly<Record<string, ScalarValue>>;
  readonly functions: Readonly<Record<string, DeviceFunction>>;
}

/** Checks arguments. Throws one error with an issue for every argument that is missing, unknown or wrong. */
export function checkArguments(
  device: Device,
  kernel: string,
  parameters: readonly KernelParameter[],
  given: Readonly<Record<string, unknown>>,
): Arguments {
  const issues: Issue[] = [];
  const report = (issue: Issue) => {
    issues.push({ ...issue, message: `launch of ${kernelInWords(kernel)}: ${issue.message}` });
  };
  const arrays: Record<string, DeviceMemoryArray> = {};
  const scalars: Record<string, ScalarValue> = {};
  const constants: Record<string, ScalarValue> = {};
  const functions: Record<string, DeviceFunction> = {};
  const values = given ?? {};

  for (const parameter of parameters) {
    const { name } = parameter;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    switch (parameter.kind) {
      case 'array': {
        const issue = arrayIssue(device, parameter, value);
        if (issue === null) arrays[name] = value as DeviceMemoryArray;
        else report(issue);
        break;
      }
      case 'scalar':
      case 'constant': {
        const actual = value === undefined && parameter.kind === 'constant' ? parameter.default : value;
        const problem = actual === undefined ? null : scalarProblem(parameter.type, actual);
        if (actual === undefined) report(missing(name, `a value of type ${parameter.type}`));
        else if (problem !== null) report({ code: 'WS2001', message: `argument \`${name}\` ${problem}` });
        else
          (parameter.kind === 'scalar' ? scalars : constants)[name] = heldValue(
            parameter.type,
            actual as ScalarValue,
          );
        break;
      }
      case 'vector':
        for (const { argument, problem, hint } of takeVector(name, parameter.type, value, scalars)) {
          const message = `argument \`${argument}\` ${problem}`;
          report({ code: 'WS2001', message, ...(hint === undefined ? {} : { hint }) });
        }
        break;
      case 'function': {
        const actual = value ?? parameter.function;
        if (isDeviceFunction(actual)) functions[name] = actual;
        else {
          report({
            code: 'WS2001',
            message: `argument \`${name}\` must be a function made by deviceFunction(), and is ${describe(actual)}`,
          });
        }
        break;
      }
      default:
        parameter satisfies never;
    }
  }

  const known = parameters.map(({ name }) => `\`${name}\``).join(', ');
  for (const name of Object.keys(values)) {
    if (parameters.some((parameter) => parameter.name === name)) continue;
    const hint = parameters.length === 0 ? 'it takes no arguments' : `its parameters are ${known}`;
    report({ code: 'WS2001', message: `there is no parameter \`${name}\``, hint });
  }
  if (issues.length > 0) throw new WarpstageError(issues);
  return { arrays, scalars, constants, functions };
}

function missing(name: string, what: string): Issue {
  return {
    code: 'WS2001',
    message: `argument \`${name}\` is missing`,
    hint: `pass ${what} as \`${name}\` in the third argument of launch`,
  };
}

function arrayIssue(
  device: Device,
  { name, element }: Extract<KernelParameter, { kind: 'array' }>,
  value: unknown,
): Issue | null {
  if (value === undefined) return missing(name, `a device array of ${element}`);
  if (!(value instanceof DeviceMemoryArray)) {
    return {
      code: 'WS2001',
      message: `argument \`${name}\` must be a device array of ${element}, and is ${describe(value)}`,
      hint: `copy the data to the device first: \`const ${name} = device.alloc('${element}', n)\` and \`stream.memcpyAsync(${name}, data)\``,
    };
  }
  if (value.device !== device) {
    return {
      code: 'WS2005',
      message: `argument \`${name}\` is an array of another device (${value.device.properties.name})`,
      hint: 'allocate it on the device that the stream belongs to',
    };
  }
  if (value.element !== element) {
    return {
      code: 'WS2002',
      message: `argument \`${name}\` must be a device array of ${element}, and is one of ${value.element}`,
      hint: `allocate it with device.alloc('${element}', ${value.length}), or declare the parameter as '${value.element}[]'`,
    };
  }
  if (value.allocation.freed) {
    return {
      code: 'WS4002',
      message: `argument \`${name}\`, a device array of ${value.length} elements, was freed`,
      hint: 'free an array after the last call that names it; commands already issued are safe',
    };
  }
  return null;
}

/** A wrong argument in words. */
function describe(value: unknown): string {
  if (value instanceof PinnedMemoryArray) return `a page-locked array of ${value.length} elements`;
  if (ArrayBuffer.isView(value)) return `a typed array of the host (${value.constructor.name})`;
  if (Array.isArray(value)) return 'an array of JavaScript values';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'string' ? `the string '${value}'` : String(value);
}
