// The journal by itself: it counts what is on the disk, and nothing before it is there.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { Journal } from '#warpstage/overlap/journal/journal.js';
import { readJournal } from '#warpstage/overlap/journal/text.js';
import { FileOperations } from './file-operations.ts';
import { expectFailure, namesIn, temporaryDirectory } from './support.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
const at = (name: string) => join(directory, name);
const open = () =>
  Journal.open({ kind: 'test' }, [{ path: at('y.bin'), bytesOf: ({ rows }) => rows }]).then((journal) => {
    if (!existsSync(at('.y.bin.partial'))) writeFileSync(at('.y.bin.partial'), new Uint8Array(100));
    return journal;
  });
/** Rows are written, a byte each. */
function write(journal: Journal, rows: number): void {
  journal.partialOf({ path: at('y.bin') }).checksum.update(new Uint8Array(rows));
  journal.written(rows);
}
const counted = (text: Uint8Array = readFileSync(at('.y.bin.journal'))) => {
  const { rows, chunks } = readJournal(text)!.lines.at(-1)!.noted;
  return { rows, chunks };
};

/** Of an output whose bytes follow from its rows. */
const unmarked = () => ({ bytes: 0, state: () => new Uint8Array() });

test('counts what was written when its output has been flushed, and not before', async () => {
  const journal = await open();
  let flushed = () => {};
  let flushes = 0;
  journal.add({
    mark: unmarked,
    sync: () => {
      flushes++;
      return new Promise((resolve) => {
        flushed = resolve;
      });
    },
  });
  write(journal, 10);
  write(journal, 10);
  const settled = journal.settle();
  await expect.poll(() => flushes).toBe(1);
  expect(counted()).toEqual({ rows: 0, chunks: 0 });
  flushed();
  await settled;
  expect(counted()).toEqual({ rows: 20, chunks: 2 });
  await journal.leave();
  const next = await open();
  expect(next.begin).toEqual({ rows: 20, chunks: 2 });
  expect(next.partialOf({ path: at('y.bin') })).toMatchObject({ path: at('.y.bin.partial'), bytes: 20 });
  await next.stop();
  await next.remove();
  expect(namesIn(directory)).toEqual(['.y.bin.partial']);
});

test('has its first line on the disk before there is another', async () => {
  const done: string[] = [];
  const operations = new FileOperations((name) => done.push(name));
  await operations.replace();
  try {
    const journal = await Journal.open({ kind: 'test' }, [
      { path: at('y.bin'), bytesOf: ({ rows }) => rows },
    ]);
    expect(done.filter((name) => /write|sync/.test(name))).toEqual(['writeFile', 'datasync']);
    await journal.remove();
  } finally {
    operations.restore();
  }
});

test('flushes by itself while the run goes on, and fails it if that fails', async () => {
  const journal = await open();
  let failure: Error | undefined;
  journal.add({
    mark: unmarked,
    sync: async () => {
      if (failure !== undefined) throw failure;
    },
  });
  write(journal, 10);
  await expect.poll(() => counted().rows).toBe(10);
  failure = new Error('the disk is gone');
  await expect
    .poll(() => {
      try {
        write(journal, 1);
        return undefined;
      } catch (error) {
        return error;
      }
    })
    .toBe(failure);
  await expect(journal.stop()).rejects.toBe(failure);
  failure = undefined;
  await journal.settle();
  await journal.leave();
  expect(counted()).toEqual({ rows: 10, chunks: 1 });
});

test('counts what was written before a flush, and keeps every line that it had', async () => {
  const journal = await open();
  const flushes: (() => void)[] = [];
  journal.add({ mark: unmarked, sync: () => new Promise<void>((resolve) => flushes.push(resolve)) });
  write(journal, 10);
  await expect.poll(() => flushes.length).toBe(1);
  write(journal, 10);
  flushes[0]!();
  await expect.poll(() => counted().rows).toBeGreaterThan(0);
  expect(counted()).toEqual({ rows: 10, chunks: 1 });
  await expect.poll(() => flushes.length).toBe(2);
  flushes[1]!();
  await expect.poll(() => counted().rows).toBe(20);
  const text = readFileSync(at('.y.bin.journal'));
  expect(counted(text.subarray(0, -1))).toEqual({ rows: 10, chunks: 1 });
  await journal.settle();
  await journal.leave();
});

test('has all of its outputs to itself', async () => {
  const target = (name: string) => ({
    path: at(name),
    bytesOf: ({ rows }: { readonly rows: number }) => rows,
  });
  const journal = await Journal.open({ kind: 'test' }, [target('y.bin'), target('z.bin')]);
  const other = () => Journal.open({ kind: 'test' }, [target('x.bin'), target('z.bin')]);
  await expectFailure(other(), 'WS5011', 'z.bin is being written by another process');
  await journal.settle();
  await journal.leave();
  const next = await other();
  await next.settle();
  await next.leave();
});

test('counts nothing more once outputs are being completed: a failed flush is reported only once', async () => {
  const journal = await open();
  let flushes = 0;
  journal.add({
    mark: unmarked,
    sync: async () => {
      flushes++;
    },
  });
  write(journal, 10);
  await journal.stop();
  await journal.settle();
  await journal.leave();
  expect(flushes).toBe(0);
  expect(namesIn(directory)).toEqual([]);
});
