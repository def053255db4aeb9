// Files that a process of the same user left, to go on with.
//
// In a folder where other users may write, a file of a known name may be theirs, a link to another file of this
// user, or one that they can change at any time. What is opened here is none of that.
//
// What is complete has the rights of its output for a moment, before it has the name: others may write to it then if they may
// to the output. A process that ended there left what it wrote nevertheless, and it is made its user's alone again.

import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { problem } from '../diagnostics/problem.ts';

/** What belongs to this user alone, and is not to be seen by others before it is complete. */
export const ownMode = 0o600;
export const ownFolderMode = 0o700;
/** For others to write. */
const writable = 0o022;

/** The rights of an output when it is complete: those of what it takes the place of, or else what is usual of the kind. */
export async function modeOfOutput(final: string, usual: 0o666 | 0o777): Promise<number> {
  const about = await stat(final).catch(() => undefined);
  return about === undefined ? usual & ~process.umask() : about.mode & 0o777;
}

/**
 * Opens a file of this user's for reading and writing; undefined if there is none. `allowed`: rights that it may have.
 *
 * @throws WarpstageError WS5013 for a file that others may have made or can change, or that is no regular file
 */
export async function openOwn(path: string, allowed: number = ownMode): Promise<FileHandle | undefined> {
  const flags = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let file: FileHandle;
  try {
    file = await open(path, flags);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const why = reasons[code ?? ''];
    throw why === undefined ? cause : refusal(path, why, cause);
  }
  try {
    const why = reasonAgainst(await file.stat(), allowed);
    if (why !== undefined) throw refusal(path, why);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Whether there is a folder of this user's, whose files are nobody else's then either. `allowed`: rights that it may have.
 *
 * @throws WarpstageError WS5013 for one that others may have made or can change, or what is none
 */
export async function isOwnFolder(path: string, allowed: number = ownFolderMode): Promise<boolean> {
  const about = await lstat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') throw cause;
  });
  if (about === undefined) return false;
  const why = about.isSymbolicLink()
    ? reasons.ELOOP
    : about.isDirectory()
      ? othersIn(about, allowed)
      : 'it is no directory';
  if (why !== undefined) throw refusal(path, why);
  return true;
}

/** Makes a folder its user's alone, if it is there. A symbolic link is not followed. */
export async function closeFolder(path: string): Promise<void> {
  if (process.geteuid === undefined) return;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
  const folder = await open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
  });
  await folder?.chmod(ownFolderMode).finally(() => folder.close());
}

/** Errors of opening that say what stands there. */
const reasons: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link',
  EMLINK: 'it is a symbolic link',
  EISDIR: 'it is a directory',
  ENXIO: 'it is no regular file',
  EACCES: 'this user may not read and write it',
  EPERM: 'this user may not read and write it',
};

function reasonAgainst(about: Stats, allowed: number): string | undefined {
  if (!about.isFile()) return 'it is no regular file';
  if (process.geteuid === undefined) return undefined;
  if (about.nlink > 1) return 'it is a file of another name as well';
  return othersIn(about, allowed);
}

/** Which other users something is of. */
function othersIn(about: Stats, allowed: number): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined;
  if (about.uid !== own) return `it belongs to another user (${about.uid})`;
  return (about.mode & writable & ~allowed) === 0 ? undefined : 'other users may write to it';
}

function refusal(path: string, why: string, cause?: unknown): Error {
  return problem(
    'WS5013',
    `${path} cannot be gone on with: ${why}`,
    'delete it to begin anew, or run without resume',
    cause,
  );
}
