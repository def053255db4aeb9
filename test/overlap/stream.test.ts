// job.stream(): parts come in order while the source is read, no more is read than was asked for, and whoever leaves
// early leaves nothing behind.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Device, job, kernel, map, open, run, WarpstageError } from 'warpstage';
import { PartHandover } from '#warpstage/overlap/part-handover.js';
import { randomRuns } from '../differential/tape.ts';
import { affine, neighbours, neighboursInJavaScript } from './jobs.ts';
import { expectFailure } from './support.ts';

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { memory: 16 << 20, threads: 2 });
});
afterAll(async () => {
  expect(device.memory.allocations).toBe(0);
  await device.close();
});

const numbers = (length: number) => Float32Array.from({ length }, (_, i) => i % 1000);
const doubled = (x: Float32Array) => x.map((value) => 2 * value + 1);

/** A source that counts what is asked of it, and whether it was told that nobody asks any more. */
class Watched {
  asked = 0;
  returned = 0;
  readonly #pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        const value = this.#pieces[this.asked++];
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      return: async () => {
        await new Promise(setImmediate);
        this.returned++;
        return { done: true, value: undefined };
      },
    };
  }
}

/** The bytes of an array, cut at certain places. */
function cut(array: Float32Array | Int32Array, ...sizes: readonly number[]): Uint8Array[] {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    pieces.push(bytes.slice(at, at + size));
    at += size;
  }
  return pieces;
}

async function gathered(parts: AsyncIterable<Float32Array>): Promise<Float32Array> {
  const all: number[] = [];
  for await (const part of parts) all.push(...part);
  return Float32Array.from(all);
}

const split = map({ low: 'u8', high: 'u8', x: 'u16' }, ({ x }) => ({ low: x & 255, high: x >> 8 }));

describe('gives what run() gives', () => {
  const x = numbers(2500);
  const bytes = cut(x, 777);
  const sources = {
    'an async iterable of bytes': () => new Watched(bytes),
    'an iterable of typed arrays': () => ({ stream: [x.subarray(0, 999), x.subarray(999)] }),
    'a stream of the web': () => new Blob(bytes as Uint8Array<ArrayBuffer>[]).stream(),
    'a stream of Node': () => Readable.from(bytes),
    'a typed array': () => x,
  };

  test.each(Object.entries(sources))('from %s', async (_, source) => {
    const lengths: number[] = [];
    const parts = affine.stream(source(), { device, chunk: 400 });
    for await (const part of parts) {
      expect(part).toBeInstanceOf(Float32Array);
      const begin = lengths.reduce((sum, length) => sum + length, 0);
      expect(part).toEqual(doubled(x.subarray(begin, begin + part.length)));
      lengths.push(part.length);
    }
    expect(lengths).toEqual([400, 400, 400, 400, 400, 400, 100]);
    const { report } = await parts.result;
    expect(report.rows).toBe(2500);
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });

  test('by name where a job has several outputs, and parts are the program’s own', async () => {
    const input = Uint16Array.from({ length: 1000 }, (_, i) => i * 61);
    const parts: { low: Uint8Array; high: Uint8Array }[] = [];
    for await (const part of split.stream(input, { device, chunk: 300 })) parts.push(part);
    const values = parts.flatMap(({ low, high }) => [...low].map((value, i) => value + 256 * high[i]!));
    expect(values).toEqual([...input]);
    expect(() => split.stream(input).bytes()).toThrow('several outputs (low, high)');
  });

  test('on a device that is opened for it, and for no rows', async () => {
    expect(await gathered(affine.stream({ stream: [x] }, { settings: { a: 1, b: 0 } }))).toEqual(x);
    expect(await gathered(affine.stream({ stream: [] }, { device }))).toEqual(new Float32Array());
  });

  test('as bytes, for streams of Node and of the web', async () => {
    const stream = () => affine.stream(new Watched(bytes), { device, chunk: 400 });
    const expected = Buffer.from(doubled(x).buffer);
    const readable = Readable.from(stream().bytes(), { objectMode: false });
    expect(Buffer.concat(await readable.toArray())).toEqual(expected);
    const piped: Uint8Array[] = [];
    await pipeline(stream().bytes(), async (source: AsyncIterable<Uint8Array>) => {
      for await (const piece of source) piped.push(piece);
    });
    expect(Buffer.concat(piped)).toEqual(expected);
    const response = new Response(stream().readable() as ReadableStream<Uint8Array>);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(expected);
  });
});

