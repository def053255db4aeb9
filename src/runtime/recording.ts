// What is recorded beyond that operations began and ended.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Extent, Extent3 } from '../kernel/types.ts';

/** What a device records beside the spans of its operations. */
export interface RecordingOptions {
  /**
   * On the CPU device, what the threads of this block do with the stages of the kernel's pipelines: each
   * launch's span has them as its `stages`. The position of the block in the grid; a number is its x. The
   * block is run by code that tells of it, all others as ever. Default: of no block.
   */
  readonly stages?: { readonly block: Extent };
  /**
   * On an NVIDIA GPU, whose times the spans have: those of `events` around each operation, or with `cupti`
   * those that the hardware took, where NVIDIA's library CUPTI is there (else events again; `device.times`
   * says which). Default `events`.
   */
  readonly times?: 'events' | 'cupti';
  /**
   * On an NVIDIA GPU, of how many operations of each engine one is recorded, beginning with the next; the others have no
   * span. An event that takes the time of a copy holds the next one up by some 3 µs. Default 1: all are recorded.
   */
  readonly every?: number;
}

/** Whose times the spans of a device have. */
export interface RecordedTimes {
  /** `engines`: its engines' own; `model`: virtual time; `events` and `cupti`: see `RecordingOptions`. */
  readonly source: 'engines' | 'model' | 'events' | 'cupti';
  /** Why it is not what was asked for, or what is missing, in a sentence. */
  readonly note: string | null;
}

const inWords = {
  engines: 'of the engines',
  model: 'virtual',
  events: 'of events around each operation',
  cupti: 'of the hardware, by CUPTI',
} as const;

/** Whose times spans have, as a page or a report says it. */
export function timesInWords({ source, note }: RecordedTimes): string {
  return note === null ? inWords[source] : `${inWords[source]} (${note})`;
}

/** The position of the block whose stages are wanted. Throws WS4007 if it is none. */
export function checkStages({ stages }: RecordingOptions): Extent3 | null {
  if (stages === undefined) return null;
  const { block } = stages;
  const [x = 0, y = 0, z = 0] = typeof block === 'number' ? [block] : block;
  const position: Extent3 = [x, y, z];
  if (position.every((part) => Number.isInteger(part) && part >= 0)) return position;
  throw new WarpstageError({
    code: 'WS4007',
    message: `recording: \`stages.block\` must be the position of a block, and is ${JSON.stringify(block)}`,
    hint: 'give its x, or [x, y, z]; the first block of a grid is 0',
  });
}

/** Throws WS4007 if `every` is no count. */
export function checkEvery({ every = 1 }: RecordingOptions): void {
  if (Number.isInteger(every) && every >= 1) return;
  throw new WarpstageError({
    code: 'WS4007',
    message: `recording: \`every\` must be a whole number from 1, and is ${String(every)}`,
    hint: '1 records every operation, 8 each eighth',
  });
}

/** The linear number of the block at a position; null if the grid has none there. */
export function blockAt([x, y, z]: Extent3, grid: Extent3): number | null {
  return x < grid[0] && y < grid[1] && z < grid[2] ? x + grid[0] * (y + grid[1] * z) : null;
}

/** The error of a device that cannot record stages. */
export function stagesElsewhere(device: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4007',
    message: `recording: ${device} does not record the stages of pipelines`,
    hint: "record them on open('cpu'), or see them under the checker with traceStages()",
  });
}
