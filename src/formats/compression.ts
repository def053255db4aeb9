// Compressed files: gzip and Zstandard, around any format that is read from its beginning to its end.
//
// A name has both endings: `x.npy.gz` is a .npy file that was compressed. The format inside sees its own bytes, and does
// not know that they were packed. They come in their order only: a format that reads at positions is refused.
// An output is compressed chunk by chunk, each on its own: one after the other they are a whole file of either kind.
// A run that is resumed continues after the last chunk.
// What may be written again (a header that says the shape) is stored as it is, so that it takes as many bytes again.

import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { problem } from '../diagnostics/problem.ts';
import type { ByteReader, OpenBytes } from './bytes.ts';
import type { Contents, Encoding, Format, OpenRequest, OutputDescription } from './format.ts';
import { StreamBytes } from './stream-bytes.ts';
import { pathInName } from './url.ts';

/** A way in which files are compressed. */
export interface Compression {
  readonly name: string;
  readonly endings: readonly string[];
  /** How such files begin. */
  readonly begins: readonly number[];
  /** The command that unpacks one. */
  readonly unpack: string;
  /** What is fed compressed bytes and gives them unpacked. */
  decompress(): Promise<Transform>;
  /** Compresses bytes on their own. Throws WS5012 where this version of Node cannot. */
  compress(bytes: Uint8Array, name: string): Promise<Uint8Array>;
  /** Packs bytes as they are: as many bytes always come of as many. */
  store(bytes: Uint8Array): Uint8Array;
}

const gzip: Compression = {
  name: 'gzip',
  endings: ['.gz', '.gzip'],
  begins: [0x1f, 0x8b, 0x08],
  unpack: 'gunzip -k',
  decompress: async () => zlib.createGunzip(),
  compress: (bytes) => gzipped(bytes),
  store: (bytes) => zlib.gzipSync(bytes, { level: 0 }),
};

const zstd: Compression = {
  name: 'zstd',
  endings: ['.zst', '.zstd'],
  begins: [0x28, 0xb5, 0x2f, 0xfd],
  unpack: 'unzstd',
  decompress: unpackZstd,
  compress: compressZstd,
  store: storeZstd,
};

const compressions = [gzip, zstd];
const gzipped = promisify<Uint8Array, Uint8Array>(zlib.gzip);

/** How a file is compressed by its name, and the name without that ending. */
export function compressionOfName(file: string): { compression: Compression; inner: string } | undefined {
  const path = pathInName(file);
  const lower = path.toLowerCase();
  for (const compression of compressions) {
    const ending = compression.endings.find((one) => lower.endsWith(one));
    if (ending !== undefined) return { compression, inner: path.slice(0, -ending.length) };
  }
  return undefined;
}

/** How a file is compressed by its beginning. */
export function compressionOfBeginning(beginning: Uint8Array): Compression | undefined {
  return compressions.find(({ begins }) => begins.every((byte, i) => beginning[i] === byte));
}

/** The beginning of what is packed, as far as the beginning of the file tells it. */
export async function unpackedBeginning(
  compression: Compression,
  beginning: Uint8Array,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const unpacked = Readable.from([beginning]).pipe(await compression.decompress());
  // It is cut off: what came before the end counts.
  try {
    for await (const piece of unpacked) pieces.push(piece);
  } catch {}
  return Buffer.concat(pieces).subarray(0, beginning.length);
}

/** The format of files that are of a format, and compressed. */
export function compressedFormat(format: Format, compression: Compression): Format {
  const { open, encode, columns = false } = format;
  return {
    name: `${format.name}, ${compression.name}`,
    endings: format.endings.flatMap((one) => compression.endings.map((ending) => one + ending)),
    columns,
    ...(open && {
      open: (file: OpenBytes, about: OpenRequest) => openPacked(format, compression, file, about),
    }),
    // What could not be read back is not written.
    ...(encode &&
      format.seeks === undefined && {
        encode: (output: OutputDescription) => packed(format, compression, output),
      }),
  };
}

