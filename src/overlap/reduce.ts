// reduce(): a job that folds a function of each row into one value.
//
// A row is folded into one of a fixed number of partial results, which its position in the whole decides, and
// a partial result takes its rows in their order. So the bits of a result depend neither on how the rows are
// cut into chunks nor on how many blocks run at once. The partial results are folded on the host, halving
// their number at each step. Rows of groups are folded likewise, into partial results that have a place for each group
// (groups.ts).

import { problem } from '../diagnostics/problem.ts';
import type { AnyFunction } from '../diagnostics/source.ts';
import { type ElementValue, setElement } from '../formats/typed-arrays.ts';
import type { Cuda } from '../kernel/cuda.ts';
import { type DeviceFunction, deviceFunction } from '../kernel/kernel.ts';
import type { SchemaEntry } from '../kernel/schema.ts';
import type { NumberElement } from '../kernel/types.ts';
import { type Group, Groups } from './groups.ts';
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

/** What reduce() takes beside, where it folds the rows of each key on their own. */
export interface GroupOptions<S extends RowSchema, R, B extends ElementNames<S>, V>
  extends Omit<ReduceOptions<S, R, V>, 'finish'> {
  /** The entry whose value says to which group a row belongs: an input, or one of several results of the function. */
  readonly by: B;
  /** How many groups there may be, at most 524,288: keys are whole numbers from 0 to one below it. */
  readonly groups: number;
  /** Makes the job's value of the groups that have rows, in the order of their keys. Default: the list of them. */
  readonly finish?: (groups: Group<S, R, B>[], context: FinishContext) => V;
}

/** The value of a reduction without `finish`. */
export type ReducedValue<S extends RowSchema, R> = R extends number | bigint | boolean
  ? ElementValueOf<S[ResultNames<S, R>]>
  : Folded<S, R>;

/** Threads of a block, where there are as many partial results. */
const mostThreads = 256;
/** Rows of a tile that a thread folds; a block takes a tile at a time. */
const rowsOfThread = 64;
/** Partial results without groups. */
const mostPartials = 65_536;

/** What a fold can be held in: an 8-bit sum would overflow at once. */
const folded: readonly NumberElement[] = ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'];

/** What `reduce` is. */
export interface DeclareReduce {
  /**
   * Declares a job that folds the rows of each key on their own. `by` names the key: a whole number from 0 to one below
   * `groups`, which is an input or one of several results of the function. The value is a list of the groups that have
   * rows, in the order of their keys: `{ [by], rows, ...results }`.
   *
   * The result has the same bits on every device and for every size of chunks. Memory is bounded by `groups`.
   *
   * @example
   * // The mean delay of each carrier
   * export const delays = reduce({ sum: 'f64', carrier: 'u8', delay: 'f32' }, ({ delay }) => delay, {
   *   by: 'carrier',
   *   groups: 32,
   *   finish: (groups) => groups.map(({ carrier, rows, sum }) => ({ carrier, mean: sum / rows })),
   * });
   *
   * // By a key that the function makes: how many numbers there are of each length in bits
   * export const bits = reduce({ sum: 'f64', length: 'i32', x: 'u32' }, ({ x }, cuda) => ({ length: 32 - cuda.clz(x), sum: x }), {
   *   by: 'length',
   *   groups: 33,
   * });
   *
   * @throws WarpstageError WS5007 for a key that is no whole number of a row, and as without groups; running the job
   * throws WS5005 for rows whose key is no group's
   */
  <const S extends RowSchema, R extends RowResult<S>, const B extends ElementNames<S>, V = Group<S, R, B>[]>(
    schema: S,
    fn: (data: RowData<S>, cuda: Cuda) => R,
    options: GroupOptions<S, R, B, V>,
  ): Job<V, Record<never, never>>;
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
  ): Job<V, Record<never, never>>;
}

