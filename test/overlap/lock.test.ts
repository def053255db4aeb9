// The lock of an unfinished output: one process has it, of whatever version of Node, until it ends.
//
// WARPSTAGE_NODES may list programs of other versions of Node, as PATH does; each is then set against each.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockPath } from '#warpstage/overlap/journal/lock.js';
import { temporaryDirectory } from './support.ts';

const nodes = [process.execPath, ...(process.env.WARPSTAGE_NODES ?? '').split(delimiter).filter(Boolean)];
const module = import.meta.resolve('#warpstage/overlap/journal/lock.js');
const program = `
  const { lockPath } = await import(${JSON.stringify(module)});
  const release = await lockPath(process.argv[1], process.argv[2]);
  process.stdout.write(release === null ? 'refused' : 'locked');
  if (release !== null) setInterval(() => {}, 1000);
`;

/** Has another process lock a path, which then waits; resolves with what came of it. */
async function lockIn(node: string, path: string): Promise<{ child: ChildProcess; reported: string }> {
  const args = ['--input-type=module', '-e', program, path, `${path}.lock`];
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  // The next test's folder may get the number of this one's, and with it the address that the process listens at.
  onTestFinished(async () => {
    const closed = once(child, 'close');
    if (child.kill('SIGKILL')) await closed;
  });
  const [reported] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, reported: String(reported) };
}

const own = () => join(realpathSync(temporaryDirectory()), 'y.npy');

describe.each(nodes)('a path that %s has locked', (first) => {
  test.each(nodes)('is refused to %s, until the first one is killed', async (second) => {
    const path = own();
    const { child, reported } = await lockIn(first, path);
    expect(reported).toBe('locked');
    expect((await lockIn(second, path)).reported).toBe('refused');
    expect((await lockIn(second, `${path}x`)).reported).toBe('locked');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect((await lockIn(second, path)).reported).toBe('locked');
  });
});

test('a path is one whichever way leads to its folder', async () => {
  const path = own();
  const link = join(temporaryDirectory(), 'link');
  symlinkSync(join(path, '..'), link);
  const release = await lockPath(path, `${path}.lock`);
  const other = join(link, 'y.npy');
  expect(await lockPath(other, `${other}.lock`)).toBeNull();
  await release!();
  const again = await lockPath(other, `${other}.lock`);
  expect(again).not.toBeNull();
  await again!();
});

// Versions of Node differ in whether they fill a shorter address with zeros.
test.runIf(process.platform === 'linux')('an address is as long as the system lets it be', async () => {
  const path = own();
  const addresses = () =>
    readFileSync('/proc/net/unix', 'latin1')
      .split('\n')
      .flatMap((line) => /@warpstage-\S*/.exec(line)?.[0] ?? []);
  const before = addresses();
  const release = await lockPath(path, `${path}.lock`);
  const mine = addresses().filter((address) => !before.includes(address));
  expect(mine.map(({ length }) => length)).toEqual([108]);
  await release!();
});
