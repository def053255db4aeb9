// Inputs by URL where a run must know them again: in a journal and in pieces by their version, and with `--checksum` by what
// they hold, which is read once more for that.

import { createHash } from 'node:crypto';
import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { Checksum } from '../files/checksum.ts';
import type { Content } from '../files/content.ts';
import type { FolderFiles } from '../formats/folder-files.ts';
import { openFile, openPlace } from '../formats/open-file.ts';
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
    let file = await openPlace(url, hold, versions);
    opened.push(file);
    // Which files there are is known to the format.
    if (file.files?.learn !== undefined)
      file = (await openFile({ file: url }, undefined, hold, versions)).bytes;
    const checksum = new Checksum();
    if (file.files !== undefined) {
      const take = (bytes: Uint8Array) => checksum.update(bytes);
      return { bytes: await readAll(file.name, file.files, take, signal), sum: checksum.value };
    }
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

/** Has the names and bytes of all files of a folder taken, as `files/content.ts` does. Says how many there were. */
async function readAll(
  name: string,
  files: FolderFiles,
  take: (bytes: Uint8Array) => void,
  signal: AbortSignal,
): Promise<number> {
  if (files.all === undefined) throw noVersion(name);
  take(Buffer.from(JSON.stringify(files.all.map(({ path, size }) => [path, size]))));
  let all = 0;
  for (const { path } of files.all) {
    const file = await files.open(path);
    if (file === undefined) continue;
    for (let at = 0; at < file.size; at += portion) {
      signal.throwIfAborted();
      take(await file.part(at, Math.min(portion, file.size - at)));
    }
    all += file.size;
    await file.close();
  }
  return all;
}

/** The error of a folder that cannot be known again: nobody says which files it has. */
export function noVersion(name: string): Error {
  return problem(
    'WS5005',
    `${name} is a folder at a URL that nobody lists: another run, or one of its pieces, cannot know it again`,
    'name it in its store (s3://bucket/key), or save it to a folder first',
  );
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
