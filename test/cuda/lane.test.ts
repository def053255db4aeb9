// What a lane of the GPU knows of its commands, with a driver whose answers the test gives.

import { expect, test } from 'vitest';
import { Command } from '#warpstage/runtime/command.js';
import type { Driver } from '#warpstage/runtime/cuda/driver.js';
import { CudaLane, EventPool, type Flight } from '#warpstage/runtime/cuda/lane.js';

const notReady = 600;

/** A driver whose stream and events are as far as the test says. */
function fakeDriver() {
  let events = 0;
  const answers = { stream: notReady, event: notReady };
  const driver = {
    check: (result: number) => expect(result).toBe(0),
    cuEventCreate: (event: number[]) => {
      event[0] = ++events;
      return 0;
    },
    cuEventRecord: () => 0,
    cuEventQuery: () => answers.event,
    cuStreamQuery: () => answers.stream,
  };
  return { driver: driver as unknown as Driver, answers, events: () => events };
}

function lane() {
  const { driver, answers, events } = fakeDriver();
  const made = new CudaLane(driver, new EventPool(driver), { name: 'stream 1', priority: 0, stream: 1 });
  let id = 0;
  const add = () => {
    const command = new Command(++id, { name: 'stream 1', priority: 0 }, [], []);
    made.prepare();
    made.add({ command, work: null as never, land: null, span: null, activity: null });
    return command;
  };
  const settled: number[] = [];
  const poll = () =>
    made.poll((flights: readonly Flight[]) => settled.push(...flights.map((f) => f.command.id)));
  return { made, answers, events, add, poll, settled };
}

test('the last command is known by the stream itself, without an event', () => {
  const { made, answers, events, add, poll, settled } = lane();
  made.watch(add());
  poll();
  expect(settled).toEqual([]);
  answers.stream = 0;
  poll();
  expect(settled).toEqual([1]);
  expect(events()).toBe(0);
});

test('a mark that is reached just after the stream was asked leaves nothing awaited behind', () => {
  const { made, answers, add, poll, settled } = lane();
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

test('what is awaited gets a mark when more comes behind it', () => {
  const { made, answers, events, add, poll, settled } = lane();
  made.watch(add());
  add();
  expect(events()).toBe(1);
  answers.event = 0;
  poll();
  expect(settled).toEqual([1]);
});
