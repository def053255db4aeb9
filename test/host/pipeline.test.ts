import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { phaseWord } from '#warpstage/host/barrier.js';
import {
  makePipeline,
  type PipelineRole,
  type PipelineSharedState,
  pipelineSharedState,
  watchWorker,
} from '#warpstage/host/index.js';
import { barrierOffset } from '#warpstage/host/state.js';
import { atLength, isFirst } from '../support/thorough.ts';

interface Answer {
  readonly result?: unknown;
  readonly code?: string;
  readonly message?: string;
}

function start(workerData: Record<string, unknown>): { worker: Worker; answer: Promise<Answer> } {
  const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData });
  const answer = new Promise<Answer>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { worker, answer };
}

const data = (elements: number) => new SharedArrayBuffer(4 * elements);

/** Returns when so many threads sleep in a wait for stage 0. */
async function asleep(state: PipelineSharedState, threads: number): Promise<void> {
  const words = new Int32Array(state.buffer);
  // Threads that are woken look at the stage, and sleep again.
  while (Atomics.notify(words, phaseWord(barrierOffset(state, 0, 'produced'))) < threads) await setTimeout(1);
}

test.runIf(isFirst)(
  'the last to quit is the last of all, also of those that join when others have quit',
  () => {
    const quits = (state: PipelineSharedState, roles: readonly (PipelineRole | undefined)[]) =>
      roles.map((role) => makePipeline(state, role).quit());
    expect(quits(pipelineSharedState(2, 3), [undefined, undefined, undefined])).toEqual([false, false, true]);
    const partitioned = pipelineSharedState(2, { producers: 2, consumers: 1 });
    expect(quits(partitioned, ['producer', 'consumer', 'producer'])).toEqual([false, false, true]);
  },
);

describe('between worker threads', () => {
  test.each([1, 2, 3, 8, 255])(
    'a producer and a consumer hand over every batch in order, %i stages',
    async (stages) => {
      const [batches, width] = [atLength ? 600 : 200, 32];
      const common = {
        state: pipelineSharedState(stages, { producers: 1, consumers: 1 }),
        data: data(stages * width),
        batches,
        width,
      };
      const producer = start({ ...common, task: 'produce', role: 'producer' });
      const consumer = start({ ...common, task: 'consume', role: 'consumer' });
      const produced = (await producer.answer).result;
      const [sum, last] = (await consumer.answer).result as [number, boolean];
      const all = batches * width;
      expect(sum).toBe((all * (all - 1)) / 2);
      expect([produced, last].filter(Boolean)).toHaveLength(1);
    },
  );

  test('every thread of a unified pipeline sees what the others wrote into its stage', async () => {
    const members = 3;
    const stages = 2;
    const common = {
      state: pipelineSharedState(stages, members),
      data: data(stages * members),
      batches: atLength ? 400 : 150,
      members,
    };
    const threads = Array.from({ length: members }, (_, member) =>
      start({ ...common, task: 'exchange', member }),
    );
    const results = (await Promise.all(threads.map(({ answer }) => answer))).map(
      ({ result }) => result as [number, boolean],
    );
    expect(results.map(([wrong]) => wrong)).toEqual([0, 0, 0]);
    expect(results.filter(([, last]) => last)).toHaveLength(1);
  });

  test.each([
    [1, 3],
    [3, 1],
    [2, 3],
  ])('%i producers fill a stage together, and all of %i consumers read it', async (producers, consumers) => {
    const [stages, batches] = [2, atLength ? 300 : 120];
    const state = pipelineSharedState(stages, { producers, consumers });
    const common = { state, data: data(stages * producers), batches, members: producers };
    const filling = Array.from({ length: producers }, (_, member) =>
      start({ ...common, task: 'fillPart', role: 'producer', member }),
    );
    const reading = Array.from({ length: consumers }, () =>
      start({ ...common, task: 'readAll', role: 'consumer' }),
    );
    const results = await Promise.all(reading.map(({ answer }) => answer));
    expect(results.map(({ result }) => result)).toEqual(results.map(() => 0));
    await Promise.all(filling.map(({ answer }) => answer));
  });

  test.runIf(isFirst)('a thread that finds no place leaves the members as they are', async () => {
    const state = pipelineSharedState(1, { producers: 1, consumers: 1 });
    const waiting = start({ task: 'waitForever', role: 'consumer', state });
    const dying = start({ task: 'dieWhenAsked', role: 'producer', state });
    dying.answer.catch(() => undefined);
    watchWorker(state, dying.worker);
    await new Promise((resolve) => dying.worker.once('message', resolve));
    expect(() => makePipeline(state, 'producer')).toThrow('all 1 producer places of the pipeline are taken');
    dying.worker.postMessage('die');
    expect(await waiting.answer).toMatchObject({ code: 'WS3008' });
  });

  test.runIf(isFirst)('the main thread awaits where it may not block', async () => {
    const [stages, batches, width] = [2, 200, 16];
    const state = pipelineSharedState(stages, { producers: 1, consumers: 1 });
    const shared = data(stages * width);
    const slots = new Int32Array(shared);
    const consumer = start({ task: 'consume', role: 'consumer', state, data: shared, batches, width });
    const pipeline = makePipeline(state, 'producer');
    for (let batch = 0; batch < batches; ++batch) {
      const stage = await pipeline.producerAcquireAsync();
      slots.fill(batch, stage * width, (stage + 1) * width);
      pipeline.producerCommit();
    }
    pipeline.quit();
    const [sum] = (await consumer.answer).result as [number, boolean];
    expect(sum).toBe((width * batches * (batches - 1)) / 2);
  });

  test.runIf(isFirst)(
    'a worker that dies holding a stage is an error in those that wait for it',
    async () => {
      const state = pipelineSharedState(2, { producers: 1, consumers: 2 });
      const waiting = [1, 2].map(() => start({ task: 'waitForever', role: 'consumer', state }));
      await asleep(state, waiting.length);
      const dying = start({ task: 'dieHoldingAStage', role: 'producer', state });
      dying.answer.catch(() => undefined);
      watchWorker(state, dying.worker);
      for (const { answer } of waiting) {
        expect(await answer).toMatchObject({
          code: 'WS3008',
          message: expect.stringMatching(
            /member 0 of the pipeline ended without quitting: .*\n {2}hint: mend what ended the thread; a thread that is done calls quit\(\) first$/,
          ),
        });
      }
    },
  );

  test.runIf(isFirst)(
    'a producer that quits too early is an error in the consumer that waits for it',
    async () => {
      const state = pipelineSharedState(2, { producers: 1, consumers: 1 });
      const consumer = start({ task: 'waitForever', role: 'consumer', state });
      makePipeline(state, 'producer').quit();
      expect(await consumer.answer).toMatchObject({
        code: 'WS3002',
        message: expect.stringContaining(
          'stage 0 awaits 1 of 1 commits, and 1 of the threads that commit have quit',
        ),
      });
    },
  );
});
