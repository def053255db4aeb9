// map(): a job that computes each row of its output from the same row of its inputs.

import type { AnyFunction } from '../diagnostics/source.ts';
import type { Cuda } from '../kernel/cuda.ts';
import { type AnyDefinition, type Job, job } from './job.ts';
import {
  type ElementNames,
  type HostArrayOf,
  quoted,
  type ResultNames,
  type RowData,
  RowFunction,
  type RowOptions,
  type RowResult,
  type RowSchema,
} from './row-function.ts';
import type { StreamPart } from './stream.ts';

/** The outputs of a map. A single value is the schema's first entry alone; see `ResultNames`. */
export type MapOutputs<S extends RowSchema, R, M extends string = never> = {
  readonly [K in Exclude<ResultNames<S, R>, M>]: HostArrayOf<S[K]>;
};

/** What `map` takes beside. */
export interface MapOptions<S extends RowSchema, M extends string = never> extends RowOptions<S> {
  /**
   * The result that says whether the row is kept: where it is 0 or false, the row is left out of the other results.
   * Default: all rows are kept.
   */
  readonly keep?: M;
}

/** What the stream of a map gives at a time: an array where the function gives a single value, else an object of them. */
export type MapPart<S extends RowSchema, R, M extends string = never> = R extends number | bigint | boolean
  ? MapOutputs<S, R>[keyof MapOutputs<S, R>]
  : StreamPart<MapOutputs<S, R, M>>;

/** What `map` is. */
export type DeclareMap =
  /**
   * Declares a job that computes every element of its output by a function of the elements at the same place of
   * its inputs. The first entry of the schema is the output, the others are what the function is given.
   *
   * The function is compiled, as a kernel's is: it captures nothing from outside, and its second parameter has the
   * intrinsics. The job is one like those of `job()`: `definition.kernel` is its kernel.
   *
   * @example
   * // One output of one input: bytes as numbers from 0 to 1.
   * export const scaled = map({ y: 'f32', x: 'u8' }, ({ x }) => x / 255);
   *
   * // Several inputs go together row by row, and a constant can be set: --set gain=2
   * export const mixed = map(
   *   { y: 'f32', a: 'f32', b: 'f32', gain: 'constant f32 = 1' },
   *   ({ a, b, gain }) => gain * (a + b),
   * );
   *
   * // Several outputs: the function returns an object.
   * export const parts = map({ low: 'u8', high: 'u8', x: 'u16' }, ({ x }) => ({ low: x & 255, high: x >> 8 }));
   *
   * // Neighbours: x[0] is the row's own element.
   * export const smooth = map({ y: 'f32', x: 'f32[-1..1]' }, ({ x }) => (x[-1]! + x[0]! + x[1]!) / 3, {
   *   inputs: { x: { edge: 'clamp' } },
   * });
   *
   * // Some of the rows: those whose `kept` is true.
   * export const late = map({ y: 'f32', kept: 'u8', x: 'f32' }, ({ x }) => ({ y: x, kept: x > 15 }), { keep: 'kept' });
   *
   * @throws WarpstageError WS5007 for a schema without an input or with an entry that no row has, WS1010 for an
   * entry that cannot be read, WS1001 for a function whose text cannot be parsed
   */
  <const S extends RowSchema, R extends RowResult<S>, const M extends ElementNames<S> = never>(
    schema: S,
    fn: (data: RowData<S>, cuda: Cuda) => R,
    options?: MapOptions<S, M>,
  ) => Job<Record<never, never>, MapOutputs<S, R, M>, MapPart<S, R, M>>;

/** `map()`, as start.ts gives it away. */
export function map<
  const S extends RowSchema,
  R extends RowResult<S>,
  const M extends ElementNames<S> = never,
>(
  schema: S,
  fn: (data: RowData<S>, cuda: Cuda) => R,
  options: MapOptions<S, M> = {},
): Job<Record<never, never>, MapOutputs<S, R, M>, MapPart<S, R, M>> {
  const given = options as MapOptions<RowSchema, string>;
  const rows = new RowFunction('map', schema, fn as AnyFunction);
  const first = quoted(rows.results[0]!.name);
  const kernel = rows.kernel(
    {},
    (compute) => `(data, cuda) => {
  const row = cuda.thisGrid().threadRank();
  if (row < data[${first}].length) {
    ${compute((name, value) => `data[${quoted(name)}][row] = ${value};`)}
  }
}`,
    given,
  );
  const definition: AnyDefinition = {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.description === undefined ? {} : { description: options.description }),
    kernel,
    inputs: rows.declareInputs(given.inputs),
    outputs: Object.fromEntries(
      rows.results.filter(({ name }) => name !== given.keep).map(({ name }) => [name, {}]),
    ),
    ...(given.keep === undefined ? {} : { keep: given.keep }),
    settings: rows.declareSettings(given.settings),
  };
  return job(definition as never) as unknown as Job<
    Record<never, never>,
    MapOutputs<S, R, M>,
    MapPart<S, R, M>
  >;
}
