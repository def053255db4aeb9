// The numbers and strings of the binary format: LEB128, floats and length-prefixed vectors, as
// lists of bytes.

const scratch = new DataView(new ArrayBuffer(8));
const utf8 = new TextEncoder();

/** Appends an unsigned integer below 2^32. */
export function pushUnsigned(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Appends a signed 32-bit integer; a value from 2^31 to 2^32 - 1 means its bits. */
export function pushSigned(bytes: number[], value: number): void {
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    if (rest === 0 ? low < 0x40 : rest === -1 && low >= 0x40) {
      bytes.push(low);
      return;
    }
    bytes.push(low | 0x80);
  }
}

/** Appends a signed 64-bit integer; a value from 2^63 to 2^64 - 1 means its bits. */
export function pushSigned64(bytes: number[], value: bigint): void {
  let rest = BigInt.asIntN(64, value);
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    if (rest === 0n ? low < 0x40 : rest === -1n && low >= 0x40) {
      bytes.push(low);
      return;
    }
    bytes.push(low | 0x80);
  }
}

export function pushFloat32(bytes: number[], value: number): void {
  scratch.setFloat32(0, value, true);
  for (let i = 0; i < 4; i += 1) bytes.push(scratch.getUint8(i));
}

export function pushFloat64(bytes: number[], value: number): void {
  scratch.setFloat64(0, value, true);
  for (let i = 0; i < 8; i += 1) bytes.push(scratch.getUint8(i));
}

/** Appends a string with its length in bytes before it. */
export function pushName(bytes: number[], name: string): void {
  const encoded = utf8.encode(name);
  pushUnsigned(bytes, encoded.length);
  for (const byte of encoded) bytes.push(byte);
}

/** Appends bytes with their number before them. */
export function pushSized(bytes: number[], content: readonly number[]): void {
  pushUnsigned(bytes, content.length);
  for (const byte of content) bytes.push(byte);
}
