// What a run of a job takes and gives: its options, its progress, its result and its report.

import type { Conversion, Dtype } from '../formats/dtype.ts';
import type { ReadableShape } from '../formats/stream-bytes.ts';
import type { Cancelling } from '../runtime/abort-signal.ts';
import type { Device, PinnedArray } from '../runtime/device.ts';
import type { DeviceName } from '../runtime/open-options.ts';
import type { Span } from '../timeline/span.ts';
import type { OutputArrays, SettingValue, TypedArray } from './job.ts';
import type { WritableShape } from './sinks/web-stream.ts';
import type { CutStep } from './tuner.ts';

/** The name of a format of files: one of these, or one that was registered. */
export type FileFormat = 'raw' | 'npy' | 'parquet' | (string & {});

/** A file with what its name does not say. */
export interface InputFile {
  /** A path, or a URL of http or https; `'-'` is standard input. */
  readonly file: string;
  /**
   * Default: by the name's ending, else by how the file begins. Bare elements are read only from a name that ends
   * in `.raw`, `.bin` or a type (`.f32`), from a pipe, or with `'raw'`; other files are refused (WS5004).
   */
  readonly format?: FileFormat;
  /** The type of the elements of a raw file. Default: the kernel's. A file that says its own must agree (WS5005). */
  readonly dtype?: Dtype;
}

/**
 * Files that follow one another along their first dimension, as one input. Their types, and the shapes of their rows, agree
 * (WS5005). Each is a path, a pattern, or a file with what its name does not say.
 */
export type InputFiles = readonly (string | InputFile)[];

/** Chunks of bytes or elements from a program. */
export interface InputStream {
  readonly stream:
    | AsyncIterable<Uint8Array | TypedArray>
    | Iterable<Uint8Array | TypedArray>
    | ReadableShape<Uint8Array | TypedArray>;
  /** The type of the elements in the bytes. Default: the kernel's. */
  readonly dtype?: Dtype;
}

/**
 * Where the data of one input comes from. A string is a path, a URL (`'https://host/x.npy'`, `'s3://bucket/key'`), `'-'` standard input, or a pattern (`'parts/*.npy'`): all
 * files that fit it follow one another, part 2 before part 10, as those of a list do. A `Buffer` is bytes of the kernel's type. A page-locked array of the kernel's type is copied to the device from where it
 * lies, without being read. A stream is Node's, the web's (`response.body`), or any program's that gives pieces.
 */
export type InputData =
  | string
  | InputFiles
  | TypedArray
  | PinnedArray
  | AsyncIterable<Uint8Array | TypedArray>
  | ReadableShape<Uint8Array | TypedArray>
  | InputFile
  | InputStream;

/** A file with what its name does not say. */
export interface OutputFile {
  /** A path, or an object (`'s3://bucket/key'`); `'-'` is standard output. */
  readonly file: string;
  /**
   * Default: by the name's ending; a pipe or device without one is written raw. Other names are refused (WS5012).
   */
  readonly format?: FileFormat;
  /**
   * Rows a second, for sound (`.wav`), a whole number. Default: that of the inputs, times the output's `ratio`, where it is
   * one and no rows are left out. An output that needs one and has none is refused (WS5012).
   */
  readonly rate?: number;
}

/**
 * Where one output goes. A string is a path, an object of S3 (`'s3://bucket/key'`), `'-'` standard output; a typed array is filled. A page-locked
 * array is filled by the device, without being written. A `WritableStream` of the web receives the elements as bytes,
 * a piece for each chunk; it is closed at the end, and aborted where the run fails.
 */
export type OutputData = string | OutputFile | TypedArray | PinnedArray | WritableShape;

/** How far a run is. */
export interface Progress {
  /** Counted from 1. */
  readonly pass: number;
  readonly passes: number;
  /** Rows whose results have left the device. */
  readonly rows: number;
  /** Of these, the ones that a former run has written. */
  readonly resumedRows: number;
  /** Undefined where the input's length is not known. */
  readonly totalRows: number | undefined;
  /** Bytes of input that these rows took. */
  readonly bytes: number;
  readonly totalBytes: number | undefined;
  /** Milliseconds since the pass began. */
  readonly elapsed: number;
}

