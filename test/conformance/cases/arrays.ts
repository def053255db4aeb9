// Arrays that are chosen when the kernel runs: by a condition, out of a list, by exchanging two names.

import { deviceFunction, kernel } from 'warpstage';
import { type Cases, counting, integers } from '../case.ts';

/** The example of the class page: a list of two places in one shared array, indexed by the stage. */
const places = kernel(
  { out: 'i32[]', global0: 'readonly i32[]', global1: 'readonly i32[]', subsets: 'index' },
  ({ out, global0, global1, subsets }, cuda) => {
    const group = cuda.thisThreadBlock();
    const size = group.size();
    const s = cuda.sharedArray('i32', 4 * size);
    const shared = [s, s.subarray(2 * size)];
    const pipeline = cuda.makePipeline(group, cuda.pipelineSharedState('block', 2));
    const compute = (subset: number) => {
      const t = group.threadRank();
      const both = shared[subset % 2]!;
      out[subset * size + t] = both[t]! * 1000 + both.subarray(size)[size - 1 - t]!;
    };
    pipeline.producerAcquire();
    cuda.memcpyAsync(group, shared[0]!, global0, size, pipeline);
    cuda.memcpyAsync(group, shared[0]!.subarray(size), global1, size, pipeline);
    pipeline.producerCommit();
    for (let subset = 1; subset < subsets; subset++) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(group, shared[subset % 2]!, global0.subarray(subset * size), size, pipeline);
      cuda.memcpyAsync(
        group,
        shared[subset % 2]!.subarray(size),
        global1.subarray(subset * size),
        size,
        pipeline,
      );
      pipeline.producerCommit();
      pipeline.consumerWait();
      compute(subset - 1);
      pipeline.consumerRelease();
    }
    pipeline.consumerWait();
    compute(subsets - 1);
    pipeline.consumerRelease();
  },
);

/** A shared array for each stage. */
const stages = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const size = block.size();
  const t = block.threadRank();
  const a = cuda.sharedArray('i32', size);
  const b = cuda.sharedArray('i32', size);
  const c = cuda.sharedArray('i32', size);
  const shared = [a, b, c];
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 3));
  const batches = Math.trunc(input.length / size);
  for (let batch = 0, next = 0; batch < batches; batch++) {
    for (; next < batches && next < batch + 3; next++) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, shared[next % 3]!, input.subarray(next * size), size, pipeline);
      pipeline.producerCommit();
    }
    pipeline.consumerWait();
    out[batch * size + t] = shared[batch % 3]![size - 1 - t]!;
    pipeline.consumerRelease();
  }
});

/** Two arrays that change places in each round. */
const exchanged = kernel(
  { first: 'i32[]', second: 'i32[]', rounds: 'index' },
  ({ first, second, rounds }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    let from = first;
    let to = second;
    for (let round = 0; round < rounds; round++) {
      to[t] = from[(t + 1) % from.length]! + 10;
      block.sync();
      [from, to] = [to, from];
    }
  },
);

