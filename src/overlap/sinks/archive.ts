// A file that holds several outputs, each a part of it, which are all written at once, chunk by chunk.
//
// Where the shapes are known, so are the places of the parts, and each is written where it belongs. Where they are not, the
// first part is, and the others wait in files of their own until it is known where they begin. What stands before the
// elements of each, and the index behind all, is written when all have ended. The file appears whole or not at all, as
// one of a single output does.
//
// Where a run is to be resumed, all parts wait in files that the next run finds, and are put together at the end. They stay until
// the file has its name.

import { problem } from '../../diagnostics/problem.ts';
import type { PartSums } from '../../files/part-sums.ts';
import type { Archive, Encoding } from '../../formats/format.ts';
import type { TypedArray } from '../job.ts';
import type { PartialFile } from '../journal/journal.ts';
import { type FileSinkOptions, openFileSink } from './file.ts';
import { encoded, nothing, type Sink, type SinkMark } from './sink.ts';

/** A file that can be written at places. */
type PlacedFile = Sink & Required<Pick<Sink, 'writeAt' | 'readAt' | 'skip' | 'mark' | 'sync'>>;

/** Bytes that are copied at once. */
const portion = 1 << 22;

/** How the file is written. */
export type ArchiveOptions = Pick<FileSinkOptions, 'fsync' | 'overwrite' | 'signal' | 'parts'>;

export class ArchiveFile {
  readonly #path: string;
  readonly #archive: Archive;
  readonly #options: Omit<ArchiveOptions, 'parts'>;
  readonly #sums: PartSums | undefined;
  readonly #file: PlacedFile;
  readonly #parts: Part[] = [];
  /** Where the next part begins; undefined where that is known only at the end. */
  #next: number | undefined = 0;
  #finished = 0;
  #isPublished = false;

  private constructor(
    path: string,
    archive: Archive,
    { parts, ...options }: ArchiveOptions,
    file: PlacedFile,
  ) {
    this.#path = path;
    this.#archive = archive;
    this.#options = options;
    this.#sums = parts;
    this.#file = file;
  }

  /** Opens the file. Throws WS5006 where it cannot be written at places. */
  static async open(path: string, archive: Archive, options: ArchiveOptions): Promise<ArchiveFile> {
    const { parts: _, ...how } = options;
    return new ArchiveFile(path, archive, options, await openPlaced(path, how));
  }

