// A schema, read: what each of its strings says, as data.
//
// The type level (schema.ts) and this reader accept the same strings; what a plain JavaScript
// caller writes beyond them is WS1010, with all wrong entries reported at once.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { elementCalled } from './other-names.ts';
import type { DeviceFunction, DeviceSchema, HandleEntry } from './schema.ts';
import type { Dimensions } from './shaped.ts';
import type { Struct, StructArray } from './struct.ts';
import {
  type Element,
  elementsInWords,
  isElementType,
  isVectorType,
  type ScalarType,
  type VectorType,
} from './types.ts';

/** A scalar as the host passes it. */
export type ScalarValue = number | bigint | boolean;

/** One parameter of a kernel or device function. */
export type SchemaParameter =
  | {
      readonly kind: 'array';
      readonly name: string;
      readonly element: Element;
      readonly readonly: boolean;
      /** Of a window of a device function: the first and last position that it has; 0 is the element itself. */
      readonly window?: readonly [first: number, last: number];
      /** Of an array of several dimensions: how many. */
      readonly dimensions?: Dimensions;
    }
  | { readonly kind: 'scalar'; readonly name: string; readonly type: ScalarType }
  | { readonly kind: 'vector'; readonly name: string; readonly type: VectorType }
  | {
      readonly kind: 'constant';
      readonly name: string;
      readonly type: ScalarType;
      readonly default: ScalarValue | undefined;
    }
  | { readonly kind: 'function'; readonly name: string; readonly function: DeviceFunction }
  /** A type of records, which a kernel makes arrays of. */
  | { readonly kind: 'struct'; readonly name: string; readonly element: Element }
  /** A handle that the caller of a device function has. */
  | { readonly kind: HandleKind; readonly name: string };

/** One parameter of a kernel. */
export type KernelParameter = Exclude<SchemaParameter, { kind: HandleKind }>;

type HandleKind = 'pipeline' | 'barrier' | 'barriers';

/** The entries that are handles, with how they are made. */
const handles: Readonly<Record<HandleEntry, { readonly kind: HandleKind; readonly maker: string }>> = {
  pipeline: { kind: 'pipeline', maker: 'makePipeline' },
  barrier: { kind: 'barrier', maker: 'barrier' },
  'barrier[]': { kind: 'barriers', maker: 'barrierArray' },
};

function isHandle(entry: string): entry is HandleEntry {
  return Object.hasOwn(handles, entry);
}

/** The scalar types of a schema, in the order in which messages list them. */
export const scalarTypes = [
  'index',
  'i8',
  'u8',
  'i16',
  'u16',
  'i32',
  'u32',
  'i64',
  'u64',
  'f16',
  'bf16',
  'f32',
  'f64',
  'bool',
] as const satisfies ScalarType[];

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
  const issues = parameters.flatMap((parameter): Issue[] => {
    const { name } = parameter;
    const entry = schema[name];
    if (typeof entry !== 'string') return [];
    const message = `schema entry '${name}' of a kernel is a ${entry}, and only device functions are given one`;
    if (isHandle(entry)) {
      const hint = `make it in the kernel: const ${name} = cuda.${handles[entry].maker}(…)`;
      return [{ code: 'WS1010', message, hint }];
    }
    if (parameter.kind !== 'array' || parameter.window === undefined) return [];
    const hint = `declare the array, ${name}: 'readonly ${parameter.element}[]', and pass its part: ${name}.subarray(i)`;
    return [{ code: 'WS1010', message, hint }];
  });
  if (issues.length > 0) throw new WarpstageError(issues);
  return parameters as readonly KernelParameter[];
}

/** Says in words why `value` is no value of the type, or null if it is one. */
export function scalarProblem(type: ScalarType, value: unknown): string | null {
  if (type === 'bool') {
    return typeof value === 'boolean' ? null : `must be true or false, and is ${describe(value)}`;
  }
  if (type === 'i64' || type === 'u64') return bigintProblem(type, value);
  if (typeof value !== 'number') {
    const hint = typeof value === 'bigint' ? `; pass it without n, or declare it as 'i64'` : '';
    return `must be a number of type ${type}, and is ${describe(value)}${hint}`;
  }
  if (type === 'f16' || type === 'bf16' || type === 'f32' || type === 'f64') return null;
  const [least, greatest] = integerLimits[type];
  if (Number.isInteger(value) && value >= least && value <= greatest) return null;
  return `must be an integer from ${least} to ${greatest} (${type}), and is ${value}`;
}

function bigintProblem(type: 'i64' | 'u64', value: unknown): string | null {
  if (typeof value !== 'bigint') {
    const hint = typeof value === 'number' && Number.isInteger(value) ? `; write ${value}n` : '';
    return `must be a bigint (${type}), and is ${describe(value)}${hint}`;
  }
  const held = type === 'i64' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
  return held === value ? null : `must be a bigint of 64 bits (${type}), and is ${value}n`;
}

const integerLimits = {
  index: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  i8: [-128, 127],
  u8: [0, 255],
  i16: [-32768, 32767],
  u16: [0, 65535],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
} as const;

