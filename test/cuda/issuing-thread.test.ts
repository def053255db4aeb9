// The thread that issues: whatever a program does, the driver gets the same calls in the same order as from the thread of the
// program itself, and no failure of a call is lost. A driver of the tests' own notes what it gets. Needs a C
// compiler.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, kernel, open, type Stream, WarpstageError } from 'warpstage';
import { addressOf } from '#warpstage/runtime/cuda/library.js';
import { checkAnyFailures } from '../runtime/any-failures.ts';
import { checkAnyOrder } from '../runtime/any-order.ts';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const numbered = kernel({ y: 'i32[]', n: 'i32' }, ({ y, n }, cuda) => {
  y[cuda.thisGrid().threadRank()] = n;
});
const other = kernel({ y: 'i32[]', x: 'f64', n: 'i32' }, ({ y, x, n }, cuda) => {
  y[cuda.thisGrid().threadRank()] = n + cuda.i32(x);
});

const stepKinds = [
  'launch',
  'launch',
  'other launch',
  'copy in',
  'copy out',
  'set',
  'record',
  'wait',
  'record with a time',
  'query',
  'host function',
  'graph',
  'alloc',
  'synchronise',
  'turn',
] as const;
interface Step {
  readonly kind: (typeof stepKinds)[number];
  readonly stream: number;
  readonly part: number;
}
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...stepKinds), stream: fc.nat(3), part: fc.nat(7) }),
  { minLength: 5, maxLength: 80 },
);
/** Steps that settle nothing, so that many are written down one after the other. */
const burst: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('launch', 'other launch', 'copy in', 'set', 'record', 'wait'),
    stream: fc.nat(3),
    part: fc.nat(7),
  }) as fc.Arbitrary<Step>,
  { minLength: 40, maxLength: 300 },
);

