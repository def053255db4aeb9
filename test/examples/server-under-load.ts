// The server of the examples in a process of its own, under load from autocannon: a warm-up, then the load.
//
// Memory is looked at while nobody asks for anything, after full collections: what is used of the heap and by buffers, and
// what is resident.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

/** What was found. */
export interface Load {
  readonly result: autocannon.Result;
  /** How many whole responses the client got that got fewest. */
  readonly fewest: number;
  readonly before: Memory;
  readonly after: Memory;
  /** For people. */
  readonly text: string;
}

/** Bytes. */
export interface Memory {
  readonly resident: number;
  /** Of the heap and outside of it. */
  readonly used: number;
}

const program = fileURLToPath(new URL('server-process.ts', import.meta.url));
/** The built package, and not its sources, which tsconfig.json names. */
const env = {
  ...process.env,
  TSX_TSCONFIG_PATH: fileURLToPath(new URL('../../tsconfig.build.json', import.meta.url)),
};
const body = Buffer.from(Float32Array.from({ length: 65_536 }, (_, i) => i % 4096).buffer);

/**
 * Has each client send so many bodies of 256 KiB, one after the other, after a quarter of that to get warm. The time that it
 * takes is the machine's.
 */
export async function underLoad(connections: number, requests: number): Promise<Load> {
  const server = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  try {
    const url = (await lines.next()).value as string;
    const memory = async (): Promise<Memory> => {
      server.stdin.write('memory\n');
      return JSON.parse((await lines.next()).value as string) as Memory;
    };
    await fire(url, connections, Math.ceil(requests / 4));
    const before = await memory();
    const { result, counts } = await fire(url, connections, requests);
    const after = await memory();
    // A client that got nothing is not in it.
    const all = counts.length === connections ? counts : [0, ...counts];
    const fewest = Math.min(...all);
    const inMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    const memories = ({ used, resident }: Memory) => `${inMiB(used)} used, ${inMiB(resident)} resident`;
    const text =
      `${connections} clients, ${requests} requests of 256 KiB each, in ${result.duration} s; idle after a quarter of that ` +
      `to get warm ${memories(before)}; at the end ${memories(after)}`;
    return { result, fewest, before, after, text };
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

/** Loads the server, and counts the whole responses of each client. */
async function fire(
  url: string,
  connections: number,
  requests: number,
): Promise<{ readonly result: autocannon.Result; readonly counts: readonly number[] }> {
  const counts = new Map<object, number>();
  const amount = connections * requests;
  const options = { url: `${url}?a=2`, method: 'POST' as const, body, connections, amount, timeout: 60 };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error, found) => (error ? reject(error) : resolve(found)));
    instance.on('response', (client, _status, bytes) => {
      if (bytes >= body.length) counts.set(client, (counts.get(client) ?? 0) + 1);
    });
  });
  return { result, counts: [...counts.values()] };
}
