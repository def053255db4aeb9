// A function of one row, as a kernel that has no positions in it.
//
// map() and reduce() take a schema of elements and a function of them. Here the function becomes a device
// function, and its schema that of a kernel whose text does the counting: which thread has which row, how
// its elements are read, and where the results go. What is wrong in the user's function is reported at
// its own lines; what is wrong with its result, at the expression that it returns.

import type { AnyNode, Expression } from 'acorn';
import { parseFunction } from '../compiler/parse.ts';
import { problem } from '../diagnostics/problem.ts';
import {
  type AnyFunction,
  createKernelSource,
  functionOfText,
  type MadeParts,
} from '../diagnostics/source.ts';
import { deviceFunction, type Kernel, kernel } from '../kernel/kernel.ts';
import { isDeviceFunction, parseDeviceSchema } from '../kernel/parameters.ts';
import type {
  DeviceFunction,
  DeviceSchema,
  EntryValue,
  Schema,
  SchemaEntry,
  ValueOf,
  WindowEntry,
} from '../kernel/schema.ts';
import { type HostArrays, type NumberElement, numberBytes, type ScalarType } from '../kernel/types.ts';
import type { InputDeclaration, SettingDeclaration, SettingValue } from './job.ts';

/**
 * What a row has: elements (`'f32'`), elements with their neighbours (`'f32[-1..1]'`), constants, which are
 * the same for all rows and can be set, and device functions.
 */
export interface RowSchema {
  readonly [name: string]:
    | NumberElement
    | WindowEntry
    | `constant ${ScalarType}`
    | `constant ${ScalarType} = ${string}`
    | DeviceFunction<DeviceSchema, unknown>;
}

/** The first parameter of a function of rows: a number (a bigint of 64 bits) for each element. */
export type RowData<S extends RowSchema> = { readonly [K in keyof S]: EntryValue<S[K]> };

/** Names of a row's elements. */
export type ElementNames<S extends RowSchema> = {
  [K in keyof S]: S[K] extends NumberElement ? K : never;
}[keyof S] &
  string;

export type InputNames<S extends RowSchema> = {
  [K in keyof S]: S[K] extends NumberElement | WindowEntry ? K : never;
}[keyof S] &
  string;

export type ConstantNames<S extends RowSchema> = {
  [K in keyof S]: S[K] extends `constant ${string}` ? K : never;
}[keyof S] &
  string;

/** A value of an element. */
export type ElementValueOf<T> = ValueOf<T>;

/** The host's array of an element. */
export type HostArrayOf<T> = T extends NumberElement ? HostArrays[T] : never;

/** What a function of rows gives: the value of the schema's first entry, or an object that names its entries. */
export type RowResult<S extends RowSchema> =
  | number
  | bigint
  | boolean
  | { readonly [K in ElementNames<S>]?: number | bigint | boolean };

/** The elements that a single value can be stored as: a bigint those of 64 bits, a number the others. */
export type ElementsFor<R> = R extends bigint ? 'i64' | 'u64' : Exclude<NumberElement, 'i64' | 'u64'>;

/**
 * The names of what a function gives. Of a single value it is the schema's first entry, but TypeScript does not know
 * the order of entries: all that could hold the value are named. An object names its results exactly.
 */
export type ResultNames<S extends RowSchema, R> = R extends number | bigint | boolean
  ? { [K in keyof S]: S[K] extends ElementsFor<R> ? K : never }[keyof S] & string
  : keyof R & ElementNames<S>;

/** What map() and reduce() take beside. */
export interface RowOptions<S extends RowSchema> {
  /** For messages and reports. Default: the function's name, or that of its export. */
  readonly name?: string;
  /** One sentence for the help. */
  readonly description?: string;
  /** How inputs are read; as in a job's `inputs`. */
  readonly inputs?: {
    readonly [K in InputNames<S>]?: Pick<InputDeclaration, 'column' | 'edge' | 'convert' | 'nulls'>;
  };
  /** Descriptions, limits and other defaults of constants; as in a job's `settings`. */
  readonly settings?: { readonly [K in ConstantNames<S>]?: SettingDeclaration | SettingValue };
  /** Lets a GPU round `a * b + c` once; as in `kernel()`. */
  readonly fma?: boolean;
}

/** An entry of a row that comes from an input. */
interface RowInput {
  readonly name: string;
  readonly window: readonly [first: number, last: number] | undefined;
}

/** A function of rows and its schema, read. */
export class RowFunction {
  readonly maker: 'map' | 'reduce';
  readonly results: readonly { readonly name: string; readonly element: NumberElement }[];
  readonly inputs: readonly RowInput[];
  readonly constants: readonly string[];
  readonly #schema: RowSchema;
  readonly #fn: AnyFunction;
  /** Whether the function gives an object. */
  readonly #named: boolean;

