// A folder on a disk that loses power: what was not flushed may be there, or not, or in part, in any order.
//
// Operations on its files are carried out, and noted. From the n-th one on, power is off: nothing is carried out any
// more. Then the disk may be any of many: a file's bytes as they were last flushed, with any of the writes since, whole
// or torn; names as its folder was last flushed, with any of the changes since, or with the first ones of them. Where only
// the process dies, all that was carried out is there.

import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';

type Operation = (...args: unknown[]) => unknown;

interface Change {
  /** Where bytes were written, or to what length the file was cut. */
  readonly at: number;
  readonly bytes?: Uint8Array;
}

interface File {
  durable: Uint8Array;
  since: Change[];
}

interface Naming {
  readonly name: string;
  /** None: the name is gone. */
  readonly file?: File;
  readonly from?: string;
}

/** Numbers from 0 to 1. */
export type Random = () => number;

export class SimulatedDisk {
  readonly #folder: string;
  readonly #loss: number;
  readonly #undo: (() => void)[] = [];
  readonly #handles = new WeakMap<object, File>();
  readonly #folders = new Set<number>();
  #names: Map<string, File>;
  #durableNames: Map<string, File>;
  #namings: Naming[] = [];
  /** Operations that changed something, or would have. */
  operations = 0;

  /** `loss`: the number of the operation at which power is lost. */
  constructor(folder: string, loss: number) {
    this.#folder = folder;
    this.#loss = loss;
    const files = readdirSync(folder).map((name): [string, File] => [
      name,
      { durable: readFileSync(join(folder, name)), since: [] },
    ]);
    this.#names = new Map(files);
    this.#durableNames = new Map(files);
  }

