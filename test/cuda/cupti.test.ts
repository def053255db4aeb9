// Spans whose times are CUPTI's: with a library of the tests' own, which calls back from the thread
// that issues and from others, drops records and refuses; and on a GPU, if one is here.

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chromeTrace, type Device, job, kernel, open, run, type Span } from 'warpstage';
import { type Expected, StreamMatching } from '#warpstage/runtime/cuda/cupti/matching.js';
import { activityKinds, isKnownVersion } from '#warpstage/runtime/cuda/cupti/records.js';
import { readTrace } from '#warpstage/timeline/read-trace.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';
import { gpus } from '../support/gpu.ts';

const step = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = y[i]! + 1;
  },
  { name: 'step' },
);

/** Some work of every kind on two streams, and what was recorded of it. */
async function recorded(device: Device, rounds: number): Promise<Span[]> {
  const spans: Span[] = [];
  device.recorder = (span) => spans.push(span);
  const streams = [device.createStream(), device.createStream()];
  const hosts = streams.map(() => device.allocPinned('i32', 1000));
  const arrays = streams.map(() => device.alloc('i32', 1000));
  for (let round = 0; round < rounds; round++) {
    for (const [i, stream] of streams.entries()) {
      stream.memcpyAsync(arrays[i]!, hosts[i]!);
      stream.launch(step, { grid: 4, block: 256 }, { y: arrays[i]! });
      stream.memsetAsync(arrays[i]!, 0);
      stream.memcpyAsync(hosts[i]!, arrays[i]!);
    }
  }
  await device.synchronize();
  device.recorder = null;
  for (const array of [...hosts, ...arrays]) array.free();
  for (const stream of streams) await stream.destroy();
  return spans;
}

function expectRecords(spans: readonly Span[], rounds: number): void {
  expect(spans).toHaveLength(8 * rounds);
  const names = ['memcpy host to device', 'step', 'memset', 'memcpy device to host'];
  for (const [i, stream] of [...new Set(spans.map((span) => span.stream))].entries()) {
    const own = spans.filter((span) => span.stream === stream);
    expect(own.map(({ name }) => name)).toEqual(Array.from({ length: rounds }, () => names).flat());
    for (const [position, span] of own.entries()) {
      expect(span.ended, `${i} ${position}`).toBeGreaterThan(span.started);
      expect(span.started).toBeGreaterThanOrEqual(own[position - 1]?.started ?? 0);
      // The clocks agree to well within the time that issuing takes.
      expect(span.started).toBeGreaterThan(span.queued - 0.2);
    }
  }
}

