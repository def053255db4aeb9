// A schema, read: what each of its strings says, as data.
//
// The type level (schema.ts) and this reader accept the same strings; what a plain JavaScript
// caller writes beyond them is WS1010, with all wrong entries reported at once.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import type { DeviceFunction, DeviceSchema } from './schema.ts';
import { type ElementType, elementBytes, type ScalarType } from './types.ts';

/** One parameter of a kernel or device function. */
export type SchemaParameter =
  | {
      readonly kind: 'array';
      readonly name: string;
      readonly element: ElementType;
      readonly readonly: boolean;
    }
  | { readonly kind: 'scalar'; readonly name: string; readonly type: ScalarType }
  | {
      readonly kind: 'constant';
      readonly name: string;
      readonly type: ScalarType;
      readonly default: number | boolean | undefined;
    }
  | { readonly kind: 'function'; readonly name: string; readonly function: DeviceFunction }
  /** A handle that the caller of a device function has. */
  | { readonly kind: 'pipeline'; readonly name: string };

/** One parameter of a kernel. */
export type KernelParameter = Exclude<SchemaParameter, { kind: 'pipeline' }>;

/** The scalar types of a schema, in the order in which messages list them. */
export const scalarTypes = ['index', 'i32', 'u32', 'f32', 'f64', 'bool'] as const satisfies ScalarType[];

const parsed = new WeakMap<DeviceSchema, readonly SchemaParameter[]>();

/**
 * Reads the entries of a schema, in their order.
 *
 * @throws WarpstageError WS1010 with one issue for every entry that cannot be read
 */
export function parseDeviceSchema(schema: DeviceSchema): readonly SchemaParameter[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new WarpstageError({
      code: 'WS1010',
      message: `a schema must be an object of parameter names and types, and is ${describe(schema)}`,
      hint: "write for example { y: 'f32[]', a: 'f32' }",
    });
  }
  const known = parsed.get(schema);
  if (known !== undefined) return known;
  const issues: Issue[] = [];
  const parameters: SchemaParameter[] = [];
  for (const [name, entry] of Object.entries(schema)) {
    const parameter = parseEntry(name, entry, issues);
    if (parameter !== undefined) parameters.push(parameter);
  }
  if (issues.length > 0) throw new WarpstageError(issues);
  parsed.set(schema, parameters);
  return parameters;
}

/**
 * Reads the entries of a kernel's schema, which has no handles: those live inside of kernels.
 *
 * @throws WarpstageError WS1010 with one issue for every entry that cannot be read
 */
export function parseSchema(schema: DeviceSchema): readonly KernelParameter[] {
  const parameters = parseDeviceSchema(schema);
  const handles = parameters.filter(({ kind }) => kind === 'pipeline');
  if (handles.length === 0) return parameters as readonly KernelParameter[];
  throw new WarpstageError(
    handles.map(({ name, kind }) => ({
      code: 'WS1010',
      message: `schema entry '${name}' of a kernel is a ${kind}, and only device functions are given one`,
      hint: `make it in the kernel: const ${name} = cuda.makePipeline(…)`,
    })),
  );
}

/** Says in words why `value` is no value of the type, or null if it is one. */
export function scalarProblem(type: ScalarType, value: unknown): string | null {
  if (type === 'bool') {
    return typeof value === 'boolean' ? null : `must be true or false, and is ${describe(value)}`;
  }
  if (typeof value !== 'number') return `must be a number of type ${type}, and is ${describe(value)}`;
  if (type === 'f32' || type === 'f64') return null;
  const [least, greatest] = integerLimits[type];
  if (Number.isInteger(value) && value >= least && value <= greatest) return null;
  return `must be an integer from ${least} to ${greatest} (${type}), and is ${value}`;
}

const integerLimits = {
  index: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
} as const;

function parseEntry(name: string, entry: unknown, issues: Issue[]): SchemaParameter | undefined {
  if (isDeviceFunction(entry)) return { kind: 'function', name, function: entry };
  if (typeof entry !== 'string') {
    const hint =
      typeof entry === 'function'
        ? `wrap it: ${name}: deviceFunction({ … }, ${name})`
        : 'an entry is a type such as "f32[]", or a function made by deviceFunction()';
    issues.push({ code: 'WS1010', message: `schema entry '${name}' is ${describe(entry)}`, hint });
    return undefined;
  }
  if (entry === 'pipeline') return { kind: 'pipeline', name };
  const array = /^(readonly )?(\w+)\[\]$/.exec(entry);
  if (array !== null && isElementType(array[2]!)) {
    return { kind: 'array', name, element: array[2], readonly: array[1] !== undefined };
  }
  const scalar = /^(constant )?(\w+)(?: = (.*))?$/.exec(entry);
  if (scalar !== null && isScalarType(scalar[2]!)) {
    const type = scalar[2];
    if (scalar[1] !== undefined) return parseConstant(name, type, scalar[3], issues);
    if (scalar[3] === undefined) return { kind: 'scalar', name, type };
  }
  issues.push({
    code: 'WS1010',
    message: `schema entry '${name}' has the type '${entry}', which does not exist`,
    hint: entryHint(entry),
  });
  return undefined;
}

function parseConstant(
  name: string,
  type: ScalarType,
  text: string | undefined,
  issues: Issue[],
): SchemaParameter | undefined {
  if (text === undefined) return { kind: 'constant', name, type, default: undefined };
  const trimmed = text.trim();
  const words: Readonly<Record<string, number | boolean>> = { true: true, false: false, NaN: Number.NaN };
  const value =
    words[trimmed] ?? (trimmed === '' || Number.isNaN(Number(trimmed)) ? undefined : Number(trimmed));
  const problem = value === undefined ? `is '${trimmed}', which is no number` : scalarProblem(type, value);
  if (problem === null) return { kind: 'constant', name, type, default: value };
  issues.push({
    code: 'WS1010',
    message: `the default of schema entry '${name}' ${problem}`,
    hint:
      type === 'bool'
        ? `write 'constant bool = true' or 'constant bool = false'`
        : `write for example 'constant ${type} = 2'`,
  });
  return undefined;
}

function entryHint(entry: string): string {
  const elements = Object.keys(elementBytes).join(' ');
  if (/^\s*(Float|Int|Uint|BigInt|BigUint)\d+(Clamped)?Array\s*$/.test(entry)) {
    return `arrays are written by their element type, such as 'f32[]' (element types: ${elements})`;
  }
  if (/\b(number|float|double|int|size_t|boolean)\b/.test(entry)) {
    return "the types are 'f32', 'f64' for floats, 'i32', 'u32', 'index' for integers, and 'bool'";
  }
  if (/\b[iu](8|16)\b/.test(entry) && !entry.includes('[')) {
    return '8- and 16-bit types are for arrays; a scalar of that range is i32 or u32';
  }
  if (entry.includes('=')) return "only a constant has a default: 'constant index = 2'";
  return (
    `arrays: 'T[]' or 'readonly T[]' with T one of ${elements}; ` +
    `scalars: ${scalarTypes.join(' ')}; constants: 'constant T' or 'constant T = value'`
  );
}

/** Whether a value is a function made by `deviceFunction()`. */
export function isDeviceFunction(value: unknown): value is DeviceFunction {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'deviceFunction';
}

function isElementType(text: string): text is ElementType {
  return Object.hasOwn(elementBytes, text);
}

function isScalarType(text: string): text is ScalarType {
  return (scalarTypes as readonly string[]).includes(text);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return `the string '${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return `the ${typeof value} ${String(value)}`;
}
