// A server of one machine's own for pages of the tests. Where it is asked to, it has pages isolated from others, as
// threads with shared memory need it.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const types: Readonly<Record<string, string>> = {
  css: 'text/css',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  json: 'application/json',
  webmanifest: 'application/manifest+json',
};

export interface Served {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Serves files by their paths, such as `main.js`; `isolated/main.js` is the same with the headers of isolation. */
export async function serve(files: ReadonlyMap<string, string>): Promise<Served> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname.slice(1);
    asked.push(path);
    const isIsolated = path.startsWith('isolated/');
    const name = isIsolated ? path.slice('isolated/'.length) : path;
    const file = name === '' || name.endsWith('/') ? `${name}index.html` : name;
    const text = files.get(file);
    response.setHeader('Content-Type', types[file.split('.').at(-1)!] ?? 'text/plain');
    if (isIsolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