test('random parts in, equal bytes out, and no more is read than depth chunks beyond what was taken', async () => {
  const x = Int32Array.from({ length: 300 }, (_, i) => (i * 7919) % 1000);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      fc.constantFrom([0, 0], [1, 2]),
      async (sizes, length, chunk, depth, pauses, [before, after]) => {
        const input = x.slice(0, length);
        const pieces = cut(input, ...sizes);
        const ends = pieces.map((_, i) => pieces.slice(0, i).reduce((sum, piece) => sum + piece.length, 0));
        const source = new Watched(pieces);
        const work = neighbours(before!, after!, 'clamp');
        const taken: number[] = [];
        let turn = 0;
        for await (const part of work.stream(source, { device, chunk, depth })) {
          taken.push(...part);
          if (pauses[turn++ % pauses.length]) await new Promise(setImmediate);
          // What was read begins with the bytes that had to be there when the last piece was asked for.
          const most = 4 * (taken.length + depth * chunk + after!);
          const asked = Math.min(source.asked, pieces.length);
          if (asked > 0) expect(ends[asked - 1]).toBeLessThan(Math.max(1, most));
        }
        expect(taken).toEqual([...neighboursInJavaScript(input, before!, after!, 'clamp')]);
      },
    ),
    randomRuns(40),
  );
});

test('reads nothing before it is asked, and only so much while nobody takes', async () => {
  const source = new Watched(cut(numbers(100_000), 400));
  const parts = affine.stream(source, { device, chunk: 100, depth: 3 });
  await new Promise(setImmediate);
  expect(source.asked).toBe(0);
  await parts.next();
  const isComputed = () => device.memory.allocations;
  await expect.poll(() => source.asked).toBe(4);
  // However long nobody asks.
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(source.asked).toBe(4);
  expect(isComputed()).toBeGreaterThan(0);
  await parts.return();
  expect(device.memory.allocations).toBe(0);
});

describe('left early', () => {
  const endless = async function* (ended: () => void) {
    try {
      for (;;) yield new Uint8Array(400);
    } finally {
      await new Promise(setImmediate);
      ended();
    }
  };

  test('by break, tells its source, and has given everything back when the loop is left', async () => {
    let ends = 0;
    for await (const _ of affine.stream(
      endless(() => ends++),
      { device, chunk: 100 },
    ))
      break;
    expect(device.memory.allocations).toBe(0);
    // One that was asked for more at that moment is told, and not waited for.
    await vi.waitFor(() => expect(ends).toBe(1));
  });

  test('by an error of the loop’s own, which comes out as it is', async () => {
    const source = new Watched(cut(numbers(1000), 400));
    const own = new Error('enough');
    const loop = (async () => {
      for await (const _ of affine.stream(source, { device, chunk: 100 })) throw own;
    })();
    await expect(loop).rejects.toBe(own);
    expect(source.returned).toBe(1);
    expect(device.memory.allocations).toBe(0);
  });

  test('frees a stream of the web, and ends one of Node', async () => {
    const reasons: unknown[] = [];
    const web = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(400)),
      cancel: (reason) => void reasons.push(reason),
    });
    for await (const _ of affine.stream(web, { device, chunk: 100 })) break;
    expect([reasons.length, web.locked]).toEqual([1, false]);
    const node = Readable.from(endless(() => {}));
    for await (const _ of affine.stream(node, { device, chunk: 100 })) break;
    expect(node.destroyed).toBe(true);
  });

  test('while it waits for a silent source', async () => {
    const web = new ReadableStream<Uint8Array>();
    const node = new Readable({ read() {} });
    for (const silent of [web, node]) {
      const parts = affine.stream(silent, { device });
      const waiting = parts.next();
      await new Promise(setImmediate);
      await parts.return();
      expect(await waiting).toEqual({ done: true, value: undefined });
      await expectFailure(parts.result, 'WS5009', 'the job was stopped');
    }
    expect([web.locked, node.destroyed]).toEqual([false, true]);
    expect(device.memory.allocations).toBe(0);
  });

  test('by streams that were made of it', async () => {
    for (const leave of [
      (parts: AsyncIterable<Uint8Array>) => Readable.from(parts).destroy(),
      (_: unknown, web: ReadableStream) => web.cancel(),
    ]) {
      const source = new Watched(cut(numbers(1000), 400));
      const parts = affine.stream(source, { device, chunk: 100 });
      await parts.next();
      await leave(parts.bytes(), parts.readable() as ReadableStream);
      await expectFailure(parts.result, 'WS5009', 'the job was stopped');
      expect(source.returned).toBe(1);
    }
  });

  test('before its first part: then nothing was touched', async () => {
    const source = new Watched([]);
    const parts = affine.stream(source, { device });
    await parts[Symbol.asyncDispose]();
    expect([source.asked, source.returned]).toEqual([0, 0]);
    await expectFailure(parts.result, 'WS5009', 'before any part of it was asked for');
  });
});

