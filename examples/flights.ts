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

/** Distances are counted in bands of so many miles; the last band takes all beyond. */
const bandMiles = 500;
const bands = 6;

/** Delays are counted in bins of so many minutes, from `earliest` on; the first and last bin take all beyond. */
const binMinutes = 15;
const bins = 16;
const earliest = -60;

const countFlights = kernel(
  {
    delay: 'readonly i32[]',
    distance: 'readonly i32[]',
    counts: 'i32[]',
    totals: 'i32[]',
    bands: 'constant i32',
    bandMiles: 'constant i32',
    bins: 'constant i32',
    binMinutes: 'constant i32',
    earliest: 'constant i32',
  },
  ({ delay, distance, counts, totals, bands, bandMiles, bins, binMinutes, earliest }, cuda) => {
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
  readonly meanDelay: number;
  /** Flights in each bin of delays. */
  readonly histogram: readonly number[];
}

export const flights = job({
  description: 'counts and mean of arrival delays for bands of distances',
  kernel: countFlights,
  inputs: { delay: {}, distance: {} },
  accumulators: { counts: { length: bands * bins }, totals: { length: bands } },
  settings: { bands, bandMiles, bins, binMinutes, earliest },
  launch: { grid: 64, block: 256 },
  finish: ({ counts, totals }): Band[] =>
    Array.from(totals, (total, band) => {
      const histogram = [...counts.subarray(band * bins, (band + 1) * bins)];
      const flights = histogram.reduce((sum, count) => sum + count, 0);
      return {
        miles:
          band < bands - 1 ? `${band * bandMiles}-${(band + 1) * bandMiles - 1}` : `${band * bandMiles}+`,
        flights,
        meanDelay: flights > 0 ? total / flights : 0,
        histogram,
      };
    }),
});
