// A file, or a part of one, read from the disk as it is now, a portion at a time.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

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
