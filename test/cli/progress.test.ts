// Progress: a bar on a terminal, a line a second elsewhere, nothing for what is over at once.

import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { Progress } from '#warpstage/cli/progress.js';

afterEach(() => {
  vi.useRealTimers();
});

function terminal(isTTY: boolean): { errors: PassThrough; written: () => string } {
  const errors = Object.assign(new PassThrough(), { isTTY, columns: 100 });
  return { errors, written: () => String(errors.read() ?? '') };
}

test('elsewhere than on a terminal: one line a second, with what is left', () => {
  vi.useFakeTimers();
  const { errors, written } = terminal(false);
  using progress = new Progress('affine', { input: new PassThrough(), output: new PassThrough(), errors });
  progress.update({ title: 'affine', done: 2 ** 20, total: 2 ** 22 });
  vi.advanceTimersByTime(999);
  expect(written()).toBe('');
  vi.advanceTimersByTime(1);
  expect(written()).toBe('affine: 25 %, 1.00 MiB of 4.00 MiB, 1.00 MiB/s, 3.00 s left\n');
  progress.update({ title: 'affine (2 of 2)', done: 2 ** 22, total: 2 ** 22 });
  vi.advanceTimersByTime(1000);
  expect(written()).toBe('affine (2 of 2): 100 %, 4.00 MiB of 4.00 MiB, 2.00 MiB/s\n');
});

test('where the total is not known, it says how much and how fast', () => {
  vi.useFakeTimers();
  const { errors, written } = terminal(false);
  using progress = new Progress('affine', { input: new PassThrough(), output: new PassThrough(), errors });
  progress.update({ title: 'affine', done: 3 * 2 ** 20 });
  vi.advanceTimersByTime(1000);
  expect(written()).toBe('affine: 3.00 MiB, 3.00 MiB/s\n');
});

test('on a terminal: a bar, which is taken away at the end', async () => {
  const { errors, written } = terminal(true);
  const progress = new Progress('affine', { input: new PassThrough(), output: new PassThrough(), errors });
  let drawn = '';
  while (!drawn.includes('50 %')) {
    progress.update({ title: 'affine', done: 2 ** 20, total: 2 ** 21 });
    await new Promise((done) => setTimeout(done, 20));
    drawn += written();
  }
  expect(drawn).toContain('affine  [############------------] 50 %  1.00 MiB of 2.00 MiB, ');
  progress[Symbol.dispose]();
  const [clearLine, showCursor] = ['\x1b[2K', '\x1b[?25h'];
  expect(written()).toMatch(new RegExp(`${[clearLine, showCursor].join('|').replaceAll(/[[?]/g, '\\$&')}`));
});
