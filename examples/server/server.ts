/**
 * An HTTP server that sends what it is given through a kernel: many requests share one device.
 *
 *     npx jiti examples/server/main.ts 8080 &
 *     node examples/make-npy.mjs x.raw 1M
 *     curl --data-binary @x.raw 'http://127.0.0.1:8080/affine?a=2&b=1' > y.raw
 *
 * A request's body is the input and the response's the output, both as bare elements; the query has the settings. Parts go back
 * while later ones still come in.
 *
 * - Each request has two chunks in flight at most, and their commands take turns on the device: so none of them waits for
 *   the whole of another, and each takes the same memory, however long its body is.
 * - A client that does not read its response stops its job: nothing more is read of its request until it does.
 * - A client that goes ends its job at once.
 * - What fails before the first part is answered by a status. Later the connection is cut, so that nobody takes part of a
 *   result for the whole.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Device, type Job, WarpstageError } from 'warpstage';

/** What the server needs to know. */
export interface ServerOptions {
  readonly device: Device;
  /** By their paths: `{ affine }` is `POST /affine`. Each has one output. */
  readonly jobs: Readonly<Record<string, Job>>;
  /** As in `run()`: how long a request's parts are, and how many of them are in flight. */
  readonly chunk?: string | number;
  readonly depth?: number;
}

/** A server, which listens when it is told to. */
export function serverOf({ device, jobs, chunk = '64KiB', depth = 2 }: ServerOptions): Server {
  return createServer(async (request, response) => {
    const [pathname = '/', query] = request.url!.split('?');
    const searchParams = new URLSearchParams(query);
    const name = pathname.slice(1);
    if (!Object.hasOwn(jobs, name))
      return answer(response, 404, `the jobs are ${Object.keys(jobs).join(', ')}\n`);
    if (request.method !== 'POST') return answer(response, 405, 'send the input by POST\n');

    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const settings = Object.fromEntries(
      [...searchParams].map(([setting, value]) => [setting, Number(value)]),
    );
    const source = piecesOf(request);
    const parts = jobs[name]!.stream(source, { device, chunk, depth, settings, signal: gone.signal }).bytes();
    try {
      const first = await parts.next();
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      if (first.done) response.end();
      else await pipeline(startingWith(first.value, parts), response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else answer(response, statusOf(error), `${error instanceof Error ? error.message : error}\n`);
    }
  });
}

/** A request's body. Who stops reading it does not cut the connection, so that there can be an answer. */
function piecesOf(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
}

/** A part that was taken already, and those that follow. */
async function* startingWith(first: Uint8Array, following: AsyncIterable<Uint8Array>) {
  yield first;
  yield* following;
}

/** Whose fault it was. */
function statusOf(error: unknown): number {
  if (!(error instanceof WarpstageError)) return 500;
  // The device is full: later there may be room.
  if (error.code === 'WS4001') return 503;
  // The data, or the settings.
  return ['WS5003', 'WS5005', 'WS5007', 'WS5008'].includes(error.code) ? 400 : 500;
}

/** An answer in words. The rest of a body that nobody reads ends with the connection. */
function answer(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(text);
}
