// The bytes of a URL, read by ranges as they are asked for, or as they come where the server has no ranges.
//
// All ranges are of one version of the file: the first answer says which (ETag, or else Last-Modified) and how long it is,
// and every later one must say the same. A server that says neither could give parts of two versions, and is read in one
// answer.

import { setTimeout as delay } from 'node:timers/promises';
import { counted } from '../diagnostics/count.ts';
import { problem, unreadable } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import { leastBytes, type Ranged, RangedBytes } from './ranged-bytes.ts';
import { type ReadableShape, StreamBytes } from './stream-bytes.ts';
import { pathInName, shownUrl } from './url.ts';
import { changedUrl, type UrlVersions } from './url-versions.ts';

/** Bytes of pieces that have come, and were read, before their memory is given back. */
const pieceGarbage = 2 ** 25;

/** Milliseconds that a server may take until it begins to answer. What breaks off in an answer, or stands still, `fetch` tells. */
const patience = 60_000;

/** Milliseconds before another try, where the network or the server fails and does not say how many. */
const pauses = [100, 1000];
/** As many as a server may ask for (`Retry-After`). One that wants more is not waited for. */
const longestPause = 60_000;

/**
 * Opens a URL. `opened` receives what ends it, before anything is asked. `versions`: those that the run has met, of which
 * it must be.
 */
export async function openUrl(
  url: string,
  opened: (one: { close(): Promise<void> }) => void,
  versions?: UrlVersions,
): Promise<OpenBytes> {
  const server = new Server(url);
  opened({ close: async () => server.close() });
  const first = await server.ask(
    async (response) => {
      const range = response.headers.get('content-range') ?? '';
      const isEmpty = response.status === 416 && range === 'bytes */0';
      const version = response.status === 206 || isEmpty ? versionOf(response) : undefined;
      const total = Number(/\/(\d+)$/.exec(range)?.[1] ?? Number.NaN);
      if (version !== undefined && Number.isSafeInteger(total)) {
        const remote: Remote = { server, version, total };
        const part = () => rangeOf(remote, response, 0, Math.min(leastBytes, total));
        const bytes = isEmpty ? await nothingOf(response) : await part();
        versions?.found(url, { version, bytes: total });
        return new RangedBytes(ranged(remote), { begin: 0, bytes });
      }
      if (response.status === 200) return streamOf(server, response);
      await response.body?.cancel();
      return undefined;
    },
    { begin: 0, end: leastBytes },
  );
  if (first instanceof RangedBytes) return first;
  try {
    versions?.foundNone(url);
  } catch (error) {
    server.close();
    throw error;
  }
  // One of no version is read in one answer; a server may not say that a file is empty.
  return first ?? (await server.ask(async (response) => streamOf(server, response)));
}

/** Asks for the version of a URL alone. Throws WS5005 where its server says none. */
export async function findVersion(
  url: string,
  opened: (one: { close(): Promise<void> }) => void,
  versions: UrlVersions,
): Promise<void> {
  const server = new Server(url);
  opened({ close: async () => server.close() });
  const found = await server.ask(
    async (response) => {
      const range = response.headers.get('content-range') ?? '';
      const total = Number(/\/(\d+)$/.exec(range)?.[1] ?? Number.NaN);
      const isEmpty = response.status === 416 && total === 0;
      const version = response.status === 206 || isEmpty ? versionOf(response) : undefined;
      await response.body?.cancel();
      return version !== undefined && Number.isSafeInteger(total) ? { version, bytes: total } : undefined;
    },
    { begin: 0, end: 1 },
  );
  if (found === undefined) versions.foundNone(url);
  else versions.found(url, found);
}

function streamOf(server: Server, response: Response): OpenBytes {
  if (response.status !== 200) throw server.answered(response);
  const { body } = response;
  const pieces = body === null ? [] : { getReader: () => server.readerOf(body) };
  return new StreamBytes(server.name, pieces, { heldBytes: pieceGarbage }).begin();
}

/** What tells versions of a file apart, as the server says it. */
function versionOf({ headers }: Response): string | undefined {
  const tag = headers.get('etag');
  // A weak tag stays where bytes may change.
  return tag !== null && !tag.startsWith('W/') ? tag : (headers.get('last-modified') ?? undefined);
}

/** Bytes from `begin` to before `end`. */
interface Range {
  readonly begin: number;
  readonly end: number;
}

/** One version of a file. */
interface Remote {
  readonly server: Server;
  readonly version: string;
  readonly total: number;
}

/** The ranges of that version. */
function ranged(remote: Remote): Ranged {
  const { server, version, total } = remote;
  return {
    name: server.name,
    total,
    range: (begin, end) =>
      server.ask((response) => rangeOf(remote, response, begin, end), { begin, end }, version),
    close: () => server.close(),
  };
}

/** Asks for a file. */
class Server {
  readonly name: string;
  readonly #url: URL;
  readonly #headers: Record<string, string> = { 'accept-encoding': 'identity' };
  readonly #stop = new AbortController();

  constructor(url: string) {
    this.name = shownUrl(url);
    if (!URL.canParse(url)) throw problem('WS5003', `${this.name} is no URL`);
    this.#url = new URL(url);
    const { username, password } = this.#url;
    if (username !== '' || password !== '') {
      const who = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
      this.#headers.authorization = `Basic ${who.toString('base64')}`;
      this.#url.username = '';
      this.#url.password = '';
    }
  }

