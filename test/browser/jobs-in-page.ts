// Jobs where there is nothing of Node: from arrays and streams to arrays and streams. What they give is plain data, which
// is the same in Node.

import { job, kernel, map, open, reduce, run, sequence, WarpstageError } from 'warpstage';

const scale = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * x[i]!;
});

const scaleJob = job({ kernel: scale, inputs: { x: {} }, outputs: { y: {} }, settings: { a: 2 } });

const blur = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = x[i]! + x[i + 1]! + x[i + 2]!;
});

const blurJob = job({ kernel: blur, inputs: { x: { halo: [1, 1], edge: 'clamp' } }, outputs: { y: {} } });

const rows = 10_000;
const numbers = Float32Array.from({ length: rows }, (_, i) => i % 1000);

/** The bytes of the numbers in pieces that end in the midst of elements, and whether somebody stopped taking them. */
function inPieces(): { readonly stream: ReadableStream<Uint8Array>; cancelled: boolean } {
  const bytes = new Uint8Array(numbers.buffer);
  let position = 0;
  const pieces = {
    cancelled: false,
    stream: new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = bytes.slice(position, position + 1501);
        position += piece.length;
        if (piece.length === 0) controller.close();
        else controller.enqueue(piece);
      },
      cancel() {
        pieces.cancelled = true;
      },
    }),
  };
  return pieces;
}

/** What is written to a stream of the web: bytes, the end, and what it was aborted with. */
function collected() {
  const bytes: number[] = [];
  const ends: string[] = [];
  const stream = new WritableStream<Uint8Array>({
    async write(piece) {
      // A reader that takes its time keeps what it was given.
      await new Promise((resolve) => setTimeout(resolve));
      bytes.push(...piece);
    },
    close() {
      ends.push('closed');
    },
    abort(reason) {
      ends.push(String(reason));
    },
  });
  return { stream, ends, values: () => new Float32Array(new Uint8Array(bytes).buffer) };
}

/** A sum that does not depend on how an engine adds. */
const summary = (values: ArrayLike<number>) => ({
  length: values.length,
  sum: Array.from(values).reduce((sum, value) => sum + value, 0),
  last: values[values.length - 1],
});

async function problemOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'no error';
  } catch (error) {
    const [issue] = (error as WarpstageError).issues ?? [];
    return error instanceof WarpstageError ? `${issue!.code}: ${issue!.message}` : String(error);
  }
}

/** What jobs give, by what they show. */
export async function runJobs(): Promise<Readonly<Record<string, unknown>>> {
  const cut = { chunk: 900, depth: 3 };
  const device = await open('cpu');
  const arrays = await run(scaleJob, { input: numbers, settings: { a: 3 }, device, ...cut });
  const given = new Float32Array(rows);
  await run(blurJob, { input: { x: numbers }, output: { y: given }, ...cut });
  const converted = await run(scaleJob, { input: Float64Array.of(0.1, 1, 2), convert: 'nearest' });
  const pinned = device.allocPinned('f32', rows);
  await run(scaleJob, { input: numbers, output: pinned, device, ...cut });

  const source = inPieces();
  const written = collected();
  const streamed = await run(scaleJob, { input: source.stream, output: written.stream, device, ...cut });
  const generated = await run(scaleJob, {
    input: (async function* () {
      for (let begin = 0; begin < rows; begin += 1234) yield numbers.subarray(begin, begin + 1234);
    })(),
    device,
    ...cut,
  });

  const parts: number[] = [];
  const partwise = inPieces();
  for await (const part of scaleJob.stream(partwise.stream, { device, ...cut })) parts.push(part.length);
  const left = inPieces();
  for await (const _ of scaleJob.stream(left.stream, { device, ...cut })) break;
  const response = new Response(
    scaleJob.stream(inPieces().stream, { device, ...cut }).readable() as ReadableStream<Uint8Array>,
  );

  const rowwise = map({ y: 'i32', x: 'f32', limit: 'constant f32 = 500' }, ({ x, limit }) =>
    x < limit ? 1 : -1,
  );
  const mapped = await run(rowwise, { input: numbers, device, settings: { limit: 100 }, ...cut });
  const sum = reduce({ sum: 'f64', x: 'f32' }, ({ x }) => x);
  const twice = sequence([sum, { job: scaleJob, settings: (total: number) => ({ a: total / 999_000 }) }]);
  const reduced = await run(sum, { input: numbers, device, ...cut });
  const followed = await run(twice, { input: numbers, device, ...cut });
  const virtual = await run(scaleJob, { input: numbers, device: 'model:h200', ...cut });

  const stop = new AbortController();
  const stopped = inPieces();
  const unfinished = collected();
  const interrupted = problemOf(
    run(scaleJob, {
      input: stopped.stream,
      output: unfinished.stream,
      device,
      chunk: 100,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    }),
  );
  const results = {
    arrays: { ...summary(arrays.outputs.y!), chunks: arrays.report.chunks },
    given: summary(given),
    converted: Array.from(converted.outputs.y!),
    pinned: summary(pinned.array),
    streamed: { ...summary(written.values()), ends: written.ends, bytesOut: streamed.report.bytesOut },
    parts,
    left: [left.cancelled, left.stream.locked, partwise.cancelled, partwise.stream.locked],
    response: summary(new Float32Array(await response.arrayBuffer())),
    generated: summary(generated.outputs.y!),
    mapped: summary(mapped.outputs.y!),
    reduced: reduced.value,
    followed: summary(followed.outputs.y!),
    virtual: {
      ...summary(virtual.outputs.y!),
      copies: virtual.report.stages.map(({ operations }) => operations),
    },
    interrupted: await interrupted,
    unfinished: unfinished.ends,
    ragged: await problemOf(run(scaleJob, { input: { stream: [new Uint8Array(7)] }, device })),
    untyped: await problemOf(run(scaleJob, { input: [new Float64Array(3)], device })),
    cancelled: stopped.cancelled,
  };
  await device.close();
  return results;
}

/** What a browser refuses, since it has no files. */
export async function refusedJobs(): Promise<readonly string[]> {
  const input = numbers;
  const attempts = [
    run(scaleJob, { input: 'x.npy' }),
    run(scaleJob, { input: { file: 'x.npy' } }),
    run(scaleJob, { input, output: 'y.npy' }),
    run(scaleJob, { input, output: { y: { file: 'y.npy' } } }),
    run(scaleJob, { input, resume: true }),
    run(scaleJob, { input, shard: [1, 2] }),
    run(scaleJob, { input, checksum: true }),
    run(scaleJob, { input, fsync: true }),
    run(scaleJob, { input, overwrite: false }),
    run(scaleJob, { input, maxMemory: '1GiB' }),
    run(scaleJob, { input, device: 'cuda' }),
  ];
  return Promise.all(attempts.map(problemOf));
}
