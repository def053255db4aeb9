// The death of a worker that takes part in a pipeline, reported to the others.

import { memberCount, type PipelineSharedState, word } from './state.ts';

/** A `Worker` of `node:worker_threads`, or what is like one. */
export interface WatchedWorker {
  readonly threadId: number;
  once(event: 'exit', listener: () => void): unknown;
}

/**
 * Watches a worker: should it end without having quit the pipeline, every thread that waits or
 * calls a verb of the pipeline gets an error (WS3008) where it would otherwise hang. Call it in
 * the thread that started the worker.
 */
export function watchWorker(state: PipelineSharedState, worker: WatchedWorker): void {
  const words = new Int32Array(state.buffer);
  const thread = worker.threadId + 1;
  worker.once('exit', () => {
    for (let member = 0; member < memberCount(state); ++member) {
      if (Atomics.load(words, word.members + member) === thread)
        Atomics.store(words, word.deadMember, member);
    }
  });
}
