// The operations on files that a job uses, each behind a function of the test: it may wait, or throw in their place. Whatever
// fails, no file stays open.

import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'vitest';

type Operation = (...args: unknown[]) => unknown;

const ofHandles = ['read', 'write', 'writeFile', 'readFile', 'stat', 'truncate', 'chmod', 'sync', 'datasync'];
const asynchronous = ['open', 'rm', 'stat', 'lstat', 'realpath', 'mkdir', 'readdir'];
const synchronous = ['renameSync', 'fsyncSync'];

export class FileOperations {
  readonly #before: (name: string) => unknown;
  readonly #undo: (() => void)[] = [];
  #isReplaced = false;
  /** Files that were opened and not closed, with their paths. */
  readonly #open = new Map<unknown, unknown>();

  /** `before` is called first. A promise of it is waited for, where the operation is asynchronous. */
  constructor(before: (name: string) => unknown) {
    this.#before = before;
  }

  /** Puts `before` in front of all of them, for the whole process. */
  async replace(): Promise<void> {
    this.#isReplaced = true;
    const file = await promises.open('/dev/null');
    const handles = Object.getPrototypeOf(file) as Record<string, Operation>;
    await file.close();
    for (const name of ofHandles) this.#replace(handles, name);
    for (const name of asynchronous) this.#replace(promises as unknown as Record<string, Operation>, name);
    for (const name of synchronous) this.#replace(fs as unknown as Record<string, Operation>, name);
    syncBuiltinESMExports();
  }

  /** Ends that, when what was tried has ended. */
  restore(): void {
    this.#isReplaced = false;
    for (const undo of this.#undo) undo();
    syncBuiltinESMExports();
    expect([...this.#open.values()], 'files that were left open').toEqual([]);
  }

  #replace(owner: Record<string, Operation>, name: string): void {
    const original = owner[name]!;
    const before = this.#before;
    const follow = (file: FileHandle, path: unknown) => this.#follow(file, path);
    owner[name] = name.endsWith('Sync')
      ? function (this: unknown, ...args: unknown[]) {
          before(name);
          return original.apply(this, args);
        }
      : async function (this: unknown, ...args: unknown[]) {
          await before(name);
          const done = await original.apply(this, args);
          if (name === 'open') follow(done as FileHandle, args[0]);
          return done;
        };
    this.#undo.push(() => {
      owner[name] = original;
    });
  }

  /** A file that was opened: each has a `close` of its own. */
  #follow(file: FileHandle, path: unknown): void {
    const close = file.close;
    this.#open.set(file, path);
    file.close = async () => {
      const isOpen = this.#open.delete(file);
      try {
        if (isOpen && this.#isReplaced) await this.#before('close');
      } finally {
        // What is closed is closed, also where the system says that it failed.
        await close.call(file);
      }
    };
  }
}