/** A chunk that is through. Times are milliseconds since the run began. */
export interface ChunkReport {
  /** Counted from 1. */
  readonly pass: number;
  /** Counted from 0, in each pass. */
  readonly chunk: number;
  /** As the timeline calls it: `cuda:1`. */
  readonly device: string;
  readonly firstRow: number;
  readonly rows: number;
  /** When reading began and ended, all of its results had left the device, and writing began and ended. */
  readonly readBegan: number;
  readonly readEnded: number;
  readonly computed: number;
  readonly writeBegan: number;
  readonly writeEnded: number;
}

/** The options of `run()`. */
export interface RunOptions {
  /**
   * The input data: one for a job with one input, or for a Parquet file that has all columns; a
   * list in the order of the declaration (inputs first, then operand arrays); or by name. For a job with one input a list
   * of files is that input, and elsewhere a list within the list: `[['x0.npy', 'x1.npy'], 'w.npy']`.
   */
  readonly input: InputData | readonly InputData[] | Readonly<Record<string, InputData>>;
  /** Where outputs go, likewise; a `.npz` file holds several, by their names. Without it, they are collected in memory. */
  readonly output?: OutputData | readonly OutputData[] | Readonly<Record<string, OutputData>>;
  /**
   * How data of another element type becomes the kernel's, for all inputs: `'nearest'` rounds, for example the f64
   * that NumPy saves where a kernel takes f32. Default: as each input of the job says, and that is `'exact'`.
   */
  readonly convert?: Conversion;
  /** Values of the job's settings. */
  readonly settings?: Readonly<Record<string, SettingValue>>;
  /**
   * A device, which stays open, or the name of one, which is opened for the run. A list, or names
   * with commas between them, share the chunks; `'cuda:*'` is every GPU. Default `'cpu'`.
   */
  readonly device?: Device | DeviceName | readonly (Device | DeviceName)[];
  /**
   * Computes one piece of the outputs, the n-th of so many (`[3, 10]`), into files of its own beside each
   * (`y.npy.3-of-10`), for `warpstage merge`. A piece that is there already is compared with the result, and a difference
   * is an error (WS5015). Inputs are files, URLs or arrays, outputs files, and the job has no accumulators. Default: all.
   */
  readonly shard?: readonly [n: number, of: number];
  /** Only the first so many rows of the inputs. Default: all. */
  readonly rows?: number;
  /** Rows of a chunk; with a unit (`'8MiB'`, `'500kB'`) bytes of the widest input or output. Default `'auto'`. */
  readonly chunk?: number | string;
  /** Chunks in flight at once on each device; 1 is without overlap. Default `'auto'`. */
  readonly depth?: number | 'auto';
  /**
   * Keeps what was written when the run ends before its end, and continues after it when it is started again with
   * the same work, settings and files. Inputs are files or URLs then, and outputs files (WS5010). What is kept lies beside the first
   * output; a name says where else, which a reduction without outputs needs: with `'sums'` it is `.sums.journal` and
   * others that begin so. Where what was kept is of another run, that is an error (WS5013). Default false.
   */
  readonly resume?: boolean | string;
  /**
   * What the process may hold resident, in bytes or with a unit (`'300MiB'`), as far as the run decides on it: its chunks
   * are as small and as few as that takes, and devices that are opened for it have fewer threads. Where it cannot be kept,
   * that is an error before anything is read (WS5008). Arrays of the program's are counted, as what is there already.
   * Default: not limited.
   */
  readonly maxMemory?: number | string;
  /** Stops the run: outputs are removed, unless it is to be resumed, and the promise rejects with WS5009. */
  readonly signal?: Cancelling;
  /** Called after every chunk. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called when the outputs of a chunk are written, in the order of the chunks. */
  readonly onChunk?: (chunk: ChunkReport) => void;
  /** Collects a span of every operation. Default false. */
  readonly trace?: boolean;
  /**
   * Flushes output files to the disk before they get their names, and then their folders: what is there when the run
   * has ended is there after a loss of power. Default false: it is there when the process dies.
   */
  readonly fsync?: boolean;
  /**
   * Writes the checksums of each output file beside it (`y.npy.sums` for `y.npy`), for `warpstage verify`, and with them
   * those of the inputs, which are read once more for that. With `resume`, inputs are identified by their content then,
   * and not by inode and times. Default false.
   */
  readonly checksum?: boolean;
  /** Whether outputs take the place of files that are there. With false, such a file is an error (WS5006). Default true. */
  readonly overwrite?: boolean;
}