/** `reduce()`, as start.ts gives it away. */
export const reduce: DeclareReduce = (
  schema: RowSchema,
  fn: AnyFunction,
  options: AnyOptions = {},
): Job<never, Record<never, never>> => {
  const given = options;
  const rows = new RowFunction('reduce', schema, fn);
  if (given.by === undefined && given.groups !== undefined) {
    const hint = "name the key: by: 'key'";
    throw problem('WS5007', `reduce(): there are ${given.groups} groups, and no key`, hint);
  }
  const groups = given.by === undefined ? undefined : new Groups(rows, schema, given.by, given.groups);
  const groupCount = groups?.count ?? 1;
  const partials = groups?.partials ?? mostPartials;
  const threads = Math.min(mostThreads, partials);
  const tiles = partials / threads;
  const tileRows = threads * rowsOfThread;
  const foldedResults = rows.results.filter(({ name }) => name !== groups?.by);
  const folds = new Map(
    foldedResults.map(({ name, element }): [string, Fold] => {
      const { combine = 'sum' } = given;
      const how =
        typeof combine === 'string' ? combine : ((combine as Readonly<Record<string, Fold>>)[name] ?? 'sum');
      return [name, checkFold(name, element, how)];
    }),
  );
  const [offset, chunk] = [rows.free('offset'), rows.free('rows')];
  const more: Record<string, SchemaEntry> = { [offset]: 'index', [chunk]: 'index' };
  if (groups !== undefined) Object.assign(more, { [groups.counts]: 'f64[]', [groups.strays]: 'f64[]' });
  const results = foldedResults.map((result, i) => {
    const helper = rows.free(`${folds.get(result.name)!}${i === 0 ? '' : i}`);
    more[helper] = foldFunction(result.element, folds.get(result.name)!);
    return { ...result, helper, variable: `folded${i}` };
  });
  const fold = (name: string, before: string, value: string) => {
    const { helper } = results.find((result) => result.name === name)!;
    return `data[${quoted(helper)}]({ folded: ${before}, value: ${value} })`;
  };
  // Without groups a thread holds its partial results in variables.
  const held = groups === undefined ? results : [];
  const kernel = rows.kernel(
    more,
    (compute) => `(data, cuda) => {
  const thread = cuda.thisThreadBlock().threadRank();
  const begin = data[${quoted(offset)}];
  const first = Math.trunc(begin / ${tileRows}) + cuda.thisThreadBlock().groupIndex().x;
  const partial = (first % ${tiles}) * ${threads} + thread;
${held.map(({ name, variable }) => `  let ${variable} = data[${quoted(name)}][partial];`).join('\n')}
  for (let tile = first; tile * ${tileRows} < begin + data[${quoted(chunk)}]; tile += ${tiles}) {
    const start = tile * ${tileRows} - begin;
    const end = Math.min(start + ${tileRows}, data[${quoted(chunk)}]);
    let row = start + thread;
    if (row < 0) row = row + Math.trunc((${threads - 1} - row) / ${threads}) * ${threads};
    for (; row < end; row += ${threads}) {
      ${
        groups?.text(compute, fold) ??
        compute((name, value) => {
          const { variable } = results.find((result) => result.name === name)!;
          return `${variable} = ${fold(name, variable, value)};`;
        })
      }
    }
  }
${held.map(({ name, variable }) => `  data[${quoted(name)}][partial] = ${variable};`).join('\n')}
}`,
    given,
    groups?.by,
  );
  const isSingle = rows.results.length === 1;
  const length = partials * groupCount;
  const definition: AnyDefinition = {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.description === undefined ? {} : { description: options.description }),
    kernel,
    inputs: rows.declareInputs(given.inputs),
    accumulators: {
      ...Object.fromEntries(results.map(({ name }) => [name, { length, combine: folds.get(name)! }])),
      ...(groups === undefined
        ? {}
        : {
            [groups.counts]: { length, combine: 'sum' },
            [groups.strays]: { length: partials, combine: 'max' },
          }),
    },
    settings: rows.declareSettings(given.settings),
    offset,
    rows: chunk,
    launch: ({ offset, rows }) => ({
      grid: Math.min(tiles, Math.ceil(((offset % tileRows) + rows) / tileRows)),
      block: threads,
    }),
    finish: (held, context) => {
      const values = Object.fromEntries(
        results.map(({ name }) => [name, foldPartials(held[name]!, groupCount, folds.get(name)!)]),
      );
      const value =
        groups === undefined
          ? Object.fromEntries(Object.entries(values).map(([name, [single]]) => [name, single!]))
          : groups.list(
              values,
              foldPartials(held[groups.counts]!, groupCount, 'sum'),
              Number(foldPartials(held[groups.strays]!, 1, 'max')[0]),
            );
      if (given.finish !== undefined) return given.finish(value as never, context);
      return groups === undefined && isSingle ? (value as Folds)[rows.results[0]!.name] : value;
    },
  };
  return job(definition as never) as unknown as Job<never, Record<never, never>>;
};

type Folds = Readonly<Record<string, ElementValue>>;

/** The options with or without groups. */
interface AnyOptions extends RowOptions<RowSchema> {
  readonly combine?: ReduceOptions<RowSchema, unknown, unknown>['combine'];
  readonly by?: string;
  readonly groups?: number;
  readonly finish?: (value: never, context: FinishContext) => unknown;
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

/** All partial results as one for each group, in a tree: each step is rounded to the element's type, as on a device. */
function foldPartials(partials: TypedArray, groups: number, fold: Fold): TypedArray {
  const left = partials.slice();
  for (let half = left.length / 2; half >= groups; half /= 2) {
    for (let i = 0; i < half; i++) setElement(left, i, combined(fold, left[i]!, left[i + half]!));
  }
  return left.subarray(0, groups);
}

function combined(fold: Fold, a: ElementValue, b: ElementValue): ElementValue {
  if (fold === 'sum') return (a as number) + (b as number);
  const isNaNOf = [a, b].find(Number.isNaN);
  if (isNaNOf !== undefined) return isNaNOf;
  return (fold === 'min' ? b < a : b > a) ? b : a;
}
