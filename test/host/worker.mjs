// A thread of the host pipeline tests: does what `workerData.task` names.
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { makePipeline } from '#warpstage/host/index.js';

const { task, state, data, batches, width } = workerData;
const slots = data === undefined ? undefined : new Int32Array(data);

const tasks = {
  /** Writes batch after batch, each `width` wide, and quits. */
  produce(pipeline) {
    for (let batch = 0; batch < batches; ++batch) {
      const stage = pipeline.producerAcquire();
      for (let i = 0; i < width; ++i) slots[stage * width + i] = batch * width + i;
      pipeline.producerCommit();
    }
    return pipeline.quit();
  },
  consume(pipeline) {
    let sum = 0;
    for (let batch = 0; batch < batches; ++batch) {
      const stage = pipeline.consumerWait();
      for (let i = 0; i < width; ++i) sum += slots[stage * width + i];
      pipeline.consumerRelease();
    }
    return [sum, pipeline.quit()];
  },
  /** Each thread of a unified pipeline fills its own part of a stage and reads its neighbour's. */
  exchange(pipeline) {
    const { member, members } = workerData;
    let wrong = 0;
    for (let batch = 0; batch < batches; ++batch) {
      const filled = pipeline.producerAcquire();
      slots[filled * members + member] = batch * 1000 + member;
      pipeline.producerCommit();
      const stage = pipeline.consumerWait();
      const neighbour = (member + 1) % members;
      if (slots[stage * members + neighbour] !== batch * 1000 + neighbour) wrong += 1;
      pipeline.consumerRelease();
    }
    return [wrong, pipeline.quit()];
  },
  /** Fills its part of every stage. */
  fillPart(pipeline) {
    const { member, members } = workerData;
    for (let batch = 0; batch < batches; ++batch) {
      const stage = pipeline.producerAcquire();
      slots[stage * members + member] = batch * 1000 + member;
      pipeline.producerCommit();
    }
    return pipeline.quit();
  },
  /** How many parts of all stages are not what the producers wrote. */
  readAll(pipeline) {
    const { members } = workerData;
    let wrong = 0;
    for (let batch = 0; batch < batches; ++batch) {
      const stage = pipeline.consumerWait();
      for (let member = 0; member < members; ++member)
        if (slots[stage * members + member] !== batch * 1000 + member) wrong += 1;
      pipeline.consumerRelease();
    }
    pipeline.quit();
    return wrong;
  },
  dieWhenAsked(pipeline) {
    pipeline.producerAcquire();
    return new Promise(() => parentPort.once('message', () => process.exit(3)));
  },
  dieHoldingAStage(pipeline) {
    pipeline.producerAcquire();
    process.exit(3);
  },
  waitForever(pipeline) {
    pipeline.consumerWait();
    return 'unreachable';
  },
};

try {
  const pipeline = makePipeline(state, workerData.role);
  if (task === 'dieWhenAsked') parentPort.postMessage('joined');
  parentPort.postMessage({ result: await tasks[task](pipeline), threadId });
} catch (error) {
  parentPort.postMessage({ code: error.code, message: error.message });
}
