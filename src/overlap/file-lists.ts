// Inputs of several files. `parts/*.npy` names all files that there are of such names, in the order in which people
// count: part 2 before part 10, the same on every machine, so that shards agree. A name with such letters that is a
// file's own means that file.

import { lstat } from 'node:fs/promises';
import { isAbsolute, sep } from 'node:path';
import { problem } from '../diagnostics/problem.ts';
import { byCount } from '../files/by-count.ts';
import { formatOfFolder } from '../formats/registry.ts';
import { isUrl } from '../formats/url.ts';
import { filesOf } from './input-data.ts';
import type { InputData, InputFile } from './options.ts';

/** The data of every input, with the files in the place of patterns. */
export async function expandInputs(data: ReadonlyMap<string, InputData>): Promise<Map<string, InputData>> {
  const expanded = new Map<string, InputData>();
  for (const [name, given] of data) expanded.set(name, await expandInput(given));
  return expanded;
}

/** One input, with the files in the place of patterns. Several files are a list; one is that file. */
export async function expandInput(given: InputData): Promise<InputData> {
  const requests = filesOf(given);
  if (requests === undefined) return given;
  const files: InputFile[] = [];
  for (const request of requests) {
    const paths = await filesNamed(request.file);
    files.push(...paths.map((file) => ({ ...request, file })));
  }
  return files.length === 1 ? files[0]! : files;
}

/** Whether a name stands for all files that fit it. */
function isPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** The files that a name stands for, in their order. Throws WS5003 where it is a pattern that none fits. */
async function filesNamed(path: string): Promise<readonly string[]> {
  if (path === '-' || isUrl(path) || !isPattern(path) || (await isThere(path))) return [path];
  const { glob } = await import('tinyglobby');
  const pattern = sep === '\\' ? path.replaceAll(sep, '/') : path;
  // A name that begins with an exclamation mark excludes nothing here.
  const found = await glob(pattern.replace(/^!/, '\\!'), {
    absolute: isAbsolute(path),
    expandDirectories: false,
    onlyFiles: false,
  });
  // A folder counts where it is of a format; its name ends in a slash here.
  const named = found.filter((one) => !one.endsWith('/') || formatOfFolder(one) !== undefined);
  if (named.length > 0) return named.map((one) => one.replace(/\/$/, '')).sort(byCount);
  throw problem(
    'WS5003',
    `no file fits the name ${path}`,
    'check the pattern; it begins in the current directory, and `*` stands for no `/` and no leading dot',
  );
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
