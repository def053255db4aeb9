// What a format of files is: how a file of it is recognised, what is in it, how elements are read and written.
//
// A format says where elements are, and the house does the rest: it converts them to the kernel's type, refuses
// what does not fit, cuts them into chunks, decodes beside everything else, and begins again where an interrupted
// run ended. So a format is about a hundred lines, and knows neither kernels nor jobs.
//
// Elements either lie in the file as they lie in a typed array; then they are read straight into the memory that
// is copied to the device. Or they must be decoded: then the format cuts them into units, each decoded on its own.

import type { ElementType, TypedArray } from '../kernel/types.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import type { Conversion, Dtype } from './dtype.ts';

/**
 * A format of files. `registerFormat` makes it known to jobs and commands.
 *
 * @example
 * // Elements of f32 behind the four letters VEC1.
 * registerFormat({
 *   name: 'vec',
 *   endings: ['.vec'],
 *   probe: (beginning) => Buffer.from(beginning.subarray(0, 4)).equals(Buffer.from('VEC1')),
 *   async open(file) {
 *     await file.read(new Uint8Array(4));
 *     const shape = file.size === undefined ? {} : { shape: [Math.floor((file.size - 4) / 4)] };
 *     return { arrays: [{ stored: 'f32', dtype: 'f32', ...shape, elements: () => ({ bytes: file }) }] };
 *   },
 *   encode: () => ({ begin: () => Buffer.from('VEC1') }),
 * });
 */
export interface Format {
  /** What `format` of an input or output says, for example `'npy'`. One of its name takes the place of another. */
  readonly name: string;
  /** How names of such files end, in lower case and with the dot: `['.npy']`. The longest ending counts. */
  readonly endings: readonly string[];
  /**
   * Whether a file holds arrays by name, so that one serves several inputs, each by its column; or what says so of a path.
   * Default false.
   */
  readonly columns?: boolean | ((path: string) => boolean);
  /** The name of a file that is in each folder of this format. Default: what is of this format is no folder, but a file. */
  readonly mark?: string;
  /** Why a file cannot be read from its beginning to its end, for example `'its index is at its end'`; it is refused from a pipe then. */
  readonly seeks?: string;
  /**
   * Whether a file that begins like this is of the format, whatever its name. `beginning` has 512 bytes, or the
   * whole file if that is shorter. Default: only the name tells.
   */
  probe?(beginning: Uint8Array): boolean;
  /**
   * Reads what says what is in a file. Default: files of this format are not read.
   *
   * @throws WarpstageError WS5003 where data is missing or damaged; any other error is reported as WS5004
   */
  open?(file: OpenBytes, about: OpenRequest): Promise<Contents>;
  /** How an output is written. Default: files of this format are not written. */
  encode?(output: OutputDescription): Encoding;
  /**
   * How a file holds several outputs, each by the name of its parameter. Default: each output has a file of its own.
   */
  archive?(): Archive;
  /**
   * The module that exports this format, as a URL that Node itself can import: `import.meta.url`. With it, arrays
   * of many units are decoded in a thread of their own. Default: they are decoded in the program's thread.
   */
  readonly module?: string | { readonly href: string } | undefined;
}

/** What is known before a file is opened. */
export interface OpenRequest {
  /** The file's name without the ending of what compressed it. Default: that of the bytes. */
  readonly name?: string | undefined;
  /** The type of the elements that the caller named, or else needs: for formats that do not say it. */
  readonly dtype: Dtype | undefined;
}

/** What is in a file. */
export interface Contents {
  /** In the order of the file: one for most formats, one for each column of a table. */
  readonly arrays: readonly StoredArray[];
  /** What else `warpstage info` says of the file, for example `{ 'row groups': 12 }`. */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** Bytes that reading it holds beside what decoding does, as to unpack it. Default: hardly any. */
  readonly heldBytes?: number;
  /** Frees what was taken beside the file itself, which is closed afterwards. */
  close?(): Promise<void>;
}

/** An array in a file. */
export interface StoredArray {
  /** Of a column. Absent where the file is one array. */
  readonly name?: string;
  /** Its type in the words of the format, for example `'<f8'` or `'INT64 (TIMESTAMP)'`. */
  readonly stored: string;
  /** The type that its elements have when they are read. Absent where they are no numbers. */
  readonly dtype?: Dtype;
  /** Why it has none though it began like numbers, for messages: the row, what it says, and what the rows before it are. */
  readonly unlike?: string;
  /** Extents, the slowest first, where the format has them. A kernel's rows may take their width from it. */
  readonly shape?: readonly number[];
  /** Elements. Default: as many as `shape` says; without one, only the end tells. */
  readonly length?: number;
  /** Rows a second, where the file says it. Default: rows have no time. */
  readonly rate?: number;
  /** How many elements are null, where the file says it. */
  readonly nulls?: number;
  /**
   * Where the elements are. Called once for each reader, and not without a `dtype`. `wanted`: what they will become,
   * where that is known, for formats that can read them as that.
   *
   * @throws WarpstageError as `open` does; any other error is reported as WS5003
   */
  elements(wanted?: ReadRequest): Elements | Promise<Elements>;
}