/** Does the steps on a device, and waits for all. */
async function run(device: Device, program: readonly Step[]): Promise<void> {
  const y = device.alloc('i32', 64);
  const pinned = device.allocPinned('i32', 64);
  const streams = [device.defaultStream, ...[0, 1, 2].map(() => device.createStream())];
  const events = streams.map(() => device.createEvent({ timing: false }));
  const timed = streams.map(() => device.createEvent());
  const graph = streams[1]!.capture(() => {
    for (let n = 0; n < 3; ++n) streams[1]!.launch(numbered, { grid: 1, block: 8 }, { y, n: 1000 + n });
  });
  for (const [n, { kind, stream: s, part }] of program.entries()) {
    const stream = streams[s]!;
    const own = y.subarray(8 * part, 8 * part + 8);
    const host = pinned.subarray(8 * part, 8 * part + 8);
    if (kind === 'launch') stream.launch(numbered, { grid: 1, block: 8 }, { y: own, n });
    else if (kind === 'other launch')
      stream.launch(other, { grid: part + 1, block: 1 }, { y, x: part / 4, n });
    else if (kind === 'copy in') stream.memcpyAsync(own, host);
    else if (kind === 'copy out') stream.memcpyAsync(host, own);
    else if (kind === 'set') stream.memsetAsync(own, part);
    else if (kind === 'record') stream.record(events[s]!);
    else if (kind === 'record with a time') stream.record(timed[s]!);
    else if (kind === 'wait') stream.waitEvent(events[part % 4]!);
    else if (kind === 'query') stream.query();
    else if (kind === 'host function') stream.launchHostFunction(() => {});
    else if (kind === 'graph') graph.launch(stream);
    else if (kind === 'alloc') device.alloc('i32', 8 + n).free();
    else if (kind === 'synchronise') await stream.synchronize();
    else await new Promise((resolve) => setImmediate(resolve));
  }
  await device.synchronize();
  for (const stream of streams.slice(1)) await stream.destroy();
  for (const event of [...events, ...timed]) event.destroy();
  y.free();
  pinned.free();
}

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(() => {
    fake.reset();
    process.env.WARPSTAGE_ISSUING_THREAD = 'always';
  });
  afterEach(() => fake.reset());
  afterAll(() => fake.remove());

  const numRuns = Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 25);

  /** What the driver gets of a program, with handles and addresses numbered as they come. */
  async function logOf(device: Device, program: readonly Step[]): Promise<readonly string[]> {
    const most = 4000;
    const words = new BigUint64Array(4 * most);
    fake.log(addressOf(words), most);
    await run(device, program);
    const count = fake.logged();
    fake.log(0, 0);
    const numbers = new Map<bigint, number>();
    const numberOf = (word: bigint) => {
      if (!numbers.has(word)) numbers.set(word, numbers.size);
      return numbers.get(word);
    };
    return Array.from({ length: count }, (_, entry) => {
      const [kind, stream, what, which] = [...words.subarray(4 * entry, 4 * entry + 4)];
      const operands =
        kind === 3n || kind === 4n ? [what] : [numberOf(what!), kind === 5n ? numberOf(which!) : ''];
      return [kind, numberOf(stream!), ...operands].join(' ');
    });
  }

  async function checkSame(program: fc.Arbitrary<readonly Step[]>, thread: string): Promise<void> {
    process.env.WARPSTAGE_ISSUING_THREAD = '0';
    await using alone = await open('cuda', { checked: false });
    process.env.WARPSTAGE_ISSUING_THREAD = thread;
    await using device = await open('cuda', { checked: false });
    await fc.assert(
      fc.asyncProperty(program, fc.nat(2000), async (list, busy) => {
        fake.busy(busy);
        const expected = await logOf(alone, list);
        expect(await logOf(device, list)).toEqual(expected);
      }),
      { numRuns },
    );
    expect(fake.asides()).toBeGreaterThan(thread === 'always' ? 100 : 0);
  }

  test('the driver gets the same, call by call, where a thread issues every call', () =>
    checkSame(steps, 'always'));
  test('the same in bursts, which wake the thread and go over to it', () => checkSame(burst, 'bursts'));

  test('few calls in a row are made by the thread of the program', async () => {
    process.env.WARPSTAGE_ISSUING_THREAD = 'bursts';
    await using device = await open('cuda', { checked: false });
    fake.reset();
    const y = device.alloc('i32', 64);
    for (let turn = 0; turn < 50; ++turn) {
      for (let n = 0; n < 4; ++n) device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n });
      await device.synchronize();
    }
    expect(fake.asides()).toBe(0);
  });

  test('what is recorded is issued by the thread of the program', async () => {
    await using device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 64);
    const launches = () => {
      for (let n = 0; n < 50; ++n) device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n });
    };
    launches();
    await device.synchronize();
    expect(fake.asides()).toBeGreaterThan(0);
    device.recorder = () => {};
    fake.reset();
    launches();
    await device.synchronize();
    expect(fake.asides()).toBe(0);
    device.recorder = null;
    launches();
    await device.synchronize();
    expect(fake.asides()).toBeGreaterThan(0);
  });

  test('in any order, in streams that take time, each operation does what it says', async () => {
    for (let seed = 1; seed <= 3; ++seed) {
      fake.lag(1, seed);
      await using device = await open('cuda');
      await checkAnyOrder(device, null, 15);
    }
  });

  test('each synchronisation waits, and each failure is thrown', async () => {
    fake.lag(20, 1);
    await checkAnyFailures({
      open: () => open('cuda', { checked: false }),
      faults: false,
      numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 15),
    });
  });

  test('more calls than the ring has room for are issued, in their order', async () => {
    await using device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 64);
    const stream = device.createStream();
    const launch = (n: number) => stream.launch(numbered, { grid: 1, block: 8 }, { y, n });
    launch(0);
    await stream.synchronize();
    const count = 8000;
    const words = new BigUint64Array(8 * count);
    // With a driver that is slower than the program the ring fills up.
    for (const busy of [0, 20_000]) {
      fake.busy(busy);
      fake.log(addressOf(words), 2 * count);
      for (let n = 0; n < count; ++n) launch(n);
      await stream.synchronize();
      // Beside the launches there are recordings of events, by which the stream is asked.
      const launches = Array.from({ length: fake.logged() }, (_, entry) => entry).filter(
        (entry) => words[4 * entry] === 4n,
      );
      expect(launches.length).toBe(count);
      for (const [n, entry] of launches.entries())
        if (words[4 * entry + 2] !== BigInt(n)) expect.fail(`launch ${n}`);
    }
    fake.log(0, 0);
  });

  /** What a log has by now, an entry for each call: its kind, and what it is about. */
  function entriesOf(words: BigUint64Array): readonly (readonly bigint[])[] {
    return Array.from({ length: fake.logged() }, (_, entry) => [...words.subarray(4 * entry, 4 * entry + 4)]);
  }

  test('a launch that the driver sees first does not overtake those that are written down', async () => {
    await using device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 64);
    const launch = (n: number, grid: number) =>
      device.defaultStream.launch(numbered, { grid, block: 8 }, { y, n });
    launch(0, 1);
    await device.synchronize();
    const words = new BigUint64Array(4 * 200);
    // A driver so slow that all of it is written down before the second call is made.
    fake.busy(500_000);
    fake.log(addressOf(words), 200);
    for (let n = 0; n < 20; ++n) launch(n, 1);
    launch(20, 2);
    fake.busy(0);
    await device.synchronize();
    const launches = entriesOf(words).flatMap(([kind, , what]) => (kind === 4n ? [Number(what)] : []));
    fake.log(0, 0);
    expect(launches).toEqual(Array.from({ length: 21 }, (_, n) => n));
  });

  test('another GPU waits for an event when its recording is made', async () => {
    fake.devices(2);
    await using one = await open('cuda:0', { checked: false });
    await using other = await open('cuda:1', { checked: false });
    const [y, z] = [one.alloc('i32', 64), other.alloc('i32', 64)];
    const [stream, waiting] = [one.createStream(), other.createStream()];
    const launch = () => stream.launch(numbered, { grid: 1, block: 8 }, { y, n: 1 });
    launch();
    waiting.memsetAsync(z, 0);
    await one.synchronize();
    await other.synchronize();
    const event = one.createEvent({ timing: false });
    const words = new BigUint64Array(4 * 200);
    // So many that the driver, as slow until all is done, has most of them before it when the other GPU is to wait.
    fake.busy(500_000);
    fake.log(addressOf(words), 200);
    for (let n = 0; n < 60; ++n) launch();
    stream.record(event);
    waiting.waitEvent(event);
    waiting.memsetAsync(z, 1);
    await one.synchronize();
    await other.synchronize();
    fake.busy(0);
    const entries = entriesOf(words);
    fake.log(0, 0);
    const wait = entries.findIndex(([kind]) => kind === 2n);
    const recorded = entries.slice(0, Math.max(wait, 0)).filter(([kind]) => kind === 1n);
    expect(recorded.map(([, , what, which]) => [what, which])).toContainEqual(entries[wait]?.slice(2));
    expect(entries.slice(0, wait).filter(([kind]) => kind === 4n).length).toBe(60);
  });

  test('a thread that has fallen asleep between two calls is woken', async () => {
    await using device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 64);
    const launch = (n: number) => device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n });
    launch(0);
    const before = fake.launches();
    const until = (time: number) => {
      while (performance.now() < time) {}
    };
    for (let n = 1; n <= 200; ++n) {
      launch(n);
      // Around the time that it looks for calls before it sleeps.
      until(performance.now() + (n % 3 === 0 ? 1.2 : 0.99 + (n % 20) * 0.001));
    }
    // Nothing asks the driver for anything: each is issued all the same.
    const end = performance.now() + 5000;
    while (fake.launches() < before + 200 && performance.now() < end) {}
    expect(fake.launches()).toBe(before + 200);
  });

  // Failures

  const functions = [
    'cuLaunchKernelEx',
    'cuMemcpyAsync',
    'cuMemsetD8Async',
    'cuEventRecord',
    'cuStreamWaitEvent',
    'cuGraphLaunch',
  ];
  const results = {
    'out of memory': 2,
    'too many resources': 701,
    'an illegal address': 700,
    'an unknown error': 999,
  };

  /** Everything that a program throws. */
  async function failuresOf(device: Device, issue: () => void): Promise<readonly WarpstageError[]> {
    const failures: WarpstageError[] = [];
    const tried = async (call: () => unknown) => {
      try {
        await call();
      } catch (error) {
        if (!(error instanceof WarpstageError)) throw error;
        failures.push(error);
      }
    };
    await tried(issue);
    await tried(() => device.synchronize());
    return failures;
  }

  test.each(
    functions.flatMap((name) =>
      Object.entries(results).map(([what, result]) => [name, what, result] as const),
    ),
  )('a failure of %s with %s is thrown, whichever call it is', async (name, _, result) => {
    for (const successes of [0, 1, 7, 25]) {
      fake.reset();
      const device = await open('cuda', { checked: false });
      const y = device.alloc('i32', 64);
      const pinned = device.allocPinned('i32', 64);
      const streams = [device.createStream(), device.createStream()];
      const events = streams.map(() => device.createEvent({ timing: false }));
      const graph = streams[0]!.capture(() => streams[0]!.memsetAsync(y, 1));
      const issue = () => {
        for (let n = 0; n < 40; ++n) {
          graph.launch(streams[0]!);
          const [stream, next] = [streams[n % 2]!, streams[(n + 1) % 2]!];
          stream.launch(numbered, { grid: 1, block: 8 }, { y, n });
          stream.memcpyAsync(y, pinned);
          stream.memsetAsync(y, n);
          stream.record(events[n % 2]!);
          next.waitEvent(events[n % 2]!);
        }
      };
      // Once, so that the driver knows the kernel.
      expect(await failuresOf(device, issue)).toEqual([]);
      fake.fail(name, result, successes);
      const failures = await failuresOf(device, issue);
      expect(failures).not.toEqual([]);
      for (const { message } of failures) expect(message).toMatch(/WS(2003|4001|4006)/);
      fake.fail('', 0, 0);
      // A command that was refused harms no later one; where no order holds any more, nothing goes on.
      const isOrder = name === 'cuEventRecord';
      const isOver =
        isOrder || result === results['an illegal address'] || result === results['an unknown error'];
      const after = await failuresOf(device, issue);
      if (isOver) expect(after).not.toEqual([]);
      else expect(after).toEqual([]);
      await device.close().catch((error: unknown) => expect(error).toBeInstanceOf(WarpstageError));
    }
  });

  test('what depends on a command that was refused fails with it; what does not is done', async () => {
    await using device = await open('cuda', { checked: false });
    const [y, z] = [device.alloc('i32', 8), device.alloc('i32', 8)];
    const [pinned, source] = [device.allocPinned('i32', 8), device.allocPinned('i32', 8)];
    source.array.fill(5);
    const [one, two] = [device.createStream(), device.createStream()];
    const launch = () => one.launch(numbered, { grid: 1, block: 8 }, { y, n: 3 });
    launch();
    await device.synchronize();
    fake.fail('cuLaunchKernelEx', 2, 0);
    launch();
    one.memcpyAsync(pinned, y);
    two.memcpyAsync(z, source);
    two.memcpyAsync(pinned, z);
    await two.synchronize();
    expect([...pinned.array]).toEqual(Array(8).fill(5));
    await expect(one.synchronize()).rejects.toThrow('WS4001: launching the kernel failed');
    fake.fail('', 0, 0);
    launch();
    await one.synchronize();
  });

  test('a recording that fails loses the GPU: others may wait for it', async () => {
    const device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 8);
    const one = device.createStream();
    const launch = (stream: Stream) => stream.launch(numbered, { grid: 1, block: 8 }, { y, n: 3 });
    launch(one);
    launch(device.defaultStream);
    await device.synchronize();
    fake.lag(200, 1);
    launch(one);
    fake.fail('cuEventRecord', 2, 0);
    // The default stream waits for the other one: its command needs the recording.
    launch(device.defaultStream);
    await expect(device.synchronize()).rejects.toThrow('WS4006');
    expect(() => launch(one)).toThrow('WS4006');
    await device.close();
  });

  test('a launch that the driver sees first is refused where it is called', async () => {
    await using device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 64);
    fake.fail('cuLaunchKernelEx', 701, 0);
    expect(() => device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n: 0 })).toThrow('WS2003');
  });

  test('a failure that nobody waited for is thrown by close', async () => {
    const device = await open('cuda', { checked: false });
    const y = device.alloc('i32', 64);
    const launch = () => device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n: 0 });
    launch();
    await device.synchronize();
    fake.fail('cuLaunchKernelEx', 2, 5);
    for (let n = 0; n < 20; ++n) launch();
    await expect(device.close()).rejects.toThrow('WS4001');
  });

  test('a word that asks for no kind of thread is refused', async () => {
    process.env.WARPSTAGE_ISSUING_THREAD = 'off';
    await expect(open('cuda')).rejects.toThrow(
      'WS4007: WARPSTAGE_ISSUING_THREAD must be 0, bursts or always',
    );
    expect(fake.retained()).toBe(0);
    process.env.WARPSTAGE_ISSUING_THREAD = '';
    await (await open('cuda')).close();
  });

  // Its life

  const threads = () => readdirSync('/proc/self/task').length;

  test.skipIf(process.platform !== 'linux')('its thread ends with its device', async () => {
    const use = async () => {
      await using device = await open('cuda', { checked: false });
      const y = device.alloc('i32', 64);
      for (let n = 0; n < 50; ++n) device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n });
      return threads();
    };
    const during = await use();
    const before = threads();
    expect(during).toBeGreaterThan(before);
    for (let n = 0; n < 10; ++n) expect(await use()).toBe(during);
    expect(threads()).toBe(before);
  });

  test.each([
    ['at its end', ''],
    ['by process.exit()', 'process.exit(0);'],
    [
      'while much is still to be issued',
      'fake_busy(20000); for (let n = 0; n < 2000; ++n) launch(n); process.exit(0);',
    ],
  ])('a process that leaves its device open ends %s', (_, end) => {
    const program = `
      import { createRequire } from 'node:module';
      import { kernel, open } from 'warpstage';
      const library = createRequire(import.meta.url)('koffi').load(process.env.WARPSTAGE_DRIVER);
      const fake_busy = library.func('fake_busy', 'void', ['int']);
      const numbered = kernel({ y: 'i32[]', n: 'i32' }, ({ y, n }, cuda) => { y[cuda.thisGrid().threadRank()] = n; });
      const device = await open('cuda', { checked: false });
      const y = device.alloc('i32', 64);
      const launch = (n) => device.defaultStream.launch(numbered, { grid: 1, block: 8 }, { y, n });
      for (let n = 0; n < 100; ++n) launch(n);
      await device.synchronize();
      console.log('done');
      ${end}`;
    const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(said).toBe('done\n');
  });
});
