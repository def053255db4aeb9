// The compiler of the project that a file is in: the same version that will run its kernels.
//
// It is loaded from the folder of the file or of one above, as Node would. A project without warpstage has no kernels.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readReference } from './reference.js';

/** By the path of the package that was found. */
const loaded = new Map();

/** `{ checkText, namesInKernels, reference }` for a file; null where no warpstage with an editor's entry is installed. */
export function compilerFor(path) {
  let entry;
  try {
    entry = createRequire(path).resolve('warpstage/editor');
  } catch {
    return Promise.resolve(null);
  }
  if (!loaded.has(entry)) loaded.set(entry, load(path, entry));
  return loaded.get(entry);
}

async function load(path, entry) {
  const { checkText, namesInKernels } = await import(pathToFileURL(entry).href);
  const root = dirname(createRequire(path).resolve('warpstage/package.json'));
  return { checkText, namesInKernels, reference: readReference(textOf(join(root, 'docs', 'intrinsics.md'))) };
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
