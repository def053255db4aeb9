// What is in Arrow data: a file, whose end says where its record batches are, or a stream of messages.
//
// Of what can be read at any place, all batches are found first, and a column's part of each is read alone. What comes
// from a pipe is read a batch at a time, once for all columns. A stream ends with a mark; one that has none was cut off.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { type ColumnParts, decodeColumn, nullsOf, partsOf } from './arrow-column.ts';
import {
  type ArrowMessage,
  type Batch,
  batchOf,
  continued,
  kinds,
  longestTable,
  messageOf,
} from './arrow-message.ts';
import { type ArrowColumn, columnsOfSchema } from './arrow-schema.ts';
import { type ByteRange, RangesReader } from './byte-ranges.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import { FlatTable } from './flat-table.ts';
import type { Contents, Elements, ElementsInUnits } from './format.ts';
import { type BatchReader, OnePass } from './one-pass.ts';

export const magic = 'ARROW1';

/** Reads what is in it. */
export async function openArrow(file: OpenBytes): Promise<Contents> {
  const beginning = await file.peek(8);
  const isFile = Buffer.from(beginning).toString('latin1').startsWith(magic);
  if (beginning.length === 0)
    throw problem('WS5003', `${file.name} is empty`, 'did the program that writes it fail?');
  if (file.readAt === undefined) return contentsOfPipe(file, isFile);
  const parts = new FileParts(file);
  const { columns, batches } = isFile ? await readFooter(parts) : await scan(parts);
  return {
    arrays: columns.map((column) => ({
      ...about(column),
      shape: [batches.reduce((rows, { length }) => rows + length, 0)],
      nulls: batches.reduce((nulls, batch) => nulls + nullsOf(batch, column), 0),
      elements: () => elementsOf(column, batches, parts),
    })),
    facts: { 'record batches': batches.length },
  };
}

function about({ name, stored, number }: ArrowColumn) {
  return { name, stored, ...(number && { dtype: number.dtype }) };
}

/** A batch of a file. */
interface Placed extends Batch {
  /** Where its body begins. */
  readonly body: number;
}

interface Index {
  readonly columns: readonly ArrowColumn[];
  readonly batches: readonly Placed[];
}

/** Columns without nulls that are not compressed lie in their batches as in memory; others are decoded batch by batch. */
function elementsOf(column: ArrowColumn, batches: readonly Placed[], file: FileParts): Elements {
  const { dtype, bits, scale } = column.number!;
  if (dtype === 'bool' || scale !== undefined) return unitsOf(column, batches, file);
  const ranges: ByteRange[] = [];
  for (const batch of batches) {
    const { rows, codec, there, values } = partsOf(batch, column);
    const length = (rows * bits) / 8;
    if (codec !== undefined || there !== undefined || values.length < length)
      return unitsOf(column, batches, file);
    ranges.push({ begin: batch.body + values.begin, length });
  }
  return { bytes: file.ranges(ranges) };
}

function unitsOf(column: ArrowColumn, batches: readonly Placed[], file: FileParts): ElementsInUnits {
  const { number } = column;
  return {
    lengths: batches.map(({ length }) => length),
    async decode(unit) {
      const batch = batches[unit]!;
      const parts = partsOf(batch, column);
      const read = ({ begin, length }: ColumnParts['values']) => file.part(batch.body + begin, length);
      return decodeColumn(number!, parts, await read(parts.values), parts.there && (await read(parts.there)));
    },
  };
}

/** Where everything is, by the table behind it. */
async function readFooter(file: FileParts): Promise<Index> {
  const tail = Buffer.from(await file.part(file.size - 10, 10));
  if (tail.toString('latin1', 4) !== magic) throw cutOff(file.name, `it does not end in ${magic}`);
  const length = tail.readInt32LE(0);
  if (length < 0 || length > longestTable) throw new Error(`its footer is said to have ${length} bytes`);
  const footer = FlatTable.root(await file.part(file.size - 10 - length, length));
  const schema = footer.table(1);
  if (schema === undefined) throw new Error('its footer has no schema');
  const batches: Placed[] = [];
  // Of each its place, and how long its body is.
  for (const [at = 0, body = 0] of footer.counts(3, 3, [0, 2])) {
    const found = await readMessage(file, at);
    const isIt = found?.message.kind === kinds.batch && found.message.bodyBytes === body;
    if (!isIt) throw new Error('its footer names a record batch that is none');
    batches.push(placed(found));
  }
  return { columns: columnsOfSchema(schema), batches };
}

/** Where everything is, by going from message to message. */
async function scan(file: FileParts): Promise<Index> {
  let columns: ArrowColumn[] | undefined;
  const batches: Placed[] = [];
  for (let at = 0; ; ) {
    if (at === file.size) throw cutOff(file.name, 'it has no mark at its end');
    const found = await readMessage(file, at);
    if (found === undefined) break;
    const { message, body } = found;
    if (columns === undefined) columns = columnsOfSchema(schemaOf(message));
    else if (message.kind === kinds.batch) batches.push(placed(found));
    at = body + message.bodyBytes;
    if (at > file.size) throw cutOff(file.name, `a message ends at byte ${count(at)}`);
  }
  if (columns === undefined) throw new Error('it has no schema');
  return { columns, batches };
}

