// Where pieces lie: files beside an output, or objects whose keys begin as its key does.

import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { unreadable } from '../../diagnostics/problem.ts';
import { openToRead } from '../../files/sum-of-file.ts';
import { openBytes } from '../../formats/bytes.ts';
import { refusedObject, S3Object } from '../../formats/s3-client.ts';
import { isObject } from '../../formats/url.ts';

/** Which piece: the n-th of so many, counted from 1. */
export type Shard = readonly [n: number, of: number];

/** Where a piece of an output is. */
export function piecePath(output: string, [n, of]: Shard): string {
  return `${output}.${n}-of-${of}`;
}

/** What the pieces of one of several outputs are named after that are parts of a file. */
export function placeOfPart(file: string, parameter: string): string {
  return `${file}.${parameter}`;
}

/** What the pieces of outputs are named after, by the outputs' names and their files; one file may be that of all. */
export function placesOf(names: readonly string[], files: readonly string[]): string[] {
  const given = files.length === 1 && names.length > 1 ? names.map(() => files[0]!) : files;
  const isShared = (file: string) => given.indexOf(file) < given.lastIndexOf(file);
  return given.map((file, i) => (isShared(file) ? placeOfPart(file, names[i]!) : file));
}

/** A piece that is read at places. */
export interface OpenPiece {
  readonly size: number;
  /** Says how many bytes there were. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a piece. Throws what the system does, or what objects give. */
export async function openPieceFile(path: string): Promise<OpenPiece> {
  if (isObject(path)) {
    const opened: { close(): Promise<void> }[] = [];
    try {
      const bytes = await openBytes(path, (one) => opened.push(one));
      return {
        size: bytes.size!,
        read: (into, position) => bytes.readAt!(into, position),
        close: () => bytes.close(),
      };
    } catch (error) {
      await Promise.allSettled(opened.map((one) => one.close()));
      throw error;
    }
  }
  const file = await openToRead(path);
  try {
    return {
      size: (await file.stat()).size,
      read: async (into, position) => (await file.read(into, 0, into.length, position)).bytesRead,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
}

/** How the names end that begin as an output's, behind it: `.3-of-10`. */
export async function endingsBeside(output: string): Promise<string[]> {
  const isBeside = (name: string, begin: string) => name.startsWith(begin);
  if (isObject(output)) {
    const object = await S3Object.named(output);
    const keys = await keysFrom(object);
    return keys.filter((key) => isBeside(key, object.key)).map((key) => key.slice(object.key.length));
  }
  const folder = dirname(output);
  const names = await readdir(folder).catch((cause: unknown) => {
    throw unreadable(folder, cause);
  });
  const begin = basename(output);
  return names.filter((name) => isBeside(name, begin)).map((name) => name.slice(begin.length));
}

/** Where a piece lies. */
export function placeOfPiece(output: string, shard: Shard): string {
  const path = piecePath(output, shard);
  return isObject(output) ? path : join(dirname(output), basename(path));
}

/** Removes a piece. */
export async function removePiece(path: string): Promise<void> {
  if (!isObject(path)) return await rm(path, { force: true });
  const object = await S3Object.named(path);
  await object.send('DeleteObjectCommand', {}).catch((cause: unknown) => {
    throw refusedObject(object.name, cause, 'written');
  });
}

interface ListedKeys {
  readonly Contents?: readonly { readonly Key: string }[];
  readonly NextContinuationToken?: string;
}

async function keysFrom(object: S3Object): Promise<string[]> {
  const keys: string[] = [];
  try {
    for (let token: string | undefined; ; ) {
      const page: ListedKeys = await object.send('ListObjectsV2Command', {
        Prefix: `${object.key}.`,
        ...(token !== undefined && { ContinuationToken: token }),
      });
      keys.push(...(page.Contents ?? []).map(({ Key }) => Key));
      token = page.NextContinuationToken;
      if (token === undefined) return keys;
    }
  } catch (cause) {
    throw refusedObject(object.name, cause, 'read');
  }
}
