// What a file holds, as one checksum; and a folder, of all that its files hold and are called.

import type { FileHandle } from 'node:fs/promises';
import { stat } from 'node:fs/promises';
import { unreadable } from '../diagnostics/problem.ts';
import { Checksum } from './checksum.ts';
import { lookInto, readThroughAll } from './folder.ts';
import { openToRead, readThrough } from './sum-of-file.ts';

/** What a file is identified by, whatever its name and times. */
export interface Content {
  readonly bytes: number;
  readonly sum: string;
}

/**
 * Reads a regular file from its beginning to its end, or all files of a folder; undefined for what is neither.
 *
 * @throws WarpstageError WS5003, or what the signal says
 */
export async function contentOf(path: string, signal: AbortSignal): Promise<Content | undefined> {
  let file: FileHandle | undefined;
  const checksum = new Checksum();
  const take = (part: Uint8Array) => {
    signal.throwIfAborted();
    checksum.update(part);
  };
  try {
    if ((await stat(path)).isDirectory()) {
      const { files } = await lookInto(path);
      checksum.update(Buffer.from(JSON.stringify(files.map((one) => [one.path, one.size]))));
      const bytes = await readThroughAll(path, files, 0, Number.POSITIVE_INFINITY, take);
      return { bytes, sum: checksum.value };
    }
    file = await openToRead(path);
    if (!(await file.stat()).isFile()) return undefined;
    const bytes = await readThrough(file, 0, Number.POSITIVE_INFINITY, take);
    return { bytes, sum: checksum.value };
  } catch (cause) {
    signal.throwIfAborted();
    throw unreadable(path, cause);
  } finally {
    await file?.close().catch(() => {});
  }
}
