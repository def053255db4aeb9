// reduce(): a job that folds a function of each row into one value.
//
// A row is folded into one of a fixed number of partial results, which its position in the whole decides, and
// a partial result takes its rows in their order. So the bits of a result depend neither on how the rows are
// cut into chunks nor on how many blocks run at once. The partial results are folded on the host, halving
// their number at each step.

import { problem } from '../diagnostics/problem.ts';
import type { AnyFunction } from '../diagnostics/source.ts';
import { type ElementValue, setElement } from '../formats/typed-arrays.ts';
import type { Cuda } from '../kernel/cuda.ts';
import { type DeviceFunction, deviceFunction } from '../kernel/kernel.ts';
import type { NumberElement } from '../kernel/types.ts';
import { type AnyDefinition, type FinishContext, type Job, job, type TypedArray } from './job.ts';
import {
  type ElementNames,
  type ElementValueOf,
  quoted,
  type ResultNames,
  type RowData,
  RowFunction,
  type RowOptions,
  type RowResult,
  type RowSchema,
} from './row-function.ts';

/** How two values become one. */
export type Fold = 'sum' | 'min' | 'max';

/** What was folded, by name. */
export type Folded<S extends RowSchema, R> = {
  readonly [K in ResultNames<S, R>]: ElementValueOf<S[K]>;
};

/** What reduce() takes beside. */
export interface ReduceOptions<S extends RowSchema, R, V> extends RowOptions<S> {
  /** How the rows' values become one; of several results, for each by its name. Default `'sum'`. */
  readonly combine?: Fold | { readonly [K in ElementNames<S>]?: Fold };
  /** Makes the job's value of what was folded. Default: the value itself, or the object of several. */
  readonly finish?: (folded: Folded<S, R>, context: FinishContext) => V;
}

/** The value of a reduction without `finish`. */
export type ReducedValue<S extends RowSchema, R> = R extends number | bigint | boolean
  ? ElementValueOf<S[ResultNames<S, R>]>
  : Folded<S, R>;

/** Threads of a block. */
const threads = 256;
/** Rows of a tile that a thread folds; a block takes a tile at a time. */
const rowsOfThread = 64;
const tileRows = threads * rowsOfThread;
/** Tiles that are folded into partial results of their own. */
const tiles = 256;

/** What a fold can be held in: an 8-bit sum would overflow at once. */
const folded: readonly NumberElement[] = ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'];

/** What `reduce` is. */
export type DeclareReduce =
  /**
   * Declares a job that folds all rows into one value: a sum unless `combine` says otherwise. The first
   * entry of the schema is what is folded, with the type to fold in; the others are what the function is given.
   *
   * The result has the same bits on every device and for every size of chunks.
   *
   * @example
   * // The mean of some bytes: npx warpstage run mean.ts bytes.raw
   * export const mean = reduce({ sum: 'f64', x: 'u8' }, ({ x }) => x, {
   *   finish: ({ sum }, { rows }) => sum / rows,
   * });
   *
   * // Several at once: the function returns an object.
   * export const range = reduce({ low: 'f32', high: 'f32', x: 'f32' }, ({ x }) => ({ low: x, high: x }), {
   *   combine: { low: 'min', high: 'max' },
   * });
   *
   * @throws WarpstageError WS5007 for a schema without an input, with an entry that no row has or with a result of
   * less than 32 bits, WS1010 for an entry that cannot be read, WS1001 for a function whose text cannot be parsed
   */
  <const S extends RowSchema, R extends RowResult<S>, V = ReducedValue<S, R>>(
    schema: S,
    fn: (data: RowData<S>, cuda: Cuda) => R,
    options?: ReduceOptions<S, R, V>,
  ) => Job<V, Record<never, never>>;

