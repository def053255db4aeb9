// Which URLs a worker of a queue reads.
//
// Whoever may write to the queue's server names them, and a worker may reach what nobody outside does: so it reads only what
// lies below the URLs that it was started with. What is dealt stays on the server for as long as the run: a URL that may hold
// a secret is not dealt.

import { problem } from '../diagnostics/problem.ts';
import { isObject, isUrl, queryOf, shownUrl } from '../formats/url.ts';

/** Throws WS5005 for a URL that may hold a secret. */
export function checkDealable(url: string): void {
  const hasName = /^[^/]*\/\/[^/?#]*@/.test(url);
  if (!hasName && queryOf(url) === '') return;
  throw problem(
    'WS5005',
    `${shownUrl(url)} has ${hasName ? 'a name or a password' : 'a query'}, which may be a secret, and a queue keeps what it deals`,
    'name it without, where workers may read it so; or compute each piece without a queue: --shard 1/10',
  );
}

/** Throws WS5019 for a URL that lies below none of the allowed ones. */
export function checkAllowed(url: string, allowed: readonly string[]): void {
  if (allowed.some((one) => liesBelow(url, one))) return;
  const folder = shownUrl(url).replace(/[^/]*$/, '');
  throw problem(
    'WS5019',
    `${shownUrl(url)} is none of the URLs that this worker reads`,
    `if it may, start it with --from ${folder}`,
  );
}

/** Whether a name is a URL that others may lie below. */
export function isFolderOfUrls(name: string): boolean {
  return isUrl(name) && URL.canParse(name) && queryOf(name) === '';
}

/** Whether a URL is another one, or lies below it as a file in a folder. */
function liesBelow(url: string, folder: string): boolean {
  if (isObject(url)) {
    // A key is a text to Amazon's store; another may follow `..` in it.
    const isPlain = !/\/\.\.?(\/|$)/.test(url);
    return isPlain && (url === folder || url.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
  }
  if (!URL.canParse(url)) return false;
  const [one, other] = [new URL(url), new URL(folder)];
  if (one.protocol !== other.protocol || one.host !== other.host) return false;
  if (one.pathname === other.pathname) return true;
  // A server may take these for separators, behind which `..` could lead out again.
  if (/%2f|%5c|\\/i.test(one.pathname)) return false;
  const path = other.pathname.endsWith('/') ? other.pathname : `${other.pathname}/`;
  return one.pathname.startsWith(path);
}
