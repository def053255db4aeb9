// The input data of a run: which data belongs to which parameter, and the sources opened for it.
//
// Data comes as one thing, as a list in the order of the declaration, or by name. One file with
// columns serves all streamed inputs, each with its own.

import { stat } from 'node:fs/promises';
import { counted } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { type ByteReader, StreamBytes } from '../formats/bytes.ts';
import { type Dtype, dtypeBytes } from '../formats/dtype.ts';
import { ElementSource, notWhole } from '../formats/element-source.ts';
import { type OpenedFile, openFile, sourceOf } from '../formats/open-file.ts';
import { formatNamed, formatOfName } from '../formats/registry.ts';
import type { Source, Wanted } from '../formats/source.ts';
import { inThread } from '../formats/threaded-source.ts';
import { UnitSource } from '../formats/unit-source.ts';
import { componentOf, type ElementType, hostArrays } from '../kernel/types.ts';
import { inWords } from '../runtime/arguments.ts';
import { PinnedMemoryArray } from '../runtime/arrays.ts';
import type { PinnedArray } from '../runtime/device.ts';
import { type CopyBytes, copyHere } from './host-copies.ts';
import type { InputDeclaration, Job, OperandDeclaration, TypedArray } from './job.ts';
import { MemoryBytes } from './memory-bytes.ts';
import type { InputData, InputFile, InputStream, RunOptions } from './options.ts';

/** Rows whose decoding takes longer than the start of a thread. */
const rowsForThread = 200_000;

/** The names of the inputs of jobs, and of their constant arrays that come from an input. */
export function inputNames(jobs: readonly Job[]): { inputs: string[]; operands: string[] } {
  const inputs = jobs.flatMap(({ definition }) => Object.keys(definition.inputs));
  const arrays = jobs.flatMap(({ definition }) => Object.entries(definition.arrays ?? {}));
  const operands = arrays.filter(([, array]) => isOperand(array)).map(([name]) => name);
  return { inputs: [...new Set(inputs)], operands: [...new Set(operands)] };
}

/** Whether a constant array comes from an input file. */
export function isOperand(array: unknown): array is OperandDeclaration {
  return typeof array === 'object' && array !== null && 'operand' in array;
}

/** The data of every input and operand of the jobs, by name: passes share data by its name. */
export function assignInputs(jobs: readonly Job[], input: RunOptions['input']): Map<string, InputData> {
  const { inputs, operands } = inputNames(jobs);
  const names = [...inputs, ...operands];
  if (input === undefined) {
    const example =
      names.length === 1
        ? `'${names[0]}.npy'`
        : `{ ${names.map((name) => `${name}: '${name}.npy'`).join(', ')} }`;
    throw problem(
      'WS5005',
      `no input is given, and the job reads ${names.join(', ')}`,
      `for example input: ${example}`,
    );
  }
  if (isByName(input)) return assignByName(names, input);
  const list = (Array.isArray(input) ? input : [input]) as readonly InputData[];
  for (const data of list) checkData(data);
  if (list.length === names.length) return new Map(names.map((name, i) => [name, list[i]!]));
  // One file has the columns of all inputs.
  if (list.length === 1 + operands.length && hasColumns(list[0]!)) {
    return new Map(names.map((name, i) => [name, list[Math.max(0, i - inputs.length + 1)]!]));
  }
  throw problem(
    'WS5005',
    `the job reads ${counted(names.length, 'input')} (${names.join(', ')}), and ${list.length} ${list.length === 1 ? 'was' : 'were'} given`,
    inputs.length > 1
      ? 'give one for each, or one Parquet file that has a column for each'
      : 'give one for each',
  );
}

/** What was opened for a pass. It closes together. */
export class OpenInputs {
  readonly #opened: { close(): Promise<void> }[] = [];
  readonly #tables = new Map<string, OpenedFile>();
  readonly #copy: CopyBytes;

  /** `copy`: how the elements of typed arrays are taken. */
  constructor(copy: CopyBytes = copyHere) {
    this.#copy = copy;
  }

  async open(given: InputData, wanted: Wanted): Promise<Source> {
    const data = isPinned(given) ? given.array : given;
    if (ArrayBuffer.isView(data)) {
      const name = `the array given for '${wanted.parameter}'`;
      const bytes = new MemoryBytes(name, data, this.#copy);
      return bareSource(bytes, dtypeOf(data, wanted) ?? rawType(wanted), wanted);
    }
    if (typeof data === 'string' || 'file' in data)
      return this.#file(typeof data === 'string' ? { file: data } : data, wanted);
    const stream = 'stream' in data ? data : { stream: data };
    const dtype = stream.dtype ?? rawType(wanted);
    const name = `the stream given for '${wanted.parameter}'`;
    const bytes = new StreamBytes(name, checkedPieces(stream, name, dtype, wanted));
    this.#opened.push(bytes);
    return bareSource(bytes, dtype, wanted);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.map((one) => one.close()));
  }

  /** An array of a file. A long one that is decoded has a thread of its own, beside everything else. */
  async #file(request: InputFile, wanted: Wanted): Promise<Source> {
    const { file, format, contents } = await this.#openedFile(request, wanted);
    const source = await sourceOf(file, format, contents, wanted);
    const isLong =
      source instanceof UnitSource && source.length !== undefined && source.length >= rowsForThread;
    if (!isLong || format.module === undefined) return source;
    const task = { format: format.name, path: file, dtype: request.dtype, wanted };
    const threaded = inThread(source, task, format.module);
    if (threaded === undefined) return source;
    this.#opened.push(threaded);
    return threaded;
  }

  /** A file, with what is in it. One with columns is opened once for all of them. */
  async #openedFile(request: InputFile, wanted: Wanted): Promise<OpenedFile> {
    const known = this.#tables.get(request.file);
    if (known !== undefined) return known;
    const opened = await openFile(request, rawType(wanted), (one) => this.#opened.unshift(one));
    if (opened.format.columns) this.#tables.set(request.file, opened);
    return opened;
  }
}

