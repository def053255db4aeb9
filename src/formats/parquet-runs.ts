// The two ways in which Parquet packs small integers: runs (RLE and bit-packed ones, in turns) and deltas.
//
// Both fill an array that is as long as the values that are wanted, and never more: a run that claims to be longer
// than what is left of the array ends with it.

/** Where whole numbers are put. */
type Integers = Uint8Array | Int32Array;

/** Fills an array from runs of values of so many bits, 32 at most. */
export function readRuns(bytes: Uint8Array, width: number, into: Integers): void {
  if (width > 32) throw new Error(`its runs have values of ${width} bits`);
  let at = 0;
  for (let done = 0; done < into.length; ) {
    const head = varint(bytes, at);
    at = head.end;
    const left = into.length - done;
    if (head.value % 2 === 0) {
      // One value, so many times.
      const wide = (width + 7) >> 3;
      const value = bitsAt(bytes, 8 * at, 8 * wide);
      at += wide;
      const length = Math.min(left, head.value / 2);
      into.fill(value, done, done + length);
      done += length;
    } else {
      const packed = ((head.value - 1) / 2) * 8;
      const length = Math.min(left, packed);
      unpack(bytes.subarray(at), width, into.subarray(done, done + length));
      at += (packed / 8) * width;
      done += length;
    }
  }
}

/** Fills an array with values that lie one behind the other. */
function unpack(bytes: Uint8Array, width: number, into: Integers): void {
  if (Math.ceil((into.length * width) / 8) > bytes.length) throw endsEarly();
  if (width > 24) {
    for (let i = 0; i < into.length; i++) into[i] = bitsAt(bytes, i * width, width);
    return;
  }
  const mask = 2 ** width - 1;
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < into.length; i++) {
    for (; held < width; held += 8) bits |= bytes[at++]! << held;
    into[i] = bits & mask;
    bits >>>= width;
    held -= width;
  }
}

/** Fills an array from the deltas of its values, and returns where the bytes behind them begin. */
export function readDeltas(bytes: Uint8Array, into: Int32Array | BigInt64Array): number {
  const block = varint(bytes, 0);
  const parts = varint(bytes, block.end);
  const total = varint(bytes, parts.end);
  const first = varint64(bytes, total.end);
  const partLength = block.value / parts.value;
  if (!(partLength > 0 && partLength % 8 === 0)) {
    throw new Error(`its deltas come in blocks of ${block.value} values in ${parts.value} parts`);
  }
  if (total.value < into.length) {
    throw new Error(`it has ${total.value} deltas of ${into.length}`);
  }
  let at = first.end;
  if (into.length === 0) return at;
  const put = putterOf(into);
  let value = signed(first.value);
  put(0, value);
  for (let done = 1; done < into.length; ) {
    const least = varint64(bytes, at);
    const step = signed(least.value);
    const widths = bytes.subarray(least.end, least.end + parts.value);
    if (widths.length < parts.value) throw endsEarly();
    at = least.end + parts.value;
    for (let part = 0; part < parts.value && done < into.length; part++) {
      const width = widths[part]!;
      if (width > 64) throw new Error(`it has deltas of ${width} bits`);
      for (let i = 0; i < partLength && done < into.length; i++) {
        value = BigInt.asIntN(64, value + step + wideBitsAt(bytes, 8 * at + i * width, width));
        put(done++, value);
      }
      at += (partLength / 8) * width;
    }
  }
  return at;
}

function putterOf(into: Int32Array | BigInt64Array): (position: number, value: bigint) => void {
  if (into instanceof BigInt64Array) {
    return (position, value) => {
      into[position] = value;
    };
  }
  return (position, value) => {
    into[position] = Number(BigInt.asIntN(32, value));
  };
}

/** So many bits from a position on, 32 at most, the lowest first. */
function bitsAt(bytes: Uint8Array, position: number, width: number): number {
  const begin = Math.floor(position / 8);
  const before = position % 8;
  const length = Math.ceil((before + width) / 8);
  if (begin + length > bytes.length) throw endsEarly();
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + bytes[begin + i]!;
  return Math.floor(value / 2 ** before) % 2 ** width;
}

function wideBitsAt(bytes: Uint8Array, position: number, width: number): bigint {
  if (width <= 32) return BigInt(bitsAt(bytes, position, width));
  const high = bitsAt(bytes, position + 32, width - 32);
  return (BigInt(high) << 32n) | BigInt(bitsAt(bytes, position, 32));
}

interface Varint<N> {
  readonly value: N;
  readonly end: number;
}

/** A number of 32 bits. */
function varint(bytes: Uint8Array, begin: number): Varint<number> {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[begin + i];
    if (byte === undefined) throw endsEarly();
    value += (byte & 127) * 2 ** (7 * i);
    if (byte < 128) return { value, end: begin + i + 1 };
  }
  throw new Error('a number of it takes more than five bytes');
}

function varint64(bytes: Uint8Array, begin: number): Varint<bigint> {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[begin + i];
    if (byte === undefined) throw endsEarly();
    value |= BigInt(byte & 127) << BigInt(7 * i);
    if (byte < 128) return { value: BigInt.asUintN(64, value), end: begin + i + 1 };
  }
  throw new Error('a number of it takes more than ten bytes');
}

/** Of a number whose lowest bit is its sign. */
function signed(coded: bigint): bigint {
  return (coded >> 1n) ^ -(coded & 1n);
}

function endsEarly(): Error {
  return new Error('a page ends too early');
}
