// Copies from and to every kind of memory, at every scope and for every size of element, each three
// times over with another wait.

import { kernel } from 'warpstage';
import { retyped } from '../../support/run-kernel.ts';
import { type Case, type Cases, counting } from '../case.ts';

const spaces = ['local', 'shared', 'global'] as const;
const scopes = ['block', 'cluster', 'device', 'system'] as const;

/** Each thread copies four elements of its own, through memory of one kind to another. */
const shared = kernel(
  {
    out: 'i32[]',
    source: 'i32[]',
    destination: 'i32[]',
    from: 'constant index',
    to: 'constant index',
    scope: 'constant index',
  },
  ({ out, source, destination, from, to, scope }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const localSource = cuda.localArray('i32', 4);
    const localDestination = cuda.localArray('i32', 4);
    const sharedSource = cuda.sharedArray('i32', 4 * block.size());
    const sharedDestination = cuda.sharedArray('i32', 4 * block.size());
    const here =
      from === 0 ? localSource : from === 1 ? sharedSource.subarray(4 * t) : source.subarray(4 * t);
    const there =
      to === 0
        ? localDestination
        : to === 1
          ? sharedDestination.subarray(4 * t)
          : destination.subarray(4 * t);
    const width = scope === 0 ? 'block' : scope === 1 ? 'cluster' : scope === 2 ? 'device' : 'system';
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState(width, 2));
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) here[i] = 10 * round + 4 * t + i;
      pipeline.producerAcquire();
      cuda.memcpyAsync(there, here, 4, pipeline);
      pipeline.producerCommit();
      let ready = true;
      if (round === 0) pipeline.consumerWait();
      else if (round === 1) ready = pipeline.consumerWaitFor(30e9);
      else ready = pipeline.consumerWaitUntil(cuda.globaltimer() + 30e9);
      for (let i = 0; i < 4; i++) out[(round * block.size() + t) * 4 + i] = ready ? there[i]! : 99;
      pipeline.consumerRelease();
    }
    if (pipeline.quit()) out[12 * block.size()] = 7;
  },
);

/** The same for a pipeline of the thread's own. */
const own = kernel(
  { out: 'i32[]', source: 'i32[]', destination: 'i32[]', from: 'constant index', to: 'constant index' },
  ({ out, source, destination, from, to }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const localSource = cuda.localArray('i32', 4);
    const localDestination = cuda.localArray('i32', 4);
    const sharedSource = cuda.sharedArray('i32', 4 * block.size());
    const sharedDestination = cuda.sharedArray('i32', 4 * block.size());
    const here =
      from === 0 ? localSource : from === 1 ? sharedSource.subarray(4 * t) : source.subarray(4 * t);
    const there =
      to === 0
        ? localDestination
        : to === 1
          ? sharedDestination.subarray(4 * t)
          : destination.subarray(4 * t);
    const pipeline = cuda.makePipeline();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) here[i] = 10 * round + 4 * t + i;
      pipeline.producerAcquire();
      cuda.memcpyAsync(cuda.thisThread(), there, here, 4, pipeline);
      pipeline.producerCommit();
      let ready = true;
      if (round === 0) pipeline.consumerWait();
      else if (round === 1) ready = pipeline.consumerWaitFor(30e9);
      else ready = pipeline.consumerWaitUntil(cuda.globaltimer() + 30e9);
      for (let i = 0; i < 4; i++) out[(round * block.size() + t) * 4 + i] = ready ? there[i]! : 99;
      pipeline.consumerRelease();
    }
    if (pipeline.quit()) cuda.atomicAdd(out, 12 * block.size(), 1);
  },
);

const threads = 4;

/** What is left of three rounds, and behind it what quit() did. */
const expected = (quit: number) => {
  const rounds = [0, 1, 2].flatMap((round) => Array.from({ length: 4 * threads }, (_, i) => 10 * round + i));
  return Int32Array.from([...rounds, quit]);
};

const data = () => ({
  out: new Int32Array(12 * threads + 1),
  source: counting(4 * threads),
  destination: counting(4 * threads),
});

const matrix = spaces.flatMap((from, source) =>
  spaces.map((to, destination) => ({ from, to, source, destination })),
);

const ofScopes: Cases = matrix.flatMap(({ from, to, source, destination }) =>
  scopes.map((scope, number): Case => {
    return {
      name: `${scope} scope, ${from} to ${to}`,
      kernel: shared,
      grid: 1,
      block: threads,
      data: { ...data(), from: source, to: destination, scope: number },
      expected: { out: expected(7) },
    };
  }),
);

const ofThreads: Cases = matrix.map(({ from, to, source, destination }): Case => {
  return {
    name: `thread scope, ${from} to ${to}`,
    kernel: own,
    grid: 1,
    block: threads,
    data: { ...data(), from: source, to: destination },
    expected: { out: expected(threads) },
  };
});

/** The same with elements of another size; the values fit all of them. */
const ofElements: Cases = (['u8', 'i16', 'f32', 'f64'] as const).flatMap((element) => {
  const Elements = { u8: Uint8Array, i16: Int16Array, f32: Float32Array, f64: Float64Array }[element];
  const of = (array: HostNumbers) => Elements.from(array);
  return matrix
    .filter(({ from, to }) => from === 'global' || to === 'shared')
    .map(({ from, to, source, destination }): Case => {
      const { out, source: here, destination: there } = data();
      const withoutQuit = { ...expected(7) };
      return {
        name: `${element}, ${from} to ${to}`,
        kernel: retyped(shared, element),
        grid: 1,
        block: threads,
        data: {
          out: of(out),
          source: of(here),
          destination: of(there),
          from: source,
          to: destination,
          scope: 0,
        },
        expected: { out: of(Int32Array.from(Object.values(withoutQuit))) },
      };
    });
});

type HostNumbers = Int32Array;

export const placementCases: Cases = [...ofScopes, ...ofThreads, ...ofElements];
