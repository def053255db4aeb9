// Thrift's compact protocol, as far as Parquet files have it: structures of numbered fields.
//
// Reading ends whatever the bytes are, and takes memory in proportion to them: each value takes a byte at least, a
// list is refused that says it has more values than bytes are left, and structures lie only so deep in each other.

/** A value. Integers of 64 bits are bigints, others numbers. */
export type ThriftValue = boolean | number | bigint | Uint8Array | readonly ThriftValue[] | ThriftFields;

/** A structure: its fields, by their numbers. */
export type ThriftFields = ReadonlyMap<number, ThriftValue>;

/** A structure, and where the bytes behind it begin. */
export interface ThriftStruct {
  readonly fields: ThriftFields;
  readonly end: number;
}

/** As deep as structures and lists lie in each other; those of Parquet are some six deep. */
const deepest = 32;

/** Reads the structure that begins at a position. Throws an Error that says what is wrong. */
export function readThrift(bytes: Uint8Array, begin = 0): ThriftStruct {
  const reader = new Reader(bytes, begin);
  return { fields: reader.fields(0), end: reader.at };
}

/** The types of the protocol, by their numbers. */
const type = {
  stop: 0,
  yes: 1,
  no: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  bytes: 8,
  list: 9,
  set: 10,
  struct: 12,
};

class Reader {
  at: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, begin: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = begin;
  }

  fields(depth: number): ThriftFields {
    const fields = new Map<number, ThriftValue>();
    for (let last = 0; ; ) {
      const head = this.#byte();
      const kind = head & 15;
      if (kind === type.stop) return fields;
      last = head >> 4 === 0 ? Number(this.#signed()) : last + (head >> 4);
      fields.set(last, kind === type.yes || kind === type.no ? kind === type.yes : this.#value(kind, depth));
    }
  }

  #value(kind: number, depth: number): ThriftValue {
    if (depth > deepest) throw new Error('its structures are nested too deeply');
    switch (kind) {
      // In a list, where each takes a byte.
      case type.yes:
      case type.no:
        return this.#byte() === type.yes;
      case type.i8:
        return (this.#byte() << 24) >> 24;
      case type.i16:
      case type.i32:
        return Number(this.#signed());
      case type.i64:
        return this.#signed();
      case type.double:
        this.#need(8);
        this.at += 8;
        return this.#view.getFloat64(this.at - 8, true);
      case type.bytes: {
        const length = Number(this.#varint());
        this.#need(length);
        this.at += length;
        return this.#bytes.subarray(this.at - length, this.at);
      }
      case type.list:
      case type.set:
        return this.#list(depth);
      case type.struct:
        return this.fields(depth + 1);
      default:
        throw new Error(`it has a field of the type ${kind}, which is not known`);
    }
  }

  #list(depth: number): readonly ThriftValue[] {
    const head = this.#byte();
    const length = head >> 4 === 15 ? Number(this.#varint()) : head >> 4;
    this.#need(length);
    const values: ThriftValue[] = [];
    for (let i = 0; i < length; i++) values.push(this.#value(head & 15, depth + 1));
    return values;
  }

  #signed(): bigint {
    const coded = this.#varint();
    return (coded >> 1n) ^ -(coded & 1n);
  }

  #varint(): bigint {
    let low = 0;
    // What most take: numbers are much faster than bigints.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 127) << shift;
      if (byte < 128) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new Error('a number of it takes more than ten bytes');
  }

  #byte(): number {
    this.#need(1);
    return this.#bytes[this.at++]!;
  }

  #need(bytes: number): void {
    if (bytes > this.#bytes.length - this.at) throw new Error('it ends too early');
  }
}