/** The same by a third name, through shared memory, of parts that have ends of their own. */
const scanned = kernel({ out: 'i32[]', input: 'readonly i32[]' }, ({ out, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const size = block.size();
  const t = block.threadRank();
  const whole = cuda.sharedArray('i32', size + 3);
  let from = whole.subarray(3);
  let to = cuda.sharedArray('i32', 2 * size).subarray(1, size + 1);
  from[t] = input[t]!;
  block.sync();
  for (let distance = 1; distance < to.length; distance *= 2) {
    to[t] = from[t]! + (t >= distance ? from[t - distance]! : 0);
    block.sync();
    const kept = from;
    from = to;
    to = kept;
  }
  out[t] = from[t]!;
});

const total = deviceFunction({ of: 'readonly i32[]', begin: 'index' }, ({ of, begin }) => {
  let sum = 0;
  for (let i = begin; i < of.length; i++) sum += of[i]!;
  return sum;
});

/** Each thread chooses, in global, shared and local memory; and what all can do with an array. */
const each = kernel(
  { out: 'i32[]', counts: 'i32[]', more: 'i32[]', fixed: 'i32[]', total },
  ({ out, counts, more, fixed, total }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const own = cuda.localArray('i32', 3);
    const shared = cuda.sharedArray('i32', block.size());
    shared[t] = 100 * t;
    for (let i = 0; i < 3; i++) own[i] = t + i;
    block.sync();
    const some = t % 2 === 0 ? own : shared.subarray(0, 3);
    const one = t % 4 === 3 ? fixed : some;
    out[5 * t] = total({ of: one, begin: 1 });
    out[5 * t + 1] = one.length;
    const counter = t % 3 === 0 ? counts : more;
    out[5 * t + 2] = cuda.atomicAdd(counter, t, 7);
    counter[t]! += 1;
    out[5 * t + 3] = counter[t]!--;
    const vectors = cuda.sharedArray('i32x2', block.size());
    const ownVectors = cuda.localArray('i32x2', 8);
    const pair = t % 2 === 0 ? vectors : ownVectors;
    pair[t] = cuda.i32x2(t, 2 * t);
    pair[t]!.y += 5;
    const { x, y } = pair[t]!;
    out[5 * t + 4] = x * 100 + y;
  },
);

const size = 32;
const sums = (values: Int32Array) => values.map((_, i) => values.slice(0, i + 1).reduce((a, b) => a + b));

/** What `each` leaves in `out` for a thread. */
function ofThread(t: number): number[] {
  const own = [t, t + 1, t + 2];
  const begin = [0, 100, 200];
  const fixed = Array.from(counting(8));
  const one = t % 4 === 3 ? fixed : t % 2 === 0 ? own : begin;
  const sum = one.slice(1).reduce((a, b) => a + b, 0);
  return [sum, one.length, 0, 8, t * 100 + 2 * t + 5];
}

const eachExpected = () => {
  const before = { counts: counting(8), more: counting(8).map((value) => value * 2) };
  const counts = before.counts.slice();
  const more = before.more.slice();
  const out = integers(40, (i) => ofThread(Math.trunc(i / 5))[i % 5]!);
  for (let t = 0; t < 8; t++) {
    const counter = t % 3 === 0 ? counts : more;
    out[5 * t + 2] = counter[t]!;
    counter[t]! += 7;
    out[5 * t + 3] = counter[t]! + 1;
  }
  return { counts, more, out };
};

export const arrayCases: Cases = [
  ...[1, 2, 5].map((subsets) => ({
    name: `a list of two places of an array, ${subsets} subsets`,
    kernel: places,
    grid: 1,
    block: size,
    data: {
      out: new Int32Array(subsets * size),
      global0: counting(subsets * size),
      global1: integers(subsets * size, (i) => 3 * i),
      subsets,
    },
    expected: {
      out: integers(subsets * size, (i) => {
        const first = i - (i % size);
        return (100 + i) * 1000 + 3 * (first + size - 1 - (i % size));
      }),
    },
  })),
  {
    name: 'a shared array for each stage',
    kernel: stages,
    grid: 1,
    block: size,
    data: { out: new Int32Array(7 * size), input: counting(7 * size) },
    expected: { out: integers(7 * size, (i) => 100 + i - (i % size) + size - 1 - (i % size)) },
  },
  ...[0, 1, 2, 5].map((rounds) => ({
    name: `two arrays that change places ${rounds} times`,
    kernel: exchanged,
    grid: 1,
    block: size,
    data: { first: counting(size), second: new Int32Array(size), rounds },
    expected: {
      [rounds % 2 === 0 ? 'first' : 'second']: integers(
        size,
        (i) => 100 + ((i + rounds) % size) + 10 * rounds,
      ),
    },
  })),
  {
    name: 'a scan between two parts of shared arrays',
    kernel: scanned,
    grid: 1,
    block: size,
    data: { out: new Int32Array(size), input: counting(size) },
    expected: { out: sums(counting(size)) },
  },
  {
    name: 'each thread chooses',
    kernel: each,
    grid: 1,
    block: 8,
    data: {
      out: new Int32Array(40),
      counts: counting(8),
      more: counting(8).map((value) => value * 2),
      fixed: counting(8),
    },
    expected: eachExpected(),
  },
];
