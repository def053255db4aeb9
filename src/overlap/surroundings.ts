// What a run needs of where it runs. Whatever touches files, processes or libraries of the system is behind this seam, so
// that what cuts, streams and folds chunks (whole-run.ts, bind.ts, loop.ts) runs anywhere: in-node.ts is Node's side,
// in-browser.ts a browser's, where data is in memory or comes as a stream.

import type { Content } from '../files/content.ts';
import type { Source, Wanted } from '../formats/source.ts';
import type { UrlVersions } from '../formats/url-versions.ts';
import type { Device } from '../runtime/device.ts';
import type { EngineModel } from '../runtime/model/engines.ts';
import type { BindRequest, Unopened } from './bind.ts';
import type { BoundInput, BoundJob } from './chunks.ts';
import type { CopyBytes } from './copy-here.ts';
import type { AnyDefinition, Job, TypedArray } from './job.ts';
import type { Target } from './journal/former.ts';
import type { Kept } from './journal/journal.ts';
import type { Begin, Facts } from './journal/text.ts';
import type { InputData, OutputData, RunOptions } from './options.ts';
import type { OutputShape } from './output-data.ts';
import type { OpenDevices, Participant } from './participants.ts';
import type { Pieces } from './pieces.ts';
import type { HostMemory, PlannedStream } from './plan.ts';
import type { Piece } from './shards/piece.ts';
import type { Sink } from './sinks/sink.ts';
import type { Sums } from './sums.ts';

/** What was opened of a pass's inputs. */
export interface Inputs {
  open(data: InputData, wanted: Wanted): Promise<Source>;
  /** Closes all of them. Never throws. */
  close(): Promise<void>;
}

/** A piece, before it is written. */
export type PieceOf = Omit<Piece, 'partBytes' | 'sums'>;

/** Sinks that were opened for a run. They appear together when all are complete, or not at all. */
export interface Outputs {
  /** Those that are in memory. */
  readonly arrays: Record<string, TypedArray>;
  /** Rows that the next run need not compute. */
  readonly keptRows: number;
  open(data: OutputData | undefined, about: OutputShape): Promise<Sink>;
  /** All outputs of one more chunk were written; `kept`: of its rows, those that are kept, where not all are. */
  written(rows: number, kept?: number): void;
  /** Everything was written. `origin`: what it comes from, where that is noted. */
  publish(
    shapes: ReadonlyMap<Sink, readonly number[]>,
    origin?: Pick<Sums, 'job' | 'settings' | 'inputs'>,
  ): Promise<void>;
  /** Ends what is written at this moment. Never throws. */
  interrupt(): Promise<void>;
  /** Removes what was not published, or leaves it to the next run. Never throws. */
  abandon(): Promise<void>;
  /** Keeps a journal from now on. Only where there are files, as is `cut`. */
  keepJournal?(facts: Facts, targets: readonly Target[], kept: Kept): Promise<Begin>;
  /** All outputs of a pass were opened. */
  opened?(): Promise<void>;
  /** Whether the state of accumulators is to be kept now, if there is a journal. */
  readonly isStateDue?: boolean;
  /** Keeps the state of accumulators behind the rows that are written. */
  keepState?(state: Uint8Array): void;
  /** Waits until it is on the disk. */
  stateKept?(): Promise<void>;
  /** Has the outputs be pieces from now on. */
  cut?(pieces: ReadonlyMap<string, PieceOf>): void;
}

/** How files are written. */
export interface HowWritten {
  readonly fsync: boolean;
  readonly overwrite: boolean;
  readonly checksum?: boolean;
  readonly signal: AbortSignal | undefined;
}

/** What is to be run, before anything is opened. */
export interface Given {
  readonly jobs: readonly Job[];
  readonly data: ReadonlyMap<string, InputData>;
  readonly destinations: ReadonlyMap<string, OutputData>;
  readonly options: RunOptions;
}

/** What takes memory beside the chunks in flight. */
export interface BesideChunks {
  readonly limit: RunOptions['maxMemory'];
  readonly devices: readonly Device[];
  readonly streams: readonly (PlannedStream & { readonly role: 'input' | 'output' })[];
  readonly inputs: readonly BoundInput[];
  readonly operands: ReadonlyMap<string, TypedArray>;
  readonly outputs: readonly Pick<OutputShape, 'parameter' | 'element' | 'rate' | 'shape'>[];
  readonly destinations: ReadonlyMap<string, OutputData>;
  /** Whether outputs are kept for another run. */
  readonly isKept: boolean;
  /** Whether they are pieces. */
  readonly isPiece: boolean;
}

/** The input files of a run, as they were when it began. */
export interface InputFiles {
  /** What they hold, by their paths, where that is noted. */
  readonly contents: ReadonlyMap<string, Content>;
  /** Throws where one is another now. */
  check(): Promise<void>;
}

/** What looking at the input files has besides. */
export interface LookingAt {
  readonly versions: UrlVersions;
  readonly signal: AbortSignal;
}

export interface Surroundings {
  /** Threads that the machine runs at a time. */
  readonly processors: number;
  /** Whether one file has the data of several inputs, as far as is known before it is opened. */
  hasColumns(data: InputData): boolean;
  /** Whether a file holds several outputs. */
  holdsSeveral(data: OutputData): boolean;
  /** The data of every input, with files in the place of what stands for several. */
  expand(data: ReadonlyMap<string, InputData>): Promise<ReadonlyMap<string, InputData>>;
  /** Whether data can be read a second time. */
  isRepeatable(data: InputData): Promise<boolean>;
  /** Refuses what cannot be read, written or asked for here. */
  check(given: Given): Promise<void>;
  openDevices(wanted: RunOptions['device'], limit: RunOptions['maxMemory']): Promise<OpenDevices>;
  /** How devices are fed from arrays. */
  copiesFor(participants: readonly Pick<Participant, 'name' | 'device'>[]): CopyBytes;
  /** The rates of a device, if anybody knows them. */
  modelOf(device: Device): EngineModel | undefined;
  /** What chunks may take of the host's memory, where that is limited. */
  hostMemory(beside: BesideChunks): HostMemory | undefined;
  /** Looks at the input files, and notes what they hold if that is asked for. */
  lookAt(paths: readonly string[], checksum: boolean, looking: LookingAt): Promise<InputFiles>;
  /** `versions`: those of URLs that the run has met. */
  inputs(copy: CopyBytes, versions: UrlVersions): Inputs;
  outputs(how: HowWritten, copy: CopyBytes): Outputs;
  /** Has the devices compile whatever kernel they are given: called before the first launch that is not in pieces. */
  loadCompilers(participants: readonly Participant[]): Promise<void>;
  /** What runs a job from file to file without chunks; null where that cannot be. */
  inPieces(job: BoundJob): Pieces | null;
  /** Keeps a journal, and leaves out of the inputs what a former run has written the outputs of. */
  resume(definition: AnyDefinition, request: BindRequest, run: Unopened): Promise<Begin>;
  /** Has the outputs be pieces, of the rows from the first to before the last, and the inputs begin there. */
  cut(
    definition: AnyDefinition,
    request: BindRequest,
    run: Unopened,
    rows: readonly [begin: number, end: number],
  ): Promise<void>;
}