/** What elements that are read will become. */
export interface ReadRequest {
  /** The kernel's type. */
  readonly element?: ElementType | undefined;
  /** How values become that type. */
  readonly convert?: Conversion | undefined;
}

/** How many elements an array has, where that is known. */
export function lengthOf({ length, shape }: Pick<StoredArray, 'length' | 'shape'>): number | undefined {
  return length ?? shape?.reduce((product, extent) => product * extent, 1);
}

/** The elements of an array: as they are in memory, or in units. */
export type Elements = ElementsInPlace | ElementsInUnits;

/** Elements one after the other as in a typed array, little-endian. A run begins again at any of them. */
export interface ElementsInPlace {
  /** Stands at the first element: the file itself behind its header, or a `slice` of it. */
  readonly bytes: ByteReader;
}

/** Elements that are decoded, a unit at a time, in order. A run begins again at any unit whose place `lengths` tells. */
export interface ElementsInUnits {
  /** The type that values are decoded as, where it is another than the array's, by what was wanted. */
  readonly dtype?: Dtype;
  /** Bytes that decoding holds at most. Default: by the longest unit. */
  readonly decodingBytes?: number;
  /** Elements of each unit. Absent where they are known only once they are decoded; all before must be decoded then. */
  readonly lengths?: readonly number[];
  /**
   * The values of a unit, counted from 0; null or undefined among them are nulls. Behind the last unit undefined,
   * which is asked for only without `lengths`. One call at a time.
   */
  decode(unit: number): Promise<DecodedValues | undefined>;
}

/** Values in their order; booleans are 0 and 1. */
export type DecodedValues = ArrayLike<number | bigint | boolean | null | undefined>;

/** An output that is to be written. */
export interface OutputDescription {
  /** For messages: its path. */
  readonly name: string;
  /** The parameter of the kernel that it comes from. */
  readonly parameter: string;
  readonly element: ElementType;
  /** Rows a second, where that was said for the output, or follows from the inputs. */
  readonly rate?: number | undefined;
}

/** How an output is written: what comes before its elements, between and behind them. */
export interface Encoding {
  /**
   * Bytes before the first element. Where they depend on the shape (`needsShape`) and the input's length is known
   * only at its end, they are written twice, the second time with the true shape; they must be as many.
   * Default: none.
   */
  begin?(shape: readonly number[]): Uint8Array;
  /** Whether `begin` says the shape: such an output cannot go to a pipe before its shape is known. Default false. */
  readonly needsShape?: boolean;
  /** The bytes of elements, in their order. Default: as they lie in memory. */
  encode?(elements: TypedArray): Uint8Array | Promise<Uint8Array>;
  /**
   * Bytes that encoding holds at most, beside elements that it is given: a MiB of them at once, or a row. Default: with an
   * `encode` of its own eight MiB.
   */
  heldBytes?(shape: readonly number[]): number;
  /** How it is written where it is a folder of files: then nothing else of this counts but `begin`, which may refuse it. */
  readonly folder?: FolderEncoding;
  /** Bytes behind the last element. Default: none. */
  end?(shape: readonly number[]): Uint8Array | Promise<Uint8Array>;
  /**
   * Bytes that the first so many elements take, with what comes before them: where a run begins again. Default:
   * their size in memory, or with an `encode` of its own what was written of them, if there is `keep`. Without either the
   * run cannot be resumed.
   */
  bytesOf?(elements: number, shape: readonly number[]): number;
  /**
   * What the bytes of the next elements depend on, for a run that continues after those that were encoded: nothing
   * where it gives no bytes. It is called after each chunk; what it returns is called once at most, later, and gives
   * what was so then. Default: with an `encode` of its own the run cannot be resumed.
   */
  keep?(): () => Uint8Array;
  /** Continues after elements that an earlier run has encoded, from what `keep` gave. `begin` was called. */
  restore?(state: Uint8Array): void | Promise<void>;
}

/** An output that is a folder: elements in files of equally many, and a file that says what they are. */
export interface FolderEncoding {
  /** Bytes of elements in a file, by the extents behind the first one. The last is filled up by zeros. */
  unitBytes(shape: readonly number[]): number;
  /** The name of a file of elements, counted from 0. */
  nameOf(unit: number, shape: readonly number[]): string;
  /** A file of elements, as it is stored. Default: as they lie in memory. */
  encode?(bytes: Uint8Array): Promise<Uint8Array>;
  /** The name and the bytes of the file that says what they are. `unitBytes`: what the files had. */
  end(shape: readonly number[], unitBytes: number): readonly [name: string, bytes: Uint8Array];
  /** Whether a file of a name is one that such an output may have. */
  isPart(name: string): boolean;
  /** Why a folder, with files of these names, must not be replaced; undefined where it may be. */
  keeps(folder: string, names: readonly string[]): string | undefined;
}

/** A file of several outputs, one part after the other, and an index at the end. */
export interface Archive {
  /**
   * How the next part is written. Its `begin` has as many bytes whatever the first extent is, and is written at the end;
   * its `end`, called once, gives `endBytes`.
   */
  part(output: OutputDescription): Encoding;
  /** Bytes behind the last element of each part. */
  readonly endBytes: number;
  /** Bytes behind the last part, once all have ended. `places`: where each begins; `end`: where the last one ends. */
  index(places: readonly number[], end: number): Uint8Array;
}
