// What a kernel tells the host, read from memory that a driver of the tests' own fills as generated kernels
// do: faults, lines, and what becomes of the commands behind them. Needs a C compiler.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, kernel, open, type WarpstageError } from 'warpstage';
import { openDevices } from '#warpstage/overlap/devices.js';
import { canFake, type FakeCuda, installFakeCuda } from '../support/fake-cuda.ts';

const scale = kernel(
  { y: 'f32[]' },
  ({ y }, cuda) => {
    y[cuda.thisGrid().threadRank()]! *= 2;
  },
  { name: 'scale' },
);
const speak = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    console.log('element', y[cuda.threadIdx.x]);
  },
  { name: 'speak' },
);
const shape = { grid: 4, block: [8, 4] as const };

async function errorOf(promise: Promise<unknown>): Promise<WarpstageError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).not.toBeNull();
  return error as WarpstageError;
}

describe.skipIf(!canFake)('with a driver of the tests’ own', () => {
  let fake: FakeCuda;
  let device: Device;

  beforeAll(() => {
    fake = installFakeCuda();
  });
  beforeEach(async () => {
    fake.reset();
    device = await open('cuda', { checked: true });
    return () => device.close();
  });
  afterAll(() => {
    fake.remove();
  });

  test('a fault has its line, thread, block and values', async () => {
    const y = device.alloc('f32', 100);
    fake.fault(0, 13, 3, 109, 100, 0, 0);
    const { ranOn } = device.defaultStream.launch(scale, shape, { y });
    expect(ranOn).toBe('cuda (kernel, checked)');
    const error = await errorOf(device.synchronize());
    expect(error.issues).toHaveLength(1);
    expect(error.issues[0]).toMatchObject({
      code: 'WS3001',
      message: 'kernel `scale` reads `y[109]`, but `y` has 100 elements',
      thread: [5, 1, 0],
      block: [3, 0, 0],
    });
    const { file, text, line } = error.issues[0]!.location!;
    expect(file).toMatch(/reported\.test\.ts$/);
    expect(text.split('\n')[line - 1]).toContain('y[cuda.thisGrid().threadRank()]! *= 2;');
  });

  test('commands behind a fault fail with it; then the stream goes on, cleared', async () => {
    const stream = device.createStream();
    const other = device.createStream({ nonBlocking: true });
    const y = device.alloc('f32', 4);
    const result = Float32Array.of(5, 5, 5, 5);
    fake.fault(0, 0, 0, 7, 4, 0, 0);
    stream.launch(scale, shape, { y });
    // The kernel behind it ends as it begins: it would tell a fault of its own.
    fake.fault(0, 0, 0, 8, 4, 0, 0);
    stream.launch(scale, shape, { y });
    stream.memcpyAsync(result, y);
    const behind = device.createEvent();
    stream.record(behind);
    other.waitEvent(behind);
    other.memsetAsync(y, 0);
    expect((await errorOf(other.synchronize())).issues[0]!.message).toContain('reads `y[7]`');
    expect((await errorOf(stream.synchronize())).issues[0]!.message).toContain('reads `y[7]`');
    expect([...result]).toEqual([5, 5, 5, 5]);
    await stream.synchronize();
    stream.launch(scale, shape, { y });
    expect((await errorOf(stream.synchronize())).issues[0]!.message).toContain('reads `y[8]`');
    stream.launch(scale, shape, { y });
    stream.memcpyAsync(result, y);
    await stream.synchronize();
    expect([...result]).toEqual([0, 0, 0, 0]);
  });

  test('a fault on one stream is none of another’s', async () => {
    const [one, two] = [device.createStream(), device.createStream()];
    const y = device.alloc('f32', 4);
    fake.fault(1, 2, 0, -1, 4, 0, 0);
    one.launch(scale, shape, { y });
    two.launch(scale, shape, { y });
    await two.synchronize();
    expect((await errorOf(one.synchronize())).issues[0]!.message).toBe(
      'kernel `scale` writes `y[-1]`, but `y` has 4 elements',
    );
  });

  test('streams that come, fail and go each report their own faults and lines alone', async () => {
    const kinds = ['fault', 'print', 'plain', 'synchronise', 'replace'] as const;
    const operation = fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat(3) });
    const y = device.alloc('f32', 4);
    const words = device.alloc('i32', 64);
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    let faults = 4;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 20 }), async (operations) => {
        const made = () => ({ stream: device.createStream({ nonBlocking: true }), fault: 0 });
        const streams = Array.from({ length: 4 }, made);
        const expectTold = async (fault: number, call: () => Promise<void>) => {
          if (fault === 0) await call();
          else
            expect((await errorOf(call())).issues.map(({ message }) => message)).toEqual([reported(fault)]);
        };
        const reported = (fault: number) =>
          `kernel \`scale\` reads \`y[${fault}]\`, but \`y\` has 4 elements`;
        for (const { kind, which } of operations) {
          const own = streams[which]!;
          const { stream, fault } = own;
          lines.length = 0;
          if (kind === 'synchronise') {
            own.fault = 0;
            await expectTold(fault, () => stream.synchronize());
          } else if (kind === 'replace') {
            streams[which] = made();
            await expectTold(fault, () => stream.destroy());
          } else if (kind === 'plain' || fault > 0) {
            stream.launch(scale, shape, { y });
          } else if (kind === 'print') {
            fake.print(1, 1);
            stream.launch(speak, shape, { y: words });
            stream.query();
            expect(lines).toEqual(['element 0']);
          } else {
            own.fault = ++faults;
            fake.fault(0, 0, 0, own.fault, 4, 0, 0);
            stream.launch(scale, shape, { y });
          }
        }
        for (const { stream, fault } of streams) await expectTold(fault, () => stream.destroy());
      }),
      { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 40) },
    );
  });

  test('a stream that is destroyed behind a fault gives back what it was given before', async () => {
    const [stream, other] = [
      device.createStream({ nonBlocking: true }),
      device.createStream({ nonBlocking: true }),
    ];
    const [y, z] = [device.alloc('f32', 4), device.alloc('f32', 4)];
    const behind = device.createEvent();
    fake.fault(0, 0, 0, 7, 4, 0, 0);
    stream.launch(scale, shape, { y });
    stream.record(behind);
    expect((await errorOf(stream.synchronize())).code).toBe('WS3001');
    other.memsetAsync(z, 0);
    other.waitEvent(behind);
    other.memsetAsync(z, 1); // it fails at once, while the one before is in flight
    expect((await errorOf(other.destroy())).code).toBe('WS3001');
    z.free();
    y.free();
    await new Promise((resolve) => setTimeout(resolve));
    expect(device.memory.allocations).toBe(0);
  });

  test('launches of one stream that a signal cancels: whichever of them runs is asked to end', async () => {
    const y = device.alloc('i32', 32);
    const stop = new AbortController();
    for (const { signal } of [stop, new AbortController(), stop]) {
      fake.print(1, 1);
      device.defaultStream.launch(speak, { ...shape, signal }, { y });
    }
    expect([2, 1, 0].map(fake.cancelled)).toEqual([0, 0, 0]);
    stop.abort();
    // The second one is not aborted; but behind one that is cancelled it fails, and does not run either.
    expect([2, 1, 0].map(fake.cancelled)).toEqual([1, 1, 1]);
    fake.print(1, 1);
    device.defaultStream.launch(speak, shape, { y });
    expect([3, 0].map(fake.cancelled)).toEqual([1, 0]);
    expect((await errorOf(device.synchronize())).code).toBe('WS3004');
  });

  test('printed lines come in the order in which they were printed, as console.log writes them', async () => {
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    fake.print(3, 1);
    device.defaultStream.launch(speak, shape, { y: device.alloc('i32', 32) });
    await device.synchronize();
    expect(lines).toEqual(['element 0', 'element 1', 'element 2']);
  });

  test('kernels print where nothing is checked too', async () => {
    await using plain = await open('cuda');
    const lines: string[] = [];
    plain.print = (line) => lines.push(line);
    const y = plain.alloc('i32', 32);
    // The first place of a kernel that tests nothing is the line itself.
    for (let launch = 0; launch < 3; ++launch) {
      fake.print(2, 0);
      expect(plain.defaultStream.launch(speak, shape, { y }).ranOn).toBe('cuda (kernel)');
    }
    await plain.synchronize();
    expect(lines).toEqual(['element 0', 'element 1', 'element 0', 'element 1', 'element 0', 'element 1']);
  });

  test('lines that find no room are counted; those that come later find it again', async () => {
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const y = device.alloc('i32', 32);
    const room = 2 ** 17 / 4;
    fake.print(room + 5, 1);
    device.defaultStream.launch(speak, shape, { y });
    await device.synchronize();
    expect(lines).toHaveLength(room + 1);
    expect(lines[room - 1]).toBe(`element ${room - 1}`);
    expect(lines[room]).toBe(
      '(5 more lines were printed and lost: the GPU keeps 1 MiB of lines until they are read)',
    );
    fake.print(1, 1);
    device.defaultStream.launch(speak, shape, { y });
    await device.synchronize();
    expect(lines.slice(room + 1)).toEqual(['element 0']);
  });

  test('lines of a kernel that is done, behind one that another kernel has only begun', async () => {
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    const y = device.alloc('i32', 32);
    const streams = [1, 2].map(() => device.createStream({ nonBlocking: true }));
    for (const [i, stream] of streams.entries()) {
      fake.print(i + 1, 1);
      if (i === 0) fake.beginLine();
      stream.launch(speak, shape, { y });
    }
    await streams[1]!.synchronize();
    expect(lines).toEqual([]);
    fake.finishLine();
    await device.synchronize();
    expect(lines).toEqual(['element 0', 'element 0', 'element 1']);
  });

  test('what a kernel printed before the GPU stopped is not lost', async () => {
    const lines: string[] = [];
    device.print = (line) => lines.push(line);
    fake.print(2, 1);
    device.defaultStream.launch(speak, shape, { y: device.alloc('i32', 32) });
    fake.lose(700);
    expect((await errorOf(device.synchronize())).code).toBe('WS4006');
    expect(lines).toEqual(['element 0', 'element 1']);
  });

  test('a graph of kernels that tell something is launched command by command', async () => {
    const stream = device.createStream();
    const y = device.alloc('f32', 4);
    const graph = stream.capture(() => stream.launch(scale, shape, { y }));
    expect(graph.launch(stream).ranOn).toBe('commands');
    fake.fault(0, 0, 0, 9, 4, 0, 0);
    graph.launch(stream);
    expect((await errorOf(stream.synchronize())).code).toBe('WS3001');
  });

  test('a job that opens its devices has them checked too', async () => {
    await using devices = await openDevices('cuda', { checked: true });
    const own = devices.participants[0]!.device;
    const { ranOn } = own.defaultStream.launch(scale, shape, { y: own.alloc('f32', 128) });
    expect(ranOn).toBe('cuda (kernel, checked)');
  });

  test('the option is true or false', async () => {
    await expect(open('cuda', { checked: 1 as never })).rejects.toThrow(
      'WS4007: open: option `checked` must be true or false, and is 1',
    );
  });
});