/** The stages of a run, in the order in which data passes through them. */
export const stageNames = ['read', 'copy in', 'compute', 'copy out', 'write'] as const;

export type StageName = (typeof stageNames)[number];

/** What one stage did. */
export interface StageReport {
  readonly name: StageName;
  /** Milliseconds in which it worked. */
  readonly busy: number;
  readonly bytes: number;
  readonly operations: number;
  /** Whether `busy` is of a virtual device's own clock, which no other time of the report can be compared with. */
  readonly virtual: boolean;
}

/** What one device of a run did. */
export interface DeviceReport {
  /** As the timeline calls it: `cuda:1`. */
  readonly name: string;
  /** What it is: `NVIDIA H200`. */
  readonly device: string;
  /** Of all passes. */
  readonly chunks: number;
  readonly rows: number;
  /** Its copies in, kernels and copies out. */
  readonly stages: readonly StageReport[];
}

/** What a run did, and what bound it. */
export interface JobReport {
  readonly job: string;
  /** What it ran on: `NVIDIA H200`, or `2 x NVIDIA H200`. */
  readonly device: string;
  readonly devices: readonly DeviceReport[];
  /** Milliseconds from the first read to the last write of all passes. */
  readonly wall: number;
  readonly rows: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of `rows`, those that are in the outputs. Only of jobs that `keep` some. */
  readonly keptRows?: number;
  /**
   * What a former run had written, counted in `rows` and `totalRows` but in nothing else: its chunks, and the rows
   * of input and bytes of output that these are. Only with `resume`.
   */
  readonly resumed?: { readonly chunks: number; readonly rows: number; readonly bytes: number };
  /** Rows that the inputs have, of which `rows` may be the first; undefined if only the end tells. */
  readonly totalRows: number | undefined;
  /** Chunks, the rows of a full one and the bytes of its inputs and outputs; of the last pass. */
  readonly chunks: number;
  readonly chunkRows: number;
  readonly chunkBytes: number;
  /** Chunks in flight on each device. */
  readonly depth: number;
  /** Which of chunk and depth nobody asked for, and how the last pass was cut from which row on, and why. */
  readonly chosen: {
    readonly auto: { readonly chunk: boolean; readonly depth: boolean };
    readonly steps: readonly CutStep[];
  };
  readonly passes: number;
  /** What carried the kernels out, for example `wasm (regions, vectorised)`. */
  readonly ranOn: readonly string[];
  /** Of a stage that several devices have: how long the busiest of them worked, and the bytes of all. */
  readonly stages: readonly StageReport[];
  /**
   * The stage that bound the run, and its share of the wall time. Null where none did: the busiest worked less than half
   * of the time, or a device was virtual, so that there is no one clock to say it by.
   */
  readonly bound: { readonly stage: StageName; readonly nearness: number } | null;
}

/** What a run gives. */
export interface JobResult<V = unknown, O extends OutputArrays = OutputArrays> {
  /** What the accumulators gave; of the last pass. */
  readonly value: V;
  /** Outputs that went to memory, by name. */
  readonly outputs: Partial<O>;
  readonly report: JobReport;
  /** With `trace`: every operation, on the clock of `performance.now()`. */
  readonly spans: readonly Span[];
}
