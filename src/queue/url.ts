// Where a queue is: the URLs of its servers, and who one is to them. What a person sees of it, and what is kept, is
// without the user, the password and the token.

import { problem } from '../diagnostics/problem.ts';

/** The servers of a queue. */
export interface QueueAddress {
  readonly servers: readonly string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly tls: boolean;
  /** As messages name it: without credentials. */
  readonly shown: string;
}

const example = 'for example nats://localhost:4222, or several with commas between them';

/**
 * Reads `nats://user:password@host:4222`, `nats://token@host` or `tls://…`; several with commas between them are of one
 * cluster, and the first credentials are those of all.
 *
 * @throws WarpstageError WS6001, which does not repeat credentials
 */
export function queueAddress(text: string): QueueAddress {
  const urls = text.split(',').map((one) => parse(one.trim(), text));
  const known = urls.find(({ username }) => username !== '');
  const [user, pass] = [known?.username, known?.password].map((part) => decodeURIComponent(part ?? ''));
  return {
    servers: urls.map(({ host, port }) => (port === '' ? `${host}:4222` : host)),
    ...(user === '' ? {} : pass === '' ? { token: user! } : { user: user!, pass: pass! }),
    tls: urls.some(({ protocol }) => protocol === 'tls:'),
    shown: urls.map(({ protocol, host }) => `${protocol}//${host}`).join(','),
  };
}

function parse(one: string, all: string): URL {
  try {
    const url = new URL(one);
    const isPlain = ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '';
    decodeURIComponent(url.username + url.password);
    if (/^(nats|tls):$/.test(url.protocol) && url.hostname !== '' && isPlain) return url;
  } catch {
    // Said below.
  }
  throw problem('WS6001', `a queue is the URL of a NATS server, and not ${withoutCredentials(all)}`, example);
}

/** A text that may hold the URL of a queue, without what lies before an `@`. */
export function withoutCredentials(text: string): string {
  return text
    .split(',')
    .map((part) => part.replace(/^(\s*[a-z]*:\/\/)?.*@/s, '$1'))
    .join(',');
}
