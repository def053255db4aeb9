// Ratios measured side by side: two variants in turn, A B A B …, in one run, so that a machine
// whose speed drifts slows both alike. The median of each is quoted, and their ratio.

/** One row of a suite's result. `ratio` is this variant's speed over `against`'s: above 1 is faster. */
export interface Row {
  readonly suite: string;
  readonly work: string;
  readonly variant: string;
  readonly against: string;
  readonly ratio: number;
  /** Median seconds of one run of `variant`. */
  readonly seconds: number;
  /** Bytes that one run moves or, in a memory row, peak resident bytes. */
  readonly bytes: number;
}

/** A way to do the work; returns the seconds it took, or nothing to be timed from outside. */
export type Variant = () => unknown;

async function seconds(variant: Variant): Promise<number> {
  const begin = performance.now();
  const own = await variant();
  return typeof own === 'number' ? own : (performance.now() - begin) / 1000;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Whether the fastest run of each variant is quoted, of three times as many: for machines that do other work, too. */
export const quoting = { fastest: false };

/**
 * Runs the variants in turn, `rounds` times after one round that is not counted, and gives a row for
 * each variant but the last, which is what the others are compared with; and such rows for each of `alsoAgainst`.
 */
export async function inTurn(
  names: { readonly suite: string; readonly work: string; readonly bytes: number },
  variants: Readonly<Record<string, Variant>>,
  rounds: number,
  alsoAgainst: readonly string[] = [],
): Promise<Row[]> {
  const entries = Object.entries(variants);
  const times = entries.map((): number[] => []);
  const turns = quoting.fastest ? 3 * rounds : rounds;
  for (let round = -1; round < turns; ++round) {
    for (const [position, [, variant]] of entries.entries()) {
      const time = await seconds(variant);
      if (round >= 0) times[position]!.push(time);
    }
  }
  const compared = (against: string): Row[] => {
    const other = times[entries.findIndex(([variant]) => variant === against)]!;
    return entries.flatMap(([variant], position) => {
      if (variant === against) return [];
      const own = times[position]!;
      const [ratio, time] = quoting.fastest
        ? [Math.min(...other) / Math.min(...own), Math.min(...own)]
        : [median(own.map((each, round) => other[round]! / each)), median(own)];
      return [{ ...names, variant, against, ratio, seconds: time }];
    });
  };
  return [entries.at(-1)![0], ...alsoAgainst].flatMap(compared);
}
