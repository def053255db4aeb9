// The n-th operation on files fails, for n = 1, 2, … until a run goes through: once, or from then on. After each, the
// output is what it was before or the whole new one, the error is one of ours, and the next run gives equal bytes.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open, run, WarpstageError } from 'warpstage';
import { atLength } from '../support/thorough.ts';
import { FileOperations } from './file-operations.ts';
import { affine } from './jobs.ts';
import { moments } from './moments.ts';
import { namesIn, npyFile, temporaryDirectory } from './support.ts';

type Case = readonly [what: string, output: string, resume: boolean];
const others: readonly Case[] = [
  ['one that keeps rows of a table beside its journal, too', 'y.parquet', true],
  ['and one whose output is compressed', 'y.csv.gz', true],
];
const rows = 1600;
const x = Float32Array.from({ length: rows }, (_, i) => i);

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

/** Operations on files, of which one fails. */
class Faults {
  readonly #operations: FileOperations;
  readonly #first: number;
  /** What was done, in order. */
  readonly done: string[] = [];

  constructor(first: number, forEver: boolean) {
    this.#first = first;
    const last = forEver ? Infinity : first;
    this.#operations = new FileOperations((name) => {
      this.done.push(name);
      const count = this.done.length;
      if (count < first || count > last) return;
      throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO', errno: -5, syscall: name });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#operations.restore();
  }

  static async begin(first: number, forEver: boolean): Promise<Faults> {
    const faults = new Faults(first, forEver);
    await faults.#operations.replace();
    return faults;
  }

  /** The operation that failed first; undefined where none did. */
  get failed(): string | undefined {
    return this.done[this.#first - 1];
  }
}

/** How many operations on files there are. */
async function countOf(work: () => Promise<unknown>): Promise<number> {
  await using faults = await Faults.begin(Infinity, false);
  await work();
  return faults.done.length;
}

describe.each([
  ['once', false],
  ['from then on', true],
] as const)('when the n-th operation on files fails %s', (_, forEver) => {
  const cases: readonly Case[] = [
    ['an output appears whole, or what was there stays', 'y.npy', false],
    ['a run that is resumed gives equal bytes', 'y.npy', true],
    ...(atLength ? others : []),
  ];
  const inTurn = cases.map((one, i) => [...one, i + Number(forEver)] as const);
  test.each(inTurn)('%s', { timeout: 120_000 }, async (_, name, resume, turn) => {
    const directory = temporaryDirectory();
    const at = (name: string) => join(directory, name);
    const [input, output] = [at('x.npy'), at(name)];
    writeFileSync(input, npyFile({ shape: [rows], data: x }));
    const settings = { a: 2, b: 1 };
    const options = {
      input,
      output,
      device,
      chunk: 100,
      depth: 2,
      settings,
      resume,
      fsync: resume,
      checksum: resume,
    };
    await run(affine, options);
    const whole = readFileSync(output);
    const hidden = () => namesIn(directory).filter((name) => name.startsWith('.'));
    expect(hidden()).toEqual([]);

    writeFileSync(output, 'from before');
    const count = await countOf(() => run(affine, options));
    // As many as a run of 16 chunks has at least: a read and a write for each.
    expect(count).toBeGreaterThan(32);
    for (const n of moments(count, 9, turn, 3)) {
      writeFileSync(output, 'from before');
      let error: unknown;
      let failed: string | undefined;
      {
        await using faults = await Faults.begin(n, forEver);
        await run(affine, options).catch((reason: unknown) => {
          error = reason;
        });
        failed = faults.failed;
      }
      const told = `the ${n}th operation, ${failed}, failed; ${error}`;
      const left = readFileSync(output);
      if (error === undefined) expect(left.equals(whole), told).toBe(true);
      else {
        expect(error, told).toBeInstanceOf(WarpstageError);
        if (!left.equals(whole)) expect(left.toString(), told).toBe('from before');
      }
      // What cannot be removed stays; what can, does not, unless the next run is to continue it.
      if (!resume && !forEver && failed !== 'rm') expect(hidden(), told).toEqual([]);
      await run(affine, options);
      expect(readFileSync(output).equals(whole), told).toBe(true);
      // Checksums have a name of their own until they are complete: where nothing can be removed, it stays.
      const others = hidden().filter((name) => !(forEver && name.includes('.sums.')));
      if (resume && failed !== 'rm') expect(others, told).toEqual([]);
      for (const name of hidden()) rmSync(at(name));
      if (failed === undefined) break;
    }
  });
});

test('with fsync, a file is flushed before it has its name, and its name after that', async () => {
  const directory = temporaryDirectory();
  const options = { input: x, output: join(directory, 'y.npy'), device };
  const orderOf = async (fsync: boolean) => {
    await using faults = await Faults.begin(Infinity, false);
    await run(affine, { ...options, fsync });
    return faults.done.filter((name) => /sync$/i.test(name));
  };
  expect(await orderOf(true)).toEqual(['sync', 'renameSync', 'fsyncSync']);
  expect(await orderOf(false)).toEqual(['renameSync']);
});
