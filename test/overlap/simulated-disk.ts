// A folder on a disk that loses power: what was not flushed may be there, or not, or in part, in any order.
//
// Operations on its files are carried out, and noted. From the n-th one on, power is off: nothing is carried out any
// more. Then the disk may be any of many: a file's bytes as they were last flushed, with any of the writes since, whole
// or torn; names as its folder was last flushed, with any of the changes since, or with the first ones of them. Where only
// the process dies, all that was carried out is there.

import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';

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

interface Folder {
  names: Map<string, Node>;
  durable: Map<string, Node>;
  since: Naming[];
}

type Node = File | Folder;

interface Naming {
  readonly name: string;
  /** None: the name is gone. */
  readonly node?: Node;
  readonly from?: string;
}

/** A name in a folder. */
interface Place {
  readonly folder: Folder;
  readonly name: string;
}

/** Numbers from 0 to 1. */
export type Random = () => number;

export class SimulatedDisk {
  readonly #folder: string;
  readonly #loss: number;
  readonly #undo: (() => void)[] = [];
  readonly #handles = new WeakMap<object, File>();
  readonly #folders = new Map<number, Folder>();
  readonly #root: Folder;
  /** Operations that changed something, or would have. */
  operations = 0;

  /** `loss`: the number of the operation at which power is lost. */
  constructor(folder: string, loss: number) {
    this.#folder = folder;
    this.#loss = loss;
    this.#root = folderAt(folder);
  }

  /** Stands between the process and the folder from now on. */
  async replace(): Promise<void> {
    const file = await promises.open('/dev/null');
    const handles = Object.getPrototypeOf(file) as Record<string, Operation>;
    await file.close();
    const disk = this;
    this.#wrap(promises as never, 'open', (open) => async (path, flags, mode) => {
      const place = disk.#placeOf(path);
      const there = place?.folder.names.get(place.name);
      if (place !== undefined && there === undefined) disk.#begin();
      const handle = (await open(path, flags, mode)) as object;
      if (place !== undefined && !(there !== undefined && isFolder(there))) {
        const known: File = there ?? { durable: new Uint8Array(), since: [] };
        if (there === undefined) disk.#name(place.folder, { name: place.name, node: known });
        disk.#handles.set(handle, known);
      }
      return handle;
    });
    this.#wrap(promises as never, 'mkdir', (mkdir) => async (path, options) => {
      const place = disk.#placeOf(path);
      if (place === undefined) return await mkdir(path, options);
      const node: Folder = { names: new Map(), durable: new Map(), since: [] };
      const naming = { name: place.name, node };
      disk.#begin(() => disk.#name(place.folder, naming));
      const made = await mkdir(path, options);
      disk.#name(place.folder, naming);
      return made;
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
      disk.#unlink(path);
      return await rm(path, options);
    });
    this.#wrap(fs as never, 'rmSync', (rm) => (path, options) => {
      disk.#unlink(path);
      return rm(path, options);
    });
    this.#wrap(fs as never, 'renameSync', (rename) => (from, to) => {
      const { folder, name } = disk.#placeOf(from)!;
      const naming = { name: basename(String(to)), node: folder.names.get(name)!, from: name };
      disk.#begin(() => disk.#name(folder, naming));
      rename(from, to);
      disk.#name(folder, naming);
      return undefined;
    });
    this.#wrap(fs as never, 'openSync', (open) => (path, flags, mode) => {
      const fd = open(path, flags, mode) as number;
      const folder = disk.#folderOf(path);
      if (folder !== undefined) disk.#folders.set(fd, folder);
      return fd;
    });
    this.#wrap(fs as never, 'fsyncSync', () => (fd) => {
      disk.#begin();
      const folder = disk.#folders.get(fd as number);
      if (folder === undefined) return undefined;
      disk.#folders.delete(fd as number);
      folder.durable = new Map(folder.names);
      folder.since = [];
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
    rmSync(this.#folder, { recursive: true });
    this.#leave(this.#folder, this.#root, what, random, new Map());
  }

  #leave(
    path: string,
    folder: Folder,
    what: 'process' | 'power',
    random: Random,
    contents: Map<File, Uint8Array>,
  ): void {
    const kept = what === 'process' ? () => true : () => random() < 0.5;
    const names = new Map(what === 'process' ? folder.names : folder.durable);
    // Some systems keep the order of names, others do not.
    const first = random() < 0.5 ? Math.floor(random() * (folder.since.length + 1)) : undefined;
    const namings = folder.since.filter((_, i) => (first === undefined ? kept() : i < first));
    if (what === 'power') for (const naming of namings) rename(names, naming);
    mkdirSync(path, { mode: basename(path).startsWith('.') ? 0o700 : 0o755 });
    for (const [name, node] of names) {
      if (isFolder(node)) {
        this.#leave(join(path, name), node, what, random, contents);
        continue;
      }
      const survived =
        what === 'process' ? node.since : node.since.flatMap((one) => (kept() ? torn(one, random) : []));
      if (!contents.has(node)) contents.set(node, applied(node.durable, survived));
      const mode = name.startsWith('.') ? 0o600 : 0o644;
      writeFileSync(join(path, name), contents.get(node)!, { mode });
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
    const place = this.#placeOf(path);
    if (!place?.folder.names.has(place.name)) return;
    const naming = { name: place.name };
    this.#begin(() => this.#name(place.folder, naming));
    this.#name(place.folder, naming);
  }

  #name(folder: Folder, naming: Naming): void {
    folder.since.push(naming);
    rename(folder.names, naming);
  }

  /** The folder of a path, where it is one here. */
  #folderOf(path: unknown): Folder | undefined {
    if (path === this.#folder) return this.#root;
    const place = this.#placeOf(path);
    const node = place?.folder.names.get(place.name);
    return node !== undefined && isFolder(node) ? node : undefined;
  }

  #placeOf(path: unknown): Place | undefined {
    if (typeof path !== 'string' || !path.startsWith(`${this.#folder}${sep}`)) return undefined;
    const folder = this.#folderOf(dirname(path));
    return folder && { folder, name: basename(path) };
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

function isFolder(node: Node): node is Folder {
  return 'names' in node;
}

/** A folder as it lies there, all of it on the disk. */
function folderAt(path: string): Folder {
  const nodes = readdirSync(path, { withFileTypes: true }).map((entry): [string, Node] => {
    const inside = join(path, entry.name);
    return [
      entry.name,
      entry.isDirectory() ? folderAt(inside) : { durable: readFileSync(inside), since: [] },
    ];
  });
  return { names: new Map(nodes), durable: new Map(nodes), since: [] };
}

function rename(names: Map<string, Node>, { name, node, from }: Naming): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
  if (from !== undefined && names.get(from) === node) names.delete(from);
}
