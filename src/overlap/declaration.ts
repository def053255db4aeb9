// Checks a job's definition when it is made, and names every field that cannot be.
//
// TypeScript has checked most of this already; a plain JavaScript caller, and a value that only
// a type assertion let through, meet it here.

import { nearestName } from '../compiler/nearest.ts';
import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import type { AnyFunction } from '../diagnostics/source.ts';
import { type KernelParameter, parseSchema, scalarProblem } from '../kernel/parameters.ts';
import { isRecordType, isVectorType, vectorTypes } from '../kernel/types.ts';
import { arrayProblem, describe, hasKind, mismatch, positionTypes } from './fields.ts';
import type { AnyDefinition, SettingDeclaration, SettingValue } from './job.ts';

const fields = [
  'name',
  'description',
  'kernel',
  'inputs',
  'outputs',
  'accumulators',
  'arrays',
  'settings',
  'functions',
  'offset',
  'rows',
  'remainder',
  'keep',
  'launch',
  'finish',
];

/**
 * Checks a definition.
 *
 * @throws WarpstageError WS5007 with an issue for every wrong field
 */
export function checkDefinition(definition: unknown, caller: AnyFunction): AnyDefinition {
  const check = new DefinitionCheck();
  check.all(definition);
  if (check.issues.length > 0) throw new WarpstageError(check.issues, { caller });
  return definition as AnyDefinition;
}

/** A setting's declaration in its long form. */
export function settingDeclaration(setting: SettingDeclaration | SettingValue): SettingDeclaration {
  return typeof setting === 'object' ? setting : { default: setting };
}

type Fields = Readonly<Record<string, unknown>>;

class DefinitionCheck {
  readonly issues: Issue[] = [];
  #parameters = new Map<string, KernelParameter>();
  /** The role that each parameter of the kernel has so far. */
  readonly #roles = new Map<string, string>();

