// Inputs by URL where a run must know them again: in a journal and in pieces by their version, and with `--checksum` by what
// they hold, which is read once more for that.

import { createHash } from 'node:crypto';
import { count } from '../diagnostics/count.ts';
import { Checksum } from '../files/checksum.ts';
import type { Content } from '../files/content.ts';
import { openBytes } from '../formats/bytes.ts';
import { queryOf, shownUrl } from '../formats/url.ts';
import type { UrlVersion, UrlVersions } from '../formats/url-versions.ts';

/** Bytes that are read at once: by several requests, side by side. */
const portion = 1 << 23;

/** What a URL holds, in the version that the run reads. */
export async function contentOfUrl(
  url: string,
  versions: UrlVersions,
  signal: AbortSignal,
): Promise<Content> {
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const one of opened) await one.close();
  };
  const onAbort = () => void close();
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const hold = (one: { close(): Promise<void> }) => {
      opened.push(one);
      if (signal.aborted) void one.close().catch(() => {});
    };
    const file = await openBytes(url, hold, versions);
    opened.push(file);
    const checksum = new Checksum();
    const buffer = new Uint8Array(Math.min(portion, file.size ?? portion));
    let bytes = 0;
    for (;;) {
      signal.throwIfAborted();
      const read = buffer.length === 0 ? 0 : await file.read(buffer);
      checksum.update(buffer.subarray(0, read));
      bytes += read;
      if (read < buffer.length || bytes === file.size) return { bytes, sum: checksum.value };
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await close();
  }
}

/**
 * A version in words. A tag is of what is there, whatever the query, which may be a signature and another one each time; a
 * time is not, and the query counts as well.
 */
export function versionInWords(url: string, { version }: UrlVersion): string {
  const query = queryOf(url);
  if (version.startsWith('"') || query === '') return `version ${version}`;
  const sum = createHash('sha256').update(query).digest('hex').slice(0, 16);
  return `version ${version} of the query ${sum}`;
}

/** A URL as a journal knows it. */
export function urlFact(url: string, kind: string, version: UrlVersion): string {
  return `${shownUrl(url)} (${kind}, ${count(version.bytes)} bytes, ${versionInWords(url, version)})`;
}
