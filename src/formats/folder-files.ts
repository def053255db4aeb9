// The files of a folder, wherever that is: on a disk, below a URL, or objects whose keys begin as its key does.

import type { FileWithin } from '../files/folder.ts';

/** A file of a folder. */
export interface FolderFile {
  readonly size: number;
  /** Bytes from a place on. Throws where they are not all there. */
  part(begin: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Files by their paths below the folder, with `/`; none from anywhere else. */
export interface FolderFiles {
  /** Names of the folders within one of them; undefined where nobody lists them. */
  foldersIn(path: string): Promise<string[] | undefined>;
  /** Whether there may be something of a path's name. */
  has(path: string): Promise<boolean>;
  /**
   * Opens a file; undefined if there is none. `most`: bytes of it that are read, where that is all of it: a server that gives
   * no parts gives as many. Throws WS5003 for what is no file of the folder, or damaged.
   */
  open(path: string, most?: number): Promise<FolderFile | undefined>;
  /** All of them, in the order of `files/folder.ts`. Absent where nobody lists them, nor has learned which there are. */
  readonly all?: readonly FileWithin[] | undefined;
  /**
   * Asks which of all files that there may be are there, and of which versions, so that another run can know the folder
   * again. Absent where nobody needs that.
   */
  learn?(paths: Iterable<string>): Promise<void>;
}

/** Bytes that are on their way from elsewhere, and have come, at most: see ranged-bytes.ts. */
export const heldByRanges = 2 ** 24;

/** Refuses bytes that a file does not have. */
export function checkPart(begin: number, length: number, size: number): void {
  if (begin >= 0 && length >= 0 && begin + length <= size) return;
  throw new Error(`bytes ${begin} to ${begin + length} are to be read of ${size}`);
}

/** Whether a path leads to something below its folder, on every system and every server. */
export function isBelow(path: string): boolean {
  return path.split('/').every((name) => !['', '.', '..'].includes(name) && !/[\\\0]/.test(name));
}
