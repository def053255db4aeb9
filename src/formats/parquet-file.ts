// What is in a Parquet file, and how its columns are decoded.
//
// A row group is decoded at a time, or less where the file has an index of its pages; so the memory
// is bounded by the largest row group, whatever the file's size. Dates and times are the integers
// that are stored: days, or milli-, micro- or nanoseconds since 1970.

import {
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import type { Dtype } from './dtype.ts';
import type { Contents, ElementsInUnits, StoredArray } from './format.ts';

/** Rows that are decoded at once where pages can be found without decoding those before. */
const indexedRows = 1 << 18;

/** Reads the index of a file. */
export async function openParquet(file: OpenBytes): Promise<Contents> {
  const bytes = asyncBuffer(file);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(bytes, { geoparquet: false });
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
  return {
    arrays: parquetSchema(metadata).children.map((tree) => columnOf(tree, metadata, bytes)),
    facts: {
      'row groups': metadata.row_groups.length,
      ...(metadata.created_by === undefined ? {} : { 'written by': metadata.created_by }),
    },
  };
}

function columnOf(tree: SchemaTree, metadata: FileMetaData, file: Buffered): StoredArray {
  const { name } = tree.element;
  const dtype = isNested(tree) ? undefined : numericType(tree.element);
  const nulls = knownNulls(metadata, name);
  return {
    name,
    stored: typeInWords(tree),
    ...(dtype === undefined ? {} : { dtype }),
    shape: [Number(metadata.num_rows)],
    ...(nulls === undefined ? {} : { nulls }),
    elements: () => unitsOf(name, metadata, file),
  };
}

async function unitsOf(column: string, metadata: FileMetaData, file: Buffered): Promise<ElementsInUnits> {
  const scan = await parquetScan({
    file,
    metadata,
    columns: [column],
    compressors,
    parsers: storedValues,
    geoparquet: false,
  });
  // Row groups, cut into parts where pages are indexed.
  const ranges: { readonly rowStart: number; readonly rowEnd: number }[] = [];
  for (const [position, { rowStart, rowEnd }] of scan.ranges.entries()) {
    const chunk = metadata.row_groups[position]?.columns.find(
      (one) => one.meta_data?.path_in_schema[0] === column,
    );
    const step = chunk?.offset_index_offset === undefined ? rowEnd - rowStart : indexedRows;
    for (let begin = rowStart; begin < rowEnd; begin += step) {
      ranges.push({ rowStart: begin, rowEnd: Math.min(begin + step, rowEnd) });
    }
  }
  return {
    lengths: ranges.map(({ rowStart, rowEnd }) => rowEnd - rowStart),
    // Columns of numbers and booleans hold nothing else.
    decode: async (unit) => (await scan.readColumn({ column, ...ranges[unit]! })) as ArrayLike<number>,
  };
}

/** The nulls that the file's own statistics tell of; undefined where they tell nothing. */
function knownNulls(metadata: FileMetaData, column: string): number | undefined {
  const known = metadata.row_groups.flatMap((group) => {
    const chunk = group.columns.find((one) => one.meta_data?.path_in_schema[0] === column);
    return chunk?.meta_data?.statistics?.null_count ?? [];
  });
  return known.length === 0 ? undefined : known.reduce((sum, nulls) => sum + Number(nulls), 0);
}

/** Dates and times as the integers that are stored. */
const storedValues: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (milliseconds) => milliseconds,
  timestampFromMicroseconds: (microseconds) => microseconds,
  timestampFromNanoseconds: (nanoseconds) => nanoseconds,
  dateFromDays: (days) => days,
};

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

/** What the decoders read from. */
type Buffered = ReturnType<typeof asyncBuffer>;

function asyncBuffer(file: OpenBytes) {
  const size = file.size!;
  return {
    byteLength: size,
    async slice(start: number, end: number = size): Promise<ArrayBuffer> {
      if (!(0 <= start && start <= end && end <= size)) {
        throw new Error(`it points to bytes ${start} to ${end} of ${size}`);
      }
      const buffer = new ArrayBuffer(end - start);
      const read = await file.readAt!(new Uint8Array(buffer), start);
      if (read < buffer.byteLength) throw new Error(`it ends after ${start + read} of ${end} bytes`);
      return buffer;
    },
  };
}
