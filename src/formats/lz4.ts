// LZ4 frames, as Arrow's buffers are compressed by them: blocks, each of which may repeat what those before it gave.

const magic = 0x184d2204;

/** Unpacks a frame that gives so many bytes. Throws an Error where it gives others, or is damaged. */
export function unpackLz4(packed: Uint8Array, length: number): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (view.getUint32(0, true) !== magic) throw new Error('a buffer is no LZ4 frame');
  const flags = view.getUint8(4);
  if (flags >> 6 !== 1 || (flags & 1) !== 0) throw new Error('a buffer is an LZ4 frame of another version');
  const [hasSize, hasSums] = [(flags & 8) !== 0, (flags & 16) !== 0];
  const output = new Uint8Array(length);
  let at = 7 + (hasSize ? 8 : 0);
  let done = 0;
  for (;;) {
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) break;
    const bytes = size & 0x7fffffff;
    if (at + bytes > packed.length) throw new Error('an LZ4 block is cut off');
    const block = packed.subarray(at, at + bytes);
    if (size >>> 31 === 1) {
      if (done + bytes > length) throw tooLong(length);
      output.set(block, done);
      done += bytes;
    } else done = unpackBlock(block, output, done);
    at += bytes + (hasSums ? 4 : 0);
  }
  if (done !== length) throw new Error(`an LZ4 frame gives ${done} of ${length} bytes`);
  return output;
}

/** Unpacks a block behind what others gave, and returns where it ends. */
function unpackBlock(block: Uint8Array, output: Uint8Array, begin: number): number {
  let at = 0;
  let done = begin;
  /** A length of 15 goes on in further bytes. */
  const lengthOf = (nibble: number): number => {
    let length = nibble;
    for (let more = nibble === 15 ? 255 : 0; more === 255; length += more) {
      if (at >= block.length) throw new Error('an LZ4 block is cut off');
      more = block[at++]!;
    }
    return length;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = lengthOf(token >> 4);
    if (at + literals > block.length) throw new Error('an LZ4 block is cut off');
    if (done + literals > output.length) throw tooLong(output.length);
    output.set(block.subarray(at, at + literals), done);
    at += literals;
    done += literals;
    // The last sequence has literals alone.
    if (at === block.length) break;
    if (at + 2 > block.length) throw new Error('an LZ4 block is cut off');
    const distance = block[at]! | (block[at + 1]! << 8);
    at += 2;
    const repeated = 4 + lengthOf(token & 15);
    if (distance === 0 || distance > done) throw new Error('an LZ4 block repeats what is not there');
    if (done + repeated > output.length) throw tooLong(output.length);
    if (distance >= repeated) output.copyWithin(done, done - distance, done - distance + repeated);
    else for (let i = 0; i < repeated; i++) output[done + i] = output[done - distance + i]!;
    done += repeated;
  }
  return done;
}

function tooLong(length: number): Error {
  return new Error(`an LZ4 frame gives more than ${length} bytes`);
}