  /** What is taken of the answer to a request for a range, or for all. What may pass is tried again. */
  async ask<T>(take: (response: Response) => Promise<T>, range?: Range, version?: string): Promise<T> {
    const headers = {
      ...this.#headers,
      ...(range && { range: `bytes=${range.begin}-${range.end - 1}` }),
      ...(version === undefined ? {} : { 'if-range': version }),
    };
    for (const usual of [...pauses, undefined]) {
      let pause = usual;
      try {
        const response = await this.#answer(headers);
        if ([200, 206, 412, 416].includes(response.status)) return await take(response);
        await response.body?.cancel();
        const wanted = pauseOf(response);
        if (pause === undefined || !isForNow(response.status) || wanted > longestPause)
          throw this.answered(response);
        pause = Math.max(pause, wanted);
      } catch (cause) {
        if (pause === undefined || this.#stop.signal.aborted || !isPassing(cause)) throw this.failed(cause);
      }
      await delay(pause, undefined, { signal: this.#stop.signal }).catch((cause: unknown) => {
        throw this.failed(cause);
      });
    }
    throw new Error('the last try has ended');
  }

  /** Reads the body of an answer. Where it breaks off, the error is that of a URL that cannot be read. */
  readerOf(body: ReadableStream<Uint8Array>): ReturnType<ReadableShape<Uint8Array>['getReader']> {
    const reader = body.getReader();
    return {
      read: () =>
        reader.read().catch((cause: unknown) => {
          throw this.failed(cause);
        }),
      cancel: (reason) => reader.cancel(reason),
      releaseLock: () => reader.releaseLock(),
    };
  }

  /** The answer, when it begins. */
  async #answer(headers: Record<string, string>): Promise<Response> {
    const silence = new AbortController();
    // As `fetch` says it of the network.
    const reason = Object.assign(new Error(`the server has not answered for ${patience / 1000} s`), {
      code: 'ETIMEDOUT',
    });
    const timer = setTimeout(() => silence.abort(new TypeError('silent', { cause: reason })), patience);
    try {
      const signal = AbortSignal.any([this.#stop.signal, silence.signal]);
      return await fetch(this.#url, { headers, signal });
    } finally {
      clearTimeout(timer);
    }
  }

  answered(response: Response): Error {
    const { status, statusText } = response;
    const why = `the server answers ${status} ${statusText}`.trimEnd();
    const cause = new Refusal(status);
    if (isForNow(status)) {
      const seconds = Math.ceil(pauseOf(response) / 1000);
      const when = seconds > 0 ? `in ${counted(seconds, 'second')}, as it asks` : 'later';
      return problem('WS5020', `${this.name} cannot be read: ${why}`, `run it again ${when}`, cause);
    }
    const hint = /[*{]/.test(pathInName(this.name))
      ? 'a pattern names files, and no URLs: name each, one behind the other, or with --input x=<URL> for each'
      : 'check the URL, and who may read it';
    return problem('WS5003', `${this.name} cannot be read: ${why}`, hint, cause);
  }

  failed(cause: unknown): Error {
    if (this.#stop.signal.aborted) return problem('WS5003', `${this.name} cannot be read: it was closed`);
    // What fetch says of the network is behind its own error.
    const inner = cause instanceof TypeError && cause.cause instanceof Error ? cause.cause : cause;
    const named = inner as { readonly code?: string; readonly message?: string };
    const reason = named.message === '' ? new Error(named.code) : inner;
    const hint = 'check the URL, and whether the server is up';
    const error = unreadable(this.name, reason, hint);
    if (!isPassing(cause) || !ofNetwork.test(named.code ?? '')) return error;
    return problem('WS5020', error.issues[0]!.message, hint, cause);
  }

  close(): void {
    this.#stop.abort();
  }
}

/** That a server does not give what it is asked for, by the number of HTTP. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

/** Whether an error says that there is nothing of a URL, and not that it could not be had. */
export function isAbsent(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Refusal && cause.status === 404;
}

/** Whether a server refuses what it may give later. */
function isForNow(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Milliseconds after which a server asks to be asked again; 0 where it does not say. */
function pauseOf({ headers }: Response): number {
  const said = headers.get('retry-after')?.trim() ?? '';
  const pause = /^\d+$/.test(said) ? 1000 * Number(said) : Date.parse(said) - Date.now();
  return Number.isNaN(pause) ? 0 : Math.max(0, pause);
}

/** What the network says that may be otherwise later, by codes of the system and of `fetch`. */
const ofNetwork = /^(ECONN(RESET|REFUSED|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|EAI_AGAIN|UND_ERR_\w+)$/;

/** Whether another try may do better: the network has failed, and not what was asked. */
function isPassing(cause: unknown): boolean {
  return cause instanceof TypeError && cause.cause !== undefined;
}

/** Why an answer is not the range of that version which was asked for; undefined where it is. */
function rangeProblem(
  { server: { name }, version, total }: Remote,
  response: Response,
  begin: number,
  end: number,
): Error | undefined {
  const range = response.headers.get('content-range');
  const isSame = response.status === 206 && versionOf(response) === version;
  if (isSame && range === `bytes ${begin}-${end - 1}/${total}`) return undefined;
  if (isSame && range?.endsWith(`/${total}`)) {
    return problem(
      'WS5003',
      `${name} cannot be read: the server gives ${range} for bytes ${begin}-${end - 1}`,
    );
  }
  return changedUrl(name, { version, bytes: total });
}

/** The bytes of an answer, which are of that range and version. */
async function rangeOf(remote: Remote, response: Response, begin: number, end: number): Promise<Uint8Array> {
  const wrong = rangeProblem(remote, response, begin, end);
  if (wrong !== undefined) {
    await response.body?.cancel();
    throw wrong;
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length === end - begin) return bytes;
  const { name } = remote.server;
  throw problem('WS5003', `${name} cannot be read: the server gives ${bytes.length} of ${end - begin} bytes`);
}

async function nothingOf(response: Response): Promise<Uint8Array> {
  await response.body?.cancel();
  return new Uint8Array();
}
