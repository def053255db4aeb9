// The input data of a run in Node: files as well as what is in memory.

import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { problem } from '../diagnostics/problem.ts';
import { type OpenedFile, openFile, sourceOf } from '../formats/open-file.ts';
import { formatOfFile, formatOfFolder, formatOfName } from '../formats/registry.ts';
import type { Source, Wanted } from '../formats/source.ts';
import { inThread } from '../formats/threaded-source.ts';
import { UnitSource } from '../formats/unit-source.ts';
import { isUrl, shownUrl } from '../formats/url.ts';
import { UrlVersions } from '../formats/url-versions.ts';
import { type CopyBytes, copyHere } from './copy-here.ts';
import { filesOf, isPinned, openGiven, rawType } from './input-data.ts';
import { type ListedFile, ListSource } from './list-source.ts';
import type { InputData, InputFile } from './options.ts';
import type { Inputs } from './surroundings.ts';

/** Rows whose decoding takes longer than the start of a thread. */
const rowsForThread = 200_000;
/** Bytes of a row of text, where only its end tells how many there are. */
const bytesOfRow = 20;

/** What was opened for a pass. It closes together. */
export class OpenInputs implements Inputs {
  readonly #opened: { close(): Promise<void> }[] = [];
  readonly #tables = new Map<string, OpenedFile>();
  readonly #copy: CopyBytes;
  readonly #versions: UrlVersions;
  readonly #patience: number | undefined;
  #closed = false;

  /**
   * `copy`: how the elements of typed arrays are taken; `patience`: how long is decoded before there is a thread, in ms;
   * `versions`: those of URLs that the run has met.
   */
  constructor(copy: CopyBytes = copyHere, patience?: number, versions = new UrlVersions()) {
    this.#copy = copy;
    this.#versions = versions;
    this.#patience = patience;
  }

  async open(given: InputData, wanted: Wanted): Promise<Source> {
    const files = filesOf(given);
    if (files !== undefined) {
      return files.length === 1 ? this.#file(files[0]!, wanted) : this.#files(files, wanted);
    }
    const { source, close } = openGiven(given as Parameters<typeof openGiven>[0], wanted, this.#copy);
    if (close !== undefined) this.#hold({ close });
    return source;
  }

  /** Ends what waits for data. What is being opened meanwhile ends as soon as it could wait. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#opened.map((one) => one.close()));
  }

  /** Closes something with all others, the last one first; at once, where these were closed. */
  #hold(one: { close(): Promise<void> }): void {
    this.#opened.unshift(one);
    if (this.#closed) void one.close().catch(() => {});
  }

  /** Closes something by itself. */
  async #letGo(one: { close(): Promise<void> }): Promise<void> {
    await one.close().catch(() => {});
    this.#opened.splice(this.#opened.indexOf(one), 1);
  }

  /** An array of a file. A long one that is decoded has a thread of its own, beside everything else. */
  async #file(request: InputFile, wanted: Wanted): Promise<Source> {
    const { file, format, bytes, contents } = await this.#openedFile(request, wanted);
    const source = await sourceOf(file, format, contents, wanted, bytes);
    const isLong =
      source instanceof UnitSource && (source.length ?? (bytes.size ?? 0) / bytesOfRow) >= rowsForThread;
    // A thread would open it once more, and another version may be there then.
    if (!isLong || format.module === undefined || isUrl(file)) return source;
    const task = { format: format.name, path: file, dtype: request.dtype, wanted };
    const threaded = inThread(source, task, format.module, this.#patience);
    if (threaded === undefined) return source;
    this.#hold(threaded);
    return threaded;
  }