/** Elements that are nothing but that. */
function bareSource(bytes: ByteReader, dtype: Dtype, wanted: Wanted): Source {
  const { name, size } = bytes;
  const width = dtypeBytes[dtype];
  if (size !== undefined && size % width !== 0) throw notWhole(name, size, dtype);
  return new ElementSource(name, bytes, dtype, size === undefined ? {} : { length: size / width }, wanted);
}

/** What the kernel's side of an input wants. */
export function wantedOf(
  parameter: string,
  element: ElementType,
  { column, convert, nulls }: Pick<InputDeclaration, 'column' | 'convert' | 'nulls'>,
): Wanted {
  return { parameter, element, convert: convert ?? 'exact', column: column ?? parameter, nulls };
}

/** Whether data is page-locked memory. */
export function isPinned(data: unknown): data is PinnedArray {
  return data instanceof PinnedMemoryArray;
}

/** Whether data can be read a second time. What is not there is found missing later. */
export async function isRepeatable(data: InputData): Promise<boolean> {
  if (ArrayBuffer.isView(data) || isPinned(data)) return true;
  const path = typeof data === 'string' ? data : 'file' in data ? data.file : '-';
  if (path === '-') return false;
  const about = await stat(path).catch(() => undefined);
  return about?.isFile() ?? true;
}

/** The paths among inputs; `-` is standard input. */
export function inputPaths(inputs: Iterable<InputData>): string[] {
  return [...inputs].flatMap((data) =>
    typeof data === 'string' ? [data] : 'file' in data ? [data.file] : [],
  );
}

function assignByName(
  names: readonly string[],
  input: Readonly<Record<string, InputData>>,
): Map<string, InputData> {
  const unknown = Object.keys(input).filter((name) => !names.includes(name));
  const missing = names.filter((name) => input[name] === undefined);
  if (unknown.length > 0 || missing.length > 0) {
    const what =
      missing.length > 0
        ? `input ${missing.join(', ')} is missing`
        : `there is no input ${unknown.join(', ')}`;
    throw problem('WS5005', `${what}; the job reads ${names.join(', ')}`);
  }
  for (const name of names) checkData(input[name]);
  return new Map(names.map((name) => [name, input[name]!]));
}

function isByName(input: RunOptions['input']): input is Readonly<Record<string, InputData>> {
  return (
    typeof input === 'object' &&
    input !== null &&
    !Array.isArray(input) &&
    !isPinned(input) &&
    !ArrayBuffer.isView(input) &&
    !(Symbol.asyncIterator in input) &&
    typeof (input as Partial<InputFile>).file !== 'string' &&
    (input as Partial<InputStream>).stream === undefined
  );
}

function checkData(data: unknown): asserts data is InputData {
  const good =
    typeof data === 'string' ||
    (ArrayBuffer.isView(data) && !(data instanceof DataView)) ||
    isPinned(data) ||
    (typeof data === 'object' &&
      data !== null &&
      (Symbol.asyncIterator in data ||
        ('file' in data && typeof data.file === 'string') ||
        'stream' in data));
  if (good) return;
  throw problem(
    'WS5005',
    `an input cannot be read from ${inWords(data)}`,
    typeof data === 'number'
      ? 'put numbers into a typed array: Float32Array.of(1, 2, 3), or Float32Array.from(list)'
      : 'give a path, a typed or page-locked array, an async iterable, { file, … } or { stream, … }',
  );
}

/** The format of an input in words, as far as is known before it is opened. */
export function formatOf(data: InputData): string {
  if (typeof data !== 'string' && !('file' in data)) return 'raw';
  const { file, format } = typeof data === 'string' ? { file: data } : data;
  return format ?? formatOfName(file)?.name ?? 'by its beginning';
}

/** Whether one file has the data of several inputs, as far as is known before it is opened. */
function hasColumns(data: InputData): boolean {
  if (typeof data !== 'string' && !('file' in data)) return false;
  const { file, format } = typeof data === 'string' ? { file: data } : data;
  const known = format === undefined ? formatOfName(file) : formatNamed(format);
  return known?.columns ?? false;
}

/** The type of data that does not say its own. */
function rawType({ element }: Wanted): Dtype {
  return componentOf(element);
}

/**
 * The type of an array's elements. A Buffer is bytes of whatever is wanted, and where floats of 16 bits are
 * wanted, a Uint16Array holds their bits.
 */
function dtypeOf(array: ArrayBufferView, { element }: Wanted): Dtype | undefined {
  if (Buffer.isBuffer(array)) return undefined;
  const tag = (array as Uint8Array)[Symbol.toStringTag] as string;
  if (tag === 'Float16Array') return 'f16';
  if (tag === 'Uint16Array' && (element === 'f16' || element === 'bf16')) return element;
  return numberElements.find((one) => hostArrays[one].name === tag);
}

const numberElements = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const;

/** Pieces of bytes pass; pieces of elements must be of the type that the stream has. */
async function* checkedPieces(
  { stream }: Pick<InputStream, 'stream'>,
  name: string,
  dtype: Dtype,
  wanted: Wanted,
): AsyncGenerator<Uint8Array | TypedArray> {
  for await (const piece of stream) {
    const own = ArrayBuffer.isView(piece) ? dtypeOf(piece, wanted) : undefined;
    if (own !== undefined && own !== 'u8' && own !== dtype) {
      throw problem(
        'WS5005',
        `${name} gave elements of type ${own}, and ${dtype} was expected`,
        'say its dtype',
      );
    }
    yield piece;
  }
}
