// A job bound to its data, and what follows for a chunk of it: how long its arrays are, how its
// kernel is launched, which of the rows that were read it keeps.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { bytesOf } from '../kernel/layout.ts';
import type { ElementType, Extent } from '../kernel/types.ts';
import type { PinnedArray } from '../runtime/device.ts';
import type { Accumulator } from './accumulate.ts';
import type { Place } from './constants.ts';
import type { AnyDefinition, ChunkContext } from './job.ts';
import { granularityOf, type Plan, type Ratio, rowsOut } from './plan.ts';
import type { Sink } from './sinks/sink.ts';
import type { WindowReader } from './window.ts';

/** An input, bound to its data. */
export interface BoundInput {
  readonly name: string;
  readonly element: ElementType;
  /** Elements of a row. */
  readonly width: number;
  /** Rows beside the chunk's own, and elements beside each row's own. */
  readonly halo: number;
  readonly beside: number;
  readonly reader: WindowReader;
  /** The data itself, where the device can copy it from where it lies: then nothing is read. */
  readonly inPlace: PinnedArray | undefined;
}

/** An output, bound to its destination. */
export interface BoundOutput {
  readonly name: string;
  readonly element: ElementType;
  readonly width: number;
  readonly ratio: Ratio;
  /** Rows a second, where they have a time. */
  readonly rate?: number | undefined;
  readonly sink: Sink;
}

/** A job with everything that its kernel is launched with, except for the chunk. */
export interface BoundJob {
  readonly definition: AnyDefinition;
  readonly inputs: readonly BoundInput[];
  readonly outputs: readonly BoundOutput[];
  readonly accumulators: readonly Accumulator[];
  /** Elements of the constant arrays. */
  readonly constantLengths: Readonly<Record<string, number>>;
  /** Arguments that are the same for every chunk, beside the arrays of the places. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** The devices. */
  readonly places: readonly Place[];
  readonly settings: ChunkContext['settings'];
  readonly plan: Plan;
  /** Rows of the whole; undefined if only the end tells. */
  readonly rows: number | undefined;
  /** Rows that a former run has written, or has in its accumulators. */
  readonly begin: number;
  /** And its chunks. */
  readonly beginChunk: number;
  /** Whether accumulators are kept for another run: chunks stay as long as they were planned. */
  readonly isKept: boolean;
}

/** The arrays of a job, as far as they say how long they are in a chunk. */
export interface ArraysOfChunk {
  readonly inputs: readonly Pick<BoundInput, 'name' | 'width' | 'halo' | 'beside'>[];
  readonly outputs: readonly Pick<BoundOutput, 'name' | 'width' | 'ratio'>[];
  readonly accumulators: readonly Pick<Accumulator, 'name' | 'length'>[];
  readonly constantLengths: BoundJob['constantLengths'];
}

/** Elements of every array parameter in a chunk of so many rows, by name. */
export function lengthsOf(
  { inputs, outputs, constantLengths, accumulators }: ArraysOfChunk,
  rows: number,
): Record<string, number> {
  const lengths: Record<string, number> = { ...constantLengths };
  for (const { name, width, halo, beside } of inputs) lengths[name] = (rows + halo) * (width + beside);
  for (const { name, width, ratio } of outputs) lengths[name] = rowsOut(rows, ratio) * width;
  for (const { name, length } of accumulators) lengths[name] = length;
  return lengths;
}

/** The grid and block of a chunk's launch. */
export function launchOf(
  { launch = {} }: AnyDefinition,
  chunk: ChunkContext,
): { readonly grid: Extent; readonly block: Extent } {
  if (typeof launch === 'function') return launch(chunk);
  const { block = 256, rowsPerThread = 1, grid } = launch;
  return { block, grid: grid ?? Math.max(1, Math.ceil(chunk.rows / (volume(block) * rowsPerThread))) };
}

/** How many there are in an extent. */
export function volume(extent: Extent): number {
  if (typeof extent === 'number') return extent;
  const [x, y = 1, z = 1] = extent;
  return x * y * z;
}

/** Rows that are used, of those that were read: the last ones may fit no ratio. `before` is for the message. */
export function rowsKept(
  rows: number,
  outputs: readonly Pick<BoundOutput, 'name' | 'ratio'>[],
  remainder: AnyDefinition['remainder'] = 'error',
  before = 0,
): number {
  const rest = rows % granularityOf(outputs);
  if (rest === 0 || remainder === 'partial') return rows;
  if (remainder === 'drop') return rows - rest;
  const { name, ratio } = outputs.find((output) => rows % output.ratio[1] !== 0)!;
  throw problem(
    'WS5005',
    `output '${name}' takes ${ratio[1]} rows of input at a time, and the input has ${count(before + rows)} rows`,
    "say what becomes of the rest in the job: remainder: 'drop' or 'partial'",
  );
}

/** Bytes of a row, without what is beside it. */
export function rowBytes({ width, element }: Pick<BoundInput, 'width' | 'element'>): number {
  return width * bytesOf(element);
}
