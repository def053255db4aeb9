// The operations on files that a job uses, each behind a function of the test: it may wait, or throw in their place.

import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

type Operation = (...args: unknown[]) => unknown;

const ofHandles = [
  'read',
  'write',
  'writeFile',
  'readFile',
  'stat',
  'truncate',
  'chmod',
  'sync',
  'datasync',
  'close',
];
const asynchronous = ['open', 'rm', 'stat', 'lstat', 'realpath', 'mkdir', 'readdir'];
const synchronous = ['renameSync', 'fsyncSync'];

export class FileOperations {
  readonly #before: (name: string) => unknown;
  readonly #undo: (() => void)[] = [];

  /** `before` is called first. A promise of it is waited for, where the operation is asynchronous. */
  constructor(before: (name: string) => unknown) {
    this.#before = before;
  }

  /** Puts `before` in front of all of them, for the whole process. */
  async replace(): Promise<void> {
    const file = await promises.open('/dev/null');
    const handles = Object.getPrototypeOf(file) as Record<string, Operation>;
    await file.close();
    for (const name of ofHandles) this.#replace(handles, name);
    for (const name of asynchronous) this.#replace(promises as unknown as Record<string, Operation>, name);
    for (const name of synchronous) this.#replace(fs as unknown as Record<string, Operation>, name);
    syncBuiltinESMExports();
  }

  restore(): void {
    for (const undo of this.#undo) undo();
    syncBuiltinESMExports();
  }

  #replace(owner: Record<string, Operation>, name: string): void {
    const original = owner[name]!;
    const before = this.#before;
    owner[name] = name.endsWith('Sync')
      ? function (this: unknown, ...args: unknown[]) {
          before(name);
          return original.apply(this, args);
        }
      : async function (this: unknown, ...args: unknown[]) {
          try {
            await before(name);
          } catch (failure) {
            // What is closed is closed, also where the system says that it failed.
            if (name === 'close') await original.apply(this, args);
            throw failure;
          }
          return await original.apply(this, args);
        };
    this.#undo.push(() => {
      owner[name] = original;
    });
  }
}