function parseEntry(name: string, entry: unknown, issues: Issue[]): SchemaParameter | undefined {
  if (isDeviceFunction(entry)) return { kind: 'function', name, function: entry };
  if (isStruct(entry)) return { kind: 'struct', name, element: entry.element };
  if (isStructArray(entry)) {
    return { kind: 'array', name, element: entry.struct.element, readonly: entry.readonly };
  }
  if (typeof entry !== 'string') {
    const hint =
      typeof entry === 'function'
        ? `wrap it: ${name}: deviceFunction({ … }, ${name})`
        : 'an entry is a type such as "f32[]", an array of records such as node.array, or a function made by deviceFunction()';
    issues.push({ code: 'WS1010', message: `schema entry '${name}' is ${describe(entry)}`, hint });
    return undefined;
  }
  if (isHandle(entry)) return { kind: handles[entry].kind, name };
  const array = /^(readonly )?(\w+)((?:\[\]){1,3})$/.exec(entry);
  if (array !== null && isElementType(array[2]!)) {
    const dimensions = array[3]!.length / 2;
    const isFlat = dimensions === 1;
    return {
      kind: 'array',
      name,
      element: array[2],
      readonly: array[1] !== undefined,
      ...(isFlat ? {} : { dimensions: dimensions as Dimensions }),
    };
  }
  const window = /^(\w+)\[(-?\d+)\.\.(-?\d+)\]$/.exec(entry);
  if (window !== null && isElementType(window[1]!) && !isVectorType(window[1])) {
    const [first, last] = [Number(window[2]), Number(window[3])];
    if (first <= 0 && last >= 0 && last - first < 2 ** 16) {
      return { kind: 'array', name, element: window[1], readonly: true, window: [first, last] };
    }
    issues.push({
      code: 'WS1010',
      message: `schema entry '${name}' is the window '${entry}', which does not reach from 0 or below to 0 or above`,
      hint: `0 is the element itself: '${window[1]}[-1..1]' has one neighbour on either side`,
    });
    return undefined;
  }
  const scalar = /^(constant )?(\w+)(?: = (.*))?$/.exec(entry);
  if (scalar !== null && isScalarType(scalar[2]!)) {
    const type = scalar[2];
    if (scalar[1] !== undefined) return parseConstant(name, type, scalar[3], issues);
    if (scalar[3] === undefined) return { kind: 'scalar', name, type };
  }
  if (isVectorType(entry)) return { kind: 'vector', name, type: entry };
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
  const value = parseLiteral(trimmed);
  const problem = value === undefined ? `is '${trimmed}', which is no number` : scalarProblem(type, value);
  if (problem === null) return { kind: 'constant', name, type, default: value };
  issues.push({
    code: 'WS1010',
    message: `the default of schema entry '${name}' ${problem}`,
    hint:
      type === 'bool'
        ? `write 'constant bool = true' or 'constant bool = false'`
        : `write for example 'constant ${type} = ${type === 'i64' || type === 'u64' ? '2n' : '2'}'`,
  });
  return undefined;
}

/** A literal of the text: `2`, `0.5`, `2n`, `true`, `NaN`. */
function parseLiteral(text: string): ScalarValue | undefined {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'NaN') return Number.NaN;
  const integer = /^(-?)(\d+|0x[\da-f]+|0b[01]+|0o[0-7]+)n$/i.exec(text);
  if (integer !== null) return integer[1] === '-' ? -BigInt(integer[2]!) : BigInt(integer[2]!);
  return text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
}

function entryHint(entry: string): string {
  const elements = elementsInWords.replaceAll(',', '');
  const [, readonly = '', other = '', array] = /^\s*(readonly )?(\w+?)(\[\]|Array)?\s*$/.exec(entry) ?? [];
  const meant = elementCalled(other);
  if (meant !== undefined)
    return `did you mean '${readonly}${meant}${array === undefined ? '' : '[]'}'? (element types: ${elements})`;
  if (/^\s*(Float|Int|Uint|BigInt|BigUint)\d+(Clamped)?Array\s*$/.test(entry)) {
    return `arrays are written by their element type, such as 'f32[]' (element types: ${elements})`;
  }
  if (/\b(number|float|double|int|size_t|boolean)\b/.test(entry)) {
    return "the types are 'f32', 'f64' for floats, 'i32', 'u32', 'index' for integers, and 'bool'";
  }
  if (/\b(bigint|long|int64_t|uint64_t)\b/.test(entry)) return "the types of bigints are 'i64' and 'u64'";
  if (/\b(float[234]|int[234]|half|float16|bfloat16)\b/i.test(entry)) {
    return "the types are 'f16' and 'bf16' for floats of 16 bits, and 'f32x4' and its like for vectors";
  }
  if (entry.includes('=')) return "only a constant has a default: 'constant index = 2'";
  return (
    `arrays: 'T[]' or 'readonly T[]' with T one of ${elements}; ` +
    `scalars: ${scalarTypes.join(' ')}, vectors such as f32x4; constants: 'constant T' or 'constant T = value'`
  );
}

/** Whether a value is a type of records. */
export function isStruct(value: unknown): value is Struct {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'struct';
}

/** Whether an entry of a schema is an array of records. */
export function isStructArray(value: unknown): value is StructArray {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'structArray';
}

/** Whether a value is a function made by `deviceFunction()`. */
export function isDeviceFunction(value: unknown): value is DeviceFunction {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'deviceFunction';
}

function isScalarType(text: string): text is ScalarType {
  return (scalarTypes as readonly string[]).includes(text);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return `the string '${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'bigint') return `the bigint ${value}n`;
  return `the ${typeof value} ${String(value)}`;
}
