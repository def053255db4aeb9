// A folder of objects of S3: those whose keys begin as its key does. They are listed once, with their versions; each is read
// in that version or there is an error, so that what is read is the folder as it was listed.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { byCount } from '../files/by-count.ts';
import type { FileWithin } from '../files/folder.ts';
import { checkPart, type FolderFile, type FolderFiles, isBelow } from './folder-files.ts';
import { ObjectRanges } from './s3-bytes.ts';
import { refusedObject, S3Object } from './s3-client.ts';
import type { UrlVersion, UrlVersions } from './url-versions.ts';
import { versionOfAll } from './version-of-all.ts';

/** Objects that are remembered: a list has a thousand. */
const mostObjects = 2 ** 19;

interface Listed {
  readonly Contents?: readonly { readonly Key: string; readonly ETag?: string; readonly Size?: number }[];
  readonly NextContinuationToken?: string;
}

export class ObjectFolder implements FolderFiles {
  readonly #url: string;
  readonly #stop: AbortController;
  readonly #objects: ReadonlyMap<string, UrlVersion>;
  readonly all: readonly FileWithin[];

  private constructor(url: string, stop: AbortController, objects: ReadonlyMap<string, UrlVersion>) {
    this.#url = url;
    this.#stop = stop;
    this.#objects = objects;
    this.all = [...objects]
      .map(([path, { bytes }]) => ({ path, size: bytes }))
      .sort((a, b) => byCount(a.path, b.path));
  }

  /** Lists it. `versions` learn which one it is: that of all objects together. */
  static async listed(
    name: string,
    stop: AbortController,
    versions: UrlVersions | undefined,
  ): Promise<ObjectFolder> {
    const url = name.replace(/\/+$/, '');
    const objects = await listBelow(await S3Object.named(url), stop.signal);
    const folder = new ObjectFolder(url, stop, objects);
    versions?.found(name, versionOfAll(folder.all, objects));
    return folder;
  }

  async foldersIn(path: string): Promise<string[]> {
    const begin = path === '' ? '' : `${path}/`;
    const names = new Set<string>();
    for (const one of this.#objects.keys()) {
      const rest = one.slice(begin.length);
      if (one.startsWith(begin) && rest.includes('/')) names.add(rest.slice(0, rest.indexOf('/')));
    }
    return [...names];
  }

  async has(path: string): Promise<boolean> {
    return this.#objects.has(path);
  }

  async open(path: string): Promise<FolderFile | undefined> {
    const known = this.#objects.get(path);
    if (known === undefined) return undefined;
    const ranges = new ObjectRanges(await S3Object.named(`${this.#url}/${path}`), this.#stop, known);
    return {
      size: known.bytes,
      async part(begin, length) {
        checkPart(begin, length, known.bytes);
        return length === 0 ? new Uint8Array() : ranges.range(begin, begin + length);
      },
      async close() {},
    };
  }
}

/** The objects of a folder, by their paths in it, with their versions. */
export async function listBelow(
  folder: S3Object,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, UrlVersion>> {
  const objects = new Map<string, UrlVersion>();
  const prefix = `${folder.key}/`;
  try {
    for (let token: string | undefined; ; ) {
      const page: Listed = await folder.send(
        'ListObjectsV2Command',
        { Prefix: prefix, ...(token !== undefined && { ContinuationToken: token }) },
        signal,
      );
      for (const { Key: key, ETag: version, Size: bytes } of page.Contents ?? []) {
        const path = key.slice(prefix.length);
        // A key may be any text; one that is no path of a file names none.
        if (!key.startsWith(prefix) || !isBelow(path)) continue;
        if (version === undefined || bytes === undefined)
          throw problem('WS5003', `${folder.name} cannot be read: the store says no versions (ETag)`);
        objects.set(path, { version, bytes });
      }
      if (objects.size > mostObjects) {
        const message = `${folder.name} has more than ${count(mostObjects)} objects`;
        throw problem('WS5004', message, 'name the folder of one array of it');
      }
      token = page.NextContinuationToken;
      if (token === undefined) return objects;
    }
  } catch (cause) {
    if (signal.aborted) throw problem('WS5003', `${folder.name} cannot be read: it was closed`);
    throw refusedObject(folder.name, cause, 'read');
  }
}
