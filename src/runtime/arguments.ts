// The arguments of a launch, checked against the kernel's schema.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import type { DeviceFunction } from '../kernel/kernel.ts';
import {
  isDeviceFunction,
  type KernelParameter,
  type ScalarValue,
  scalarProblem,
} from '../kernel/parameters.ts';
import { type CheckedShape, type Dimensions, shapeScalars } from '../kernel/shaped.ts';
import type { Element } from '../kernel/types.ts';
import { DeviceMemoryArray, PinnedMemoryArray, ShapedMemoryArray } from './arrays.ts';
import type { Device } from './device.ts';
import { kernelInWords } from './launch.ts';
import { heldValue, takeVector } from './scalars.ts';

/** Checked arguments, by the kind of their parameter. */
export interface ArgumentsOf<A> {
  readonly arrays: Readonly<Record<string, A>>;
  /** By the name of the program's parameter: a vector is so many scalars, `v.x` and so on. */
  readonly scalars: Readonly<Record<string, ScalarValue>>;
  readonly constants: Readonly<Record<string, ScalarValue>>;
  readonly functions: Readonly<Record<string, DeviceFunction>>;
}

export type Arguments = ArgumentsOf<DeviceMemoryArray>;

type ArrayParameter = Extract<KernelParameter, { kind: 'array' }>;

/** What arguments are given for. */
interface Taking<A> {
  /** What begins each message: 'launch of kernel `scale`'. */
  readonly what: string;
  /** Where a missing argument belongs, for its hint. */
  readonly place: (name: string) => string;
  /** What arrays are, in words, and the array of an argument that is one, or what is wrong with it. */
  readonly arrayInWords: (parameter: ArrayParameter) => string;
  readonly takeArray: (
    parameter: ArrayParameter,
    value: unknown,
  ) => { readonly array: A; readonly shape?: CheckedShape } | Issue;
}

/** Checks the arguments of a launch. Throws one error with an issue for every argument that is missing, unknown or wrong. */
export function checkArguments(
  device: Device,
  kernel: string,
  parameters: readonly KernelParameter[],
  given: Readonly<Record<string, unknown>>,
): Arguments {
  return takeArguments(parameters, given, {
    what: `launch of ${kernelInWords(kernel)}`,
    place: (name) => `as \`${name}\` in the third argument of launch`,
    arrayInWords: ({ element, dimensions }) => `${arrayWords(element, dimensions)}`,
    takeArray(parameter, value) {
      const wrong = shapeIssue(parameter, value);
      if (wrong !== null) return wrong;
      const array: unknown = value instanceof ShapedMemoryArray ? value.array : value;
      const issue = arrayIssue(device, parameter, array);
      if (issue !== null) return issue;
      const shape = value instanceof ShapedMemoryArray ? { shape: value } : {};
      return { array: array as DeviceMemoryArray, ...shape };
    },
  });
}

const arrayWords = (element: Element, dimensions?: Dimensions) =>
  dimensions === undefined
    ? `a device array of ${element}`
    : `a device array of ${element} with a shape of ${dimensions} extents`;

/** What is wrong with how many dimensions an argument has; null also where it is no array at all. */
function shapeIssue({ name, element, dimensions }: ArrayParameter, value: unknown): Issue | null {
  const given = value instanceof ShapedMemoryArray ? value.shape.length : undefined;
  if (given === dimensions) return null;
  if (given === undefined && !(value instanceof DeviceMemoryArray)) return null;
  const extents = dimensions === 3 ? '[planes, rows, columns]' : '[rows, columns]';
  return {
    code: 'WS2002',
    message: `argument \`${name}\` must be ${arrayWords(element, dimensions)}, and ${given === undefined ? 'has no shape' : `has one of ${given} extents`}`,
    hint:
      dimensions === undefined
        ? `pass the array itself: \`${name}.array\``
        : `say how it is seen: \`${name}.shaped(${extents})\``,
  };
}

/**
 * Checks arguments, whatever stands for an array among them: a launch and a check of it take the same for all
 * else. An argument is left out, so that a default holds, where it is absent or undefined; null is a value.
 */
