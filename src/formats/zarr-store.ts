// What is in a Zarr store: an array, or the arrays of a group and of the groups in it, each by its path.

import { count } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import { type FolderFiles, isBelow } from './folder-files.ts';
import type { Contents, StoredArray } from './format.ts';
import { pythonText } from './python-text.ts';
import { elementsOf } from './zarr-array.ts';
import { Chunks, placesIn } from './zarr-chunks.ts';
import { longestMetadata, markName } from './zarr-limits.ts';
import { type ListedArray, parseMetadata, type ZarrArray } from './zarr-metadata.ts';

/** Arrays and groups of a store. */
const mostNodes = 10_000;

/** Reads what is in a store, by its files. */
export async function openStore(name: string, files: FolderFiles): Promise<Contents> {
  const text = await textOf(files, name, '');
  if (text === undefined) throw await noStore(files, name);
  const root = parseMetadata(name, text);
  const paths = [markName];
  const known: (readonly [path: string, array: ZarrArray])[] = [];
  const learn = () => files.learn?.(filesOf(paths, known));
  if (root !== 'group') {
    if (root.array !== undefined) known.push(['', root.array]);
    await learn();
    return { arrays: [stored(root, files, '')], facts: root.facts };
  }
  const arrays: StoredArray[] = [];
  const add = async (path: string): Promise<boolean> => {
    const found = await metadataOf(files, `${name}/${path}`, path);
    paths.push(`${path}/${markName}`);
    if (found !== undefined && found !== 'group' && found.array !== undefined)
      known.push([path, found.array]);
    if (found !== undefined && found !== 'group') arrays.push({ name: path, ...stored(found, files, path) });
    return found === 'group';
  };
  const groups = [''];
  let nodes = 0;
  for (const group of groups) {
    const inside = await files.foldersIn(group);
    for (const path of inside?.map((one) => (group === '' ? one : `${group}/${one}`)).sort() ?? []) {
      if (++nodes > mostNodes) throw tooMany(name);
      if (await add(path)) groups.push(path);
    }
    if (inside !== undefined) continue;
    const listed = pathsInGroup(name, text);
    if (listed.length > mostNodes) throw tooMany(name);
    for (const path of listed) await add(path);
  }
  await learn();
  return { arrays, facts: { arrays: arrays.length } };
}

/** The files that a store may have: what says what is in it, and the chunks of its arrays. */
function* filesOf(
  paths: readonly string[],
  arrays: readonly (readonly [path: string, array: ZarrArray])[],
): Generator<string> {
  yield* paths;
  for (const [path, { shape, chunk, keyOf }] of arrays) {
    const counts = shape.map((extent, i) => Math.ceil(extent / chunk[i]!));
    for (const place of placesIn(counts)) yield path === '' ? keyOf(place) : `${path}/${keyOf(place)}`;
  }
}

/** The text of a zarr.json; undefined where there is none. */
async function textOf(files: FolderFiles, name: string, path: string): Promise<string | undefined> {
  const file = await files.open(path === '' ? markName : `${path}/${markName}`, longestMetadata);
  if (file === undefined) return undefined;
  try {
    if (file.size > longestMetadata) {
      throw problem('WS5003', `the zarr.json of ${name} has ${count(file.size)} bytes, and is not read`);
    }
    return Buffer.from(await file.part(0, file.size)).toString('utf8');
  } finally {
    await file.close();
  }
}

/** What a folder within the store is; undefined where nothing says so. An array that is not read has no elements. */
async function metadataOf(
  files: FolderFiles,
  name: string,
  path: string,
): Promise<'group' | ListedArray | undefined> {
  const text = await textOf(files, name, path);
  try {
    return text === undefined ? undefined : parseMetadata(name, text);
  } catch (error) {
    // One array of a group that is not read leaves the others readable.
    if (!(error instanceof WarpstageError) || error.code !== 'WS5004') throw error;
    return { shape: [], stored: error.issues[0]!.message, facts: {} };
  }
}

/** The paths that a group says are in it, where nobody lists them. */
function pathsInGroup(name: string, text: string): string[] {
  const { consolidated_metadata: about } = JSON.parse(text) as { consolidated_metadata?: unknown };
  const { metadata } = (about ?? {}) as { metadata?: unknown };
  if (typeof metadata !== 'object' || metadata === null) {
    throw problem(
      'WS5004',
      `${name} is a group, and neither its server nor its zarr.json (consolidated_metadata) lists what is in it`,
      `name an array of it: ${name}/…; or have it list them: zarr.consolidate_metadata(…)`,
    );
  }
  return Object.keys(metadata).filter(isBelow).sort();
}

function stored({ shape, stored, array }: ListedArray, files: FolderFiles, path: string): StoredArray {
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

async function noStore(files: FolderFiles, name: string): Promise<Error> {
  const isThere = async (path: string) => {
    const file = await files.open(path, longestMetadata);
    await file?.close();
    return file !== undefined;
  };
  const isOld = (await isThere('.zarray')) || (await isThere('.zgroup'));
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
