// Arrow outputs: a column for each number of a row, in record batches of a fixed length, so that the bytes do not depend
// on how elements were cut into chunks. A batch is held until it is full. Behind a file's is a table that says where they are.

import { deserialize, serialize } from 'node:v8';
import { Builder } from 'flatbuffers';
import type { NumberElement, TypedArray } from '../kernel/types.ts';
import { magic } from './arrow-file.ts';
import { kinds } from './arrow-message.ts';
import { newArray, setElements } from './typed-arrays.ts';

/** Rows of a batch. */
const batchLength = 1 << 16;
/** Version 5 of the messages, by its number. */
const version = 4;
/** The numbers of Arrow's types. */
const integer = 2;
const float = 3;

/** An element that Arrow has a type for. */
export type ArrowElement = Exclude<NumberElement, 'bf16'>;

/** Where a batch is: its message, the bytes of that, and those of its body. */
interface Block {
  readonly at: number;
  readonly head: number;
  readonly body: number;
}

/** Where batches are, where the next is, and rows that are in none yet. */
type Kept = [Block[], number, Uint8Array];

/** Writes columns of one type, as bytes to append; elements come row by row. */
export class BatchWriter {
  readonly #names: readonly string[];
  readonly #element: ArrowElement;
  readonly #isFile: boolean;
  /** Rows, as they came. */
  #rows: TypedArray;
  #held = 0;
  /** Whether the rows that are held may be asked for later. */
  #isKept = false;
  #position = 0;
  readonly #blocks: Block[] = [];
  #pieces: Uint8Array[] = [];

  /** `isFile`: whether the end says where batches are; else it is a stream. */
  constructor(names: readonly string[], element: ArrowElement, isFile: boolean) {
    this.#names = names;
    this.#element = element;
    this.#isFile = isFile;
    this.#rows = newArray(element, batchLength * names.length);
  }