  /** @throws WarpstageError WS5007 for a schema that it cannot be of, WS1001 for a function without a text */
  constructor(maker: 'map' | 'reduce', schema: RowSchema, fn: AnyFunction) {
    this.maker = maker;
    const example = `${maker}({ y: 'f32', x: 'u8' }, ({ x }) => x / 255)`;
    if (typeof schema !== 'object' || schema === null || typeof fn !== 'function') {
      const hint = `write ${example}`;
      throw problem('WS5007', `${maker}() takes a schema and a function of a row`, hint);
    }
    const parameters = new Map(
      parseDeviceSchema(schema as DeviceSchema).map((parameter) => [parameter.name, parameter]),
    );
    for (const { name, kind } of parameters.values()) {
      const entry = String(schema[name]);
      if (kind === 'constant' || kind === 'function' || Object.hasOwn(numberBytes, entry)) continue;
      if (kind === 'array' && !entry.endsWith('[]')) continue;
      const element = entry.replace(/^readonly /, '').replace(/(\[\])+$/, '');
      const hint = Object.hasOwn(numberBytes, element)
        ? `a row has one element of it: ${name}: '${element}'`
        : `elements are ${Object.keys(numberBytes).join(' ')}; what is the same for all rows is a constant: ${name}: 'constant f32 = 1'`;
      throw problem('WS5007', `${maker}(): '${name}' is '${entry}', which no row has`, hint);
    }
    const named = namesOfResult(fn);
    const names = named ?? Object.keys(schema).slice(0, 1);
    this.results = names.map((name) => {
      const entry = schema[name];
      if (typeof entry === 'string' && Object.hasOwn(numberBytes, entry)) {
        return { name, element: entry as NumberElement };
      }
      const message =
        entry === undefined
          ? `${maker}(): the function gives '${name}', and the schema has no such entry`
          : `${maker}(): '${name}' is what the function gives, and is ${typeof entry === 'string' ? `'${entry}'` : 'a function'}`;
      throw problem('WS5007', message, `the result comes first, with its element type: ${example}`);
    });
    const taken = namesTaken(fn).find((name) => names.includes(name));
    if (taken !== undefined) {
      const isElement = (name: string) => Object.hasOwn(numberBytes, String(schema[name]));
      const others = Object.keys(schema).filter((name) => name !== taken);
      const results = others.filter(isElement);
      const inOrder = [...results, taken, ...others.filter((name) => !isElement(name))].map(
        (name) => `${name}: ${isString(schema[name]) ? `'${schema[name]}'` : name}`,
      );
      throw problem(
        'WS5007',
        `${maker}(): the function takes '${taken}', which is its result`,
        named === null && results.length > 0
          ? `the schema's first entry is the result, the others are the inputs: ${maker}({ ${inOrder.join(', ')} }, …)`
          : 'give the input another name than the result: a job does not read what it writes',
      );
    }
    const rest = [...parameters.values()].filter(({ name }) => !names.includes(name));
    this.inputs = rest.flatMap((parameter): RowInput[] => {
      if (parameter.kind === 'scalar') return [{ name: parameter.name, window: undefined }];
      return parameter.kind === 'array' ? [{ name: parameter.name, window: parameter.window }] : [];
    });
    if (this.inputs.length === 0) {
      throw problem(
        'WS5007',
        `${maker}(): no entry of the schema is an input`,
        `write for example ${example}`,
      );
    }
    this.constants = rest.flatMap(({ kind, name }) => (kind === 'constant' ? [name] : []));
    this.#schema = schema;
    this.#fn = fn;
    this.#named = named !== null;
  }

  /** The inputs of a job: with the halos that the windows need. */
  declareInputs(given: Readonly<Record<string, InputDeclaration>> = {}): Record<string, InputDeclaration> {
    return Object.fromEntries(
      this.inputs.map(({ name, window }) => {
        const halo = window === undefined ? {} : { halo: [-window[0], window[1]] as const };
        return [name, { ...given[name], ...halo }];
      }),
    );
  }

