// The input data of a run in Node: files as well as what is in memory.

import { stat } from 'node:fs/promises';
import { type OpenedFile, openFile, sourceOf } from '../formats/open-file.ts';
import { formatOfFile, formatOfName } from '../formats/registry.ts';
import type { Source, Wanted } from '../formats/source.ts';
import { inThread } from '../formats/threaded-source.ts';
import { UnitSource } from '../formats/unit-source.ts';
import { type CopyBytes, copyHere } from './copy-here.ts';
import { isPinned, openGiven, rawType } from './input-data.ts';
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

  /** `copy`: how the elements of typed arrays are taken. */
  constructor(copy: CopyBytes = copyHere) {
    this.#copy = copy;
  }

  async open(given: InputData, wanted: Wanted): Promise<Source> {
    const data = typeof given === 'string' ? { file: given } : given;
    if ('file' in data) return this.#file(data, wanted);
    const { source, close } = openGiven(data, wanted, this.#copy);
    if (close !== undefined) this.#opened.push({ close });
    return source;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.map((one) => one.close()));
  }

  /** An array of a file. A long one that is decoded has a thread of its own, beside everything else. */
  async #file(request: InputFile, wanted: Wanted): Promise<Source> {
    const { file, format, bytes, contents } = await this.#openedFile(request, wanted);
    const source = await sourceOf(file, format, contents, wanted);
    const isLong =
      source instanceof UnitSource && (source.length ?? (bytes.size ?? 0) / bytesOfRow) >= rowsForThread;
    if (!isLong || format.module === undefined) return source;
    const task = { format: format.name, path: file, dtype: request.dtype, wanted };
    const threaded = inThread(source, task, format.module);
    if (threaded === undefined) return source;
    this.#opened.push(threaded);
    return threaded;
  }

  /** A file, with what is in it. One with columns is opened once for all of them. */
  async #openedFile(request: InputFile, wanted: Wanted): Promise<OpenedFile> {
    const known = this.#tables.get(request.file);
    if (known !== undefined) return known;
    const opened = await openFile(request, rawType(wanted), (one) => this.#opened.unshift(one));
    if (opened.format.columns) this.#tables.set(request.file, opened);
    return opened;
  }
}

/** Whether data can be read a second time. What is not there is found missing later. */
export async function isRepeatable(data: InputData): Promise<boolean> {
  if (ArrayBuffer.isView(data) || isPinned(data)) return true;
  const path = typeof data === 'string' ? data : 'file' in data ? data.file : '-';
  if (path === '-') return false;
  const about = await stat(path).catch(() => undefined);
  return about?.isFile() ?? true;
}

/** The format of an input in words, as far as is known before it is opened. */
export function formatOf(data: InputData): string {
  if (typeof data !== 'string' && !('file' in data)) return 'raw';
  const { file, format } = typeof data === 'string' ? { file: data } : data;
  return format ?? formatOfName(file)?.name ?? 'by its beginning';
}

/** Whether one file has the data of several inputs, as far as is known before it is opened. */
export function hasColumns(data: InputData): boolean {
  if (typeof data !== 'string' && !('file' in data)) return false;
  const { file, format } = typeof data === 'string' ? { file: data } : data;
  const known = format === undefined ? formatOfName(file) : formatOfFile(format, file);
  return known?.columns ?? false;
}