describe.skipIf(!canFake || gpus > 0)('with a CUPTI of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
    fake.cuptiReset();
  });
  afterAll(() => {
    fake.remove();
  });

  test('spans have the times and the channels of the records', async () => {
    await using device = await open('cuda');
    expect(device.times).toEqual({ source: 'events', note: null });
    device.recording = { times: 'cupti' };
    expect(device.times).toEqual({ source: 'cupti', note: null });
    const spans = await recorded(device, 3);
    expectRecords(spans, 3);
    for (const { name, started, ended, channel } of spans) {
      expect(ended - started).toBeCloseTo(1e-3, 4); // what the fake says of everything: a microsecond
      expect(channel).toBe(name.startsWith('memcpy') ? 'copy 12' : 'compute 1');
    }
    expect(spans.map(({ id }) => id)).toEqual(spans.map(({ id }) => id).sort((a, b) => a! - b!));
    const [back] = readTrace('t.json', [...chromeTrace(spans, { title: 't' })].join('')).spans;
    expect(back!.channel).toBe('copy 12');
  });

  test('buffers that are full while the main thread issues, by the hundred', async () => {
    fake.cuptiMost(3);
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    for (let again = 0; again < 2; again++) {
      const spans = await recorded(device, 40);
      expect(spans).toHaveLength(320);
      const unrecorded = spans.filter(({ channel }) => channel === undefined).length;
      // With few records to a buffer there may be too few buffers; what has no record is said.
      expect(device.times.note === null).toBe(unrecorded === 0);
    }
  });

  test('what has no record is reported all the same, and that it has none', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    const [y, host] = [device.alloc('i32', 16), device.allocPinned('i32', 16)];
    await device.synchronize();
    fake.cuptiDrop(2);
    for (const length of [16, 8]) {
      device.defaultStream.memsetAsync(y.subarray(0, length), length);
      device.defaultStream.memcpyAsync(host.subarray(0, length), y.subarray(0, length));
    }
    await device.synchronize();
    expect(spans.map(({ bytes, channel }) => [bytes, channel])).toEqual([
      [64, undefined],
      [64, undefined],
      [32, 'compute 1'],
      [32, 'copy 12'],
    ]);
    expect(device.times.note).toBe(
      '2 operations have no record: their times are when they were issued and seen to be done',
    );
  });

  test('a stream of the driver that is used again, before the records of its former use are there', async () => {
    fake.cuptiHold();
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    const y = device.alloc('i32', 16);
    device.defaultStream.memsetAsync(y, 0); // nobody has asked yet whether this is complete
    for (const length of [1, 2, 3]) {
      const stream = device.createStream({ nonBlocking: true });
      stream.memsetAsync(y.subarray(0, length), length);
      await stream.synchronize();
      await stream.destroy();
    }
    await device.synchronize();
    expect(device.times.note).toBeNull();
    spans.sort((a, b) => a.id! - b.id!);
    expect(spans.map(({ bytes, channel }) => [bytes, channel])).toEqual(
      [64, 4, 8, 12].map((bytes) => [bytes, 'compute 1']),
    );
    expect(spans.map(({ started }) => started)).toEqual(spans.map(({ started }) => started).sort());
  });

  test('who listens hears of what was done before somebody else listens', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const [first, second]: Span[][] = [[], []];
    const y = device.alloc('i32', 16);
    device.recorder = (span) => first!.push(span);
    device.defaultStream.memsetAsync(y, 1);
    await device.defaultStream.synchronize();
    device.recorder = (span) => second!.push(span);
    expect(first).toHaveLength(1);
    device.defaultStream.memsetAsync(y, 2);
    await device.close();
    expect([first, second].map((spans) => spans!.length)).toEqual([1, 1]);
  });

  test('from a graph on, events tell', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    const y = device.alloc('i32', 16);
    const stream = device.createStream();
    const graph = stream.capture(() => stream.memsetAsync(y, 4));
    stream.memsetAsync(y, 1);
    graph.launch(stream);
    stream.memsetAsync(y, 2);
    await device.synchronize();
    const reported = () => spans.sort((a, b) => a.id! - b.id!).map(({ name, channel }) => [name, channel]);
    expect(reported()).toEqual([
      ['memset', 'compute 1'],
      ['graph', undefined],
      ['memset', undefined],
    ]);
    expect(device.times.note).toBe('from the first graph on, times are those of events');
    device.recorder = (span) => spans.push(span);
    stream.memsetAsync(y, 3);
    await device.synchronize();
    expect(reported().at(-1)).toEqual(['memset', 'compute 1']);
    expect(device.times.note).toBeNull();
  });

  test('the report of a job and its trace have the times of the records', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const double = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < y.length) y[i] = 2 * x[i]!;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    const input = new Float32Array(4096);
    const { spans, report } = await run(double, {
      input,
      output: new Float32Array(4096),
      device,
      chunk: 1024,
      trace: true,
    });
    for (const name of ['copy in', 'compute', 'copy out'] as const) {
      const stage = report.stages.find((each) => each.name === name)!;
      expect(stage.operations).toBe(4);
      expect(stage.busy).toBeCloseTo(4e-3, 3);
      const own = spans.filter(({ engine }) => engine === name);
      expect(own).toHaveLength(4);
      for (const { channel } of own) expect(channel).toBeDefined();
    }
    expect(device.times).toEqual({ source: 'cupti', note: null });
  });

  test('many operations are reported without being asked for', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    let reported = 0;
    device.recorder = () => ++reported;
    const y = device.alloc('i32', 16);
    for (let i = 0; i < 50; i++) {
      for (let j = 0; j < 50; j++) device.defaultStream.memsetAsync(y, j);
      await device.defaultStream.synchronize();
    }
    expect(reported).toBeGreaterThan(2000);
    await device.synchronize();
    expect(reported).toBe(2500);
  });

  test('CUPTI that refuses, or has a device that is lost: events, or nothing, but no error', async () => {
    {
      fake.cuptiRefuse();
      await using device = await open('cuda');
      device.recording = { times: 'cupti' };
      const spans = await recorded(device, 1);
      expect(spans).toHaveLength(8);
      expect(device.times).toEqual({ source: 'events', note: 'CUPTI refused to record' });
    }
    fake.cuptiReset();
    const device = await open('cuda');
    device.recording = { times: 'cupti' };
    const spans: Span[] = [];
    device.recorder = (span) => spans.push(span);
    const y = device.alloc('i32', 16);
    device.defaultStream.memsetAsync(y, 1);
    fake.lose(700);
    await expect(device.synchronize()).rejects.toThrow('WS4006: the GPU stopped');
    await device.close();
    expect(spans).toEqual([]);
    fake.reset();
  });

  test('stages are not recorded on a GPU', async () => {
    await using device = await open('cuda');
    expect(() => {
      device.recording = { stages: { block: 0 } };
    }).toThrow(
      "WS4007: recording: a GPU does not record the stages of pipelines\n  hint: record them on open('cpu'), or see them under the checker with traceStages()",
    );
    await using cpu = await open('cpu');
    cpu.recording = { stages: { block: 0 } };
  });

  test.each([
    ['clean', ''],
    ['with work in flight', 'process.exit(0);'],
    ['by an error', 'throw new Error("out");'],
  ])('a process that ends %s, ends', (_, last) => {
    const program = `
      import { open } from 'warpstage';
      const device = await open('cuda');
      device.recording = { times: 'cupti' };
      device.recorder = () => {};
      const y = device.alloc('i32', 16);
      for (let i = 0; i < 100; i++) device.defaultStream.memsetAsync(y, i);
      ${last}
      await device.synchronize();
      console.log(device.times.source);
      await device.close();`;
    const run = () =>
      execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        stdio: 'pipe',
        timeout: 20_000,
      });
    if (last.startsWith('throw')) expect(run).toThrow('Error: out');
    else expect(run().toString()).toBe(last === '' ? 'cupti\n' : '');
  });
});

