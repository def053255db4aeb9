// What is in a Parquet file, and how its columns are decoded.
//
// A row group is decoded at a time, or less where the file has an index of its pages; so the memory
// is bounded by the largest row group, whatever the file's size. Dates and times are the integers
// that are stored: days, or milli-, micro- or nanoseconds since 1970.

import {
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { count } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import type { Dtype } from './dtype.ts';
import type { Contents, ElementsInUnits, StoredArray } from './format.ts';
import { type ColumnStorage, decodePages, dictionaryOf } from './parquet-column.ts';
import { typeOf, type Values } from './parquet-values.ts';
import { readThrift, type ThriftFields } from './thrift.ts';

/** Rows that are decoded at once where pages can be found without decoding those before. */
const indexedRows = 1 << 18;

/** Reads the index of a file. */
export async function openParquet(file: OpenBytes): Promise<Contents> {
  const bytes = new FileParts(file);
  try {
    const metadata = await readIndex(bytes);
    return {
      arrays: parquetSchema(metadata).children.map((tree) => columnOf(tree, metadata, bytes)),
      facts: {
        'row groups': metadata.row_groups.length,
        ...(metadata.created_by === undefined ? {} : { 'written by': metadata.created_by }),
      },
    };
  } catch (cause) {
    if (cause instanceof WarpstageError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw problem(
      'WS5004',
      `${file.name} cannot be read as a Parquet file: ${why}`,
      'is it complete?',
      cause,
    );
  }
}

const magic = 'PAR1';
/** Behind the index: its length, and the letters with which the file begins as well. */
const tailBytes = 8;

/** The index is behind the data. It is read here first, so that the library has nothing to read that has no end. */
async function readIndex(file: FileParts): Promise<FileMetaData> {
  const tail = await file.part(file.size - tailBytes, tailBytes);
  if (Buffer.from(tail.subarray(4)).toString('latin1') !== magic)
    throw new Error(`it does not end in ${magic}`);
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
  const index = await file.part(file.size - tailBytes - length, length + tailBytes);
  readThrift(index.subarray(0, length));
  const metadata = parquetMetadata(index, { geoparquet: false });
  const rows = metadata.row_groups.map((group) => natural(group.num_rows, 'rows of a row group'));
  const sum = rows.reduce((all, one) => all + one, 0);
  if (sum !== natural(metadata.num_rows, 'rows')) {
    throw new Error(
      `it says that it has ${count(Number(metadata.num_rows))} rows, and its row groups have ${count(sum)}`,
    );
  }
  return metadata;
}

function columnOf(tree: SchemaTree, metadata: FileMetaData, file: FileParts): StoredArray {
  const { name } = tree.element;
  const dtype = isNested(tree) ? undefined : numericType(tree.element);
  const nulls = knownNulls(metadata, name);
  return {
    name,
    stored: typeInWords(tree),
    ...(dtype === undefined ? {} : { dtype }),
    shape: [Number(metadata.num_rows)],
    ...(nulls === undefined ? {} : { nulls }),
    elements: () => unitsOf(tree, metadata, file),
  };
}

/** Pages that are decoded together. */
interface Unit {
  readonly rows: number;
  readonly begin: number;
  readonly bytes: number;
  /** Where the dictionary is, if it is not among the pages. */
  readonly dictionary?: { readonly begin: number; readonly bytes: number };
}

async function unitsOf(tree: SchemaTree, metadata: FileMetaData, file: FileParts): Promise<ElementsInUnits> {
  const { element } = tree;
  const units: (Unit & { readonly storage: ColumnStorage })[] = [];
  for (const group of metadata.row_groups) {
    const chunk = group.columns.find(({ meta_data: about }) => about?.path_in_schema[0] === element.name);
    const about = chunk?.meta_data;
    if (about === undefined) throw new Error(`a row group has no column '${element.name}'`);
    if (chunk!.file_path)
      throw new Error(`its column '${element.name}' is in another file, ${chunk!.file_path}`);
    const storage = {
      codec: about.codec,
      optional: element.repetition_type === 'OPTIONAL',
      type: typeOf(element),
    };
    const whole = { rows: Number(group.num_rows), ...placeOf(about) };
    const { offset_index_offset: place, offset_index_length: length } = chunk!;
    const index = place && length ? await file.part(natural(place, 'index of pages'), length) : undefined;
    const parts = index === undefined ? [whole] : partsOf(whole, readThrift(index).fields);
    units.push(...parts.map((part) => ({ ...part, storage })));
  }
  /** The dictionary that the unit before needed. */
  let last: { readonly begin: number; readonly values: Values | undefined } | undefined;
  const dictionary = async ({ begin, bytes }: NonNullable<Unit['dictionary']>, storage: ColumnStorage) => {
    if (last?.begin !== begin) last = { begin, values: dictionaryOf(await file.part(begin, bytes), storage) };
    return last.values;
  };
  return {
    lengths: units.map(({ rows }) => rows),
    async decode(unit) {
      const { rows, begin, bytes, storage, dictionary: apart } = units[unit]!;
      const known = apart && (await dictionary(apart, storage));
      return decodePages(await file.part(begin, bytes), rows, storage, known);
    },
  };
}

/** Where the pages of a column are in a row group. */
function placeOf(about: ColumnMetaData): { readonly begin: number; readonly bytes: number } {
  const data = natural(about.data_page_offset, 'place of a column');
  const dictionary = natural(about.dictionary_page_offset ?? 0n, 'place of a column');
  const begin = dictionary > 0 && dictionary < data ? dictionary : data;
  return { begin, bytes: natural(about.total_compressed_size, 'size of a column') };
}

/** Cuts a row group into parts of whole pages, by the index of its pages. */
function partsOf(whole: Unit, index: ThriftFields): Unit[] {
  const list = index.get(1);
  if (!Array.isArray(list) || list.length === 0) return [whole];
  const pages = (list as readonly ThriftFields[]).map((page) => ({
    begin: natural(page.get(1), 'place of a page'),
    bytes: natural(page.get(2), 'size of a page'),
    row: natural(page.get(3), 'first row of a page'),
  }));
  const rowBehind = (page: number) => pages[page + 1]?.row ?? whole.rows;
  const before = pages[0]!.begin - whole.begin;
  const parts: Unit[] = [];
  for (let first = 0; first < pages.length; ) {
    let last = first;
    while (last + 1 < pages.length && rowBehind(last) - pages[first]!.row < indexedRows) last++;
    const { begin, row } = pages[first]!;
    const part = {
      rows: natural(rowBehind(last) - row, 'rows of a page'),
      begin,
      bytes: natural(pages[last]!.begin + pages[last]!.bytes - begin, 'size of a page'),
    };
    parts.push(before > 0 ? { ...part, dictionary: { begin: whole.begin, bytes: before } } : part);
    first = last + 1;
  }
  if (pages[0]!.row !== 0) throw new Error('the index of its pages does not begin with row 0');
  return parts;
}

/** A whole number that the index says. */
function natural(value: unknown, what: string): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number;
  throw new Error(`${what}: ${String(value)} is no such number`);
}

/** The nulls that the file's own statistics tell of; undefined where they tell nothing. */
function knownNulls(metadata: FileMetaData, column: string): number | undefined {
  const known = metadata.row_groups.flatMap((group) => {
    const chunk = group.columns.find((one) => one.meta_data?.path_in_schema[0] === column);
    return chunk?.meta_data?.statistics?.null_count ?? [];
  });
  return known.length === 0 ? undefined : known.reduce((sum, nulls) => sum + Number(nulls), 0);
}

function isNested({ element, children }: SchemaTree): boolean {
  return children.length > 0 || element.repetition_type === 'REPEATED';
}

function typeInWords(tree: SchemaTree): string {
  if (isNested(tree)) return 'nested';
  const { type, converted_type: converted, logical_type: logical } = tree.element;
  const meaning = converted ?? logical?.type;
  return meaning === undefined ? String(type) : `${type} (${meaning})`;
}

function numericType({
  type,
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): Dtype | undefined {
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return 'f64';
  const width =
    logical?.type === 'INTEGER' ? logical.bitWidth : Number(/^U?INT_(\d+)$/.exec(converted ?? '')?.[1]);
  const signed = logical?.type === 'INTEGER' ? logical.isSigned : !converted?.startsWith('UINT_');
  switch (type) {
    case 'BOOLEAN':
      return 'bool';
    case 'FLOAT':
      return 'f32';
    case 'DOUBLE':
      return 'f64';
    case 'INT32':
      if (width === 8) return signed ? 'i8' : 'u8';
      if (width === 16) return signed ? 'i16' : 'u16';
      return signed ? 'i32' : 'u32';
    case 'INT64':
      return signed ? 'i64' : 'u64';
    case 'INT96':
      return 'i64';
    case 'FIXED_LEN_BYTE_ARRAY':
      return logical?.type === 'FLOAT16' ? 'f16' : undefined;
    default:
      return undefined;
  }
}

/** Parts of a file that must be there. */
class FileParts {
  readonly size: number;
  readonly #file: OpenBytes;

  constructor(file: OpenBytes) {
    this.size = file.size!;
    this.#file = file;
  }

  async part(begin: number, length: number): Promise<Uint8Array> {
    if (!(begin >= 0 && begin + length <= this.size)) {
      throw new Error(`it points to bytes ${begin} to ${begin + length} of ${this.size}`);
    }
    const bytes = new Uint8Array(length);
    const read = await this.#file.readAt!(bytes, begin);
    if (read < length) throw new Error(`it ends after ${begin + read} of ${begin + length} bytes`);
    return bytes;
  }
}
