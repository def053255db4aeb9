// The data that a run is given, where that is in memory or comes as a stream: which belongs to which parameter, and the
// sources opened for it.
//
// Data comes as one thing, as a list in the order of the declaration, or by name. One file with columns serves all
// streamed inputs, each with its own.

import { counted } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { ByteReader } from '../formats/bytes.ts';
import { type Dtype, dtypeBytes } from '../formats/dtype.ts';
import { ElementSource, notWhole } from '../formats/element-source.ts';
import type { Source, Wanted } from '../formats/source.ts';
import { isReadable, StreamBytes } from '../formats/stream-bytes.ts';
import { componentOf, type ElementType, hostArrays } from '../kernel/types.ts';
import { inWords } from '../runtime/arguments.ts';
import { PinnedMemoryArray } from '../runtime/arrays.ts';
import type { PinnedArray } from '../runtime/device.ts';
import type { CopyBytes } from './copy-here.ts';
import type { InputDeclaration, Job, OperandDeclaration } from './job.ts';
import { MemoryBytes } from './memory-bytes.ts';
import type { InputData, InputFile, InputFiles, InputStream, RunOptions } from './options.ts';

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

/**
 * The data of every input and operand of the jobs, by name: passes share data by its name. `hasColumns` says whether
 * one file has the data of several.
 */
export function assignInputs(
  jobs: readonly Job[],
  input: RunOptions['input'],
  hasColumns: (data: InputData) => boolean,
): Map<string, InputData> {
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
  const given = (Array.isArray(input) ? input : [input]) as readonly InputData[];
  const list = names.length === 1 && isFiles(given) ? [given] : given;
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
      ? 'give one for each, or one Parquet file that has a column for each; ' +
          "files that follow one another are a list of their own: [['a.parquet', 'b.parquet']]"
      : 'give one for each',
  );
}

/** What an input is where it is no file. */
type GivenData = Exclude<InputData, string | InputFile | InputFiles>;

/** The source of data that is no file; `close`: what ends it, where it may wait for more. */
export function openGiven(
  given: GivenData,
  wanted: Wanted,
  copy: CopyBytes,
): { readonly source: Source; readonly close?: () => Promise<void> } {
  const data = isPinned(given) ? given.array : given;
  if (ArrayBuffer.isView(data)) {
    const name = `the array given for '${wanted.parameter}'`;
    const bytes = new MemoryBytes(name, data, copy);
    return { source: bareSource(bytes, dtypeOf(data, wanted) ?? rawType(wanted), wanted) };
  }
  const stream = 'stream' in data ? data : { stream: data };
  const dtype = stream.dtype ?? rawType(wanted);
  const name = `the stream given for '${wanted.parameter}'`;
  const bytes = new StreamBytes(name, stream.stream, { check: checkOf(name, dtype, wanted) });
  return { source: bareSource(bytes, dtype, wanted), close: () => bytes.close() };
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

/** The paths among inputs; `-` is standard input. */
export function inputPaths(inputs: Iterable<InputData>): string[] {
  return [...inputs].flatMap((data) => filesOf(data)?.map(({ file }) => file) ?? []);
}

/** The files that an input is given as; undefined where it is none. */
export function filesOf(data: InputData): readonly InputFile[] | undefined {
  const asFile = (one: string | InputFile) => (typeof one === 'string' ? { file: one } : one);
  if (isFiles(data)) return data.map(asFile);
  return typeof data === 'string' || 'file' in data ? [asFile(data)] : undefined;
}

/** Whether data is several files. An empty list is none. */
function isFiles(data: unknown): data is InputFiles {
  return Array.isArray(data) && data.length > 0 && data.every(isFile);
}

function isFile(data: unknown): data is string | InputFile {
  if (typeof data === 'string') return true;
  return typeof data === 'object' && data !== null && 'file' in data && typeof data.file === 'string';
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
    !isReadable(input) &&
    typeof (input as Partial<InputFile>).file !== 'string' &&
    (input as Partial<InputStream>).stream === undefined
  );
}

function checkData(data: unknown): asserts data is InputData {
  const good =
    isFile(data) ||
    isFiles(data) ||
    (ArrayBuffer.isView(data) && !(data instanceof DataView)) ||
    isPinned(data) ||
    (typeof data === 'object' &&
      data !== null &&
      (Symbol.asyncIterator in data || isReadable(data) || 'stream' in data));
  if (good) return;
  throw problem(
    'WS5005',
    `an input cannot be read from ${inWords(data)}`,
    typeof data === 'number'
      ? 'put numbers into a typed array: Float32Array.of(1, 2, 3), or Float32Array.from(list)'
      : 'give a path, a list of paths, a typed or page-locked array, an async iterable, { file, … } or { stream, … }',
  );
}

/** The type of data that does not say its own. */
export function rawType({ element }: Wanted): Dtype {
  return componentOf(element);
}

/**
 * The type of an array's elements. A Buffer is bytes of whatever is wanted, and where floats of 16 bits are
 * wanted, a Uint16Array holds their bits.
 */
function dtypeOf(array: ArrayBufferView, { element }: Wanted): Dtype | undefined {
  if (globalThis.Buffer?.isBuffer(array)) return undefined;
  const tag = (array as Uint8Array)[Symbol.toStringTag] as string;
  if (tag === 'Float16Array') return 'f16';
  if (tag === 'Uint16Array' && (element === 'f16' || element === 'bf16')) return element;
  return numberElements.find((one) => hostArrays[one].name === tag);
}

const numberElements = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const;

/** What pieces of a stream are looked at by: bytes pass; elements must be of the type that the stream has. */
function checkOf(name: string, dtype: Dtype, wanted: Wanted): (piece: ArrayBufferView) => void {
  return (piece) => {
    const own = dtypeOf(piece, wanted);
    if (own === undefined || own === 'u8' || own === dtype) return;
    throw problem(
      'WS5005',
      `${name} gave elements of type ${own}, and ${dtype} was expected`,
      'say its dtype',
    );
  };
}