  /** Files one behind the other. Each is opened with what belongs to it when its turn comes, and closed with that. */
  async #files(files: readonly InputFile[], wanted: Wanted): Promise<Source> {
    const versions = this.#versions.needed;
    const listed = await lookAtAll(files, (file) => this.#lookAt(file, wanted, versions));
    const source = new ListSource(listed, async (position) => {
      const inputs = new OpenInputs(this.#copy, undefined, versions);
      const close = () => inputs.close();
      try {
        return { source: await inputs.open(files[position]!, wanted), close };
      } catch (error) {
        await close();
        throw error;
      }
    });
    this.#hold(source);
    return source;
  }

  /** What is in a file of a list. */
  async #lookAt(request: InputFile, wanted: Wanted, versions: UrlVersions): Promise<ListedFile> {
    const held: { close(): Promise<void> }[] = [];
    const hold = (one: { close(): Promise<void> }) => {
      held.unshift(one);
      this.#hold(one);
    };
    try {
      const about = await stat(request.file).catch(() => undefined);
      if (!isTwice(request.file, about)) throw notListed(request.file);
      const opened = await openFile(request, rawType(wanted), hold, versions);
      const source: Source = await sourceOf(
        opened.file,
        opened.format,
        opened.contents,
        wanted,
        opened.bytes,
      );
      const { dtype, shape, length, rate, decodingBytes = 0 } = source;
      const file = isUrl(request.file) ? shownUrl(request.file) : request.file;
      return { file, dtype, shape, length, rate, decodingBytes };
    } finally {
      for (const one of held) await this.#letGo(one);
    }
  }

  /** A file, with what is in it. One with columns is opened once for all of them. */
  async #openedFile(request: InputFile, wanted: Wanted): Promise<OpenedFile> {
    const known = this.#tables.get(request.file);
    if (known !== undefined) return known;
    const opened = await openFile(request, rawType(wanted), (one) => this.#hold(one), this.#versions);
    if (opened.format.columns) this.#tables.set(request.file, opened);
    return opened;
  }
}

/** Files that are looked at side by side. */
const atOnce = 16;

/** What is in the files of a list. Of several that cannot be read, the first is reported. */
async function lookAtAll(
  files: readonly InputFile[],
  lookAt: (file: InputFile) => Promise<ListedFile>,
): Promise<ListedFile[]> {
  const listed: ListedFile[] = [];
  while (listed.length < files.length) {
    const some = files.slice(listed.length, listed.length + atOnce);
    for (const one of await Promise.allSettled(some.map(lookAt))) {
      if (one.status === 'rejected') throw one.reason;
      listed.push(one.value);
    }
  }
  return listed;
}

function notListed(file: string): Error {
  return problem(
    'WS5005',
    `${file === '-' ? 'standard input' : file} is no regular file, and cannot be one of a list`,
    'save it to a file first, or give the others through the same pipe',
  );
}

/** Whether a name is that of a file or folder which is there a second time. That of a URL is known when it is opened. */
function isTwice(file: string, about: Stats | undefined): boolean {
  if (file === '-') return false;
  return about === undefined || about.isFile() || (about.isDirectory() && formatOfFolder(file) !== undefined);
}

/** Whether data can be read a second time. What is not there is found missing later. */
export async function isRepeatable(data: InputData): Promise<boolean> {
  if (ArrayBuffer.isView(data) || isPinned(data)) return true;
  for (const { file } of filesOf(data) ?? [{ file: '-' }]) {
    const about = file === '-' ? undefined : await stat(file).catch(() => undefined);
    if (!isTwice(file, about)) return false;
  }
  return true;
}

/** The format of a file in words, as far as is known before it is opened. */
export function formatOf({ file, format }: InputFile): string {
  return format ?? formatOfName(file)?.name ?? 'by its beginning';
}

/** Whether one file has the data of several inputs, as far as is known before it is opened. */
export function hasColumns(data: InputData): boolean {
  const [first] = filesOf(data) ?? [];
  if (first === undefined) return false;
  const { file, format } = first;
  const known =
    format === undefined ? (formatOfName(file) ?? formatOfFolder(file)) : formatOfFile(format, file);
  const { columns = false } = known ?? {};
  return typeof columns === 'function' ? columns(file) : columns;
}
