// The n-th operation on files fails of a run that reads a Zarr array in shards and writes one: once, or from then on, as a device
// does that is broken, or full. The store that was there stays until a whole one takes its place.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, map, open, run, WarpstageError } from 'warpstage';
import { FileOperations } from './file-operations.ts';
import { moments } from './moments.ts';
import { shardedFiles, shardedNumbers } from './sharded-store.ts';
import { expectFailure, namesIn, useFolder } from './support.ts';

const at = useFolder();
let device: Device;
beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
});
afterAll(() => device.close());

const tripled = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What the files of a folder hold, by their paths. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  const files = names.filter((name) => statSync(join(folder, name)).isFile()).sort();
  return Object.fromEntries(files.map((name) => [name, digest(readFileSync(join(folder, name)))]));
}

const faults = [
  ['EIO', 1, 0],
  ['EIO', Infinity, 1],
  ['ENOSPC', 1, 2],
  ['ENOSPC', Infinity, 3],
] as const;
describe.each(faults)('%s at the n-th operation on files, %d times', (code, times, turn) => {
  test.each([
    ['y.zarr', false],
    ['y.gz.zarr', true],
  ] as const)('%s', { timeout: 120_000 }, async (name, resume) => {
    for (const [path, bytes] of shardedFiles()) {
      mkdirSync(dirname(at(`x.zarr/${path}`)), { recursive: true });
      writeFileSync(at(`x.zarr/${path}`), bytes);
    }
    mkdirSync(at('out'));
    const output = at(`out/${name}`);
    const options = { input: at('x.zarr'), output, device, chunk: 16_000, depth: 2, resume };
    await run(tripled, { ...options, output: at(`whole-${name}`) });
    const whole = filesOf(at(`whole-${name}`));
    const numbers = shardedNumbers.map((x) => 3 * x);
    if (name === 'y.zarr') expect(whole['c.0.0']).toBe(digest(Buffer.from(numbers.buffer)));
    await run(tripled, { ...options, output: at(`old-${name}`), rows: 4000 });
    const old = filesOf(at(`old-${name}`));

    const failing = async (first: number) => {
      rmSync(output, { recursive: true, force: true });
      cpSync(at(`old-${name}`), output, { recursive: true });
      let done = 0;
      let failed = '';
      const operations = new FileOperations((operation) => {
        done++;
        if (done < first || done >= first + times) return;
        if (done === first) failed = operation;
        throw Object.assign(new Error(`${code}: ${operation}`), { code, syscall: operation });
      });
      await operations.replace();
      const error: unknown = await run(tripled, options)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        )
        .finally(() => operations.restore());
      return { error, done, failed };
    };
    const { done: count, error: none } = await failing(Infinity);
    expect(none).toBeUndefined();
    for (const n of moments(count, 11, turn, faults.length)) {
      const { error, done, failed } = await failing(n);
      const told = `operation ${n} of ${count}, ${failed}: ${error}`;
      if (error !== undefined) expect(error, told).toBeInstanceOf(WarpstageError);
      const hidden = () => namesIn(at('out')).filter((one) => one.startsWith('.'));
      // Where nothing can be renamed any more, it has another name, and the error says which.
      const replaced = hidden().find((one) => one.endsWith('.replaced'));
      const isRenamed = times > 1 && failed === 'renameSync' && replaced !== undefined;
      if (isRenamed) expect((error as WarpstageError).hint, told).toContain(replaced);
      const there = filesOf(isRenamed ? at(`out/${replaced}`) : output);
      // Where its name cannot be flushed, it is there all the same, and what it took the place of lies beside it.
      const isFlushed = failed !== 'fsyncSync';
      if (error === undefined || isFlushed) expect(there, told).toEqual(error === undefined ? whole : old);
      else expect([old, whole], told).toContainEqual(there);
      if (times === 1 && !resume && failed !== 'rm') expect(hidden(), told).toEqual([]);
      for (const one of isRenamed ? [replaced] : []) rmSync(at(`out/${one}`), { recursive: true });
      await run(tripled, options);
      expect(filesOf(output), told).toEqual(whole);
      if (times === 1 && isFlushed && failed !== 'rm') expect(hidden(), told).toEqual([]);
      if (done < n) break;
      for (const one of hidden()) rmSync(at(`out/${one}`), { recursive: true });
    }
  });
});

test('a run that was killed when it was about to replace a store left it under another name, and the next gives it its own', async () => {
  const output = at('y.zarr');
  const x = shardedNumbers;
  await run(tripled, { input: x.subarray(0, 100), output, device });
  const old = filesOf(output);
  const module = import.meta.resolve('#warpstage/files/leftovers.js');
  const killed = () => {
    const script = `import { renameSync } from 'node:fs';
import { replacedName } from ${JSON.stringify(module)};
renameSync(${JSON.stringify(output)}, replacedName(${JSON.stringify(output)}));
process.kill(process.pid, 'SIGKILL');`;
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL');
    expect(existsSync(output)).toBe(false);
  };
  killed();
  const failing = async function* () {
    yield x.subarray(0, 1000);
    throw new Error('no more');
  };
  await expectFailure(run(tripled, { input: failing(), output, device }), 'WS5003', /no more/);
  expect(filesOf(output)).toEqual(old);
  killed();
  await expectFailure(
    run(tripled, { input: x, output, device, overwrite: false }),
    'WS5006',
    /is there already/,
  );
  expect(filesOf(output)).toEqual(old);
  killed();
  await run(tripled, { input: x, output, device });
  expect(namesIn(at())).toEqual(['y.zarr']);
  expect(filesOf(output)['c.0']).toBe(digest(Buffer.from(x.map((one) => 3 * one).buffer)));
});