  all(definition: unknown): void {
    if (!isFields(definition)) {
      this.#wrong('', `must be an object, and is ${describe(definition)}`);
      return;
    }
    for (const name of Object.keys(definition)) {
      if (!fields.includes(name)) {
        const nearest = nearestName(name, fields);
        const guess = nearest === null ? '' : `did you mean ${nearest}? `;
        this.#wrong(name, 'is no field of a job', `${guess}the fields are ${fields.join(', ')}`);
      }
    }
    const { kernel } = definition;
    if (!isFields(kernel) || kernel.kind !== 'kernel') {
      this.#wrong('kernel', `must be a kernel, and is ${describe(kernel)}`, 'make it with kernel({ … }, …)');
      return;
    }
    this.#parameters = new Map(
      parseSchema(kernel.schema as never).map((parameter) => [parameter.name, parameter]),
    );
    this.#text('name', definition.name);
    this.#text('description', definition.description);
    this.#entries('inputs', definition.inputs, 'array', (field, value) => this.#input(field, value));
    this.#entries('outputs', definition.outputs, 'writable', (field, value) => this.#output(field, value));
    this.#entries('accumulators', definition.accumulators, 'writable', (field, value) =>
      this.#accumulator(field, value),
    );
    this.#entries('arrays', definition.arrays, 'array', (field, value, parameter) =>
      this.#array(field, value, parameter),
    );
    this.#entries('settings', definition.settings, 'scalar', (field, value, parameter) =>
      this.#setting(field, value, parameter),
    );
    this.#entries('functions', definition.functions, 'function', (field, value) => {
      if (!isFields(value) || value.kind !== 'deviceFunction') {
        this.#wrong(
          field,
          `must be a device function, and is ${describe(value)}`,
          'make it with deviceFunction()',
        );
      }
    });
    this.#position('offset', definition.offset);
    this.#position('rows', definition.rows);
    this.#oneOf('remainder', definition.remainder, ['error', 'drop', 'partial']);
    this.#keep(definition);
    this.#launch(definition.launch);
    const { finish } = definition;
    if (finish !== undefined && typeof finish !== 'function') {
      this.#wrong('finish', `must be a function, and is ${describe(finish)}`);
    }
    this.#widths(definition);
    this.#complete(definition);
  }

  #input(field: string, value: unknown): void {
    if (!this.#object(field, value, ['column', 'width', 'halo', 'edge', 'convert', 'nulls'])) return;
    this.#text(`${field}.column`, value.column);
    this.#halo(`${field}.halo`, value.halo);
    this.#oneOf(`${field}.edge`, value.edge, ['zero', 'clamp']);
    this.#oneOf(`${field}.convert`, value.convert, ['exact', 'nearest']);
    this.#number(`${field}.nulls`, value.nulls);
  }

  #halo(field: string, halo: unknown): void {
    const arePair = (pair: unknown) =>
      pair === undefined || (Array.isArray(pair) && pair.length === 2 && pair.every(isCount));
    if (arePair(halo)) return;
    if (!isFields(halo)) {
      const what = `must be two counts of rows, [before, after], and is ${describe(halo)}`;
      this.#wrong(field, what, 'in two directions: { rows: [1, 1], columns: [1, 1] }');
      return;
    }
    if (!this.#object(field, halo, ['rows', 'columns', 'channels'])) return;
    const { rows, columns, channels } = halo;
    if (!arePair(rows))
      this.#wrong(`${field}.rows`, `must be two counts, [before, after], and is ${describe(rows)}`);
    if (!arePair(columns))
      this.#wrong(`${field}.columns`, `must be two counts, [left, right], and is ${describe(columns)}`);
    if (channels !== undefined && !(isCount(channels) && channels > 0))
      this.#wrong(`${field}.channels`, `must be a positive count of elements, and is ${describe(channels)}`);
  }

  #output(field: string, value: unknown): void {
    if (!this.#object(field, value, ['ratio', 'width'])) return;
    const { ratio } = value;
    if (ratio === undefined) return;
    const good =
      Array.isArray(ratio) && ratio.length === 2 && ratio.every((part) => isCount(part) && part > 0);
    if (!good) {
      const hint = 'one row for each four of input is [1, 4]';
      this.#wrong(
        `${field}.ratio`,
        `must be two positive counts of rows, [out, in], and is ${describe(ratio)}`,
        hint,
      );
    }
  }

  #accumulator(field: string, value: unknown): void {
    if (!this.#object(field, value, ['length', 'per', 'combine', 'initial'])) return;
    const { length, combine } = value;
    if (typeof length === 'string') this.#scalarName(`${field}.length`, length);
    else if (length !== undefined && typeof length !== 'function' && !(isCount(length) && length > 0)) {
      this.#wrong(`${field}.length`, `must be a positive count of elements, and is ${describe(length)}`);
    }
    this.#oneOf(`${field}.per`, value.per, ['job', 'block']);
    if (typeof combine !== 'function') {
      this.#oneOf(
        `${field}.combine`,
        combine,
        ['sum', 'min', 'max', 'concat'],
        ' or a function (a, b) => number',
      );
    }
    this.#value(`${field}.initial`, value.initial);
  }

  #array(field: string, value: unknown, parameter: KernelParameter): void {
    if (typeof value === 'function') return;
    if (ArrayBuffer.isView(value)) {
      const problem = arrayProblem(value, parameter);
      if (problem !== null) this.#wrong(field, problem);
      return;
    }
    if (!this.#object(field, value, ['operand', 'column', 'width', 'convert', 'nulls'])) return;
    if (value.operand !== true) {
      this.#wrong(field, 'must be a typed array, a function that gives one, or { operand: true }');
    }
    this.#text(`${field}.column`, value.column);
    this.#oneOf(`${field}.convert`, value.convert, ['exact', 'nearest']);
    this.#number(`${field}.nulls`, value.nulls);
  }

  #setting(field: string, value: unknown, parameter: KernelParameter): void {
    if (parameter.kind !== 'scalar' && parameter.kind !== 'constant') return;
    const long = isFields(value) ? value : { default: value };
    if (!this.#object(field, long, ['default', 'description', 'minimum', 'maximum'])) return;
    this.#text(`${field}.description`, long.description);
    this.#value(`${field}.minimum`, long.minimum);
    this.#value(`${field}.maximum`, long.maximum);
    if (long.default === undefined) return;
    const problem = scalarProblem(parameter.type, long.default);
    if (problem !== null) this.#wrong(isFields(value) ? `${field}.default` : field, problem);
  }

  #position(field: string, name: unknown): void {
    if (name === undefined) return;
    const parameter = this.#scalarName(field, name);
    if (parameter === undefined) return;
    if (parameter.kind !== 'scalar' || !positionTypes.has(parameter.type)) {
      this.#wrong(
        field,
        `names '${parameter.name}', which must be a number that changes from chunk to chunk`,
        `declare it as 'index' in the schema`,
      );
      return;
    }
    this.#role(parameter.name, field);
  }

  /** The array that says which rows are kept. */
  #keep({ keep, outputs }: Fields): void {
    if (keep === undefined) return;
    const parameter = typeof keep === 'string' ? this.#parameters.get(keep) : undefined;
    const isMask = (one: KernelParameter) =>
      one.kind === 'array' && hasKind(one, 'writable') && /^[iu](8|16|32)$/.test(one.element as string);
    if (parameter === undefined || !isMask(parameter)) {
      const names = [...this.#parameters.values()].filter(isMask).map(({ name }) => name);
      const what = `must name an array of whole numbers that the kernel writes, and is ${describe(keep)}`;
      const hint =
        names.length > 0 ? `those that can stand here: ${names.join(', ')}` : "declare one: kept: 'u8[]'";
      this.#wrong('keep', what, hint);
      return;
    }
    this.#role(parameter.name, 'keep');
    const declared = Object.entries(isFields(outputs) ? outputs : {});
    if (declared.length === 0) this.#wrong('keep', 'leaves out rows of the outputs, and there are none');
    for (const [name, output] of declared) {
      const ratio = isFields(output) ? output.ratio : undefined;
      if (!Array.isArray(ratio) || ratio[0] === ratio[1]) continue;
      this.#wrong(`outputs.${name}.ratio`, 'is another than [1, 1], and keep counts rows of input');
    }
  }

  #launch(launch: unknown): void {
    if (launch === undefined || typeof launch === 'function') return;
    if (!this.#object('launch', launch, ['block', 'rowsPerThread', 'grid'])) return;
    for (const name of ['block', 'grid']) {
      const extent = launch[name];
      const parts = Array.isArray(extent) ? extent : [extent];
      const good = parts.length >= 1 && parts.length <= 3 && parts.every((part) => isCount(part) && part > 0);
      if (extent !== undefined && !good) {
        this.#wrong(`launch.${name}`, `must be one to three positive counts, and is ${describe(extent)}`);
      }
    }
    const { rowsPerThread } = launch;
    if (rowsPerThread !== undefined && !(isCount(rowsPerThread) && rowsPerThread > 0)) {
      this.#wrong('launch.rowsPerThread', `must be a positive count, and is ${describe(rowsPerThread)}`);
    }
  }

  /** Widths may name scalars; a scalar that only a width names gets that as its role. */
  #widths(definition: Fields): void {
    for (const role of ['inputs', 'outputs', 'arrays']) {
      const group = definition[role];
      if (!isFields(group)) continue;
      for (const [name, value] of Object.entries(group)) {
        if (!isFields(value) || ArrayBuffer.isView(value)) continue;
        const field = `${role}.${name}.width`;
        const { width } = value;
        if (width === undefined || (isCount(width) && width > 0)) continue;
        if (typeof width !== 'string') {
          this.#wrong(
            field,
            `must be a positive count of elements or the name of a scalar, and is ${describe(width)}`,
          );
          continue;
        }
        const parameter = this.#scalarName(field, width);
        if (parameter !== undefined && !this.#roles.has(width)) this.#roles.set(width, field);
      }
    }
  }

  /** Every parameter has a role, and there is something to read and something to gain. */
  #complete(definition: Fields): void {
    if (this.issues.length > 0) return;
    if (Object.keys((definition.inputs as Fields | undefined) ?? {}).length === 0) {
      this.#wrong('inputs', 'must name at least one array of the kernel');
    }
    const gains = { ...(definition.outputs as Fields), ...(definition.accumulators as Fields) };
    if (Object.keys(gains).length === 0) {
      this.#wrong(
        'outputs',
        'must name at least one array, or accumulators must: the job would give nothing',
      );
    }
    for (const parameter of this.#parameters.values()) {
      if (this.#roles.has(parameter.name) || parameter.kind === 'function') continue;
      if (parameter.kind === 'constant' && parameter.default !== undefined) continue;
      const hint =
        parameter.kind === 'vector'
          ? `jobs set numbers: declare its components one by one`
          : parameter.kind === 'array'
            ? `add ${parameter.name} to inputs, outputs, accumulators or arrays, or name it as keep`
            : `add ${parameter.name} to settings, or name it as offset or rows`;
      this.#wrong('', `leaves out the kernel's parameter '${parameter.name}'`, hint);
    }
  }

  #entries(
    field: string,
    value: unknown,
    kind: 'array' | 'writable' | 'scalar' | 'function',
    each: (field: string, value: unknown, parameter: KernelParameter) => void,
  ): void {
    if (value === undefined) return;
    if (!isFields(value)) {
      const [name = [...this.#parameters.keys()][0] ?? 'x'] = Array.isArray(value) ? value : [value];
      const hint = `write ${field}: { ${String(name)}: ${kind === 'scalar' ? '1' : '{}'} }`;
      this.#wrong(field, `must be an object of parameter names, and is ${describe(value)}`, hint);
      return;
    }
    for (const [name, entry] of Object.entries(value)) {
      const parameter = this.#parameters.get(name);
      const fits = parameter !== undefined && hasKind(parameter, kind);
      if (!fits) {
        const what = parameter === undefined ? 'no parameter of the kernel' : mismatch(parameter, kind);
        const names = [...this.#parameters.values()]
          .filter((one) => hasKind(one, kind))
          .map((one) => one.name);
        const hint = names.length > 0 ? `those that can stand here: ${names.join(', ')}` : undefined;
        this.#wrong(`${field}.${name}`, `is ${what}`, hint);
      } else if (entry !== undefined) {
        this.#element(`${field}.${name}`, field, parameter);
        this.#role(name, field);
        each(`${field}.${name}`, entry, parameter);
      }
    }
  }

  /** Jobs stream numbers, and fold those that hold sums. */
  #element(field: string, role: string, parameter: KernelParameter): void {
    if (parameter.kind !== 'array') return;
    const { element, name, dimensions } = parameter;
    if (dimensions !== undefined) {
      this.#wrong(
        field,
        `has ${dimensions} dimensions, and jobs stream rows one after the other`,
        `declare it as '${parameter.readonly ? 'readonly ' : ''}${element}[]', and shape it in the kernel: ${name}.shaped([rows, width])`,
      );
    } else if (isRecordType(element)) {
      this.#wrong(
        field,
        'is an array of records, and jobs stream arrays of numbers',
        'let the kernel take an array of numbers for each field',
      );
    } else if (isVectorType(element)) {
      const { component, components } = vectorTypes[element];
      const hasRows = role === 'inputs' || role === 'outputs';
      this.#wrong(
        field,
        `is an array of ${element}, and jobs stream arrays of numbers`,
        `declare it as ${name}: '${parameter.readonly ? 'readonly ' : ''}${component}[]' in the schema${hasRows ? `, and its rows in the job as ${name}: { width: ${components} }` : ''}`,
      );
    } else if (role === 'accumulators' && (element === 'f16' || element === 'bf16')) {
      this.#wrong(field, `is an array of ${element}, which is too coarse to accumulate in`, 'let it be f32');
    }
  }

  #role(name: string, role: string): void {
    const other = this.#roles.get(name);
    if (other === undefined) this.#roles.set(name, role);
    else this.#wrong(`${role}.${name}`, `is named in ${other} already; a parameter has one role`);
  }

  #scalarName(field: string, name: unknown): (KernelParameter & { kind: 'scalar' | 'constant' }) | undefined {
    const parameter = typeof name === 'string' ? this.#parameters.get(name) : undefined;
    if (parameter?.kind === 'scalar' || parameter?.kind === 'constant') return parameter;
    const names = [...this.#parameters.values()]
      .filter((one) => hasKind(one, 'scalar'))
      .map((one) => one.name);
    const hint = names.length > 0 ? `the scalars are ${names.join(', ')}` : undefined;
    this.#wrong(field, `must name a scalar of the kernel, and is ${describe(name)}`, hint);
    return undefined;
  }

  #object(field: string, value: unknown, known: readonly string[]): value is Fields {
    if (!isFields(value)) {
      this.#wrong(field, `must be an object, and is ${describe(value)}`);
      return false;
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name))
        this.#wrong(`${field}.${name}`, 'is unknown', `the fields are ${known.join(', ')}`);
    }
    return true;
  }

  #oneOf(field: string, value: unknown, words: readonly string[], more = ''): void {
    if (value === undefined || words.includes(value as string)) return;
    const list = words.map((word) => `'${word}'`).join(', ');
    this.#wrong(field, `must be one of ${list}${more}, and is ${describe(value)}`);
  }

  #text(field: string, value: unknown): void {
    if (value !== undefined && typeof value !== 'string') {
      this.#wrong(field, `must be a string, and is ${describe(value)}`);
    }
  }

  #number(field: string, value: unknown): void {
    if (value !== undefined && typeof value !== 'number') {
      this.#wrong(field, `must be a number, and is ${describe(value)}`);
    }
  }

  /** A value of an element or a scalar: a number, or a bigint for those of 64 bits. */
  #value(field: string, value: unknown): void {
    if (typeof value !== 'bigint') this.#number(field, value);
  }

  #wrong(field: string, what: string, hint?: string): void {
    const message = field === '' ? `the job ${what}` : `${field} of the job ${what}`;
    this.issues.push({ code: 'WS5007', message, ...(hint === undefined ? {} : { hint }) });
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
