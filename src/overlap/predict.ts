// Predicts a job from what its stages take: the overlapped loop, chunk by chunk, without doing it.
//
// As in chunks.ts: `depth` slots take chunks in order; reads take turns, and so do writes; the copies
// and kernels of all slots share an engine each. A stage takes a fixed time for a chunk and a time
// for each of its bytes.

import { type StageName, stageNames } from './options.ts';

/** What a stage takes for a chunk: milliseconds, and milliseconds a byte of the chunk. */
export interface StageCost {
  readonly fixed: number;
  readonly perByte: number;
}

export type StageCosts = Readonly<Record<StageName, StageCost>>;

/** How a job is cut. */
export interface Cut {
  /** Bytes of a full chunk, all inputs and outputs together. */
  readonly chunkBytes: number;
  readonly depth: number;
}

/** Milliseconds of a job over so many bytes of inputs and outputs. */
export function predictWall(costs: StageCosts, bytes: number, { chunkBytes, depth }: Cut): number {
  const chunks = Math.ceil(bytes / chunkBytes);
  const slots = new Float64Array(Math.max(1, Math.min(depth, chunks)));
  const free: Record<StageName, number> = { read: 0, 'copy in': 0, compute: 0, 'copy out': 0, write: 0 };
  let end = 0;
  for (let chunk = 0; chunk < chunks; ++chunk) {
    const size = Math.min(chunkBytes, bytes - chunk * chunkBytes);
    const slot = chunk % slots.length;
    let time = slots[slot]!;
    for (const stage of stageNames) {
      const { fixed, perByte } = costs[stage];
      time = Math.max(time, free[stage]) + fixed + perByte * size;
      free[stage] = time;
    }
    slots[slot] = time;
    end = time;
  }
  return end;
}

/** Milliseconds that each stage works in all. */
export function stageTimes(costs: StageCosts, bytes: number, { chunkBytes }: Cut): Record<StageName, number> {
  const chunks = Math.ceil(bytes / chunkBytes);
  const times = stageNames.map((stage) => {
    const { fixed, perByte } = costs[stage];
    return [stage, chunks * fixed + bytes * perByte] as const;
  });
  return Object.fromEntries(times) as Record<StageName, number>;
}

/** The cost of a stage from what it took for chunks of two sizes. */
export function costOf(small: Measured, large: Measured): StageCost {
  const slope = (large.time - small.time) / (large.bytes - small.bytes);
  // A larger chunk that took no longer was luck: then all of it counts by the byte.
  const perByte = slope > 0 ? slope : large.time / large.bytes;
  return { fixed: Math.max(0, large.time - perByte * large.bytes), perByte };
}

/** What a stage took for a chunk. */
export interface Measured {
  readonly bytes: number;
  readonly time: number;
}

/** The best of many cuts: the first of those that are within a hundredth of the fastest. */
export function bestCut(
  costs: StageCosts,
  bytes: number,
  cuts: readonly Cut[],
): Cut & { readonly wall: number } {
  const tried = cuts.map((cut) => ({ ...cut, wall: predictWall(costs, bytes, cut) }));
  const fastest = Math.min(...tried.map(({ wall }) => wall));
  return tried.find(({ wall }) => wall <= fastest * 1.01)!;
}

/** Rows that were through after so many milliseconds of a run. */
export interface Mark {
  readonly rows: number;
  readonly elapsed: number;
}

/** What a run takes, and what it would take if all of it went as the fastest or as the slowest part of a sample. */
export type Walls = readonly [wall: number, least: number, most: number];

/** What is known of a sample beside the marks that it left, and of the whole. */
export interface Sample {
  /** Rows of the whole. */
  readonly rows: number;
  /** Chunks in flight. */
  readonly depth: number;
  /** Milliseconds of the sample from its beginning to its end. */
  readonly wall: number;
  /** Milliseconds that only a first run takes: to compile, and to start what starts once. */
  readonly cold: number;
  /**
   * Milliseconds from its last row to its end, which grow with what was written: where an output replaces a file, file
   * systems write it out before the new one has the name.
   */
  readonly finishing: number;
}

/**
 * Milliseconds of the whole by a sample of it: what the sample took, with the slow start that every run has, and
 * for each row beyond as much as when the pipeline was full.
 */
export function extrapolate(marks: readonly Mark[], { rows, depth, wall, cold, finishing }: Sample): Walls {
  const last = marks.at(-1);
  if (last === undefined) return [wall + cold, wall + cold, wall + cold];
  const known = wall + cold + finishing * Math.max(0, rows / last.rows - 1);
  const full = marks.slice(Math.max(0, Math.min(2 * depth, marks.length - 2)));
  const ofRow = (from: Mark, to: Mark) =>
    to.rows === from.rows ? last.elapsed / last.rows : (to.elapsed - from.elapsed) / (to.rows - from.rows);
  const quarters = [0, 1, 2, 3].flatMap((quarter) => {
    const [from, to] = [quarter, quarter + 1].map((part) => Math.round((part * (full.length - 1)) / 4));
    return to! > from! ? [ofRow(full[from!]!, full[to!]!)] : [];
  });
  const mean = ofRow(full[0]!, last);
  const withRest = (each: number) => known + each * Math.max(0, rows - last.rows);
  return [withRest(mean), withRest(Math.min(mean, ...quarters)), withRest(Math.max(mean, ...quarters))];
}
