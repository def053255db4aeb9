// How beginnings are found from ends, on streams and engines whose times the test gives.

import { expect, test } from 'vitest';
import type { Work } from '#warpstage/runtime/command.js';
import { SpanClock, type SpanMarks } from '#warpstage/runtime/cuda/span-marks.js';

const copyIn = { kind: 'copy', direction: 'host to device' } as Work;
const copyOut = { kind: 'copy', direction: 'device to host' } as Work;
const kernel = { kind: 'launch' } as Work;

/** Events are numbers in the order in which they are recorded; `times` says when each was reached. */
function recording() {
  const times = new Map<number, number>();
  const given: number[] = [];
  let events = 0;
  const pool = { record: () => ++events, give: (event: number) => given.push(event) };
  let asked = 0;
  const clock = {
    timeOf: (event: number) => {
      asked += 1;
      return times.get(event) ?? null;
    },
  };
  const spans = new SpanClock(clock as never, pool as never);
  const mark = (
    work: Work,
    previous: SpanMarks | null | undefined,
    waited: readonly (SpanMarks | null)[] = [],
  ) =>
    spans.behind(
      work,
      { stream: 1, previous, waited },
      spans.before(work, { stream: 1, previous, waited }),
      performance.now(),
    );
  /** Milliseconds after now: nothing begins before it was issued. */
  const now = performance.now() + 1000;
  const reach = (marks: SpanMarks, end: number, start?: number) => {
    times.set(marks.stop, now + end);
    if (start !== undefined) times.set(marks.start, now + start);
  };
  const read = (marks: SpanMarks) => {
    const { started, ended } = spans.read(marks);
    return [Math.round(started - now), Math.round(ended - now)];
  };
  return { mark, reach, read, given, spans, events: () => events, asked: () => asked };
}

test('a chunk takes an event for each of its commands, and none before them', () => {
  const { mark, reach, read, given, events } = recording();
  const first = mark(copyIn, undefined);
  const second = mark(kernel, first);
  const third = mark(copyOut, second);
  expect(events()).toBe(3);
  reach(first, 10);
  reach(second, 12);
  reach(third, 22);
  read(first);
  expect(read(second)).toEqual([10, 12]);
  expect(read(third)).toEqual([12, 22]);
  expect(given).toEqual([1, 2, 3]);
});

test('the driver is asked once for what is complete: when it ended, which says that it has', () => {
  const { mark, reach, read, spans, asked } = recording();
  const first = mark(copyIn, undefined);
  const second = mark(kernel, first);
  expect(spans.isReached(first)).toBe(false);
  expect(asked()).toBe(1);
  reach(first, 10);
  reach(second, 12);
  for (const marks of [first, second]) {
    expect(spans.isReached(marks)).toBe(true);
    read(marks);
  }
  expect(asked()).toBe(3);
});

test('a copy begins when its engine has done the one before, of whichever stream', () => {
  const { mark, reach, read } = recording();
  const first = mark(copyIn, undefined);
  const second = mark(copyIn, undefined);
  const other = mark(copyOut, undefined);
  reach(first, 10);
  reach(second, 25);
  reach(other, 11);
  // The later one may be looked at first.
  expect(read(second)).toEqual([10, 25]);
  read(first);
  expect(read(other)[1]).toBe(11);
  const third = mark(copyIn, undefined);
  reach(third, 40);
  expect(read(third)).toEqual([25, 40]);
});

test('a copy that the driver let pass the one before it does not begin after its end', () => {
  const { mark, reach, read } = recording();
  const first = mark(copyIn, undefined);
  const second = mark(copyIn, undefined);
  reach(first, 30);
  reach(second, 20);
  expect(read(second)).toEqual([20, 20]);
  const third = mark(copyIn, undefined);
  const fourth = mark(copyIn, undefined);
  reach(fourth, 50);
  const [started, ended] = read(fourth);
  expect(started).toBeLessThan(0);
  expect(ended).toBe(50);
  reach(third, 60);
  expect(read(third)).toEqual([20, 60]);
});

test('an event before tells of a kernel on an idle stream, and of what waits for what is not recorded', () => {
  const { mark, reach, read, given } = recording();
  const idle = mark(kernel, undefined);
  const waits = mark(copyOut, idle, [null]);
  const unrecorded = mark(copyIn, null);
  reach(idle, 12, 9);
  reach(waits, 30, 20);
  reach(unrecorded, 8, 3);
  expect(read(idle)).toEqual([9, 12]);
  expect(read(waits)).toEqual([20, 30]);
  expect(read(unrecorded)).toEqual([3, 8]);
  expect(given).toEqual([1, 2, 3, 4, 5, 6]);
});

test('what waits for commands of other streams begins when they have ended', () => {
  const { mark, reach, read, events } = recording();
  const into = mark(copyIn, undefined);
  const computed = mark(kernel, undefined, [into]);
  const before = mark(copyOut, undefined);
  const out = mark(copyOut, before, [computed]);
  expect(events()).toBe(4);
  reach(into, 10);
  reach(computed, 14);
  reach(before, 12);
  reach(out, 20);
  read(into);
  expect(read(computed)).toEqual([10, 14]);
  read(before);
  expect(read(out)).toEqual([14, 20]);
});