describe('errors come out of the loop', () => {
  const drained = async (parts: AsyncIterable<unknown>) => {
    for await (const _ of parts);
  };

  test('of the source, which ended by itself', async () => {
    const failing = async function* () {
      yield new Uint8Array(800);
      throw new Error('the line is dead');
    };
    const web = Readable.toWeb(Readable.from(failing())) as ReadableStream<Uint8Array>;
    for (const source of [failing(), web, Readable.from(failing())]) {
      const parts = affine.stream(source, { device, chunk: 100 });
      const error = await expectFailure(drained(parts), 'WS5003', 'the line is dead');
      expect(error.cause).toBeInstanceOf(Error);
      expect(await parts.next()).toEqual({ done: true, value: undefined });
    }
    expect(web.locked).toBe(false);
  });

  test('of what a source gives, which is told', async () => {
    const text = new Watched(['text' as never]);
    await expectFailure(drained(affine.stream(text, { device })), 'WS5003', 'a string instead of bytes');
    const others = new Watched([new Float64Array(3) as never]);
    await expectFailure(drained(affine.stream(others, { device })), 'WS5005', 'elements of type f64');
    expect([text.returned, others.returned]).toEqual([1, 1]);
    const locked = new ReadableStream<Uint8Array>();
    locked.getReader();
    await expectFailure(drained(affine.stream(locked, { device })), 'WS5003', 'locked');
  });

  test('of the kernel', async () => {
    const wild = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        y[i] = x[i + 1]!;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
    });
    // Longer than what is read before a kernel's error is known.
    const source = new Watched(cut(numbers(20_000), 400));
    const error = await drained(wild.stream(source, { device, chunk: 100 })).then(
      () => expect.fail('it succeeded'),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(WarpstageError);
    expect((error as WarpstageError).code).toMatch(/^WS3/);
    // Nobody waits for a source that was just asked for more.
    await vi.waitFor(() => expect(source.returned).toBe(1));
  });

  test('of a signal', async () => {
    const stop = new AbortController();
    const parts = affine.stream(new Watched(cut(numbers(1000), 400)), {
      device,
      chunk: 100,
      signal: stop.signal,
    });
    await parts.next();
    stop.abort(new Error('no more'));
    const error = await expectFailure(drained(parts), 'WS5009', 'the job was stopped');
    expect(error.cause).toBe(stop.signal.reason);
    const late = affine.stream([] as never, { device, signal: AbortSignal.abort() });
    await expect(drained(late)).rejects.toBeInstanceOf(WarpstageError);
  });

  test('of options that are about files, and of jobs without outputs', async () => {
    const options = { device, output: 'y.npy' } as never;
    await expectFailure(
      drained(affine.stream(numbers(1), options)),
      'WS4007',
      "stream has no option 'output'",
    );
    await expectFailure(drained(affine.stream(numbers(1), 3 as never)), 'WS4007', 'was given 3');
    const total = job({
      kernel: kernel({ sum: 'f32[]', x: 'readonly f32[]' }, ({ sum, x }, cuda) => {
        cuda.atomicAdd(sum, 0, x[0]!);
      }),
      inputs: { x: {} },
      accumulators: { sum: {} },
    });
    expect(() => total.stream(numbers(1))).toThrow('has no outputs that could be streamed');
  });
});

test('a part that is offered after the end was told is refused, as one that waits then', async () => {
  const parts = new PartHandover<number>();
  const waiting = parts.offer(1);
  const reason = new Error('stopped');
  parts.refuse(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(parts.offer(2)).rejects.toBe(reason);
});

test('many at once share a device, each with what is its own', async () => {
  const one = async (factor: number) => {
    const x = numbers(700 + factor);
    const parts = affine.stream(new Watched(cut(x, 501)), {
      device,
      chunk: 100,
      depth: 2,
      settings: { a: factor, b: 0 },
    });
    expect(await gathered(parts)).toEqual(x.map((value) => factor * value));
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => one(i)));
  const { outputs } = await run(affine, { input: numbers(3), device });
  expect(outputs.y).toEqual(doubled(numbers(3)));
  expect(device.recorder).toBeNull();
});

test('those that end in the order in which they began hear their device to their end, and leave its recorder as it was', async () => {
  let heard = 0;
  const own = () => heard++;
  device.recorder = own;
  try {
    const begun = [0, 1, 2].map(() => affine.stream(numbers(500), { device, chunk: 100, depth: 1 }));
    for (const parts of begun) await parts.next();
    for (const parts of begun) {
      expect(await gathered(parts)).toHaveLength(400);
      const { stages } = (await parts.result).report;
      for (const { operations } of stages) expect(operations).toBeGreaterThanOrEqual(5);
    }
    expect(device.recorder).toBe(own);
    expect(heard).toBe(3 * 3 * 5);
  } finally {
    device.recorder = null;
  }
});

test('a recorder that is set while a run listens stays', async () => {
  const parts = affine.stream(numbers(300), { device, chunk: 100 });
  await parts.next();
  const own = () => {};
  device.recorder = own;
  await gathered(parts);
  expect(device.recorder).toBe(own);
  device.recorder = null;
});
