// Inputs of several files. `parts/*.npy` names all files that there are of such names, in the order in which people
// count: part 2 before part 10, the same on every machine, so that shards agree. A name with such letters that is a
// file's own means that file.

import { lstat } from 'node:fs/promises';
import { isAbsolute, sep } from 'node:path';
import { problem } from '../diagnostics/problem.ts';
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
  });
  if (found.length > 0) return found.sort(byCount);
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

/** Orders paths as people count, folder by folder: numbers in them by their values, other characters by their codes. */
export function byCount(a: string, b: string): number {
  const [one, other] = [a.split(/[/\\]/), b.split(/[/\\]/)];
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const order = compareNames(one[i]!, other[i]!);
    if (order !== 0) return order;
  }
  return one.length - other.length || compare(a, b);
}

function compareNames(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const [x, y] = [one[i]!, other[i]!];
    // Numbers stand at odd places.
    const order = (i % 2 === 1 ? x.length - y.length : 0) || compare(x, y);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** What is between numbers, and the numbers without their zeros in front. */
function partsOf(name: string): string[] {
  return name.split(/(\d+)/).map((part, i) => (i % 2 === 1 ? part.replace(/^0+(?=\d)/, '') : part));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