async function openPacked(
  format: Format,
  compression: Compression,
  file: OpenBytes,
  about: OpenRequest,
): Promise<Contents> {
  if (format.seeks !== undefined) {
    throw problem(
      'WS5004',
      `${file.name} is compressed by ${compression.name}, and a file of the format '${format.name}' cannot be read so, because ${format.seeks}`,
      `unpack it first: ${compression.unpack} ${file.name}`,
    );
  }
  const unpacking = await compression.decompress();
  // Its errors are those of who reads what it gives.
  const ended = pipeline(piecesOf(file), unpacking).catch(() => {});
  const bytes = new StreamBytes(file.name, unpacked(unpacking, compression), { checkedAtEnd: true }).begin();
  const close = async () => {
    await bytes.close();
    unpacking.destroy();
    await ended;
  };
  try {
    const contents = await format.open!(bytes, { ...about, name: compressionOfName(file.name)?.inner });
    return {
      ...contents,
      facts: { compressed: compression.name, ...contents.facts },
      heldBytes: packingBytes + (contents.heldBytes ?? 0),
      async close() {
        await contents.close?.();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The pieces that come out; what goes wrong is said with what it means. */
async function* unpacked(unpacking: Transform, { name }: Compression): AsyncGenerator<Uint8Array> {
  try {
    yield* unpacking;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`it is damaged, or was not compressed by ${name} (${why})`, { cause });
  }
}

/** What packing some MiB takes, and unpacking: the state of the packer, and pieces that are not taken back at once. */
const packingBytes = 2 ** 25;

/** Bytes that are read at once. */
const pieceBytes = 1 << 18;

async function* piecesOf(bytes: ByteReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = new Uint8Array(pieceBytes);
    const read = await bytes.read(piece);
    if (read > 0) yield piece.subarray(0, read);
    if (read < pieceBytes) return;
  }
}

function packed(format: Format, compression: Compression, output: OutputDescription): Encoding {
  const { name } = output;
  checkCompresses(compression, name);
  const inner = format.encode!({ ...output, name: compressionOfName(name)?.inner ?? name });
  const compress = (bytes: Uint8Array) => compression.compress(bytes, name);
  const { begin, encode, end, keep, restore, heldBytes } = inner;
  // A run begins again behind a chunk that was compressed, where what is inside does.
  const isKept = encode === undefined || keep !== undefined;
  return {
    needsShape: inner.needsShape ?? false,
    ...(begin && { begin: (shape: readonly number[]) => compression.store(begin(shape)) }),
    encode: async (elements) =>
      compress(
        (await encode?.(elements)) ??
          new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength),
      ),
    heldBytes: (shape) => packingBytes + (heldBytes?.(shape) ?? 0),
    ...(isKept && { keep: keep ?? (() => () => new Uint8Array()) }),
    ...(restore && { restore }),
    // Nothing at all is no file of either kind.
    end: async (shape) => compress((await end?.(shape)) ?? new Uint8Array()),
  };
}

/**
 * Unpacks Zstandard. Node's own, where there is one, gives the first frame alone and says nothing of the others, nor of
 * an end that is missing.
 */
async function unpackZstd(): Promise<Transform> {
  const { Decompress } = await import('fzstd');
  let pieces: Uint8Array[] = [];
  const decompress = new Decompress((piece) => {
    // What is not the library's own memory any more.
    pieces.push(piece.slice());
  });
  const push = (bytes: Uint8Array, last: boolean, done: (error?: Error) => void) => {
    try {
      decompress.push(bytes, last);
    } catch (error) {
      done(error as Error);
      return;
    }
    for (const piece of pieces) if (piece.length > 0) stream.push(piece);
    pieces = [];
    done();
  };
  const stream = new Transform({
    transform: (bytes: Uint8Array, _, done) => push(bytes, false, done),
    flush: (done) => push(new Uint8Array(), true, done),
  });
  return stream;
}

type ZstdCompress = (bytes: Uint8Array, done: zlib.CompressCallback) => void;

async function compressZstd(bytes: Uint8Array, name: string): Promise<Uint8Array> {
  // Since Node 22.15.
  const { zstdCompress } = zlib as { zstdCompress?: ZstdCompress };
  if (zstdCompress === undefined) throw noZstd(name);
  return promisify(zstdCompress)(bytes) as Promise<Uint8Array>;
}

/** Refuses an output that this version of Node cannot compress, before anything is read. */
function checkCompresses({ name }: Compression, file: string): void {
  if (name === 'zstd' && !('zstdCompress' in zlib)) throw noZstd(file);
}

function noZstd(file: string): Error {
  return problem(
    'WS5012',
    `${file} would be compressed by zstd, which Node ${process.versions.node} cannot`,
    `use Node 22.15 or later, or name it ${file.replace(/\.zstd?$/i, '.gz')}`,
  );
}

/** The greatest block of Zstandard. */
const zstdBlock = 1 << 17;

/** A frame (RFC 8878) of one segment, whose blocks are as they are: magic, descriptor, size, blocks of three bytes and their data. */
function storeZstd(bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(9);
  head.set(zstd.begins);
  head[4] = 0xa0;
  head.writeUInt32LE(bytes.length, 5);
  const parts: Uint8Array[] = [head];
  for (let at = 0; at === 0 || at < bytes.length; at += zstdBlock) {
    const block = bytes.subarray(at, at + zstdBlock);
    const isLast = at + zstdBlock >= bytes.length;
    const before = Buffer.alloc(3);
    before.writeUIntLE((block.length << 3) | Number(isLast), 0, 3);
    parts.push(before, block);
  }
  return Buffer.concat(parts);
}
