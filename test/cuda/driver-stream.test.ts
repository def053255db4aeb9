// What a stream of the GPU knows of its commands, with a driver whose answers the test gives.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Command } from '#warpstage/runtime/command.js';
import type { Driver } from '#warpstage/runtime/cuda/driver.js';
import { DriverStream, EventPool, type Flight } from '#warpstage/runtime/cuda/driver-stream.js';
import type { SpanMarks } from '#warpstage/runtime/cuda/span-marks.js';

const notReady = 600;

/** A driver whose stream and events are as far as the test says. */
function fakeDriver() {
  let events = 0;
  /** `reached`: events up to this one are, whatever `event` is. */
  const answers = { stream: notReady, event: notReady, reached: 0, queries: 0 };
  const driver = {
    check: (result: number) => expect(result).toBe(0),
    cuEventCreate: (event: number[]) => {
      event[0] = ++events;
      return 0;
    },
    cuEventRecord: () => 0,
    cuEventQuery: (event: number) => {
      answers.queries += 1;
      return event <= answers.reached ? 0 : answers.event;
    },
    cuStreamQuery: () => answers.stream,
  };
  return { driver: driver as unknown as Driver, answers, events: () => events };
}

function stream() {
  const { driver, answers, events } = fakeDriver();
  const reached = new Set<object>();
  const spans = { isReached: (marks: object) => reached.has(marks) };
  const place = { name: 'stream 1', priority: 0, handle: 1 };
  const made = new DriverStream(driver, new EventPool(driver, 'timed'), spans, place);
  let id = 0;
  const add = (span: SpanMarks | null = null) => {
    const command = new Command(++id, { name: 'stream 1', priority: 0 }, [], []);
    made.prepare();
    made.add({
      command,
      work: null as never,
      land: null,
      span,
      activity: null,
      firstCall: 0,
      endOfCalls: 0,
      refused: null,
    });
    return command;
  };
  const settled: number[] = [];
  const asked: boolean[] = [];
  const poll = () =>
    made.poll((flights: readonly Flight[], wasAsked: boolean) => {
      settled.push(...flights.map((f) => f.command.id));
      asked.push(wasAsked);
    });
  return { made, answers, events, add, poll, settled, asked, reached };
}

test('the last command is known by the stream itself, without an event', () => {
  const { made, answers, events, add, poll, settled } = stream();
  made.watch(add());
  poll();
  expect(settled).toEqual([]);
  answers.stream = 0;
  poll();
  expect(settled).toEqual([1]);
  expect(events()).toBe(0);
});

test('a mark that is reached just after the stream was asked leaves nothing awaited behind', () => {
  const { made, answers, add, poll, settled } = stream();
  const last = add();
  made.watch(last);
  made.mark(last);
  // The stream says no, and by the time its event is asked everything is complete.
  answers.event = 0;
  poll();
  expect(settled).toEqual([1]);
  expect(made.pending).toEqual([]);
  add();
  answers.event = notReady;
  poll();
  expect(settled).toEqual([1]);
});

test('of many marks those that are reached are found by few questions, whichever they are', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.nat(200), { maxLength: 5 }),
      (marks, points) => {
        const { made, answers, add, poll, settled } = stream();
        for (let i = 0; i < marks; ++i) {
          made.mark(add());
          add();
        }
        for (const point of [...points, 0].sort((a, b) => a - b)) {
          answers.reached = Math.max(answers.reached, Math.min(point, marks));
          answers.queries = 0;
          expect(poll()).toBe(0);
          // A mark stands behind the command that it is of: what came behind that belongs to the next one.
          expect(settled).toEqual(
            Array.from({ length: Math.max(2 * answers.reached - 1, 0) }, (_, i) => i + 1),
          );
          expect(answers.queries).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(marks + 1)));
        }
        answers.reached = marks;
        answers.queries = 0;
        poll();
        expect(answers.queries).toBeLessThanOrEqual(2);
        expect(made.pending).toHaveLength(1);
      },
    ),
  );
});

test('several marks that are reached at once are asked for where one of them is', () => {
  const { made, answers, add, poll, asked } = stream();
  made.mark(add());
  made.mark(add(), false);
  made.mark(add(), false);
  answers.reached = 2;
  poll();
  answers.reached = 3;
  poll();
  expect(asked).toEqual([true, false]);
});

test('an error of the device at a later mark is said', () => {
  const { made, answers, add, poll, settled } = stream();
  for (let i = 0; i < 5; ++i) made.mark(add());
  answers.reached = 2;
  answers.event = 700;
  expect(poll()).toBe(700);
  expect(settled).toEqual([]);
});

test('what is awaited gets a mark when more comes behind it', () => {
  const { made, answers, events, add, poll, settled } = stream();
  made.watch(add());
  add();
  expect(events()).toBe(1);
  answers.event = 0;
  poll();
  expect(settled).toEqual([1]);
});

test('commands that are recorded are settled as they are reached, without marks, whoever waits for the last', () => {
  const { made, answers, events, add, poll, settled, asked, reached } = stream();
  const spans = Array.from({ length: 600 }, (): SpanMarks => ({}) as SpanMarks);
  const commands = spans.map((span) => add(span));
  made.watch(commands.at(-1)!);
  for (const span of spans.slice(0, 3)) reached.add(span);
  reached.add(spans[5]!); // not before those in front of it
  poll();
  expect(settled).toEqual([1, 2, 3]);
  expect(asked).toEqual([false]);
  answers.stream = 0;
  poll();
  expect(settled).toHaveLength(600);
  expect(asked).toEqual([false, true]);
  expect(events()).toBe(0);
});

test('what is recorded and awaited is known by its own event, should that be seen before the stream’s end', () => {
  const { made, events, add, poll, settled, reached } = stream();
  const span = {} as SpanMarks;
  const awaited = add(span);
  made.watch(awaited);
  made.mark(awaited);
  reached.add(span);
  poll();
  expect(settled).toEqual([1]);
  expect(made.pending).toEqual([]);
  // Nothing is left of it: the stream goes on without a mark for it, with the event of the one that was dropped.
  const next = add();
  poll();
  made.mark(next);
  expect(events()).toBe(1);
});

test('a command that is complete, but not settled, can still be marked', () => {
  const { made, add, poll, reached } = stream();
  const span = {} as SpanMarks;
  const command = add(span);
  reached.add(span);
  poll();
  expect(made.mark(command)).toBeGreaterThan(0);
});

test('a wait for a recorded command waits for its own event, which the stream does not give back', () => {
  const { made, answers, events, add, poll, settled, asked } = stream();
  const span = { stop: 77 } as SpanMarks;
  const first = add(span);
  made.watch(first);
  expect(made.mark(first)).toBe(77);
  const second = add();
  expect(events()).toBe(0);
  answers.event = 0;
  poll();
  expect(settled).toEqual([1]);
  expect(asked).toEqual([true]);
  expect(made.mark(second)).toBe(1);
});

test('of a sample, what is reached settles those before it, and is waited for by its own event', () => {
  const { made, events, add, poll, settled, reached } = stream();
  const span = { stop: 77 } as SpanMarks;
  const commands = [add(), add(), add(span), add()];
  expect(made.mark(commands[2]!)).toBe(77);
  made.watch(commands[2]!);
  expect(events()).toBe(0);
  poll();
  expect(settled).toEqual([]);
  reached.add(span);
  poll();
  expect(settled).toEqual([1, 2, 3]);
  made.mark(commands[3]!);
  expect(events()).toBe(1);
});
