// job.stream(): a job's results part by part, while its source is still read.
//
// It is a run whose outputs are streams of ours. A chunk that is computed waits for somebody to ask for it, and as long
// as it waits it keeps its place among those in flight: so no more is read than `depth` chunks beyond what was taken.
// Who stops asking stops the run, and waits until all that it held is given back.

import { problem } from '../diagnostics/problem.ts';
import type { ReadableShape } from '../formats/stream-bytes.ts';
import { parseSchema } from '../kernel/parameters.ts';
import type { ElementType } from '../kernel/types.ts';
import type { AnyDefinition, Job, OutputArrays } from './job.ts';
import type { JobResult, RunOptions } from './options.ts';
import { PartHandover, writersTo } from './part-handover.ts';
import { chosenRun } from './started-by.ts';

/** The options of `job.stream()`: those of `run()` that are not about files. */
export type JobStreamOptions = Pick<
  RunOptions,
  | 'convert'
  | 'settings'
  | 'device'
  | 'rows'
  | 'chunk'
  | 'depth'
  | 'signal'
  | 'onProgress'
  | 'onChunk'
  | 'trace'
  | 'maxMemory'
>;

/** What `job.stream()` gives at a time: the array of a single output, or an object of several. */
export type StreamPart<O extends OutputArrays> = {
  [K in keyof O]: [Exclude<keyof O, K>] extends [never] ? O[K] : O;
}[keyof O];

/** What a stream knows at its end. */
export type StreamResult<V = unknown> = Omit<JobResult<V>, 'outputs'>;

/** The global `ReadableStream` where its type is known. */
export type WebReadable = typeof globalThis extends { ReadableStream: { prototype: infer S } }
  ? S
  : ReadableShape<Uint8Array>;

/**
 * A job's results, part by part: what `job.stream()` gives. It is iterated over once, by `for await`; `bytes()` and
 * `readable()` give the same parts as bytes and as a stream of the web.
 */
export interface JobStream<T = unknown, V = unknown> extends AsyncIterableIterator<T>, AsyncDisposable {
  /** The next part; what is asked for meanwhile comes after it. */
  next(): Promise<IteratorResult<T, undefined>>;
  /** Stops the run, if it has not ended, and waits until everything is given back. What was not taken is dropped. */
  return(): Promise<IteratorResult<T, undefined>>;
  [Symbol.asyncIterator](): this;
  /**
   * What `run()` would give beside the outputs: the value of accumulators, and the report. It is there when the last part
   * was taken; it rejects with what ended the stream before (WS5009 where the loop was left).
   */
  readonly result: Promise<StreamResult<V>>;
  /**
   * The same parts as their bytes, for what takes bytes: `pipeline(parts.bytes(), response)`, `Readable.from(parts.bytes(),
   * { objectMode: false })`.
   *
   * @throws WarpstageError WS5006 for a job of several outputs
   */
  bytes(): AsyncIterableIterator<Uint8Array>;
  /**
   * The same bytes as a stream of the web: `new Response(parts.readable())`. It asks for a part when its reader does.
   *
   * @throws WarpstageError WS5006 for a job of several outputs
   */
  readable(): WebReadable;
}

/** The stream of a job over a source. */
export function streamOf<V>(
  job: Job<V>,
  source: RunOptions['input'],
  options: JobStreamOptions,
): JobStream<never, V> {
  const outputs = elementsOfOutputs(job.definition);
  if (outputs.size > 0) return new Streamed<never, V>(job, source, options, outputs);
  throw problem(
    'WS5006',
    `job '${job.name}' has no outputs that could be streamed; its result is a value`,
    'run it: const { value } = await run(job, { input })',
  );
}

class Streamed<T, V> implements JobStream<T, V> {
  readonly #job: Job;
  readonly #source: RunOptions['input'];
  readonly #options: JobStreamOptions;
  readonly #outputs: ReadonlyMap<string, ElementType>;
  readonly #stop = new AbortController();
  readonly #parts = new PartHandover<T>();
  readonly #result: Promise<StreamResult<V>>;
  #begin: (run: boolean) => void = () => {};

  constructor(
    job: Job,
    source: RunOptions['input'],
    options: JobStreamOptions,
    outputs: ReadonlyMap<string, ElementType>,
  ) {
    this.#job = job;
    this.#source = source;
    this.#options = options;
    this.#outputs = outputs;
    const begun = new Promise<boolean>((resolve) => {
      this.#begin = resolve;
    });
    this.#result = begun.then((run) => {
      if (run) return this.#run();
      throw problem('WS5009', 'the stream was left before any part of it was asked for');
    });
    this.#result.then(
      () => this.#parts.end(),
      (error) => this.#parts.fail(error),
    );
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#begin(true);
    return this.#parts.take();
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#parts.end();
    this.#begin(false);
    this.#stop.abort();
    await this.#result.catch(() => {});
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  get result(): Promise<StreamResult<V>> {
    return this.#result;
  }

  bytes(): AsyncIterableIterator<Uint8Array> {
    if (this.#outputs.size > 1) {
      const names = [...this.#outputs.keys()].join(', ');
      const message = `the job has several outputs (${names}), and bytes() gives those of one`;
      throw problem('WS5006', message, 'iterate over the parts themselves, which have them by name');
    }
    const iterator: AsyncIterableIterator<Uint8Array> = {
      next: async () => {
        const { done, value } = await this.next();
        if (done) return { done, value: undefined };
        const { buffer, byteOffset, byteLength } = value as ArrayBufferView;
        return { done: false, value: new Uint8Array(buffer, byteOffset, byteLength) };
      },
      return: () => this.return() as Promise<IteratorReturnResult<undefined>>,
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  readable(): WebReadable {
    const bytes = this.bytes();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await bytes.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await bytes.return!();
        },
      },
      { highWaterMark: 0 },
    ) as WebReadable;
  }

  async #run(): Promise<StreamResult<V>> {
    const { checkOptions } = await import('./check-options.ts');
    checkOptions('stream', this.#options);
    const { signal } = this.#options;
    const forward = () => this.#stop.abort(signal!.reason);
    if (signal?.aborted) forward();
    signal?.addEventListener('abort', forward);
    try {
      const { outputs: _, ...result } = await chosenRun()(this.#job as Job<V>, {
        ...this.#options,
        input: this.#source,
        output: writersTo(this.#parts as PartHandover<never>, this.#outputs),
        signal: this.#stop.signal,
      });
      return result;
    } finally {
      signal?.removeEventListener('abort', forward);
    }
  }
}

/** The element types of a job's outputs, by name, in the order of the declaration. */
function elementsOfOutputs({ kernel, outputs = {} }: AnyDefinition): ReadonlyMap<string, ElementType> {
  const parameters = parseSchema(kernel.schema).filter(({ name }) => Object.hasOwn(outputs, name));
  const elements = new Map(
    parameters.flatMap((one) =>
      one.kind === 'array' ? [[one.name, one.element as ElementType] as const] : [],
    ),
  );
  return new Map(Object.keys(outputs).map((name) => [name, elements.get(name)!]));
}
