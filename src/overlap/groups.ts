// The groups of a reduction with `by`: rows of one key are folded together.
//
// A key is a whole number below the number of groups, so that what is held is known before the first row: each partial
// result has a place for every group, and the more groups there are, the fewer partial results. A row's position alone
// decides which of these it is folded into, as without groups. A key that is no group's is folded into nothing; the
// greatest of them is kept, and told at the end.

import { problem } from '../diagnostics/problem.ts';
import type { ElementValue } from '../formats/typed-arrays.ts';
import type { NumberElement } from '../kernel/types.ts';
import type { TypedArray } from './job.ts';
import type { Folded } from './reduce.ts';
import { quoted, type ResultNames, type RowFunction, type RowSchema } from './row-function.ts';

/** A group: its key by the name of `by`, how many rows it has, and what was folded of them. */
export type Group<S extends RowSchema, R, B extends string> = { readonly [K in B]: number } & {
  readonly rows: number;
} & Pick<Folded<S, R>, Exclude<ResultNames<S, R>, B>>;

/** Whole numbers that are exact as JavaScript's. */
const keyElements: readonly NumberElement[] = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32'];
const mostGroups = 2 ** 19;
/** Elements of all partial results of one name, at most. */
const mostElements = 2 ** 19;
/** Partial results, at most. */
const mostPartials = 2 ** 16;

/** What a fold of groups adds to that of rows. */
export class Groups {
  readonly by: string;
  readonly count: number;
  /** Partial results: a power of two. */
  readonly partials: number;
  /** The accumulator that counts a group's rows. */
  readonly counts: string;
  /** The accumulator of the greatest key that is no group's. */
  readonly strays: string;
  readonly #isResult: boolean;
  readonly #isSigned: boolean;

  /** @throws WarpstageError WS5007 for a key or number of groups that cannot be */
  constructor(rows: RowFunction, schema: RowSchema, by: unknown, count: unknown) {
    const isResult = rows.results.some(({ name }) => name === by);
    const isInput = rows.inputs.some(({ name, window }) => name === by && window === undefined);
    if (typeof by !== 'string' || !(isResult || isInput)) {
      throw problem(
        'WS5007',
        `reduce(): 'by' is ${JSON.stringify(by)}, which is no element of a row`,
        'name an input, or one of several results of the function: by: ' +
          quoted(rows.inputs.find(({ window }) => window === undefined)?.name ?? 'key'),
      );
    }
    if (by === 'rows' || rows.results.some(({ name }) => name === 'rows')) {
      throw problem(
        'WS5007',
        "reduce(): a group says how many rows it has as 'rows', and an entry of the schema has this name",
        "give the entry another name: { sum: 'f64', … }",
      );
    }
    const element = schema[by] as NumberElement;
    if (!keyElements.includes(element)) {
      throw problem(
        'WS5007',
        `reduce(): the key '${by}' is ${element}, and keys are whole numbers of at most 32 bits`,
        isResult
          ? `declare ${by}: 'i32'`
          : `let the function make the key: ({ ${by} }, cuda) => ({ key: cuda.i32(${by}), … }) with by: 'key'`,
      );
    }
    if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > mostGroups) {
      throw problem(
        'WS5007',
        `reduce(): there may be ${String(count)} groups, and 1 to ${mostGroups} can be`,
        `say how many keys there may be, from 0 on: { by: '${by}', groups: 256 }`,
      );
    }
    if (isResult && rows.results.length === 1) {
      throw problem(
        'WS5007',
        `reduce(): the function gives the key '${by}' and nothing to fold`,
        `let it give something beside: ({ x }) => ({ ${by}: x, sum: x })`,
      );
    }
    this.by = by;
    this.count = count as number;
    this.partials = Math.min(mostPartials, 2 ** Math.floor(Math.log2(mostElements / this.count)));
    this.counts = rows.free('counts');
    this.strays = rows.free('strays');
    this.#isResult = isResult;
    this.#isSigned = element.startsWith('i');
  }

  /**
   * What a thread does with a row. `compute` gives the row's results; `fold` gives the value of what was folded before
   * and that of a result.
   */
  text(
    compute: (take: (name: string, value: string) => string) => string,
    fold: (name: string, folded: string, value: string) => string,
  ): string {
    const folds: string[] = [];
    const results = compute((name, value) => {
      if (name === this.by) return '';
      const place = `data[${quoted(name)}][place]`;
      folds.push(`${place} = ${fold(name, place, value)};`);
      return '';
    });
    const [key, counts, strays] = [
      this.#isResult ? `result[${quoted(this.by)}]` : `data[${quoted(this.by)}][row]`,
      `data[${quoted(this.counts)}][place]`,
      `data[${quoted(this.strays)}][partial]`,
    ];
    return `${results}
      const key = ${key};
      if (${this.#isSigned ? 'key >= 0 && ' : ''}key < ${this.count}) {
        const place = partial * ${this.count} + key;
        ${counts} = ${counts} + 1;
        ${folds.join(' ')}
      } else ${strays} = Math.max(${strays}, cuda.f64(key));`;
  }

  /**
   * The groups that have rows, in the order of their keys. `values` are what was folded, an element a group.
   * @throws WarpstageError WS5005 for rows whose key is no group's
   */
  list(
    values: Readonly<Record<string, TypedArray>>,
    counts: TypedArray,
    stray: number,
  ): Record<string, ElementValue>[] {
    if (stray > Number.NEGATIVE_INFINITY) {
      throw problem(
        'WS5005',
        `the key '${this.by}' of a row is ${stray}, and the keys of ${this.count} groups are 0 to ${this.count - 1}`,
        stray >= 0 && stray < mostGroups
          ? `say that there are more: groups: ${stray + 1}`
          : 'let the function make keys that are whole numbers from 0 on',
      );
    }
    const groups: Record<string, ElementValue>[] = [];
    for (const [key, rows] of counts.entries()) {
      if (rows === 0) continue;
      const folded = Object.entries(values).map(([name, data]) => [name, data[key]!] as const);
      groups.push({ [this.by]: key, rows, ...Object.fromEntries(folded) });
    }
    return groups;
  }
}
