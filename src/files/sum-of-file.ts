// The checksum of a file, or of a part of one: read from the disk as it is now, a portion at a time.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { unreadable } from '../diagnostics/problem.ts';
import { Checksum } from './checksum.ts';

/** Bytes that are read at once. */
const portion = 1 << 20;

/** Has bytes of a file taken, in their order, as far as there are any. Says how many there were. */
export async function readThrough(
  file: FileHandle,
  begin: number,
  end: number,
  take: (bytes: Uint8Array) => void,
): Promise<number> {
  const buffer = new Uint8Array(Math.min(portion, end - begin));
  let at = begin;
  while (at < end) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(portion, end - at), at);
    if (bytesRead === 0) break;
    take(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return at - begin;
}

/** Opens a file to read it. What is no file, but a pipe that has no writer, is not waited for. */
export function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

/** What a file is identified by, whatever its name and times. */
export interface Content {
  readonly bytes: number;
  readonly sum: string;
}

/**
 * Reads a regular file from its beginning to its end; undefined for what is none.
 *
 * @throws WarpstageError WS5003, or what the signal says
 */
export async function contentOf(path: string, signal: AbortSignal): Promise<Content | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await openToRead(path);
    if (!(await file.stat()).isFile()) return undefined;
    const checksum = new Checksum();
    const bytes = await readThrough(file, 0, Number.POSITIVE_INFINITY, (part) => {
      signal.throwIfAborted();
      checksum.update(part);
    });
    return { bytes, sum: checksum.value };
  } catch (cause) {
    signal.throwIfAborted();
    throw unreadable(path, cause);
  } finally {
    await file?.close().catch(() => {});
  }
}
