// What web workers report through shared bytes: each report once, in its order, as it was.

import { expect, test } from 'vitest';
import type { Report } from '#warpstage/runtime/cpu/messages.js';
import { createMailMemory, MailIn, MailOut } from '#warpstage/runtime/cpu/web/mail.js';

const line = (i: number, length: number): Report => ({ kind: 'print', line: `${i} ${'ä'.repeat(length)}` });

test('reports go round the ring, whatever their lengths and wherever they are taken', () => {
  const memory = createMailMemory();
  let rings = 0;
  const [out, into] = [new MailOut(memory, () => ++rings), new MailIn(memory)];
  const taken: Report[] = [];
  const given = Array.from({ length: 400 }, (_, i) => line(i, (i * 97) % 3000));
  for (const [i, report] of given.entries()) {
    out.postMessage(report);
    // Some are left to lie, so that they end at every place of the ring.
    if (i % 3 === 0) into.pull();
    if (i % 7 === 0) taken.push(...into.take());
  }
  taken.push(...into.take());
  expect(taken).toEqual(given);
  expect(into.take()).toEqual([]);
  // Nobody has come to the bell.
  expect(rings).toBe(1);
  into.answer();
  out.postMessage({ kind: 'complete' });
  expect(rings).toBe(2);
  expect(into.take()).toEqual([]);
});

test('a report that is longer than the ring waits until some of it was taken', () => {
  const memory = createMailMemory();
  const into = new MailIn(memory);
  // Here one thread does both: it takes when the bell rings.
  const out = new MailOut(memory, () => {
    into.answer();
    into.pull();
  });
  const report = line(1, 200_000);
  out.postMessage(report);
  expect(into.take()).toEqual([report]);
});

test('values stay what they are', () => {
  const memory = createMailMemory();
  const [out, into] = [new MailOut(memory, () => {}), new MailIn(memory)];
  const fault = { site: 3, values: [2n ** 63n, -0, Number.NaN, Number.NEGATIVE_INFINITY, 1.5, 'text', null] };
  const reports = [
    { kind: 'fault', ticket: 7, fault },
    { kind: 'stages', ticket: 7, block: 1, marks: Float64Array.of(0.25, 1e300, -0) },
  ] as unknown as readonly Report[];
  for (const report of reports) out.postMessage(report);
  const taken = into.take();
  expect(taken).toEqual(reports);
  expect(Object.is((taken[0] as unknown as { fault: typeof fault }).fault.values[1], -0)).toBe(true);
});

test('orders are counted, and so is the end', () => {
  const memory = createMailMemory();
  const [out, into] = [new MailOut(memory, () => {}), new MailIn(memory)];
  expect([out.posted, out.isEnded]).toEqual([0, false]);
  into.count();
  into.count();
  into.end();
  expect([out.posted, out.isEnded]).toEqual([2, true]);
});
