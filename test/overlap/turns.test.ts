import { expect, test } from 'vitest';
import { Turns } from '#warpstage/overlap/turns.js';

test('work is done in the order of its numbers, one at a time', async () => {
  const turns = new Turns();
  const log: string[] = [];
  const work = (position: number) =>
    turns.run(position, async () => {
      log.push(`begin ${position}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`end ${position}`);
      return position * 10;
    });
  expect(await Promise.all([work(2), work(0), work(1)])).toEqual([20, 0, 10]);
  expect(log).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2']);
});

test('who waits when it is stopped fails, and so does who comes later', async () => {
  const turns = new Turns();
  const waiting = turns.run(1, async () => 1);
  turns.stop(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(turns.run(0, async () => 0)).rejects.toThrow('enough');
});