  /** Stands between the process and the folder from now on. */
  async replace(): Promise<void> {
    const file = await promises.open('/dev/null');
    const handles = Object.getPrototypeOf(file) as Record<string, Operation>;
    await file.close();
    const disk = this;
    this.#wrap(promises as never, 'open', (open) => async (path, flags, mode) => {
      const isHere = disk.#isHere(path);
      const opens = isHere && !disk.#names.has(basename(String(path)));
      if (opens) disk.#begin();
      const handle = (await open(path, flags, mode)) as object;
      if (isHere) {
        const name = basename(String(path));
        const known = disk.#names.get(name) ?? { durable: new Uint8Array(), since: [] };
        if (opens) disk.#name({ name, file: known });
        disk.#handles.set(handle, known);
      }
      return handle;
    });
    for (const name of ['write', 'writeFile', 'truncate', 'sync', 'datasync']) {
      this.#wrap(
        handles,
        name,
        (original) =>
          async function (this: object, ...args) {
            const known = disk.#handles.get(this);
            if (known === undefined) return await original.apply(this, args);
            const change = changeOf(name, args);
            // A write that was on its way may have come to the disk.
            disk.#begin(() => change && known.since.push(change));
            const before = known.since.length;
            const result = name.endsWith('sync') ? undefined : await original.apply(this, args);
            if (disk.#isOff) throw lost();
            if (change !== undefined) known.since.push(change);
            else {
              known.durable = applied(known.durable, known.since.slice(0, before));
              known.since = known.since.slice(before);
            }
            return result;
          },
      );
    }
    this.#wrap(promises as never, 'rm', (rm) => async (path, options) => {
      if (disk.#isHere(path) && disk.#names.has(basename(String(path)))) disk.#unlink(path);
      return await rm(path, options);
    });
    this.#wrap(fs as never, 'rmSync', (rm) => (path, options) => {
      if (disk.#isHere(path) && disk.#names.has(basename(String(path)))) disk.#unlink(path);
      return rm(path, options);
    });
    this.#wrap(fs as never, 'renameSync', (rename) => (from, to) => {
      const file = disk.#names.get(basename(String(from)))!;
      const naming = { name: basename(String(to)), file, from: basename(String(from)) };
      disk.#begin(() => disk.#name(naming));
      rename(from, to);
      disk.#name(naming);
      return undefined;
    });
    this.#wrap(fs as never, 'openSync', (open) => (path, flags, mode) => {
      const fd = open(path, flags, mode) as number;
      if (path === disk.#folder) disk.#folders.add(fd);
      return fd;
    });
    this.#wrap(fs as never, 'fsyncSync', () => (fd) => {
      disk.#begin();
      if (disk.#folders.delete(fd as number)) {
        disk.#durableNames = new Map(disk.#names);
        disk.#namings = [];
      }
      return undefined;
    });
    syncBuiltinESMExports();
  }

  restore(): void {
    for (const undo of this.#undo) undo();
    syncBuiltinESMExports();
  }

  /** Makes the folder what is there afterwards: when the process died, or when power was lost. */
  leave(what: 'process' | 'power', random: Random): void {
    const kept = what === 'process' ? () => true : () => random() < 0.5;
    const names = new Map(what === 'process' ? this.#names : this.#durableNames);
    // Some systems keep the order of names, others do not.
    const first = random() < 0.5 ? Math.floor(random() * (this.#namings.length + 1)) : undefined;
    const namings = this.#namings.filter((_, i) => (first === undefined ? kept() : i < first));
    if (what === 'power') for (const naming of namings) rename(names, naming);
    rmSync(this.#folder, { recursive: true });
    mkdirSync(this.#folder);
    const contents = new Map<File, Uint8Array>();
    for (const [name, file] of names) {
      const survived =
        what === 'process' ? file.since : file.since.flatMap((one) => (kept() ? torn(one, random) : []));
      if (!contents.has(file)) contents.set(file, applied(file.durable, survived));
      const mode = name.startsWith('.') ? 0o600 : 0o644;
      writeFileSync(join(this.#folder, name), contents.get(file)!, { mode });
    }
  }

  get #isOff(): boolean {
    return this.operations >= this.#loss;
  }

  /** `last`: what may have been done of the operation at which power is lost. */
  #begin(last: () => void = () => {}): void {
    this.operations++;
    if (this.operations === this.#loss) last();
    if (this.#isOff) throw lost();
  }

  #unlink(path: unknown): void {
    const naming = { name: basename(String(path)) };
    this.#begin(() => this.#name(naming));
    this.#name(naming);
  }

  #name(naming: Naming): void {
    this.#namings.push(naming);
    rename(this.#names, naming);
  }

  #isHere(path: unknown): boolean {
    return typeof path === 'string' && dirname(path) === this.#folder;
  }

  #wrap(owner: Record<string, Operation>, name: string, wrap: (original: Operation) => Operation): void {
    const original = owner[name]!;
    owner[name] = wrap(original);
    this.#undo.push(() => {
      owner[name] = original;
    });
  }
}

function lost(): Error {
  return Object.assign(new Error('EIO: power is lost'), { code: 'EIO' });
}

function changeOf(operation: string, args: unknown[]): Change | undefined {
  if (operation === 'truncate') return { at: Number(args[0] ?? 0) };
  if (operation === 'writeFile') return { at: 0, bytes: Buffer.from(args[0] as string) };
  if (operation !== 'write') return undefined;
  const [bytes, offset, length, position] = args as [Uint8Array, number, number, number];
  return { at: position, bytes: Uint8Array.from(bytes.subarray(offset, offset + length)) };
}

/** Of three writes that survive, one is whole in its first part alone. */
function torn(change: Change, random: Random): Change[] {
  const { bytes } = change;
  if (bytes === undefined || random() < 0.66) return [change];
  return [{ ...change, bytes: bytes.subarray(0, Math.floor(random() * bytes.length)) }];
}

function applied(before: Uint8Array, changes: readonly Change[]): Uint8Array {
  let bytes = Uint8Array.from(before);
  for (const { at, bytes: written } of changes) {
    const length = written === undefined ? at : Math.max(bytes.length, at + written.length);
    const next = new Uint8Array(length);
    next.set(bytes.subarray(0, length));
    if (written !== undefined) next.set(written, at);
    bytes = next;
  }
  return bytes;
}

function rename(names: Map<string, File>, { name, file, from }: Naming): void {
  if (file === undefined) names.delete(name);
  else names.set(name, file);
  if (from !== undefined && names.get(from) === file) names.delete(from);
}
