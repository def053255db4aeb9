// The order of streams, without a device: which command waits for which.

import { beforeEach, describe, expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import type { Carrier, Command, Work } from '#warpstage/runtime/command.js';
import { CommandQueue, type Lane } from '#warpstage/runtime/queue.js';

/** Takes commands and leaves it to the test when they are settled. */
class PatientCarrier implements Carrier {
  readonly watched: Command[] = [];
  carry(): void {}
  poll(): void {}
  watch(command: Command): void {
    this.watched.push(command);
  }
}

const work: Work = { kind: 'set', allocation: null as never, address: 0, bytes: 1, byte: 0 };
const failure = (message: string) => new WarpstageError({ code: 'WS3001', message });
const ids = (commands: readonly Command[]) => commands.map(({ id }) => id).sort((a, b) => a - b);

let carrier: PatientCarrier;
let queue: CommandQueue;
const issue = (lane: Lane) => queue.issue(lane, work, []);
const done = (command: Command) => command.settle(null, 1, 2);

describe('streams of a legacy device', () => {
  beforeEach(() => {
    carrier = new PatientCarrier();
    queue = new CommandQueue(carrier, 'legacy');
  });

  test('a command waits for the one before it in its stream', () => {
    const lane = queue.addLane(0, true);
    const a = issue(lane);
    const b = issue(lane);
    expect(ids(a.dependencies)).toEqual([]);
    expect(ids(b.dependencies)).toEqual([a.id]);
  });

  test('streams do not wait for each other', () => {
    const [one, two] = [queue.addLane(0, true), queue.addLane(0, true)];
    issue(one);
    expect(issue(two).dependencies).toEqual([]);
  });

  test('the default stream waits for all blocking streams, and they for it', () => {
    const [one, two, free] = [queue.addLane(0, true), queue.addLane(0, true), queue.addLane(0, false)];
    const before = [issue(one), issue(two)];
    const apart = issue(free);
    const middle = issue(queue.defaultLane);
    expect(ids(middle.dependencies)).toEqual(ids(before));
    expect(ids(issue(one).dependencies)).toEqual([before[0]!.id, middle.id]);
    expect(ids(issue(free).dependencies)).toEqual([apart.id]);
  });

  test('what is done is not waited for', () => {
    const lane = queue.addLane(0, true);
    done(issue(lane));
    expect(issue(lane).dependencies).toEqual([]);
  });

  test('an event stands for what its stream had been given when it was recorded', () => {
    const [one, two] = [queue.addLane(0, true), queue.addLane(0, true)];
    const a = issue(one);
    const points = queue.join(one);
    issue(one);
    const c = issue(two);
    queue.join(two, points);
    expect(ids(issue(two).dependencies)).toEqual([a.id, c.id]);
  });

  test('an event waited for by an idle stream is what its next event stands for', () => {
    const [one, two, three] = [queue.addLane(0, true), queue.addLane(0, true), queue.addLane(0, true)];
    const a = issue(one);
    queue.join(two, queue.join(one));
    queue.join(three, queue.join(two));
    expect(ids(issue(three).dependencies)).toEqual([a.id]);
  });

  test('an event recorded in the default stream stands for the blocking streams too', () => {
    const one = queue.addLane(0, true);
    const a = issue(one);
    expect(ids(queue.join(queue.defaultLane))).toEqual([a.id]);
  });

  test('an error fails what depends on it, and nothing else', () => {
    const [one, two] = [queue.addLane(0, true), queue.addLane(0, true)];
    const error = failure('a');
    issue(one).settle(error, 1, 2);
    const dependent = issue(one);
    expect(dependent.status).toBe('failed');
    expect(dependent.failure).toBe(error);
    expect(issue(two).status).toBe('queued');
  });

  test('an error is thrown once by its stream, which then goes on', () => {
    const lane = queue.addLane(0, true);
    issue(lane).settle(failure('a'), 1, 2);
    expect(() => queue.report(lane.frontier, [lane])).toThrow('WS3001: a');
    queue.report(lane.frontier, [lane]);
    expect(issue(lane).status).toBe('queued');
  });

  test('a stream whose command failed before its turn goes on behind those that come before it', () => {
    const lane = queue.addLane(0, true);
    const running = issue(lane);
    const cancelled = issue(lane);
    const error = failure('a');
    cancelled.settle(error, 1, 2);
    const dependent = issue(lane);
    expect(dependent.failure).toBe(error);
    expect(() => queue.report(lane.frontier, [lane])).toThrow('WS3001: a');
    expect(ids(issue(lane).dependencies)).toEqual([running.id]);
  });

  test('a stream that waited for a failed event throws too', () => {
    const [one, two] = [queue.addLane(0, true), queue.addLane(0, true)];
    issue(one).settle(failure('a'), 1, 2);
    queue.join(two, queue.join(one));
    expect(() => queue.report(one.frontier, [one])).toThrow('WS3001: a');
    expect(issue(two).status).toBe('failed');
    expect(() => queue.report(two.frontier, [two])).toThrow('WS3001: a');
  });

  test('the default stream carries an error to others only until it was thrown', () => {
    const [one, two] = [queue.addLane(0, true), queue.addLane(0, true)];
    issue(queue.defaultLane).settle(failure('a'), 1, 2);
    expect(issue(one).status).toBe('failed');
    expect(() => queue.report(one.frontier, [one])).toThrow('WS3001: a');
    expect(issue(one).status).toBe('queued');
    expect(issue(two).status).toBe('queued');
    expect(issue(queue.defaultLane).status).toBe('failed');
  });

  test('several errors are thrown as one', () => {
    const [one, two] = [queue.addLane(0, false), queue.addLane(0, false)];
    issue(one).settle(failure('a'), 1, 2);
    issue(two).settle(failure('b'), 1, 2);
    const report = () => queue.report([...one.frontier, ...two.frontier], [one, two]);
    expect(report).toThrow(/WS3001: a\s+WS3001: b/);
    expect(issue(one).status).toBe('queued');
  });

  test('a completion is watched for only while it is outstanding', async () => {
    const lane = queue.addLane(0, true);
    const command = issue(lane);
    const completion = queue.completion([command]);
    expect(carrier.watched).toEqual([command]);
    done(command);
    await completion;
    await queue.completion([command]);
    expect(carrier.watched).toEqual([command]);
  });
});

test('with a default stream per thread, no stream waits for another', () => {
  queue = new CommandQueue(new PatientCarrier(), 'perThread');
  const lane = queue.addLane(0, true);
  issue(lane);
  expect(issue(queue.defaultLane).dependencies).toEqual([]);
  expect(ids(issue(lane).dependencies)).toEqual([1]);
});
