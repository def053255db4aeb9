// The errors that files, streams and the data in them give: which code, and what to say.

import type { Code } from './codes.ts';
import { WarpstageError } from './error.ts';

/** What an error number of the system means, for a person. */
const meanings: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EEXIST: 'there is another file of its name',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
  EACCES: 'permission is denied',
  EPERM: 'the operation is not permitted',
  EROFS: 'its file system is read-only',
  ENOSPC: 'no space is left on its device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it would be larger than its file system allows',
  EIO: 'its device reports an input/output error',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EPIPE: 'its reader went away',
  ELOOP: 'its path has too many symbolic links',
  ENAMETOOLONG: 'its name is too long',
  ETXTBSY: 'it is a program that is running',
};

/** The error of an input that cannot be read, WS5003. */
export function unreadable(name: string, cause: unknown, hint?: string): WarpstageError {
  return ofSystem('WS5003', `${name} cannot be read`, cause, hint);
}

/** The error of an output that cannot be written, WS5006. */
export function unwritable(name: string, cause: unknown, hint?: string): WarpstageError {
  const isAbsent = (cause as NodeJS.ErrnoException | null)?.code === 'ENOENT';
  // What is to be written need not be there; its directory must.
  if (isAbsent)
    return problem('WS5006', `${name} cannot be written: its directory does not exist`, hint, cause);
  return ofSystem('WS5006', `${name} cannot be written`, cause, hint);
}

function ofSystem(code: Code, message: string, cause: unknown, hint: string | undefined): WarpstageError {
  if (cause instanceof WarpstageError) return cause;
  const number = (cause as NodeJS.ErrnoException | null)?.code;
  const known = number === undefined ? undefined : meanings[number];
  const why = known ?? (cause instanceof Error ? cause.message : String(cause));
  return problem(code, `${message}: ${why}`, hint, cause);
}

/** An error of one issue. */
export function problem(code: Code, message: string, hint?: string, cause?: unknown): WarpstageError {
  return new WarpstageError(
    { code, message, ...(hint === undefined ? {} : { hint }) },
    cause === undefined ? {} : { cause },
  );
}
