// A merge that is stopped while it removes pieces: whatever it was about to do, the output is whole, and the next merge goes well and
// leaves nothing beside it. A piece that the output does not have stays.

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, map, open, run } from 'warpstage';
import { merge } from '#warpstage/overlap/shards/merge.js';
import { runHere } from '../cli/support.ts';
import { isInTurn } from '../support/thorough.ts';
import { FileOperations } from './file-operations.ts';
import { expectFailure, namesIn, useFolder } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const at = useFolder();
const { signal } = new AbortController();
const scaled = map({ y: 'i32', z: 'i32', x: 'i32', a: 'constant i32 = 2' }, ({ x, a }) => ({
  y: a * x,
  z: x + a,
}));
const x = Int32Array.from({ length: 100 }, (_, i) => Math.imul(i, 0x9e3779b1));
const of = 3;

const cut = async (names: readonly string[], n: number, a = 2) => {
  const output = names.length === 1 ? at(names[0]!) : names.map(at);
  await run(scaled, { input: x, output, device, settings: { a }, shard: [n, of] });
};
const cutAll = async (names: readonly string[], a = 2) => {
  for (let n = 1; n <= of; ++n) await cut(names, n, a);
};
const merging = (name: string, remove: boolean) => merge({ file: at(name) }, { signal, remove });

/** What the files of a folder, and of those in it, hold. */
function contents(): Readonly<Record<string, string>> {
  const entries = readdirSync(at(), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'latin1')]));
}

describe.each([
  { what: 'two files', names: ['y.npy', 'z.npy'], position: 0 },
  { what: 'one file of both', names: ['all.npz'], position: 1 },
  { what: 'two stores', names: ['y.zarr', 'z.zarr'], position: 2 },
])('of $what, whichever operation on files fails', ({ names, position }) => {
  test.each([1, Infinity])('%d times', async (times) => {
    await cutAll(names);
    let count = 0;
    const counting = new FileOperations(() => {
      count++;
    });
    await counting.replace();
    await merging(names[0]!, true);
    counting.restore();
    for (const name of names.slice(1)) await merging(name, true);
    const whole = contents();
    expect(namesIn(at())).toEqual([...names]);
    let left = 0;
    for (let n = 1, passed = false; !passed; n++) {
      // In turn with the other kinds of outputs.
      if (isInTurn && n % 3 !== position && n < count) continue;
      for (const name of names) rmSync(at(name), { recursive: true });
      await cutAll(names);
      let done = 0;
      const operations = new FileOperations((name) => {
        done++;
        if (done < n || done >= n + times) return;
        throw Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
      });
      await operations.replace();
      const error: unknown = await merging(names[0]!, true).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      operations.restore();
      passed = done < n;
      if (passed) expect(error).toBeUndefined();
      const isPart = (name: string) => name.startsWith(names[0]!) && name.includes('-of-');
      const some = namesIn(at()).filter(isPart).length;
      if (some > 0 && existsSync(at(`${names[0]}.merged`))) left++;
      // What could not be removed either goes with the process.
      for (const name of namesIn(at())) if (name.startsWith('.')) rmSync(at(name), { recursive: true });
      for (const name of error === undefined ? names.slice(1) : names) await merging(name, true);
      expect(contents(), `operation ${n}: ${error}`).toEqual(whole);
      expect(namesIn(at())).toEqual([...names]);
    }
    // It was stopped between pieces, too.
    expect(left).toBeGreaterThan(0);
  });
});

describe('after a merge that was stopped between pieces', () => {
  const piece = (n: number) => at(`y.npy.${n}-of-${of}`);
  /** Leaves the note of a merge, and its last piece. */
  const stopped = async () => {
    await cutAll(['y.npy', 'z.npy']);
    copyFileSync(piece(3), at('kept'));
    let removed = 0;
    const operations = new FileOperations((name) => {
      if (name === 'rm' && ++removed > 2) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    });
    await operations.replace();
    const failing = merging('y.npy', true);
    await failing.catch(() => {});
    operations.restore();
    copyFileSync(at('kept'), piece(3));
    for (const n of [1, 2]) rmSync(piece(n), { force: true });
    expect(existsSync(at('y.npy.merged'))).toBe(true);
  };

  test('the command says again what it has put together, and ends well', async () => {
    await stopped();
    // Who does not ask for it has nothing removed.
    const { code, text } = await runHere('merge', at('y.npy'));
    expect([code, text]).toEqual([0, expect.stringMatching(/y\.npy: 3 pieces, 400 B/)]);
    expect(existsSync(piece(3))).toBe(true);
    expect((await runHere('merge', at('y.npy'), '--remove')).code).toBe(0);
    expect(namesIn(at()).filter((name) => name.startsWith('y.npy'))).toEqual(['y.npy']);
    // There is nothing to be told of then.
    expect((await runHere('merge', at('y.npy'), '--remove')).code).toBe(75);
  });

  test('pieces of other numbers wait for the others of theirs', async () => {
    await stopped();
    await cut(['y.npy', 'z.npy'], 2, 5).catch(() => {});
    rmSync(piece(3));
    await expectFailure(merging('y.npy', true), 'WS5016', /2 of the 3 pieces of \S+ are missing: 1, 3/);
    expect(existsSync(piece(2))).toBe(true);
    for (const n of [1, 3]) await cut(['y.npy', 'w.npy'], n, 5);
    await merging('y.npy', true);
    expect(readFileSync(at('y.npy')).readInt32LE(128 + 4)).toBe(Math.imul(5, x[1]!));
    expect(namesIn(at()).filter((name) => name.startsWith('y.npy'))).toEqual(['y.npy']);
  });

  test('an output that is gone is put together once more', async () => {
    await stopped();
    rmSync(at('y.npy'));
    await expectFailure(merging('y.npy', true), 'WS5016', /2 of the 3 pieces of \S+ are missing: 1, 2/);
  });

  test('a note that is none, or damaged, counts for nothing', async () => {
    await stopped();
    const notes = ['', '{', 'null', '[]', '{"pieces":3}', '{"pieces":3,"bytes":400,"checks":{}}'];
    for (const text of [...notes, '{"pieces":3,"bytes":400,"checks":null}']) {
      writeFileSync(at('y.npy.merged'), text);
      await expectFailure(merging('y.npy', true), 'WS5016', /2 of the 3 pieces of \S+ are missing: 1, 2/);
      expect(existsSync(piece(3))).toBe(true);
    }
  });
});
