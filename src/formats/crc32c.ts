// The checksum CRC-32C (Castagnoli), as Zarr's codec of that name has it.

/** The polynomial, its lowest power first. */
const polynomial = 0x82f63b78;

/** What each byte does, and what it does with one to three more bytes of zeros behind it. */
const tables = makeTables();

function makeTables(): readonly Int32Array[] {
  const made = Array.from({ length: 4 }, () => new Int32Array(256));
  const [first, ...others] = made as [Int32Array, ...Int32Array[]];
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? polynomial : 0);
    first[byte] = sum;
  }
  let before = first;
  for (const table of others) {
    for (let byte = 0; byte < 256; byte++) table[byte] = (before[byte]! >>> 8) ^ first[before[byte]! & 255]!;
    before = table;
  }
  return made;
}

/** The checksum of bytes. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3] = tables as [Int32Array, Int32Array, Int32Array, Int32Array];
  let sum = -1;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    sum ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    sum = t3[sum & 255]! ^ t2[(sum >>> 8) & 255]! ^ t1[(sum >>> 16) & 255]! ^ t0[sum >>> 24]!;
  }
  for (; at < bytes.length; at++) sum = (sum >>> 8) ^ t0[(sum ^ bytes[at]!) & 255]!;
  return ~sum >>> 0;
}
