// Zarr stores of version 3: a folder whose zarr.json says what an array is, and whose other files are its chunks, each
// packed by itself. A group is a folder of such folders, and its arrays are columns by their paths.
//
// What reads them (zarr-store.ts) is loaded when one is opened. Outputs are chunks of whole rows, about 4 MiB each
// whatever the chunks of the job are, so that the same numbers make the same files.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { problem } from '../diagnostics/problem.ts';
import type { Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';
import { longestMetadata, markName } from './zarr-limits.ts';
import { zarrFolder } from './zarr-writer.ts';

/** Zarr stores. */
export const zarr: Format = {
  name: 'zarr',
  endings: ['.zarr'],
  mark: markName,
  columns: isGroup,
  seeks: 'it is a folder of files',
  async open(file) {
    const { folder, files } = file;
    if (folder === undefined && files === undefined) throw noFolder(file.name);
    const [{ openStore }, { StoreFiles }] = await Promise.all([
      import('./zarr-store.ts'),
      import('./zarr-files.ts'),
    ]);
    return openStore(file.name, files ?? new StoreFiles(file.name, folder!));
  },
  encode,
  get module() {
    return packageFile('formats/zarr.js', import.meta.url);
  },
};

/** Whether a folder is a group, as far as that can be told before it is opened. */
function isGroup(path: string): boolean {
  try {
    const file = join(path, markName);
    if (statSync(file).size > longestMetadata) return false;
    const about = JSON.parse(readFileSync(file, 'utf8')) as { node_type?: unknown } | null;
    return about?.node_type === 'group';
  } catch {
    // What is wrong with it is said when it is opened.
    return false;
  }
}

function encode(output: OutputDescription): Encoding {
  const folder = zarrFolder(output);
  return {
    folder,
    begin(shape) {
      folder.unitBytes(shape);
      return new Uint8Array();
    },
  };
}

function noFolder(name: string): Error {
  return problem(
    'WS5004',
    `${name} is no folder, and a Zarr store is one: zarr.json, and files of chunks`,
    'name the folder; unpack an archive of one first, or download it whole',
  );
}
