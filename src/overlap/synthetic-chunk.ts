// A job's launch without data: one chunk of made-up rows, for the checker.
//
// Lengths, widths, constant arrays and the shape of the launch are those that a run would have; only
// the elements of the inputs are made up. A setting without a default that nobody gives, as those that
// one pass computes for the next, is 1.

import type { Kernel } from '../kernel/kernel.ts';
import { parseSchema, type SchemaParameter } from '../kernel/parameters.ts';
import type { ElementType, Extent } from '../kernel/types.ts';
import { initialArray, lengthOfAccumulator } from './accumulate.ts';
import { type ArraysOfChunk, launchOf, lengthsOf, volume } from './chunks.ts';
import { constantArray } from './constants.ts';
import { haloOf } from './halo.ts';
import { isOperand } from './input-data.ts';
import type { AnyDefinition, ArrayDeclaration, Job, SettingValue, TypedArray } from './job.ts';
import { writtenArrays } from './kept-rows.ts';
import { granularityOf } from './plan.ts';
import { type Settings, settingNames, settingValues, Widths } from './settings.ts';

/** An argument of which the checker makes the elements up; `unfilled` ones are undefined at first. */
interface MadeUp {
  readonly length: number;
  readonly unfilled?: boolean;
}

/** What a chunk's launch passes to the kernel. */
export interface SyntheticChunk {
  readonly kernel: Kernel;
  readonly grid: Extent;
  readonly block: Extent;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Elements of a row where only data would tell. */
const usualWidth = 4;
/** Rows of a constant array that comes from an input of its own. */
const operandRows = 16;

/** The launch of a job's chunk of about so many rows. */
export function syntheticChunk({ definition }: Job, given: Settings, rows: number): SyntheticChunk {
  return new Synthesis(definition, given).chunk(rows);
}

class Synthesis {
  readonly #definition: AnyDefinition;
  readonly #widths: Widths;
  readonly #parameters: ReadonlyMap<string, SchemaParameter>;

  constructor(definition: AnyDefinition, given: Settings) {
    this.#definition = definition;
    this.#widths = new Widths(completed(definition, settingValues(definition, given)));
    this.#parameters = new Map(parseSchema(definition.kernel.schema).map((one) => [one.name, one]));
  }

  chunk(wanted: number): SyntheticChunk {
    const definition = this.#definition;
    const { kernel, functions } = definition;
    const inputs = Object.entries(definition.inputs).map(([name, { width, halo }]) => {
      const { before, after, left, right } = haloOf(halo);
      return {
        ...{ name, width: this.#widths.of(name, width) },
        ...{ halo: before + after, beside: left + right },
      };
    });
    const outputs = Object.entries(writtenArrays(definition)).map(
      ([name, { ratio = [1, 1] as const, width }]) => ({
        name,
        width: this.#widths.of(name, width),
        ratio,
      }),
    );
    const granularity = granularityOf(outputs);
    const rows = Math.max(1, Math.floor(wanted / granularity)) * granularity;
    const settings = this.#widths.values;
    const fixed = this.#constantArrays(rows);
    const streams: ArraysOfChunk = { inputs, outputs, accumulators: [], constantLengths: {} };
    const lengths = {
      ...lengthsOf(streams, rows),
      ...Object.fromEntries(Object.entries(fixed).map(([name, { length }]) => [name, length])),
    };
    const { grid, block } = launchOf(definition, { rows, offset: 0, lengths, settings });

    const args: Record<string, unknown> = { ...functions, ...settings, ...fixed };
    for (const { name } of inputs) args[name] = { length: lengths[name]! } satisfies MadeUp;
    for (const { name } of outputs) args[name] = { length: lengths[name]!, unfilled: true } satisfies MadeUp;
    for (const [name, declaration] of Object.entries(definition.accumulators ?? {})) {
      const context = { settings, rows, chunkRows: rows, lengths };
      const length = lengthOfAccumulator(name, declaration, context);
      const blocks = declaration.per === 'block' ? volume(grid) : 1;
      args[name] = initialArray(this.#elementOf(name), declaration, length * blocks);
    }
    if (definition.offset !== undefined) args[definition.offset] = 0;
    if (definition.rows !== undefined) args[definition.rows] = rows;
    return { kernel, grid, block, arguments: args };
  }

  #constantArrays(rows: number): Record<string, TypedArray | MadeUp> {
    const made: Record<string, TypedArray | MadeUp> = {};
    for (const [name, declaration] of Object.entries(this.#definition.arrays ?? {})) {
      made[name] = isOperand(declaration)
        ? { length: operandRows * this.#widths.of(name, declaration.width) }
        : this.#constantArray(name, declaration, rows, made);
    }
    return made;
  }

  #constantArray(
    name: string,
    declaration: ArrayDeclaration,
    rows: number,
    before: Readonly<Record<string, { readonly length: number }>>,
  ): TypedArray {
    const lengths = Object.fromEntries(Object.entries(before).map(([other, { length }]) => [other, length]));
    const context = { settings: this.#widths.values, rows, chunkRows: rows, lengths };
    return constantArray(name, this.#elementOf(name), declaration, context);
  }

  #elementOf(name: string) {
    const parameter = this.#parameters.get(name);
    if (parameter?.kind !== 'array') throw new TypeError(`${name} is no array of the kernel`);
    return parameter.element as ElementType;
  }
}

/** Settings with a value for each: a few elements for a row, 1 for what only another pass would tell. */
function completed(definition: AnyDefinition, values: Settings): Settings {
  const all: Record<string, SettingValue> = { ...values };
  const groups = [definition.inputs, definition.outputs, definition.arrays];
  const widths = new Set(
    groups
      .flatMap((group) => Object.values(group ?? {}))
      .map((one) => ('width' in one ? one.width : undefined)),
  );
  for (const name of settingNames(definition)) all[name] ??= widths.has(name) ? usualWidth : 1;
  return all;
}
