// One process at a time at an unfinished output: the one that listens at an address made of its path.
//
// The system keeps such addresses, and takes them back however a process ends; so there is no file that a
// process that was killed could leave behind. Linux has them as abstract sockets, Windows as named pipes. A
// system that has neither, or does not let this process listen, guards nothing. Processes in different network
// namespaces (containers that share a folder), and on different machines, do not see each other.

import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

/** Locks a path, which need not exist: resolves with what releases it, or with null if another has it. */
export async function lockPath(path: string): Promise<(() => Promise<void>) | null> {
  const address = addressOf(path);
  if (address === undefined) return async () => {};
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

function addressOf(path: string): string | undefined {
  const name = `warpstage-${createHash('sha256').update(path).digest('hex').slice(0, 40)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : undefined;
}