  /** The settings of a job: every constant is one. */
  declareSettings(given: Readonly<Record<string, SettingDeclaration | SettingValue>> = {}) {
    const parameters = parseDeviceSchema(this.#schema as DeviceSchema);
    return Object.fromEntries(
      parameters.flatMap((parameter) => {
        if (parameter.kind !== 'constant') return [];
        const own = given[parameter.name];
        const { default: value } = parameter;
        const long: SettingDeclaration =
          typeof own === 'object' ? own : own === undefined ? {} : { default: own };
        return [[parameter.name, value === undefined ? long : { default: value, ...long }]];
      }),
    );
  }

  /** A name that the schema does not have. */
  free(name: string): string {
    return Object.hasOwn(this.#schema, name) ? this.free(`${name}_`) : name;
  }

  /**
   * The kernel of a text. `more` are its entries beside those of the rows. `compute` gives the statements that
   * compute the row whose number the variable `row` has, and do with each result what `take` says. Each result has an
   * array of its name, but the `key`.
   */
  kernel(
    more: Readonly<Record<string, SchemaEntry>>,
    text: (compute: (take: (name: string, value: string) => string) => string) => string,
    { name = this.#fn.name, fma = false }: RowOptions<RowSchema>,
    key?: string,
  ): Kernel {
    const each = this.free('each');
    const ofRow = Object.entries(this.#schema).filter(
      ([key]) => !this.results.some(({ name }) => name === key),
    );
    const schema: Record<string, SchemaEntry> = {};
    for (const { name, element } of this.results) {
      if (name !== key) schema[name] = `${element}[]`;
    }
    for (const [name, entry] of ofRow) {
      const isInput = this.inputs.some((input) => input.name === name);
      schema[name] = isInput
        ? `readonly ${String(entry).replace(/\[.*/, '') as NumberElement}[]`
        : (entry as SchemaEntry);
    }
    Object.assign(schema, more);
    const types = Object.fromEntries(this.results.map(({ name, element }) => [name, element]));
    schema[each] = Object.freeze({
      ...deviceFunction(Object.fromEntries(ofRow) as DeviceSchema, this.#fn as never),
      results: this.#named ? types : this.results[0]!.element,
    });
    const passed = ofRow.map(([key, entry]) => {
      const input = this.inputs.find(({ name }) => name === key);
      const read = `data[${quoted(key)}]`;
      if (input === undefined) return isDeviceFunction(entry) ? '' : `${quoted(key)}: ${read}, `;
      return `${quoted(key)}: ${input.window === undefined ? `${read}[row]` : `${read}.subarray(row + ${-input.window[0]})`}, `;
    });
    const functions = ofRow.filter(([, entry]) => isDeviceFunction(entry));
    const also = functions.map(([key]) => `${quoted(key)}: data[${quoted(key)}], `);
    const value = `data[${quoted(each)}]({ ${[...passed, ...also].join('')}})`;
    const compute = (take: (name: string, value: string) => string) => {
      if (!this.#named) return take(this.results[0]!.name, value);
      const taken = this.results.map(({ name }) => take(name, `result[${quoted(name)}]`));
      return [`const result = ${value};`, ...taken].join(' ');
    };
    const body = functionOfText(text(compute), this.#fn, () => partsOf(this.#fn, this.#named ? null : value));
    return kernel(schema as Schema, body as never, { name, fma });
  }
}

/** A string of the kernel's text. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** What a function returns at its end, as it is written; undefined where it returns nothing there. */
function resultOf(fn: AnyFunction): Expression | undefined {
  const { node } = parseFunction(fn, createKernelSource(fn, fn.name || 'the function'));
  if (node.body.type !== 'BlockStatement') return node.body;
  const last = node.body.body.at(-1) as AnyNode | undefined;
  return last?.type === 'ReturnStatement' ? (last.argument ?? undefined) : undefined;
}

/** The names in the object that a function returns; null where it returns no object. */
function namesOfResult(fn: AnyFunction): string[] | null {
  const result = resultOf(fn);
  return result?.type === 'ObjectExpression' ? namedParts(result).map(([name]) => name) : null;
}

/** The names in an object and what they have there. */
function namedParts(result: Expression): [name: string, value: Expression][] {
  if (result.type !== 'ObjectExpression') return [];
  return result.properties.flatMap((property): [string, Expression][] => {
    if (property.type !== 'Property' || property.computed) return [];
    const { key, value } = property;
    return [[key.type === 'Identifier' ? key.name : String((key as { value?: unknown }).value), value]];
  });
}

/** The names that a function takes from its first parameter, as far as its text names them there. */
function namesTaken(fn: AnyFunction): string[] {
  const [data] = parseFunction(fn, createKernelSource(fn, fn.name || 'the function')).node.params;
  if (data?.type !== 'ObjectPattern') return [];
  return data.properties.flatMap((property) =>
    property.type === 'Property' && !property.computed && property.key.type === 'Identifier'
      ? [property.key.name]
      : [],
  );
}

function isString(entry: unknown): entry is string {
  return typeof entry === 'string';
}

/** What the results in a kernel's text stand for: `value` for all that the function returns; null, if that has names. */
function partsOf(fn: AnyFunction, value: string | null): MadeParts {
  const { shift } = parseFunction(fn, createKernelSource(fn, fn.name || 'the function'));
  const result = resultOf(fn);
  if (result === undefined) return { offset: 0, parts: [] };
  const offset = Math.max(0, result.start - shift);
  if (value !== null) return { offset, parts: [{ made: value, start: offset, end: result.end - shift }] };
  const parts = namedParts(result).map(([name, { start, end }]) => ({
    made: `result[${quoted(name)}]`,
    start: start - shift,
    end: end - shift,
  }));
  return { offset, parts };
}