/** `reduce()`, as start.ts gives it away. */
export function reduce<const S extends RowSchema, R extends RowResult<S>, V = ReducedValue<S, R>>(
  schema: S,
  fn: (data: RowData<S>, cuda: Cuda) => R,
  options: ReduceOptions<S, R, V> = {},
): Job<V, Record<never, never>> {
  const given = options as unknown as ReduceOptions<RowSchema, unknown, unknown>;
  const rows = new RowFunction('reduce', schema, fn as AnyFunction);
  const folds = new Map(
    rows.results.map(({ name, element }): [string, Fold] => {
      const { combine = 'sum' } = given;
      const how =
        typeof combine === 'string' ? combine : ((combine as Readonly<Record<string, Fold>>)[name] ?? 'sum');
      return [name, checkFold(name, element, how)];
    }),
  );
  const [offset, chunk] = [rows.free('offset'), rows.free('rows')];
  const more: Record<string, DeviceFunction | 'index'> = { [offset]: 'index', [chunk]: 'index' };
  const results = rows.results.map((result, i) => {
    const helper = rows.free(`${folds.get(result.name)!}${i === 0 ? '' : i}`);
    more[helper] = foldFunction(result.element, folds.get(result.name)!);
    return { ...result, helper, variable: `folded${i}` };
  });
  const kernel = rows.kernel(
    more,
    (compute) => `(data, cuda) => {
  const thread = cuda.thisThreadBlock().threadRank();
  const begin = data[${quoted(offset)}];
  const first = Math.trunc(begin / ${tileRows}) + cuda.thisThreadBlock().groupIndex().x;
  const partial = (first % ${tiles}) * ${threads} + thread;
${results.map(({ name, variable }) => `  let ${variable} = data[${quoted(name)}][partial];`).join('\n')}
  for (let tile = first; tile * ${tileRows} < begin + data[${quoted(chunk)}]; tile += ${tiles}) {
    const start = tile * ${tileRows} - begin;
    const end = Math.min(start + ${tileRows}, data[${quoted(chunk)}]);
    let row = start + thread;
    if (row < 0) row = row + Math.trunc((${threads - 1} - row) / ${threads}) * ${threads};
    for (; row < end; row += ${threads}) {
      ${compute((name, value) => {
        const { helper, variable } = results.find((result) => result.name === name)!;
        return `${variable} = data[${quoted(helper)}]({ folded: ${variable}, value: ${value} });`;
      })}
    }
  }
${results.map(({ name, variable }) => `  data[${quoted(name)}][partial] = ${variable};`).join('\n')}
}`,
    given,
  );
  const isSingle = rows.results.length === 1;
  const definition: AnyDefinition = {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.description === undefined ? {} : { description: options.description }),
    kernel,
    inputs: rows.declareInputs(given.inputs),
    accumulators: Object.fromEntries(
      rows.results.map(({ name }) => [name, { length: tiles * threads, combine: folds.get(name)! }]),
    ),
    settings: rows.declareSettings(given.settings),
    offset,
    rows: chunk,
    launch: ({ offset, rows }) => ({
      grid: Math.min(tiles, Math.ceil(((offset % tileRows) + rows) / tileRows)),
      block: threads,
    }),
    finish: (partials, context) => {
      const values = Object.fromEntries(
        rows.results.map(({ name }) => [name, foldPartials(partials[name]!, folds.get(name)!)]),
      );
      if (given.finish !== undefined) return given.finish(values as never, context);
      return isSingle ? values[rows.results[0]!.name] : values;
    },
  };
  return job(definition as never) as unknown as Job<V, Record<never, never>>;
}

function checkFold(name: string, element: NumberElement, fold: unknown): Fold {
  if (fold !== 'sum' && fold !== 'min' && fold !== 'max') {
    const hint = "fold by 'sum', 'min' or 'max'; another fold is a job() with accumulators";
    throw problem('WS5007', `reduce(): '${name}' is to be combined by ${JSON.stringify(fold)}`, hint);
  }
  if (folded.includes(element)) return fold;
  const wider = element.startsWith('u') ? 'u32' : element.startsWith('i') ? 'i32' : 'f32';
  throw problem(
    'WS5007',
    `reduce(): '${name}' is ${element}, which is too narrow to fold in`,
    `declare it wider: ${name}: '${wider}', or 'f64'`,
  );
}

/** Two values as one, in the type that is folded in. A minimum of floats with a NaN is NaN. */
function foldFunction(element: NumberElement, fold: Fold): DeviceFunction {
  const schema = { folded: element, value: element } as { readonly folded: 'f64'; readonly value: 'f64' };
  const isFloat = element === 'f32' || element === 'f64';
  const make = {
    sum: () => deviceFunction(schema, ({ folded, value }) => folded + value),
    min: () =>
      isFloat
        ? deviceFunction(schema, ({ folded, value }) => Math.min(folded, value))
        : deviceFunction(schema, ({ folded, value }) => {
            if (value < folded) return value;
            return folded;
          }),
    max: () =>
      isFloat
        ? deviceFunction(schema, ({ folded, value }) => Math.max(folded, value))
        : deviceFunction(schema, ({ folded, value }) => {
            if (value > folded) return value;
            return folded;
          }),
  };
  return make[fold]() as unknown as DeviceFunction;
}

/** All partial results as one, in a tree: each step is rounded to the element's type, as on a device. */
function foldPartials(partials: TypedArray, fold: Fold): ElementValue {
  const left = partials.slice();
  for (let half = left.length >> 1; half > 0; half >>= 1) {
    for (let i = 0; i < half; i++) setElement(left, i, combined(fold, left[i]!, left[i + half]!));
  }
  return left[0]!;
}

function combined(fold: Fold, a: ElementValue, b: ElementValue): ElementValue {
  if (fold === 'sum') return (a as number) + (b as number);
  const isNaNOf = [a, b].find(Number.isNaN);
  if (isNaNOf !== undefined) return isNaNOf;
  return (fold === 'min' ? b < a : b > a) ? b : a;
}
