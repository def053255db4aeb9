// Losing standard error costs what is written there, and nothing else: the output is written, and the exit code is
// the one that it would have been.

import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { partOf } from '../support/thorough.ts';
import { Folder, numbers, startWith } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const x = numbers(3000);
const bytes = Buffer.from(x.buffer);

/** Ways to lose it: what the child is given, and what is done then. */
const ways: readonly (readonly [what: string, device: string | undefined])[] = [
  ['whose reader went away', undefined],
  ...(existsSync('/dev/full') ? [['on a full disk', '/dev/full'] as const] : []),
];

describe.concurrent.each(partOf(ways, 1))('standard error %s', (what, device) => {
  /** Runs a command line, whose input comes slowly enough for its progress to be shown. */
  async function codeOf(argv: readonly string[], slow = false): Promise<number | null> {
    const file = device === undefined ? undefined : openSync(device, 'w');
    const child = startWith(argv, ['pipe', 'ignore', file ?? 'pipe']);
    if (file === undefined) child.stderr!.destroy();
    else closeSync(file);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin!.on('error', () => {});
    if (slow) {
      child.stdin!.write(bytes.subarray(0, 4000));
      const isOver = await Promise.race([ended.then(() => true), delay(2500, false)]);
      expect(isOver).toBe(false);
      child.stdin!.write(bytes.subarray(4000));
    }
    child.stdin!.end();
    return await ended;
  }

  test('leaves a run its output', async () => {
    const y = folder.file(`${what}.bin`);
    expect(await codeOf(['run', 'examples/affine.ts', '-', y, '--set', 'a=1', '--set', 'b=0'], true)).toBe(0);
    expect(readFileSync(y).equals(bytes)).toBe(true);
  });

  test('leaves a failure its exit code', async () => {
    const absent = folder.file('absent.bin');
    expect(await codeOf(['run', 'examples/affine.ts', absent, `${absent}.out.bin`])).toBe(3);
    expect(await codeOf(['run', 'examples/affine.ts', '--no-such-option'])).toBe(2);
  });
});
