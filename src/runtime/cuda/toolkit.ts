// Where toolkits and Python's wheels keep NVIDIA's libraries.

import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Folders of toolkits: of the one that the environment names, and of those in the usual places. */
export function toolkitFolders(parts: readonly string[]): readonly string[] {
  const named = process.env.CUDA_PATH ?? process.env.CUDA_HOME;
  const roots = [...(named === undefined ? [] : [named]), '/usr/local/cuda', '/opt/cuda'];
  return roots.flatMap((root) => parts.map((part) => join(root, part)));
}

/** Folders of Python's wheels; a part is the wheel's own folder, `cuda_nvrtc`. */
export function wheelFolders(parts: readonly string[]): readonly string[] {
  const roots = [process.env.VIRTUAL_ENV, '/usr', '/usr/local', join(homedir(), '.local')];
  return roots.flatMap((root) => {
    const library = root === undefined ? '' : join(root, 'lib');
    if (!existsSync(library)) return [];
    const pythons = readdirSync(library).filter((name) => name.startsWith('python3'));
    return pythons.flatMap((python) =>
      ['site-packages', 'dist-packages'].flatMap((packages) =>
        parts.map((part) => join(library, python, packages, 'nvidia', part, 'lib')),
      ),
    );
  });
}