interface FoundMessage {
  readonly message: ArrowMessage;
  readonly body: number;
}

function placed({ message, body }: FoundMessage): Placed {
  return { ...batchOf(message), body };
}

function schemaOf({ kind, header }: ArrowMessage): FlatTable {
  if (kind !== kinds.schema) throw new Error('it does not begin with a schema');
  return header;
}

/** The message at a place; undefined where a mark says that there are no more. */
async function readMessage(file: FileParts, at: number): Promise<FoundMessage | undefined> {
  const begin = Buffer.from(await file.part(at, Math.min(8, file.size - at)));
  const { length, head } = lengthOf(begin);
  if (length === 0) return undefined;
  return { message: messageOf(await file.part(at + head, length)), body: at + head + length };
}

/** How long the table of a message is, and what is before it, by the first 4 to 8 bytes. */
function lengthOf(begin: Buffer): { readonly length: number; readonly head: number } {
  const isNew = begin.readUInt32LE(0) === continued;
  const length = isNew ? begin.readInt32LE(4) : begin.readInt32LE(0);
  if (length < 0 || length > longestTable)
    throw new Error(`a message of ${count(length)} bytes is no part of an Arrow file or stream`);
  return { length, head: isNew ? 8 : 4 };
}

/** What comes in its order only. */
async function contentsOfPipe(file: ByteReader, isFile: boolean): Promise<Contents> {
  if (isFile) await exactly(file, 8);
  const first = await nextMessage(file);
  if (first === undefined) throw new Error('it has no schema');
  const columns = columnsOfSchema(schemaOf(first));
  const pass = new OnePass(new PipeBatches(file), file.name);
  return {
    arrays: columns.map((column) => ({
      ...about(column),
      elements: () => ({
        decodingBytes: 1 << 24,
        decode: pass.join(({ batch, body }) => {
          const parts = partsOf(batch, column);
          const read = ({ begin, length }: ColumnParts['values']) => body.subarray(begin, begin + length);
          return decodeColumn(column.number!, parts, read(parts.values), parts.there && read(parts.there));
        }),
      }),
    })),
  };
}

/** A batch with what is in it. */
interface WholeBatch {
  readonly length: number;
  readonly batch: Batch;
  readonly body: Uint8Array;
}

class PipeBatches implements BatchReader<WholeBatch> {
  readonly #file: ByteReader;
  #ended = false;

  constructor(file: ByteReader) {
    this.#file = file;
  }

  async next(): Promise<WholeBatch | undefined> {
    while (!this.#ended) {
      const message = await nextMessage(this.#file);
      this.#ended = message === undefined;
      if (message === undefined) break;
      const body = await exactly(this.#file, message.bodyBytes);
      const batch = message.kind === kinds.batch ? batchOf(message) : undefined;
      if (batch !== undefined && batch.length > 0) return { length: batch.length, batch, body };
    }
    // Behind the mark is the end, or what a file has there.
    await this.#file.finish?.();
    return undefined;
  }
}

async function nextMessage(file: ByteReader): Promise<ArrowMessage | undefined> {
  const begin = await exactly(file, 4);
  const isNew = begin.readUInt32LE(0) === continued;
  const { length } = lengthOf(isNew ? Buffer.concat([begin, await exactly(file, 4)]) : begin);
  return length === 0 ? undefined : messageOf(await exactly(file, length));
}

/** Bytes that are taken at once: so a length that is none takes no memory. */
const pieceBytes = 1 << 22;

async function exactly(file: ByteReader, length: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let done = 0; done < length; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length - done));
    const read = await file.read(piece);
    pieces.push(piece);
    done += read;
    if (read < piece.length)
      throw cutOff(file.name, `${count(length - done)} bytes of a message are missing`);
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

function cutOff(name: string, why: string): Error {
  return problem(
    'WS5003',
    `${name} is cut off: ${why}`,
    'copy or download it again, or have it written to its end',
  );
}

/** Parts of a file that must be there. */
class FileParts {
  readonly name: string;
  readonly size: number;
  readonly #file: OpenBytes;

  constructor(file: OpenBytes) {
    this.name = file.name;
    this.size = file.size!;
    this.#file = file;
  }

  /** Ranges as if they lay one behind the other. */
  ranges(ranges: readonly ByteRange[]): RangesReader {
    return new RangesReader(this.#file, ranges);
  }

  async part(begin: number, length: number): Promise<Uint8Array> {
    if (begin < 0 || begin + length > this.size) {
      throw cutOff(this.name, `bytes ${count(begin)} to ${count(begin + length)} are not there`);
    }
    const bytes = new Uint8Array(length);
    if ((await this.#file.readAt!(bytes, begin)) < length) throw cutOff(this.name, 'something shortened it');
    return bytes;
  }
}