describe.skipIf(canFake && gpus === 0)('on a GPU', () => {
  test.skipIf(gpus === 0)('spans have the times and the channels of the records', async () => {
    await using device = await open('cuda');
    device.recording = { times: 'cupti' };
    const spans = await recorded(device, 200);
    expectRecords(spans, 200);
    expect(device.times).toEqual({ source: 'cupti', note: null });
    for (const { channel } of spans) expect(channel).toMatch(/^(compute|copy) \d+$/);
  });
});

describe('which records are of which command', () => {
  type Numbered = Expected & { readonly command: number };
  const record = (correlation: number, kind: number, bytes = 0) => ({
    ...{ kind, context: 1, stream: 1, correlation, bytes, channel: 'copy 1' },
    ...{ start: 10 * correlation, end: 10 * correlation + 5 },
  });
  const commands = fc.array(
    fc.record({
      kind: fc.constantFrom(activityKinds.memcpy, activityKinds.memset, activityKinds.kernel),
      bytes: fc.integer({ min: 1, max: 3 }),
      calls: fc.constantFrom(1, 1, 1, 0, 2),
      preparations: fc.constantFrom(0, 0, 0, 1),
    }),
  );

  test('all of them, in whatever order they come', () => {
    fc.assert(
      fc.property(commands, fc.infiniteStream(fc.nat()), (list, random) => {
        const matching = new StreamMatching<Numbered>();
        const records: ReturnType<typeof record>[] = [];
        let calls = 0;
        const starts = list.map(({ kind, bytes, calls: count, preparations }, command) => {
          const expected: Numbered = { command, preparations, calls: count, kinds: [kind], bytes };
          matching.expect(expected);
          for (let i = 0; i < preparations; i++) records.push(record(++calls, activityKinds.memcpy, 9));
          const own = Array.from({ length: count }, () => record(++calls, kind, bytes));
          records.push(...own);
          return own[0]?.start ?? null;
        });
        const shuffled = records.map((each) => ({ each, key: random.next().value as number }));
        shuffled.sort((a, b) => a.key - b.key);
        for (const { each } of shuffled) matching.add(each);
        expect(matching.isComplete).toBe(true);
        const matched = matching.take();
        expect(matched.map(({ expected }) => expected.command)).toEqual(list.map((_, i) => i));
        expect(matched.map(({ activity }) => activity?.start ?? null)).toEqual(starts);
        expect(matching.waiting).toBe(0);
      }),
    );
  });

  test('where some are missing, none is taken for what it cannot be of', () => {
    fc.assert(
      fc.property(commands, fc.nat(), (list, lost) => {
        const matching = new StreamMatching<Numbered>();
        let calls = 0;
        for (const [command, { kind, bytes }] of list.entries()) {
          matching.expect({ command, preparations: 0, calls: 1, kinds: [kind], bytes });
          if (list.length > 0 && command !== lost % list.length) matching.add(record(++calls, kind, bytes));
        }
        const matched = matching.take();
        expect(matched).toHaveLength(list.length);
        expect(matched.filter(({ activity }) => activity === null)).toHaveLength(list.length > 0 ? 1 : 0);
        const starts = matched.flatMap(({ activity }) => activity?.start ?? []);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }),
    );
  });

  test('versions whose records are known', () => {
    expect([16, 17, 28, 29, 130_000, 130_001, 130_100].map(isKnownVersion)).toEqual([
      false,
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });
});
