// What the tests of the overlapped job share: temporary directories, .npy files of any kind, and
// an assertion of errors that checks code, message and hint.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished } from 'vitest';
import { WarpstageError } from 'warpstage';

/** A directory that goes when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A folder of its own for each test of a file. Gives the path of a name in it; without one, that of the folder. */
export function useFolder(): (name?: string) => string {
  let folder: string;
  beforeEach(() => {
    folder = temporaryDirectory();
  });
  return (name = '') => join(folder, name);
}

/** Names in a directory, hidden ones as well. */
export function namesIn(directory: string): string[] {
  return readdirSync(directory).sort();
}

export interface NpyParts {
  readonly descr?: string;
  readonly fortran?: boolean;
  readonly shape: readonly number[];
  readonly version?: 1 | 2 | 3;
  readonly data: ArrayBufferView;
  /** A whole header in place of the one made of the other parts. */
  readonly header?: string;
}

/** A .npy file as NumPy writes it. */
export function npyFile({
  descr = '<f4',
  fortran = false,
  shape,
  version = 1,
  data,
  header,
}: NpyParts): Buffer {
  const extents = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text =
    header ?? `{'descr': '${descr}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${extents}, }`;
  const start = version === 1 ? 10 : 12;
  const padded = `${text.padEnd(Math.ceil((start + text.length + 1) / 64) * 64 - start - 1)}\n`;
  const prefix = Buffer.alloc(start);
  prefix.write('\x93NUMPY', 'latin1');
  prefix[6] = version;
  if (version === 1) prefix.writeUInt16LE(padded.length, 8);
  else prefix.writeUInt32LE(padded.length, 8);
  return Buffer.concat([
    prefix,
    Buffer.from(padded, 'latin1'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ]);
}

/** Asserts the code, the sentence and the hint of the error that a promise rejects with. */
export async function expectFailure(
  promise: Promise<unknown>,
  code: string,
  message: string | RegExp,
  hint?: string | RegExp,
): Promise<WarpstageError> {
  const error = await promise.then(
    () => expect.fail('it succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof WarpstageError)) throw error;
  expect.soft(error.code).toBe(code);
  expect.soft(error.issues[0]!.message).toMatch(message);
  if (hint !== undefined) expect.soft(error.hint).toMatch(hint);
  return error;
}