export function takeArguments<A>(
  parameters: readonly KernelParameter[],
  given: Readonly<Record<string, unknown>>,
  { what, place, arrayInWords, takeArray }: Taking<A>,
): ArgumentsOf<A> {
  const issues: Issue[] = [];
  const report = (issue: Issue) => {
    issues.push({ ...issue, message: `${what}: ${issue.message}` });
  };
  const wrong = (message: string, hint?: string) => {
    report({ code: 'WS2001', message, ...(hint === undefined ? {} : { hint }) });
  };
  const missing = (name: string, kind: string) => {
    wrong(`argument \`${name}\` is missing`, `pass ${kind} ${place(name)}`);
  };
  const arrays: Record<string, A> = {};
  const scalars: Record<string, ScalarValue> = {};
  const constants: Record<string, ScalarValue> = {};
  const functions: Record<string, DeviceFunction> = {};
  const values = given ?? {};

  for (const parameter of parameters) {
    const { name } = parameter;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    switch (parameter.kind) {
      case 'array': {
        if (value === undefined) {
          missing(name, arrayInWords(parameter));
          break;
        }
        const taken = takeArray(parameter, value);
        if ('array' in taken) {
          arrays[name] = taken.array;
          if (taken.shape !== undefined)
            Object.assign(scalars, Object.fromEntries(shapeScalars(name, taken.shape)));
        } else report(taken);
        break;
      }
      case 'scalar':
      case 'constant': {
        const actual = value === undefined && parameter.kind === 'constant' ? parameter.default : value;
        const problem = actual === undefined ? null : scalarProblem(parameter.type, actual);
        if (actual === undefined) missing(name, `a value of type ${parameter.type}`);
        else if (problem !== null) wrong(`argument \`${name}\` ${problem}`);
        else
          (parameter.kind === 'scalar' ? scalars : constants)[name] = heldValue(
            parameter.type,
            actual as ScalarValue,
          );
        break;
      }
      case 'vector':
        for (const { argument, problem, hint } of takeVector(name, parameter.type, value, scalars)) {
          wrong(`argument \`${argument}\` ${problem}`, hint);
        }
        break;
      case 'function': {
        const actual = value === undefined ? parameter.function : value;
        if (isDeviceFunction(actual)) functions[name] = actual;
        else
          wrong(
            `argument \`${name}\` must be a function made by deviceFunction(), and is ${inWords(actual)}`,
          );
        break;
      }
      case 'struct':
        break;
      default:
        parameter satisfies never;
    }
  }

  const known = parameters.map(({ name }) => `\`${name}\``).join(', ');
  for (const name of Object.keys(values)) {
    if (parameters.some((parameter) => parameter.name === name)) continue;
    const hint = parameters.length === 0 ? 'it takes no arguments' : `its parameters are ${known}`;
    wrong(`there is no parameter \`${name}\``, hint);
  }
  if (issues.length > 0) throw new WarpstageError(issues);
  return { arrays, scalars, constants, functions };
}

/** The length of what was given in place of a device array, as code. */
function lengthOf(value: unknown): string {
  const { length } = (value ?? {}) as { readonly length?: unknown };
  return typeof length === 'number' ? String(length) : 'n';
}

function arrayIssue(
  device: Device,
  { name, element, readonly, dimensions }: ArrayParameter,
  value: unknown,
): Issue | null {
  if (!(value instanceof DeviceMemoryArray)) {
    return {
      code: 'WS2001',
      message: `argument \`${name}\` must be a device array of ${element}, and is ${inWords(value)}`,
      hint: `copy the data to the device first: \`const ${name} = device.alloc('${element}', ${lengthOf(value)})\` and \`stream.memcpyAsync(${name}, data)\``,
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
      hint: `allocate it with device.alloc('${element}', ${value.length}), or declare the parameter as '${readonly ? 'readonly ' : ''}${value.element}${'[]'.repeat(dimensions ?? 1)}'`,
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
export function inWords(value: unknown): string {
  if (value instanceof ShapedMemoryArray) return `an array with a shape of ${value.shape.join(' x ')}`;
  if (value instanceof PinnedMemoryArray) return `a page-locked array of ${value.length} elements`;
  if (ArrayBuffer.isView(value)) return `a typed array of the host (${value.constructor.name})`;
  if (Array.isArray(value)) return 'an array of JavaScript values';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'string' ? `the string '${value}'` : String(value);
}