  /** The sink of the next part. `kept`: where it waits for another run. */
  async add(
    encoding: Encoding,
    shape: readonly number[],
    bytes: number | undefined,
    kept?: PartialFile,
  ): Promise<Sink> {
    const head = encoding.begin?.(shape).length ?? 0;
    if (kept !== undefined) {
      const part = new KeptPart(this, encoding, shape, await openPlaced(this.#path, this.#options, kept));
      this.#parts.push(part);
      if (kept.state !== undefined) await encoding.restore?.(kept.state);
      return part;
    }
    const begin = this.#next;
    const own = begin === undefined ? await openPlaced(this.#path, this.#options) : undefined;
    const isKnown = begin !== undefined && bytes !== undefined;
    this.#next = isKnown ? begin + head + bytes + this.#archive.endBytes : undefined;
    const part = new Part(
      this,
      encoding,
      shape,
      own ?? this.#file,
      own === undefined ? begin! + head : 0,
      own,
    );
    this.#parts.push(part);
    return part;
  }

  get name(): string {
    return this.#file.name;
  }

  /** A part has all its elements. When all have, the file is complete. */
  async finishPart(): Promise<void> {
    if (++this.#finished < this.#parts.length) return;
    const places: number[] = [];
    let at = 0;
    for (const { encoding, shape, bytes, own, first } of this.#parts) {
      places.push(at);
      const begin = encoding.begin?.(shape) ?? nothing;
      const end = (await encoding.end?.(shape)) ?? nothing;
      const elements = at + begin.length;
      if (own !== undefined) await this.#copy(own, bytes, elements);
      else if (first !== elements)
        throw new Error(`its part is at byte ${first}, and belongs at ${elements}`);
      await this.#file.writeAt(begin, at);
      await this.#file.writeAt(end, elements + bytes);
      await own?.abandon();
      at = elements + bytes + end.length;
    }
    const index = this.#archive.index(places, at);
    await this.#file.writeAt(index, at);
    this.#file.skip(at + index.length);
    if (this.#sums !== undefined) await this.#sum(this.#sums, at + index.length);
    await this.#file.finish([]);
  }

  publish(): void {
    if (this.#isPublished) return;
    this.#isPublished = true;
    this.#file.publish();
  }

  syncName(): void {
    this.#file.syncName?.();
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    await Promise.all(
      [this.#file, ...this.#parts.flatMap(({ own }) => own ?? [])].map((one) => one.abandon()),
    );
  }

  async #copy(from: PlacedFile, bytes: number, to: number): Promise<void> {
    await inPortions(bytes, async (at, buffer) => {
      await from.readAt(buffer, at);
      await this.#file.writeAt(buffer, to + at);
    });
  }

  /** Checksums are of the bytes in their order, which is not that in which they were written. */
  async #sum(sums: PartSums, bytes: number): Promise<void> {
    await inPortions(bytes, async (at, buffer) => {
      await this.#file.readAt(buffer, at);
      sums.update(buffer);
    });
  }
}

async function inPortions(
  bytes: number,
  each: (at: number, buffer: Uint8Array) => Promise<void>,
): Promise<void> {
  const buffer = new Uint8Array(Math.min(portion, bytes));
  for (let at = 0; at < bytes; at += portion)
    await each(at, buffer.subarray(0, Math.min(portion, bytes - at)));
}

async function openPlaced(
  path: string,
  how: Omit<ArchiveOptions, 'parts'>,
  partial?: PartialFile,
): Promise<PlacedFile> {
  const file = await openFileSink(path, { encoding: {}, shape: [], shapeKnown: true, ...how, partial });
  if (file.writeAt !== undefined) return file as PlacedFile;
  await file.abandon();
  throw problem(
    'WS5006',
    `several outputs go to ${path}, which is no file: they are written at once, each to its place`,
    'write them to a file, or each to one of its own',
  );
}

/** An output that is a part of a file. */
class Part implements Sink {
  readonly #archive: ArchiveFile;
  readonly #file: PlacedFile;
  readonly encoding: Encoding;
  /** Where its first element is in its file, and that file, if it is one of its own. */
  readonly first: number;
  readonly own: PlacedFile | undefined;
  shape: readonly number[];
  /** Of the elements. */
  bytes = 0;

  constructor(
    archive: ArchiveFile,
    encoding: Encoding,
    shape: readonly number[],
    file: PlacedFile,
    first: number,
    own: PlacedFile | undefined,
  ) {
    this.#archive = archive;
    this.encoding = encoding;
    this.shape = shape;
    this.#file = file;
    this.first = first;
    this.own = own;
  }

  get name(): string {
    return this.#archive.name;
  }

  async write(data: TypedArray): Promise<void> {
    for await (const bytes of encoded(data, this.encoding, this.shape)) {
      await this.#file.writeAt(bytes, this.first + this.bytes);
      this.bytes += bytes.length;
    }
  }

  async finish(shape: readonly number[]): Promise<void> {
    this.shape = shape;
    await this.#archive.finishPart();
  }

  publish(): void {
    this.#archive.publish();
  }

  syncName(): void {
    this.#archive.syncName();
  }

  abandon(): Promise<void> {
    return this.#archive.abandon();
  }
}

/** One that is in a file of its own, with which another run may go on. */
class KeptPart extends Part {
  override readonly own: PlacedFile;

  constructor(archive: ArchiveFile, encoding: Encoding, shape: readonly number[], own: PlacedFile) {
    super(archive, encoding, shape, own, 0, own);
    this.own = own;
    this.bytes = own.mark().bytes;
  }

  /** In their order: the checksum of all that waits is noted. */
  override async write(data: TypedArray): Promise<void> {
    for await (const bytes of encoded(data, this.encoding, this.shape)) {
      await this.own.write(bytes);
      this.bytes += bytes.length;
    }
  }

  mark(): SinkMark {
    return { bytes: this.bytes, state: this.encoding.keep?.() ?? (() => nothing) };
  }

  async sync(): Promise<void> {
    await this.own.sync();
  }
}
