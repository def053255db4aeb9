// The order of streams, without a device: which command waits for which.

import { beforeEach, describe, expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import type { Command, Dispatcher, Work } from '#warpstage/runtime/command.js';
import { CommandQueue, type StreamState } from '#warpstage/runtime/queue.js';

/** Takes commands and leaves it to the test when they are settled. */
class PatientDispatcher implements Dispatcher {
  readonly watched: Command[] = [];
  dispatch(): void {}
  poll(): void {}
  watch(command: Command): void {
    this.watched.push(command);
  }
}

const work: Work = { kind: 'set', allocation: null as never, address: 0, bytes: 1, byte: 0 };
const failure = (message: string) => new WarpstageError({ code: 'WS3001', message });
const ids = (commands: readonly Command[]) => commands.map(({ id }) => id).sort((a, b) => a - b);

let dispatcher: PatientDispatcher;
let queue: CommandQueue;
const issue = (stream: StreamState) => queue.issue(stream, work, []);
const done = (command: Command) => command.settle(null, 1, 2);

describe('streams of a legacy device', () => {
  beforeEach(() => {
    dispatcher = new PatientDispatcher();
    queue = new CommandQueue(dispatcher, 'legacy');
  });

  test('a command waits for the one before it in its stream', () => {
    const stream = queue.addStream(0, true);
    const a = issue(stream);
    const b = issue(stream);
    expect(ids(a.dependencies)).toEqual([]);
    expect(ids(b.dependencies)).toEqual([a.id]);
  });

  test('streams do not wait for each other', () => {
    const [one, two] = [queue.addStream(0, true), queue.addStream(0, true)];
    issue(one);
    expect(issue(two).dependencies).toEqual([]);
  });

  test('the default stream waits for all blocking streams, and they for it', () => {
    const [one, two, free] = [queue.addStream(0, true), queue.addStream(0, true), queue.addStream(0, false)];
    const before = [issue(one), issue(two)];
    const apart = issue(free);
    const middle = issue(queue.defaultStream);
    expect(ids(middle.dependencies)).toEqual(ids(before));
    expect(ids(issue(one).dependencies)).toEqual([before[0]!.id, middle.id]);
    expect(ids(issue(free).dependencies)).toEqual([apart.id]);
  });

  test('what is done is not waited for', () => {
    const stream = queue.addStream(0, true);
    done(issue(stream));
    expect(issue(stream).dependencies).toEqual([]);
  });

  test('an event stands for what its stream had been given when it was recorded', () => {
    const [one, two] = [queue.addStream(0, true), queue.addStream(0, true)];
    const a = issue(one);
    const points = queue.join(one);
    issue(one);
    const c = issue(two);
    queue.join(two, points);
    expect(ids(issue(two).dependencies)).toEqual([a.id, c.id]);
  });

  test('an event waited for by an idle stream is what its next event stands for', () => {
    const [one, two, three] = [queue.addStream(0, true), queue.addStream(0, true), queue.addStream(0, true)];
    const a = issue(one);
    queue.join(two, queue.join(one));
    queue.join(three, queue.join(two));
    expect(ids(issue(three).dependencies)).toEqual([a.id]);
  });

  test('an event recorded in the default stream stands for the blocking streams too', () => {
    const one = queue.addStream(0, true);
    const a = issue(one);
    expect(ids(queue.join(queue.defaultStream))).toEqual([a.id]);
  });

  test('an error fails what depends on it, and nothing else', () => {
    const [one, two] = [queue.addStream(0, true), queue.addStream(0, true)];
    const error = failure('a');
    issue(one).settle(error, 1, 2);
    const dependent = issue(one);
    expect(dependent.status).toBe('failed');
    expect(dependent.failure).toBe(error);
    expect(issue(two).status).toBe('queued');
  });

  test('an error is thrown once by its stream, which then goes on', () => {
    const stream = queue.addStream(0, true);
    issue(stream).settle(failure('a'), 1, 2);
    expect(() => queue.query(stream.frontier, [stream])).toThrow('WS3001: a');
    expect(queue.query(stream.frontier, [stream])).toBe(true);
    expect(issue(stream).status).toBe('queued');
  });

  test('a stream whose command failed before its turn goes on behind those that come before it', () => {
    const stream = queue.addStream(0, true);
    const running = issue(stream);
    const cancelled = issue(stream);
    const error = failure('a');
    cancelled.settle(error, 1, 2);
    const dependent = issue(stream);
    expect(dependent.failure).toBe(error);
    expect(queue.query(stream.frontier, [stream])).toBe(false);
    done(running);
    expect(() => queue.query(stream.frontier, [stream])).toThrow('WS3001: a');
    expect(issue(stream).dependencies).toEqual([]);
  });

  test('the default stream comes behind what a cancelled command left, though its error was thrown', () => {
    const [one, two] = [queue.addStream(0, true), queue.addStream(0, true)];
    const running = issue(one);
    const cancelled = issue(one);
    queue.join(two, queue.join(one));
    cancelled.settle(failure('a'), 1, 2);
    const other = issue(one);
    expect(other.left).toEqual([running]);
    // A stream that has thrown the error no longer has it, another one does.
    done(running);
    expect(() => queue.query(one.frontier, [one])).toThrow('WS3001: a');
    expect(issue(two).status).toBe('failed');
    expect(issue(queue.defaultStream).status).toBe('queued');
  });

  test('a synchronisation waits for what a cancelled command was behind, and throws both errors', async () => {
    const stream = queue.addStream(0, true);
    const running = issue(stream);
    issue(stream).settle(failure('b'), 1, 2);
    const synchronised = queue.synchronize(stream.frontier, [stream]);
    let over = false;
    synchronised
      .catch(() => {})
      .finally(() => {
        over = true;
      });
    expect(dispatcher.watched).toEqual([running]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(over).toBe(false);
    running.settle(failure('a'), 1, 2);
    await expect(synchronised).rejects.toThrow(/WS3001: b\s+WS3001: a/);
    await queue.synchronize(stream.frontier, [stream]);
  });

  test('all the errors that a command depended on are thrown', () => {
    const [one, two] = [queue.addStream(0, false), queue.addStream(0, false)];
    issue(one).settle(failure('a'), 1, 2);
    issue(two).settle(failure('b'), 1, 2);
    queue.join(one, queue.join(two));
    expect(issue(one).status).toBe('failed');
    queue.removeStream(two);
    expect(() => queue.query(one.frontier, [one])).toThrow(/WS3001: a\s+WS3001: b/);
  });

  test('what no call has thrown is left for the end, and thrown there once', async () => {
    const [one, two, three] = [0, 1, 2].map(() => queue.addStream(0, false)) as [
      StreamState,
      StreamState,
      StreamState,
    ];
    for (const [stream, name] of [
      [one, 'a'],
      [two, 'b'],
      [three, 'c'],
    ] as const)
      issue(stream).settle(failure(name), 1, 2);
    expect(() => queue.query(one.frontier, [one])).toThrow('WS3001: a');
    const awaited = expect(queue.synchronize(two.frontier, [two])).rejects.toThrow('WS3001: b');
    expect(() => queue.reportLeft()).toThrow(/^WS3001: c$/);
    await awaited;
    queue.reportLeft();
  });

  test('a stream that waited for a failed event throws too', () => {
    const [one, two] = [queue.addStream(0, true), queue.addStream(0, true)];
    issue(one).settle(failure('a'), 1, 2);
    queue.join(two, queue.join(one));
    expect(() => queue.query(one.frontier, [one])).toThrow('WS3001: a');
    expect(issue(two).status).toBe('failed');
    expect(() => queue.query(two.frontier, [two])).toThrow('WS3001: a');
  });

  test('the default stream carries an error to others only until it was thrown', () => {
    const [one, two] = [queue.addStream(0, true), queue.addStream(0, true)];
    issue(queue.defaultStream).settle(failure('a'), 1, 2);
    expect(issue(one).status).toBe('failed');
    expect(() => queue.query(one.frontier, [one])).toThrow('WS3001: a');
    expect(issue(one).status).toBe('queued');
    expect(issue(two).status).toBe('queued');
    expect(issue(queue.defaultStream).status).toBe('failed');
  });

  test('several errors are thrown as one', () => {
    const [one, two] = [queue.addStream(0, false), queue.addStream(0, false)];
    issue(one).settle(failure('a'), 1, 2);
    issue(two).settle(failure('b'), 1, 2);
    const report = () => queue.query([...one.frontier, ...two.frontier], [one, two]);
    expect(report).toThrow(/WS3001: a\s+WS3001: b/);
    expect(issue(one).status).toBe('queued');
  });

  test('a completion is watched for only while it is outstanding', async () => {
    const stream = queue.addStream(0, true);
    const command = issue(stream);
    const completion = queue.synchronize([command], [stream]);
    expect(dispatcher.watched).toEqual([command]);
    done(command);
    await completion;
    await queue.synchronize([command], [stream]);
    expect(dispatcher.watched).toEqual([command]);
  });
});

test('with a default stream per thread, no stream waits for another', () => {
  queue = new CommandQueue(new PatientDispatcher(), 'perThread');
  const stream = queue.addStream(0, true);
  issue(stream);
  expect(issue(queue.defaultStream).dependencies).toEqual([]);
  expect(ids(issue(stream).dependencies)).toEqual([1]);
});
