// The values of a job's settings: defaults, what the caller set over them, and the widths of rows,
// which a file's shape may give.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import { fitsFloat } from '../formats/dtype.ts';
import { parseSchema, scalarProblem } from '../kernel/parameters.ts';
import { settingDeclaration } from './declaration.ts';
import type { AnyDefinition, Job, SettingValue, Width } from './job.ts';

export type Settings = Readonly<Record<string, SettingValue>>;

/** The names that a caller may set: settings, and scalars that are widths of rows. */
export function settingNames(definition: AnyDefinition): string[] {
  const declared = Object.keys(definition.settings ?? {});
  const groups = [definition.inputs, definition.outputs, definition.arrays];
  const widths = groups
    .flatMap((group) => Object.values(group ?? {}))
    .map((one) => ('width' in one ? one.width : undefined))
    .filter((width) => typeof width === 'string');
  return [...new Set([...declared, ...widths])];
}

/**
 * Refuses names that no job of the run has, and values out of range. What a pass computed for
 * the next may be NaN: that is an answer to its data.
 *
 * @throws WarpstageError WS5008 with an issue for every wrong setting
 */
export function checkSettings(jobs: readonly Job[], given: Settings, computed = false): void {
  const names = [...new Set(jobs.flatMap((job) => settingNames(job.definition)))];
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(given)) {
    const owner = jobs.find((job) => settingNames(job.definition).includes(name));
    if (owner === undefined) {
      const hints = [elementHint(jobs, name), names.length > 0 && `its settings are ${names.join(', ')}`];
      const hint = hints.filter(Boolean).join('; ') || 'it has none';
      issues.push({ code: 'WS5008', message: `the job has no setting '${name}'`, hint });
      continue;
    }
    const wrong = settingProblem(owner.definition, name, value, computed);
    if (wrong !== null) issues.push({ code: 'WS5008', message: `setting '${name}' ${wrong}` });
  }
  if (issues.length > 0) throw new WarpstageError(issues);
}

/** Of a name that has an element for each row, where one value for all rows was meant. */
function elementHint(jobs: readonly Job[], name: string): string | undefined {
  for (const { definition } of jobs) {
    if (definition.inputs?.[name] === undefined) continue;
    const parameter = parseSchema(definition.kernel.schema).find((one) => one.name === name);
    if (parameter?.kind !== 'array' || typeof parameter.element !== 'string') continue;
    return `${name} is an input, with an element for each row; for one value of all rows declare ${name}: 'constant ${parameter.element}'`;
  }
  return undefined;
}

/** What a job has of the settings that the caller gave. */
export function ownSettings({ definition }: Job, given: Settings): Settings {
  const names = settingNames(definition);
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
}

/** Defaults, and what was given over them. A width that nobody set is still missing. */
export function settingValues(definition: AnyDefinition, given: Settings): Settings {
  const values: Record<string, SettingValue> = {};
  for (const parameter of parseSchema(definition.kernel.schema)) {
    const known = parameter.kind === 'constant' ? parameter.default : undefined;
    if (known !== undefined) values[parameter.name] = known;
  }
  for (const name of settingNames(definition)) {
    const setting = definition.settings?.[name];
    const value = given[name] ?? (setting === undefined ? undefined : settingDeclaration(setting).default);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** Refuses settings without a value, once the widths that files give are among them. */
export function checkComplete(definition: AnyDefinition, values: Settings): void {
  const missing = settingNames(definition).filter((name) => values[name] === undefined);
  if (missing.length === 0) return;
  const message = `${missing.length === 1 ? 'setting' : 'settings'} ${missing.join(', ')} must be given`;
  throw problem(
    'WS5008',
    message,
    `pass it, for example settings: { ${missing[0]}: 1 }, or give it a default in the job`,
  );
}

/** Finds the widths of rows: from the declaration, from settings, or from the shapes of files. */
export class Widths {
  /** Settings, and widths that were found in shapes. */
  readonly values: Record<string, SettingValue>;
  /** Where a width was found. */
  readonly #origins = new Map<string, string>();

  constructor(settings: Settings) {
    this.values = { ...settings };
  }

  /** Elements of a row. `shape` is that of the file with the rows, if it has one. */
  of(source: string, width: Width = 1, shape?: readonly number[]): number {
    const found = shape?.slice(1).reduce((product, extent) => product * extent, 1);
    if (typeof width === 'string' && this.values[width] === undefined && found !== undefined) {
      this.values[width] = found;
      this.#origins.set(width, source);
    }
    const result = typeof width === 'string' ? this.values[width] : width;
    if (result === undefined) {
      throw problem(
        'WS5008',
        `setting '${width}', the elements of a row, must be given: ${source} does not say it`,
        `pass it, for example settings: { ${width}: 128 } (--set ${width}=128)`,
      );
    }
    if (!(typeof result === 'number' && Number.isSafeInteger(result) && result > 0)) {
      throw problem('WS5008', `a row must have at least one element; setting '${width}' is ${result}`);
    }
    if (shape !== undefined && shape.length > 1 && result !== found && width !== 1) {
      throw problem(
        'WS5005',
        `${source} has rows of ${found} elements (shape (${shape.join(', ')})), and the job takes rows of ${result}`,
        this.#hint(width, found!),
      );
    }
    return result;
  }

  #hint(width: Width, found: number): string | undefined {
    if (typeof width === 'number') return undefined;
    const origin = this.#origins.get(width);
    return origin === undefined
      ? `leave setting '${width}' away, or give it the value ${found}`
      : `${origin} gave setting '${width}' its value; all files must have rows of one width`;
  }
}

function settingProblem(
  definition: AnyDefinition,
  name: string,
  value: SettingValue,
  computed: boolean,
): string | null {
  const parameter = parseSchema(definition.kernel.schema).find((one) => one.name === name);
  if (parameter?.kind !== 'scalar' && parameter?.kind !== 'constant') return null;
  const wrong = scalarProblem(parameter.type, value);
  if (wrong !== null) return wrong;
  if (typeof value === 'boolean') return null;
  if (Number.isNaN(value)) return computed ? null : 'is NaN, and must be a number';
  if (!computed && !fitsFloat(parameter.type, value)) {
    return `is ${value}, which no ${parameter.type} holds: it would be infinite (say Infinity if that is meant)`;
  }
  const setting = definition.settings?.[name];
  const { minimum = -Infinity, maximum = Infinity } =
    setting === undefined ? {} : settingDeclaration(setting);
  if (value < minimum) return `is ${value}, and must be at least ${minimum}`;
  if (value > maximum) return `is ${value}, and must be at most ${maximum}`;
  return null;
}
