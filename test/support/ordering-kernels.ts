// Kernels whose threads depend on more than the copies of their pipelines: stores beside copies, reads of what
// others stored a turn ago, stages that threads fill. In each, some threads are late, so that an edge
// that the generated code leaves out shows in the results.

import { type Kernel, kernel } from 'warpstage';

/** How long a late warp sleeps, in nanoseconds. */
const late = 'index';

/** Stores to another array between the acquire and the commit; others read it after the wait. */
const storesBesideCopy = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', size);
    const noted = cuda.sharedArray('i32', size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    for (let b = 0; b < batches; b++) {
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged, input.subarray(b * size), size, pipe);
      if (t >= size - 32) cuda.nanosleep(late);
      noted[t] = 3 * b + t;
      pipe.producerCommit();
      pipe.consumerWait();
      out[b * size + t] = staged[t]! + noted[size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** A stage that a copy fills to one half and the threads to the other. */
const halfCopied = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const half = Math.trunc(size / 2);
    const staged = cuda.sharedArray('i32', 2 * size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    for (let b = 0; b < batches; b++) {
      const stage = staged.subarray((b % 2) * size);
      pipe.producerAcquire();
      cuda.memcpyAsync(block, stage, input.subarray(b * half), half, pipe);
      if (t >= size - 32) cuda.nanosleep(late);
      if (t >= half) stage[t] = -1 - b;
      pipe.producerCommit();
      pipe.consumerWait();
      out[b * size + t] = stage[size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** A pipeline without copies: the threads fill its stages. */
const filledByThreads = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    for (let b = 0; b < batches; b++) {
      pipe.producerAcquire();
      if (t >= size - 32) cuda.nanosleep(late);
      staged[t] = input[b * size + t]! + b;
      pipe.producerCommit();
      pipe.consumerWait();
      out[b * size + t] = staged[size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** Acquiring a stage shows what others stored to global memory before they released the turn before. */
const acrossTurns = kernel(
  { out: 'i32[]', scratch: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, scratch, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', 4 * size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 4));
    for (let c = 0, f = 0; c < batches; c++) {
      for (; f < batches && f < c + 4; f++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, staged.subarray((f % 4) * size), input.subarray(f * size), size, pipe);
        pipe.producerCommit();
      }
      pipe.consumerWait();
      if (t >= size - 32 && c % 2 === 1) cuda.nanosleep(late);
      scratch[c * size + t] = staged[(c % 4) * size + t]! + c;
      out[c * size + t] = c > 0 && c + 3 < batches ? scratch[(c - 1) * size + (size - 1 - t)]! : 0;
      pipe.consumerRelease();
    }
  },
);

/** Threads write a stage, sync, and a copy overwrites half of it. */
const overwritten = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const half = Math.trunc(size / 2);
    const staged = cuda.sharedArray('i32', size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    for (let b = 0; b < batches; b++) {
      pipe.producerAcquire();
      if (t < 32) cuda.nanosleep(late);
      staged[t] = -1;
      block.sync();
      cuda.memcpyAsync(block, staged, input.subarray(b * half), half, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[b * size + t] = staged[size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** A thread's own copies from local memory, which are stores, before a copy of the block to the same place. */
const copiedOver = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const half = Math.trunc(size / 2);
    const staged = cuda.sharedArray('i32', size);
    const mine = cuda.localArray('i32', 1);
    const own = cuda.makePipeline();
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    for (let b = 0; b < batches; b++) {
      pipe.producerAcquire();
      if (t >= size - 32) cuda.nanosleep(late);
      mine[0] = b - t;
      cuda.memcpyAsync(staged.subarray(t), mine, 1, own);
      own.producerCommit();
      own.consumerWait();
      block.sync();
      cuda.memcpyAsync(block, staged, input.subarray(b * half), half, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[b * size + t] = staged[size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** Producers store to global memory beside their copies; consumers read it after the wait. */
const notesOfProducers = kernel(
  { out: 'i32[]', scratch: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, scratch, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const half = Math.trunc(block.size() / 2);
    const staged = cuda.sharedArray('i32', 2 * half);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), half);
    for (let b = 0; b < batches; b++) {
      if (t < half) {
        pipe.producerAcquire();
        if (t >= half - 32) cuda.nanosleep(late);
        scratch[b * half + t] = b;
        cuda.memcpyAsync(staged.subarray((b % 2) * half + t), input.subarray(b * half + t), 1, pipe);
        pipe.producerCommit();
      } else {
        const other = block.size() - 1 - t;
        pipe.consumerWait();
        out[b * half + t - half] = staged[(b % 2) * half + other]! + scratch[b * half + other]!;
        pipe.consumerRelease();
      }
    }
  },
);

/** What one consumer stored reaches another one through the producers: a release, an acquire, a commit, a wait. */
const throughProducers = kernel(
  { out: 'i32[]', scratch: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, scratch, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const half = Math.trunc(block.size() / 2);
    const staged = cuda.sharedArray('i32', half);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1), half);
    for (let b = 0; b < batches; b++) {
      if (t < half) {
        pipe.producerAcquire();
        cuda.memcpyAsync(staged.subarray(t), input.subarray(b * half + t), 1, pipe);
        pipe.producerCommit();
      } else {
        const other = block.size() - 1 - t;
        pipe.consumerWait();
        const before = b > 0 ? scratch[(b - 1) * half + other]! : 0;
        out[b * half + t - half] = staged[other]! + before;
        if (t >= block.size() - 32) cuda.nanosleep(late);
        scratch[b * half + t - half] = b + t;
        pipe.consumerRelease();
      }
    }
  },
);

/** Even threads copy, odd ones read what another one's neighbour copied; some of them are late. */
const evenThreadsCopy = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const half = Math.trunc(block.size() / 2);
    const own = Math.trunc(block.threadRank() / 2);
    const role = block.threadRank() % 2 === 0 ? 'producer' : 'consumer';
    const staged = cuda.sharedArray('i32', 2 * half);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), role);
    for (let b = 0; b < batches; b++) {
      if (role === 'producer') {
        pipe.producerAcquire();
        cuda.memcpyAsync(staged.subarray((b % 2) * half + own), input.subarray(b * half + own), 1, pipe);
        pipe.producerCommit();
      } else {
        pipe.consumerWait();
        if (own >= half - 16 && b % 3 === 1) cuda.nanosleep(late);
        out[b * half + own] = staged[(b % 2) * half + (half - 1 - own)]! + b;
        pipe.consumerRelease();
      }
    }
  },
);

/** The last warps copy two arrays' worth to one stage, in a loop of their own. */
const lastWarpsCopy = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const half = Math.trunc(block.size() / 2);
    const staged = cuda.sharedArray('i32', 2 * half);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1), half);
    if (t >= half) {
      const own = t - half;
      for (let b = 0; b < batches; b++) {
        const last = batches - 1 - b;
        pipe.producerAcquire();
        cuda.memcpyAsync(staged.subarray(own), input.subarray(b * half + own), 1, pipe);
        cuda.memcpyAsync(staged.subarray(half + own), input.subarray(last * half + own), 1, pipe);
        pipe.producerCommit();
      }
    } else {
      for (let b = 0; b < batches; b++) {
        pipe.consumerWait();
        if (t < 16) cuda.nanosleep(late);
        out[b * half + t] = 3 * staged[half - 1 - t]! + staged[half + t]!;
        pipe.consumerRelease();
      }
    }
  },
);

/** Stores to another array before the copy; others read them after the wait for it. */
const storesBeforeCopy = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', size);
    const noted = cuda.sharedArray('i32', size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    for (let b = 0; b < batches; b++) {
      pipe.producerAcquire();
      if (t >= size - 32) cuda.nanosleep(late);
      noted[t] = 2 * b + t;
      cuda.memcpyAsync(block, staged, input.subarray(b * size), size, pipe);
      pipe.producerCommit();
      pipe.consumerWait();
      out[b * size + t] = staged[t]! + noted[size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** A ring of three stages, which no power of two counts. */
const ringOfThree = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', 3 * size);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 3));
    for (let c = 0, f = 0; c < batches; c++) {
      for (; f < batches && f < c + 2; f++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, staged.subarray((f % 3) * size), input.subarray(f * size), size, pipe);
        pipe.producerCommit();
      }
      pipe.consumerWait();
      if (t >= size - 32) cuda.nanosleep(late);
      out[c * size + t] = staged[(c % 3) * size + size - 1 - t]!;
      pipe.consumerRelease();
    }
  },
);

/** A barrier whose phases wait for a copy, and for what the threads stored to global memory before they arrived. */
const copiesForBarrier = kernel(
  { out: 'i32[]', scratch: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, scratch, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', size);
    const copied = cuda.barrier(block);
    for (let b = 0; b < batches; b++) {
      cuda.memcpyAsync(block, staged, input.subarray(b * size), size, copied);
      if (t >= size - 32) cuda.nanosleep(late);
      scratch[b * size + t] = 3 * b + t;
      copied.arriveAndWait();
      out[b * size + t] = staged[size - 1 - t]! + scratch[b * size + size - 1 - t]!;
      block.sync();
    }
  },
);

/** The copy of the next batch runs while the threads fill and read the other half of a ring of two barriers. */
const ringOfBarriers = kernel(
  { out: 'i32[]', input: 'readonly i32[]', batches: 'index', late },
  ({ out, input, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const [t, size] = [block.threadRank(), block.size()];
    const staged = cuda.sharedArray('i32', 2 * size);
    const noted = cuda.sharedArray('i32', 2 * size);
    const copied = cuda.barrierArray(block, 2);
    cuda.memcpyAsync(block, staged, input, size, copied[0]!);
    noted[t] = t;
    let token = copied[0]!.arrive();
    for (let b = 0; b < batches; b++) {
      const here = b % 2;
      copied[here]!.wait(token);
      if (b + 1 < batches) {
        const next = 1 - here;
        cuda.memcpyAsync(
          block,
          staged.subarray(next * size),
          input.subarray((b + 1) * size),
          size,
          copied[next]!,
        );
        if (t >= size - 32) cuda.nanosleep(late);
        noted[next * size + t] = 5 * b - t;
        token = copied[next]!.arrive();
      }
      out[b * size + t] = staged[here * size + size - 1 - t]! + noted[here * size + size - 1 - t]!;
      block.sync();
    }
  },
);

export interface OrderingCase {
  readonly kernel: Kernel;
  /** Whether it takes `scratch`, as long as `out`. */
  readonly scratch: boolean;
  /** Threads for each element of a batch: 2 where half of them are producers. */
  readonly threads: 1 | 2;
}

/** Each is launched with one or more blocks' worth of `batches`; all of them take the same arguments. */
export const orderingKernels: Readonly<Record<string, OrderingCase>> = {
  'stores beside a copy': { kernel: storesBesideCopy as unknown as Kernel, scratch: false, threads: 1 },
  'a stage half copied': { kernel: halfCopied as unknown as Kernel, scratch: false, threads: 1 },
  'stages filled by threads': { kernel: filledByThreads as unknown as Kernel, scratch: false, threads: 1 },
  'stores seen across turns': { kernel: acrossTurns as unknown as Kernel, scratch: true, threads: 1 },
  'a stage overwritten by a copy': { kernel: overwritten as unknown as Kernel, scratch: false, threads: 1 },
  'thread copies overwritten by a copy': {
    kernel: copiedOver as unknown as Kernel,
    scratch: false,
    threads: 1,
  },
  'stores before a copy': { kernel: storesBeforeCopy as unknown as Kernel, scratch: false, threads: 1 },
  'a ring of three stages': { kernel: ringOfThree as unknown as Kernel, scratch: false, threads: 1 },
  'copies for a barrier': { kernel: copiesForBarrier as unknown as Kernel, scratch: true, threads: 1 },
  'a ring of barriers': { kernel: ringOfBarriers as unknown as Kernel, scratch: false, threads: 1 },
  'stores of producers': { kernel: notesOfProducers as unknown as Kernel, scratch: true, threads: 2 },
  'even threads copy': { kernel: evenThreadsCopy as unknown as Kernel, scratch: false, threads: 2 },
  'the last warps copy': { kernel: lastWarpsCopy as unknown as Kernel, scratch: false, threads: 2 },
  'stores through producers': { kernel: throughProducers as unknown as Kernel, scratch: true, threads: 2 },
};
