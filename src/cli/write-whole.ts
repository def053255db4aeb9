// Files that a command writes beside its output: whole or not at all.

import { rename, rm, writeFile } from 'node:fs/promises';
import { WarpstageError } from '../diagnostics/error.ts';

/** Writes a file under another name first. Throws WS5006 where that fails, and leaves nothing. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  try {
    await writeFile(partial, content);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    const why = error instanceof Error ? error.message : String(error);
    throw new WarpstageError(
      { code: 'WS5006', message: `${path} cannot be written: ${why}` },
      { cause: error },
    );
  }
}
