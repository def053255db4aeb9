// The state behind some rows, as one file beside the journal has it: what accumulators hold, and what the next bytes of each
// output depend on. Their lengths stand before them.

/** Joins parts. Nothing at all where all are empty. */
export function pack(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0) return new Uint8Array();
  const head = Buffer.alloc(4 + 8 * parts.length);
  head.writeUInt32LE(parts.length);
  for (const [i, { length }] of parts.entries()) head.writeBigUInt64LE(BigInt(length), 4 + 8 * i);
  return Buffer.concat([head, ...parts], head.length + bytes);
}

/** The parts again. What is read has the checksum of what was packed. */
export function unpack(packed: Uint8Array): Uint8Array[] {
  if (packed.length === 0) return [];
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const count = bytes.readUInt32LE();
  let at = 4 + 8 * count;
  return Array.from({ length: count }, (_, i) => {
    const length = Number(bytes.readBigUInt64LE(4 + 8 * i));
    at += length;
    return packed.subarray(at - length, at);
  });
}
