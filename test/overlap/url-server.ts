// A server of files for tests, which has ranges and versions, or lacks them, and fails when it is told to.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** A file, and how the server answers. */
export interface Served {
  bytes: Buffer;
  tag?: string;
  modified?: string;
  ranges: boolean;
  /** Whether it gives a range of whatever it has now, though another version was asked for. */
  isBlind?: boolean;
}

/** What is done with a request in place of an answer; true if it was. */
type Instead = (request: IncomingMessage, response: ServerResponse, number: number) => boolean;

export interface UrlServer {
  readonly origin: string;
  readonly served: Map<string, Served>;
  asked: { path: string; range: string | undefined; who: string | undefined }[];
  instead: Instead;
  /** Has the server have a file; its URL. */
  serve(path: string, bytes: Uint8Array, about?: Partial<Served>): string;
}

/** As the server answers unless it is told otherwise. */
export const answer: Instead = () => false;

/** A server for the tests of a file, which forgets between them. */
export function useServer(): UrlServer {
  let server: Server;
  const served = new Map<string, Served>();
  const host = {
    origin: '',
    served,
    asked: [] as UrlServer['asked'],
    instead: answer,
    serve(path: string, bytes: Uint8Array, about: Partial<Served> = { tag: '"1"' }) {
      served.set(path, { ranges: true, ...about, bytes: Buffer.from(bytes) });
      return `${host.origin}${path}`;
    },
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url!, 'http://host');
      const { range, authorization: who } = request.headers;
      host.asked.push({ path: pathname, range, who });
      if (host.instead(request, response, host.asked.length)) return;
      const one = served.get(pathname);
      if (one === undefined) return void response.writeHead(404).end('nothing here');
      const { bytes, tag, modified, ranges, isBlind } = one;
      if (tag !== undefined) response.setHeader('etag', tag);
      if (modified !== undefined) response.setHeader('last-modified', modified);
      const [, begin, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
      const condition = request.headers['if-range'];
      const isSame = isBlind || condition === undefined || condition === tag || condition === modified;
      if (!ranges || begin === undefined || !isSame) return void response.writeHead(200).end(bytes);
      if (Number(begin) >= bytes.length) {
        return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
      }
      const last = Math.min(Number(end), bytes.length - 1);
      response.writeHead(206, { 'content-range': `bytes ${begin}-${last}/${bytes.length}` });
      response.end(bytes.subarray(Number(begin), last + 1));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve).closeAllConnections() as never));
  afterEach(() => {
    host.instead = answer;
    host.asked = [];
    served.clear();
  });
  return host;
}
