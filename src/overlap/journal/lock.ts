// One process at a time at an unfinished output, by what the system takes back however a process ends: so there is
// no file that one which was killed could leave locked.
//
// On Linux it is the one that listens at an abstract socket, on Windows at a named pipe. The address is made of the
// output's folder, by device and inode, and its name in it: whatever way leads to it, it is the same. The socket's
// is as long as an address can be, since versions of Node differ in whether they fill a shorter one with zeros,
// and would not see each other. Processes in different network namespaces (containers that share a folder), and
// on different machines, do not see each other. On macOS and the BSDs it is the one that has opened a file beside the
// output with an exclusive lock.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { problem, unwritable } from '../../diagnostics/problem.ts';
import { ownMode } from '../../files/own-file.ts';
import { nameIdentity } from '../../files/place.ts';
import { beside, hintOfFolder } from './places.ts';

/** Releases a lock. */
type Release = () => Promise<void>;

/**
 * Locks a path, which need not exist: resolves with what releases it, or with null if another has it.
 *
 * @param path without links
 * @param file where a lock may be kept that needs a file
 */
export async function lockPath(path: string, file: string): Promise<Release | null> {
  switch (process.platform) {
    case 'linux':
    case 'android':
      return listenAt(`\0${await nameOf(path, addressBytes - 1)}`);
    case 'win32':
      return listenAt(`\\\\.\\pipe\\${await nameOf(path, addressBytes - 1)}`);
    default:
      return lockFile(file);
  }
}

/**
 * Locks the places of all outputs of a run.
 *
 * @throws WarpstageError WS5011 where another run has one of them
 */
export async function lockAll(finals: readonly string[]): Promise<() => Promise<void>> {
  const locks: (() => Promise<void>)[] = [];
  let released: Promise<unknown> | undefined;
  const release = async () => {
    released ??= Promise.all(locks.map((unlock) => unlock()));
    await released;
  };
  for (const final of finals) {
    const unlock = await lockPath(final, beside(final, 'lock')).catch(async (cause: unknown) => {
      await release();
      throw unwritable(final, cause, hintOfFolder);
    });
    if (unlock === null) {
      await release();
      throw problem(
        'WS5011',
        `${final} is being written by another process, or another run of this one, with resume`,
        'wait for it, or end it and run this again',
      );
    }
    locks.push(unlock);
  }
  return release;
}

/** Of an address of a socket on Linux, `sun_path`. */
const addressBytes = 108;

/** A name of as many characters. */
async function nameOf(path: string, length: number): Promise<string> {
  const identity = createHash('sha512')
    .update(await nameIdentity(path))
    .digest('hex');
  return `warpstage-${identity}`.slice(0, length);
}

/** A process that may not listen at all guards nothing. */
async function listenAt(address: string): Promise<Release | null> {
  const server = createServer((socket) => socket.destroy());
  const failure = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve);
    server.listen({ path: address, exclusive: true }, () => resolve(null));
  });
  if (failure?.code === 'EADDRINUSE') return null;
  if (failure !== null) return async () => {};
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/** `O_EXLOCK` of macOS and the BSDs, which Node passes on and does not name. */
const exclusiveLock = 0x20;

/** Locks a file as it is opened, and removes it with the lock. */
async function lockFile(path: string): Promise<Release | null> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  for (;;) {
    let file: FileHandle;
    try {
      file = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | exclusiveLock, ownMode);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
      throw error;
    }
    try {
      const [locked, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
      if (locked.dev === there?.dev && locked.ino === there.ino) {
        return async () => {
          await rm(path, { force: true }).finally(() => file.close());
        };
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    // Whoever had it removed it in the meantime: the next one to come would make another.
    await file.close();
  }
}
