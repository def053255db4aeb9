// The outputs of a run, where these are arrays or streams: which goes where, and the sinks opened for them.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { ElementType } from '../kernel/types.ts';
import type { CopyBytes } from './copy-here.ts';
import { isPinned } from './input-data.ts';
import type { AnyDefinition, TypedArray } from './job.ts';
import type { OutputData, OutputFile, RunOptions } from './options.ts';
import { arraySink, collectingSink, type MemorySink } from './sinks/memory.ts';
import { PinnedSink } from './sinks/pinned.ts';
import type { Sink } from './sinks/sink.ts';
import { isWritable, webStreamSink } from './sinks/web-stream.ts';

/** One output, as its sink needs to know it. */
export interface OutputShape {
  readonly parameter: string;
  readonly element: ElementType;
  /** Extents of the whole; the first one is a guess where the length is not known. */
  readonly shape: readonly number[];
  readonly shapeKnown: boolean;
  /** Rows a second, where they have a time. */
  readonly rate?: number | undefined;
  /** Whether other outputs go to the same file. */
  readonly isShared?: boolean;
  /** Whether memory is scarce. Default: false. */
  readonly isLimited?: boolean;
}

/** The destination of every output that has one, by name. `holdsAll`: whether a file holds several. */
export function assignOutputs(
  definition: AnyDefinition,
  output: RunOptions['output'],
  holdsAll: (data: OutputData) => boolean,
): Map<string, OutputData> {
  const names = Object.keys(definition.outputs ?? {});
  if (output === undefined) return new Map();
  if (isByName(output)) {
    const unknown = Object.keys(output).filter((name) => !names.includes(name));
    if (unknown.length === 0) return new Map(Object.entries(output));
    throw problem(
      'WS5006',
      `the job has no output ${unknown.join(', ')}; its outputs are ${names.join(', ') || 'none'}`,
    );
  }
  const list = (Array.isArray(output) ? output : [output]) as readonly OutputData[];
  if (list.length === names.length) return new Map(names.map((name, i) => [name, list[i]!]));
  if (list.length === 1 && names.length > 1 && holdsAll(list[0]!)) {
    return new Map(names.map((name) => [name, list[0]!]));
  }
  throw problem(
    'WS5006',
    names.length === 0
      ? 'the job writes no output, and one was given; its result is the value that a run gives'
      : `the job writes ${names.length} (${names.join(', ')}), and ${count(list.length)} were given`,
    names.length > 1 ? 'give one for each, or a .npz file that holds all' : undefined,
  );
}

/** The file of an output; undefined for what is none. */
export function pathOf(data: OutputData | undefined): string | undefined {
  if (typeof data === 'string') return data;
  return isTaken(data) ? undefined : data.file;
}

/** The files that several outputs go to. Standard output is none. */
export function sharedFiles(outputs: Iterable<OutputData | undefined>): ReadonlySet<string> {
  const paths = [...outputs].flatMap((data) => pathOf(data) ?? []);
  return new Set(paths.filter((path, i) => path !== '-' && paths.indexOf(path) < i));
}

/** What an output is where it is no file; undefined where it is to be collected. */
export type TakenData = Exclude<OutputData, string | OutputFile> | undefined;

/** Whether an output goes to memory, or to a stream of the program's. */
export function isTaken(data: OutputData | undefined): data is TakenData {
  return (
    data === undefined ||
    (typeof data === 'object' && (isPinned(data) || ArrayBuffer.isView(data) || isWritable(data)))
  );
}

/** The rate that is said for an output, rows a second. */
export function saidRate(data: OutputData | undefined): number | undefined {
  return typeof data === 'object' && !isTaken(data) ? data.rate : undefined;
}

/** The sinks of outputs that are no files. */
export class TakenOutputs {
  readonly #memory = new Map<string, MemorySink>();
  readonly #copy: CopyBytes;

  /** `copy`: how typed arrays are filled. */
  constructor(copy: CopyBytes) {
    this.#copy = copy;
  }

  /** Opens the sink of an output; without a destination, an array is made. */
  open(data: TakenData, { parameter, element, shape, shapeKnown }: OutputShape): Sink {
    if (data !== undefined && isWritable(data)) return webStreamSink(parameter, data);
    const length = shape.reduce((product, extent) => product * extent, 1);
    const sink =
      data === undefined
        ? collectingSink(parameter, element, shapeKnown ? length : undefined, this.#copy)
        : isPinned(data)
          ? new PinnedSink(parameter, element, data)
          : arraySink(parameter, element, data, this.#copy);
    this.#memory.set(parameter, sink);
    return sink;
  }

  /** The outputs that are in memory. */
  get arrays(): Record<string, TypedArray> {
    return Object.fromEntries([...this.#memory].map(([name, sink]) => [name, sink.result()]));
  }
}

function isByName(output: NonNullable<RunOptions['output']>): output is Readonly<Record<string, OutputData>> {
  return (
    typeof output === 'object' &&
    !Array.isArray(output) &&
    !ArrayBuffer.isView(output) &&
    !isPinned(output) &&
    !isWritable(output) &&
    typeof (output as Partial<OutputFile>).file !== 'string'
  );
}