  /** What comes before the first element. */
  begin(): Uint8Array {
    if (this.#isFile) this.#put(Buffer.from(`${magic}\0\0`));
    this.#message(kinds.schema, (builder) => schemaOf(builder, this.#names, this.#element), 0);
    return this.#take();
  }

  /** The bytes of the batches that these elements complete. */
  add(elements: TypedArray): Uint8Array {
    for (let begin = 0; begin < elements.length; ) {
      const end = Math.min(elements.length, begin + this.#rows.length - this.#held);
      setElements(this.#rows, elements.subarray(begin, end), this.#held);
      this.#held += end - begin;
      begin = end;
      if (this.#held === this.#rows.length) this.#writeBatch();
    }
    return this.#take();
  }

  /** The bytes of what is held, of the mark at the end, and of what says where batches are. */
  end(): Uint8Array {
    if (this.#held > 0) this.#writeBatch();
    this.#put(Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0));
    if (this.#isFile) this.#writeFooter();
    return this.#take();
  }

  /** What was written and what is held: where batches are, and rows of the next. */
  keep(): () => Uint8Array {
    const batches = this.#blocks.length;
    const position = this.#position;
    const held = this.#rows.subarray(0, this.#held);
    this.#isKept = true;
    return () => {
      const { buffer, byteOffset, byteLength } = held;
      const rows = new Uint8Array(buffer, byteOffset, byteLength);
      return serialize([this.#blocks.slice(0, batches), position, rows] satisfies Kept);
    };
  }

  /** Continues after what an earlier run has written, in place of what comes before the first element. */
  restore(state: Uint8Array): void {
    const [blocks, position, held] = deserialize(state) as Kept;
    this.#blocks.push(...blocks);
    this.#position = position;
    this.#pieces = [];
    new Uint8Array(this.#rows.buffer, this.#rows.byteOffset).set(held);
    this.#held = held.length / this.#rows.BYTES_PER_ELEMENT;
  }

  #writeBatch(): void {
    const width = this.#names.length;
    const rows = this.#held / width;
    const columns = this.#names.map((_, at) => columnOf(this.#rows, this.#element, rows, at, width));
    const bytes = columns[0]!.byteLength;
    const padded = Math.ceil(bytes / 8) * 8;
    const at = this.#position;
    this.#message(kinds.batch, (builder) => batchOf(builder, rows, width, bytes, padded), padded * width);
    this.#blocks.push({ at, head: this.#position - at, body: padded * width });
    for (const column of columns) {
      this.#put(column);
      this.#put(new Uint8Array(padded - bytes));
    }
    this.#held = 0;
    if (this.#isKept) this.#rows = newArray(this.#element, this.#rows.length);
    this.#isKept = false;
  }

  /** A message: its length, and a table whose length is a multiple of 8. */
  #message(kind: number, header: (builder: Builder) => number, bodyBytes: number): void {
    const builder = new Builder(256);
    const inside = header(builder);
    builder.startObject(5);
    builder.addFieldInt16(0, version, 0);
    builder.addFieldInt8(1, kind, 0);
    builder.addFieldOffset(2, inside, 0);
    builder.addFieldInt64(3, BigInt(bodyBytes), 0n);
    builder.finish(builder.endObject());
    const table = builder.asUint8Array();
    const head = Buffer.alloc(8 + Math.ceil(table.length / 8) * 8);
    head.writeUInt32LE(0xffffffff, 0);
    head.writeInt32LE(head.length - 8, 4);
    head.set(table, 8);
    this.#put(head);
  }

  #writeFooter(): void {
    const builder = new Builder(256);
    const schema = schemaOf(builder, this.#names, this.#element);
    builder.startVector(24, this.#blocks.length, 8);
    for (const { at, head, body } of [...this.#blocks].reverse()) {
      builder.prep(8, 24);
      builder.writeInt64(BigInt(body));
      builder.pad(4);
      builder.writeInt32(head);
      builder.writeInt64(BigInt(at));
    }
    const blocks = builder.endVector();
    builder.startObject(5);
    builder.addFieldInt16(0, version, 0);
    builder.addFieldOffset(1, schema, 0);
    builder.addFieldOffset(3, blocks, 0);
    builder.finish(builder.endObject());
    const table = builder.asUint8Array();
    const length = Buffer.alloc(4);
    length.writeInt32LE(table.length);
    this.#put(table);
    this.#put(length);
    this.#put(Buffer.from(magic));
  }

  #put(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#position += bytes.length;
  }

  #take(): Uint8Array {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return bytes;
  }
}

/** A schema of columns without nulls. */
function schemaOf(builder: Builder, names: readonly string[], element: ArrowElement): number {
  const fields = names.map((name) => {
    const called = builder.createString(name);
    const type = typeOf(builder, element);
    builder.startVector(4, 0, 4);
    const children = builder.endVector();
    builder.startObject(7);
    builder.addFieldOffset(0, called, 0);
    builder.addFieldInt8(2, element.startsWith('f') ? float : integer, 0);
    builder.addFieldOffset(3, type, 0);
    builder.addFieldOffset(5, children, 0);
    return builder.endObject();
  });
  builder.startVector(4, fields.length, 4);
  for (const field of fields.reverse()) builder.addOffset(field);
  const list = builder.endVector();
  builder.startObject(4);
  builder.addFieldOffset(1, list, 0);
  return builder.endObject();
}

function typeOf(builder: Builder, element: ArrowElement): number {
  const bits = Number(element.slice(1));
  builder.startObject(2);
  if (element.startsWith('f')) builder.addFieldInt16(0, Math.log2(bits) - 4, 0);
  else {
    builder.addFieldInt32(0, bits, 0);
    builder.addFieldInt8(1, Number(element.startsWith('i')), 0);
  }
  return builder.endObject();
}

/** A batch of columns of so many bytes each, one behind the other. */
function batchOf(builder: Builder, rows: number, columns: number, bytes: number, padded: number): number {
  const pairs = (count: number, pair: (i: number) => readonly [number, number]) => {
    builder.startVector(16, count, 8);
    for (let i = count - 1; i >= 0; i--) {
      const [first, second] = pair(i);
      builder.prep(8, 16);
      builder.writeInt64(BigInt(second));
      builder.writeInt64(BigInt(first));
    }
    return builder.endVector();
  };
  const nodes = pairs(columns, () => [rows, 0]);
  // Of each column the bits of nulls, of which there are none, and its values.
  const buffers = pairs(2 * columns, (i) => [padded * (i >> 1), i % 2 === 0 ? 0 : bytes]);
  builder.startObject(5);
  builder.addFieldInt64(0, BigInt(rows), 0n);
  builder.addFieldOffset(1, nodes, 0);
  builder.addFieldOffset(2, buffers, 0);
  return builder.endObject();
}

/** The bytes of every so many-th element. */
function columnOf(
  rows: TypedArray,
  element: ArrowElement,
  count: number,
  at: number,
  width: number,
): Uint8Array {
  const column = newArray(element, count);
  if (width === 1) setElements(column, rows.subarray(0, count), 0);
  else for (let row = 0; row < count; row++) column[row] = rows[row * width + at]!;
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}
