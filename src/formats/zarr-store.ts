// What is in a Zarr store: an array, or the arrays of a group and of the groups in it, each by its path.

import { count } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Contents, StoredArray } from './format.ts';
import { pythonText } from './python-text.ts';
import { elementsOf } from './zarr-array.ts';
import { Chunks } from './zarr-chunks.ts';
import { StoreFiles } from './zarr-files.ts';
import { longestMetadata, markName } from './zarr-limits.ts';
import { type ListedArray, parseMetadata } from './zarr-metadata.ts';

/** Arrays and groups of a store. */
const mostNodes = 10_000;

/** Reads what is in the store of a folder. */
export async function openStore(name: string, folder: string): Promise<Contents> {
  const files = new StoreFiles(name, folder);
  const root = await metadataOf(files, name, '');
  if (root === undefined) throw await noStore(files, name);
  if (root !== 'group') return { arrays: [stored(root, files, '')], facts: root.facts };
  const arrays: StoredArray[] = [];
  const groups = [''];
  let nodes = 0;
  for (const group of groups) {
    for (const inside of (await files.foldersIn(group)).sort()) {
      const path = group === '' ? inside : `${group}/${inside}`;
      const found = await metadataOf(files, `${name}/${path}`, path);
      if (found === undefined) continue;
      if (++nodes > mostNodes) throw tooMany(name);
      if (found === 'group') groups.push(path);
      else arrays.push({ name: path, ...stored(found, files, path) });
    }
  }
  return { arrays, facts: { arrays: arrays.length } };
}

/** What a folder of the store is; undefined where nothing says so. An array that is not read has no elements. */
async function metadataOf(
  files: StoreFiles,
  name: string,
  path: string,
): Promise<'group' | ListedArray | undefined> {
  const file = await files.open(path === '' ? markName : `${path}/${markName}`);
  if (file === undefined) return undefined;
  try {
    if (file.size > longestMetadata) {
      throw problem('WS5003', `the zarr.json of ${name} has ${count(file.size)} bytes, and is not read`);
    }
    const bytes = await file.part(0, file.size);
    return parseMetadata(name, Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    // One array of a group that is not read leaves the others readable.
    if (path === '' || !(error instanceof WarpstageError) || error.code !== 'WS5004') throw error;
    return { shape: [], stored: error.issues[0]!.message, facts: {} };
  } finally {
    await file.close();
  }
}

function stored({ shape, stored, array }: ListedArray, files: StoreFiles, path: string): StoredArray {
  return {
    stored,
    shape,
    ...(array && { dtype: array.dtype }),
    elements() {
      if (array === undefined) throw new Error('it is of no numbers');
      return elementsOf(array, new Chunks(array, files, path));
    },
  };
}

async function noStore(files: StoreFiles, name: string): Promise<Error> {
  const isOld = (await files.has('.zarray')) || (await files.has('.zgroup'));
  return isOld
    ? problem(
        'WS5004',
        `${name} is a Zarr store of version 2, which is not read`,
        `write it as version 3: zarr.save('new.zarr', zarr.open(${pythonText(name)}, mode='r')[...])`,
      )
    : problem('WS5003', `${name} is no Zarr store: it has no zarr.json`, 'name the folder that has it');
}

function tooMany(name: string): Error {
  return problem(
    'WS5004',
    `${name} has more than ${count(mostNodes)} arrays and groups`,
    'name the folder of one of them',
  );
}
