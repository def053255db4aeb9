/**
 * How late do flights arrive, and does the distance matter? Three million flights of 2001, read
 * from a Parquet file, counted by distance and delay.
 *
 *     npm start
 *     npx warpstage run examples/flights.ts node_modules/vega-datasets/data/flights-3m.parquet
 *
 * The kernel is the classic histogram of CUDA: every block counts in shared memory, where atomics
 * are cheap, and adds its counts to the whole at the end. The two arrays it fills are
 * accumulators: they stay on the device from the first chunk to the last.
 */

import { job, kernel } from 'warpstage';

/** Bands of distances and bins of delays; the last band, and the first and last bin, take all beyond. */
const bands = 6;
const bins = 7;

const countFlights = kernel(
  {
    delay: 'readonly i32[]',
    distance: 'readonly i32[]',
    counts: 'i32[]',
    totals: 'i32[]',
    bands: `constant i32 = ${bands}`,
    bins: `constant i32 = ${bins}`,
    bandMiles: 'constant i32',
    binMinutes: 'constant i32',
    earliest: 'constant i32',
  },
  ({ delay, distance, counts, totals, bands, bins, bandMiles, binMinutes, earliest }, cuda) => {
    const block = cuda.thisThreadBlock();
    const grid = cuda.thisGrid();
    const blockCounts = cuda.sharedArray('i32', bands * bins);
    const blockTotals = cuda.sharedArray('i32', bands);
    for (let t = block.threadRank(); t < blockCounts.length; t += block.size()) blockCounts[t] = 0;
    for (let t = block.threadRank(); t < blockTotals.length; t += block.size()) blockTotals[t] = 0;
    block.sync();

    for (let i = grid.threadRank(); i < delay.length; i += grid.size()) {
      const band = Math.min(Math.trunc(distance[i]! / bandMiles), bands - 1);
      const minutes = Math.max(delay[i]! - earliest, 0);
      const bin = Math.min(Math.trunc(minutes / binMinutes), bins - 1);
      cuda.atomicAdd(blockCounts, band * bins + bin, 1);
      cuda.atomicAdd(blockTotals, band, delay[i]!);
    }
    block.sync();

    for (let t = block.threadRank(); t < counts.length; t += block.size())
      cuda.atomicAdd(counts, t, blockCounts[t]!);
    for (let t = block.threadRank(); t < totals.length; t += block.size())
      cuda.atomicAdd(totals, t, blockTotals[t]!);
  },
);

/** What is known of the flights of one band of distances. */
export interface Band {
  readonly miles: string;
  readonly flights: number;
  /** Minutes; flights that were early count as less than none. */
  readonly meanDelay: number;
  /** Percent of the band's flights, by the minutes of their delay. */
  readonly percent: Readonly<Record<string, number>>;
}

export const flights = job({
  description: 'arrival delays for bands of distances: mean in minutes, histogram in percent',
  kernel: countFlights,
  inputs: { delay: {}, distance: {} },
  accumulators: { counts: { length: bands * bins }, totals: { length: bands } },
  settings: {
    bandMiles: { default: 500, minimum: 1, description: 'miles of a band' },
    binMinutes: { default: 15, minimum: 1, description: 'minutes of a bin' },
    earliest: { default: -30, description: 'minutes at which the first bin begins' },
  },
  launch: { grid: 64, block: 256 },
  finish: ({ counts, totals }, { settings }): Band[] => {
    const [miles, minutes, earliest] = [settings.bandMiles, settings.binMinutes, settings.earliest].map(
      Number,
    );
    return Array.from(totals, (total, band) => {
      const histogram = Array.from(counts.subarray(band * bins, (band + 1) * bins));
      const flights = histogram.reduce((sum, count) => sum + count, 0);
      const percent = histogram.map((count) => round((count / flights) * 100));
      return {
        miles: rangeName(band, bands, 0, miles!),
        flights,
        meanDelay: round(total / flights),
        percent: Object.fromEntries(
          percent.map((share, bin) => [rangeName(bin, bins, earliest!, minutes!), share]),
        ),
      };
    });
  },
});

/** `500..999`, and `2500+` for the last of the ranges; `..-16` for a first one that has no begin. */
function rangeName(position: number, count: number, first: number, width: number): string {
  const begin = first + position * width;
  if (position === count - 1) return `${begin}+`;
  return `${position === 0 && first < 0 ? '' : begin}..${begin + width - 1}`;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}
