// What is in a .npz file, by the index at its end. Each array is a stream of its own, whose checksum is compared at its
// end; so a stored array is read in order as well.

import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { problem } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import type { Contents, StoredArray } from './format.ts';
import { readNpyHeader } from './npy-header.ts';
import { StreamBytes } from './stream-bytes.ts';

/** Files of an archive that are looked at: more are no arrays to choose from. */
const mostEntries = 10_000;
/** Pieces that were read and unpacked, before their memory is given back. */
const unpackingBytes = 2 ** 25;
/** Bytes that are read at once. */
const pieceBytes = 1 << 18;

export async function openNpz(file: OpenBytes): Promise<Contents> {
  const archive = await openArchive(file);
  const opened = new Set<StreamBytes>();
  const openEntry = async (entry: Entry): Promise<StreamBytes> => {
    const stream = await new Promise<Readable>((resolve, reject) => {
      archive.openReadStream(entry, (error, found) => (error ? reject(error) : resolve(found)));
    });
    const name = `${entry.fileName} of ${file.name}`;
    const bytes = new StreamBytes(name, checked(stream, entry.crc32), { checkedAtEnd: true }).begin();
    opened.add(bytes);
    return bytes;
  };
  const close = async () => {
    await Promise.all([...opened].map((bytes) => bytes.close()));
  };
  try {
    const arrays: StoredArray[] = [];
    for (const entry of await entriesOf(archive, file.name)) {
      if (!entry.fileName.endsWith('.npy')) continue;
      const bytes = await openEntry(entry);
      const { descr, dtype, shape } = await readNpyHeader(bytes);
      await bytes.close();
      opened.delete(bytes);
      arrays.push({
        name: entry.fileName.slice(0, -'.npy'.length),
        stored: descr,
        dtype,
        shape,
        async elements() {
          const elements = await openEntry(entry);
          await readNpyHeader(elements);
          return { bytes: elements };
        },
      });
    }
    return { arrays, heldBytes: unpackingBytes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The pieces of a stream; an error at its end where they have another checksum. */
async function* checked(stream: Readable, wanted: number): AsyncGenerator<Uint8Array> {
  let sum = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    sum = crc32(piece, sum);
    yield piece;
  }
  if (sum !== wanted) throw new Error('its data is not what its checksum says');
}

/** Reads the archive through the open file. */
class ThroughBytes extends yauzl.RandomAccessReader {
  readonly #file: OpenBytes;

  constructor(file: OpenBytes) {
    super();
    this.#file = file;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const file = this.#file;
    async function* pieces() {
      for (let at = start; at < end; ) {
        const piece = new Uint8Array(Math.min(pieceBytes, end - at));
        const read = await file.readAt!(piece, at);
        if (read > 0) yield piece.subarray(0, read);
        if (read < piece.length) return;
        at += read;
      }
    }
    return Readable.from(pieces(), { objectMode: false });
  }
}

function openArchive(file: OpenBytes): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true };
    yauzl.fromRandomAccessReader(new ThroughBytes(file), file.size!, options, (error, archive) =>
      error ? reject(error) : resolve(archive),
    );
  });
}

function entriesOf(archive: ZipFile, name: string): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    archive.on('entry', (entry: Entry) => {
      entries.push(entry);
      if (entries.length > mostEntries) reject(tooMany(name));
      else archive.readEntry();
    });
    archive.on('end', () => resolve(entries));
    archive.on('error', reject);
    archive.readEntry();
  });
}

function tooMany(name: string): Error {
  return problem('WS5004', `${name} holds over ${mostEntries} files, and is no archive of arrays`);
}
