// cuda.pipelined is the verbs: the program of a kernel that uses it is, to the letter, that of the kernel that writes
// them, and so is all that targets make of it. What it cannot say is refused.

import { describe, expect, test } from 'vitest';
import { printProgram } from '#warpstage/compiler/print.js';
import { runEverywhere } from '../support/everywhere.ts';
import { compile, kernelOf, mistakesIn } from './support.ts';

const schema = {
  out: 'i32[]',
  input: 'readonly i32[]',
  other: 'readonly f32[]',
  batches: 'index',
} as const;

const programOf = (text: string) => printProgram(compile(kernelOf(schema, text, 'kernel')).program);

/** A kernel around statements, with the names that they use. */
const kernelWith = (statements: string) => `({ out, input, other, batches }, cuda) => {
  const block = cuda.thisThreadBlock();
  const size = block.size();
  const t = block.threadRank();
  const source = (batch) => input.subarray(batch * size);
  ${statements}
}`;

const uses = `const use = (staged, batch) => { out[batch * size + t] = staged[size - 1 - t]; };`;

describe('the same program as', () => {
  test.each([2, 3, 8])('the guide’s two loops, %i stages', (stages) => {
    const short = kernelWith(`${uses}
      cuda.pipelined({
        group: block, stages: ${stages}, batches,
        copy: (batch) => ({ source: source(batch), count: size }),
        use,
      });`);
    const long = kernelWith(`${uses}
      const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}));
      const staged = cuda.sharedArray('i32', size * ${stages});
      for (let computeBatch = 0, fetchBatch = 0; computeBatch < batches; ++computeBatch) {
        for (; fetchBatch < batches && fetchBatch < computeBatch + ${stages}; ++fetchBatch) {
          pipeline.producerAcquire();
          const begin = (batch) => ({ from: source(batch) });
          cuda.memcpyAsync(block, staged.subarray((fetchBatch % ${stages}) * size), begin(fetchBatch).from, size, pipeline);
          pipeline.producerCommit();
        }
        pipeline.consumerWait();
        use(staged.subarray((computeBatch % ${stages}) * size), computeBatch);
        pipeline.consumerRelease();
      }
      pipeline.quit();`);
    expect(programOf(short)).toBe(programOf(long));
  });

  test('one loop, with a single stage', () => {
    const short = kernelWith(`${uses}
      cuda.pipelined({ group: block, stages: 1, batches, use, copy: (batch) => ({ source: source(batch), count: size }) });`);
    const long = kernelWith(`${uses}
      const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      const staged = cuda.sharedArray('i32', size);
      for (let batch = 0; batch < batches; ++batch) {
        pipeline.producerAcquire();
        const begin = (batch) => ({ from: source(batch) });
        cuda.memcpyAsync(block, staged, begin(batch).from, size, pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        use(staged, batch);
        pipeline.consumerRelease();
      }
      pipeline.quit();`);
    expect(programOf(short)).toBe(programOf(long));
  });

  test.each([
    [
      'role',
      "role: t < 16 ? 'producer' : 'consumer'",
      "t < 16 ? 'producer' : 'consumer'",
      "(t < 16 ? 'producer' : 'consumer') === 'producer'",
    ],
    ['producers', 'producers: 16', '16', 't < 16'],
  ])('loops with roles, given %s', (_, member, third, isProducer) => {
    const short = kernelWith(`${uses}
      cuda.pipelined({
        group: block, ${member}, stages: 2, batches,
        copy: (batch) => ({ source: source(batch).subarray(t), count: 1, room: size, at: t, by: cuda.thisThread() }),
        use,
      });`);
    const long = kernelWith(`${uses}
      const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2), ${third});
      const staged = cuda.sharedArray('i32', size * 2);
      for (let computeBatch = 0, fetchBatch = 0; computeBatch < batches; ++computeBatch) {
        for (; fetchBatch < batches && fetchBatch < computeBatch + 2; ++fetchBatch) {
          if (${isProducer}) {
            pipeline.producerAcquire();
            const begin = (batch) => ({ from: source(batch).subarray(t) });
            cuda.memcpyAsync(cuda.thisThread(), staged.subarray((fetchBatch % 2) * size + t), begin(fetchBatch).from, 1, pipeline);
            pipeline.producerCommit();
          }
        }
        if (!(${isProducer})) {
          pipeline.consumerWait();
          use(staged.subarray((computeBatch % 2) * size), computeBatch);
          pipeline.consumerRelease();
        }
      }
      pipeline.quit();`);
    expect(programOf(short)).toBe(programOf(long));
  });
});

describe('on every target', () => {
  /** What a kernel of 40 threads stores; each batch of its input counts on from the one before. */
  const stored = (statements: string, batches = 3) => {
    const input = Int32Array.from({ length: 40 * batches }, (_, i) => i);
    const { fault, arguments: after } = runEverywhere(kernelOf(schema, kernelWith(statements)) as never, {
      grid: 1,
      block: 40,
      arguments: { out: new Int32Array(40 * batches), input, other: new Float32Array(1), batches },
    });
    expect(fault).toBeNull();
    return [...(after.out as Int32Array)];
  };
  const counted = Array.from({ length: 120 }, (_, i) => i);
  /** The thread of a block of 40 that is as far from the end of its tile of 16 as this is from the beginning. */
  const mirrored = (t: number) => {
    const first = t - (t % 16);
    return first + Math.min(40, first + 16) - 1 - t;
  };

  test('tiles have stages of their own, which end where they do', () => {
    expect(
      stored(`const tile = cuda.tiledPartition(block, 8);
        const lane = tile.threadRank();
        const first = t - lane;
        cuda.pipelined({
          group: tile, stages: 2, batches,
          copy: (batch) => ({ source: source(batch).subarray(first), count: 8 }),
          use: (staged, batch) => { out[batch * size + t] = staged[lane] + (staged.length === 8 ? 0 : 1000); },
        });`),
    ).toEqual(counted);
  });

  // The last of them has 8 threads, and a batch of its own size.
  const partialTile = `const tile = cuda.tiledPartition(block, 16);
    const lane = tile.threadRank();
    const own = (batch) => source(batch).subarray(t - lane);`;

  test('tiles that do not fill the block have stages of their own', () => {
    expect(
      stored(`${partialTile}
        cuda.pipelined({
          group: tile, stages: 2, batches,
          copy: (batch) => ({ source: own(batch), count: tile.size(), room: 16 }),
          use: (staged, batch) => { out[batch * size + t] = staged[tile.size() - 1 - lane]; },
        });`),
    ).toEqual(counted.map((i) => i - (i % 40) + mirrored(i % 40)));
  });

  test('and producers and consumers among their threads', () => {
    expect(
      stored(`${partialTile}
        cuda.pipelined({
          group: tile, stages: 3, batches, producers: 3,
          copy: (batch) => ({
            source: own(batch).subarray(lane), count: lane < 2 ? 1 : tile.size() - 2, room: 16, at: lane, by: cuda.thisThread(),
          }),
          use: (staged, batch) => { out[batch * size + t] = staged[tile.size() - 1 - lane]; },
        });`),
    ).toEqual(counted.map((i) => ((i % 40) % 16 < 3 ? 0 : i - (i % 40) + mirrored(i % 40))));
  });

  test('any subset of the block may make a copy', () => {
    expect(
      stored(`const isProducer = t % 3 === 1;
        const producers = cuda.binaryPartition(block, isProducer);
        cuda.pipelined({
          group: block, stages: 2, batches, role: isProducer ? 'producer' : 'consumer',
          copy: (batch) => ({ source: source(batch), count: size, by: producers }),
          use: (staged, batch) => { out[batch * size + t] = staged[t - t % 3]; },
        });`),
    ).toEqual(counted.map((i) => ((i % 40) % 3 === 1 ? 0 : i - ((i % 40) % 3))));
  });

  test('a number of batches counts as it was', () => {
    expect(
      stored(`let left = batches;
        cuda.pipelined({
          group: block, stages: 2, batches: left,
          copy: (batch) => ({ source: source(batch), count: size }),
          use: (staged, batch) => { left -= 1; out[batch * size + t] = staged[t]; },
        });`),
    ).toEqual(counted);
  });

  test('a thread stays what it was, though its number of producers changes', () => {
    expect(
      stored(`let producers = size - batches;
        cuda.pipelined({
          group: block, stages: 1, batches, producers,
          copy: (batch) => {
            producers = 1;
            return { source: source(batch).subarray(t), count: 1, room: size, at: t, by: cuda.thisThread() };
          },
          use: (staged, batch) => { producers = size; out[t] = staged[t - 37] + 1; },
        });`).slice(0, 40),
    ).toEqual(counted.slice(0, 40).map((i) => (i < 37 ? 0 : 80 + i - 37 + 1)));
  });

  test('a copy may be called source, and its room be undefined', () => {
    expect(
      stored(`cuda.pipelined({
        group: block, stages: 2, batches,
        copy: (batch) => ({ source: { source: source(batch), count: size, room: undefined } }),
        use: (staged, batch) => { out[batch * size + t] = staged.source[t]; },
      });`),
    ).toEqual(counted);
  });
});

describe('refused', () => {
  const copy = 'copy: (batch) => ({ source: source(batch), count: size })';
  const rest = `stages: 2, batches, use: (staged) => { out[t] = staged[t]; }`;
  const mistakes = (options: string) => mistakesIn(schema, kernelWith(`cuda.pipelined({ ${options} });`));

  test.each<[string, string, string | RegExp]>([
    [
      'a member too few',
      `group: block, ${rest}`,
      /WS1009 .*cuda\.pipelined is not given 'copy' \(it takes { group, stages, batches, copy, use }\)/s,
    ],
    [
      'a member that it does not have',
      `group: block, ${rest}, ${copy}, scope: 'device'`,
      /WS1009 .* 'device': cuda\.pipelined has no 'scope' \(.*what it does not say is written by the verbs: cuda\.makePipeline,/,
    ],
    [
      'a name that is nearly one',
      `group: block, ${rest}, ${copy}, producer: 32`,
      /has no 'producer' \(did you mean 'producers'\? /,
    ],
    [
      'what a copy says',
      `group: block, ${rest}, ${copy}, room: 64`,
      /has no 'room' \(it stands in what copy gives: { source, count, room }/,
    ],
    [
      'lanes that are no tile',
      `group: cuda.coalescedThreads(), ${rest}, ${copy}`,
      /group of cuda\.pipelined must be a block, a tile or a thread, and is a coalesced group \(such groups write the verbs/,
    ],
    [
      'a role and a number',
      `group: block, ${rest}, ${copy}, role: 'producer', producers: 32`,
      /takes role or producers, and is given both/,
    ],
    [
      'stages that change',
      `group: block, stages: batches, batches, use: () => {}, ${copy}`,
      /WS1013 .* batches: stages of cuda\.pipelined must be known when the kernel is compiled/,
    ],
    [
      'too many stages',
      `group: block, stages: 256, batches, use: () => {}, ${copy}`,
      /WS1009 .* 256: a pipeline has 1 to 255 stages, and this one 256/,
    ],
    [
      'no stage for a thread',
      `group: cuda.thisThread(), stages: 0, batches, use: () => {}, ${copy}`,
      /WS1009 .* 0: a pipeline has 1 to 255 stages, and this one 0/,
    ],
    [
      'roles of a single thread',
      `group: cuda.thisThread(), producers: 1, ${rest}, ${copy}`,
      /group of cuda\.pipelined must be a block or a tile, and is the thread group/,
    ],
    [
      'what is no function',
      `group: block, ${rest}, copy: input`,
      /copy of cuda\.pipelined must be a function, and is the read-only i32 array 'input'/,
    ],
    [
      'a copy of nothing',
      `group: block, ${rest}, copy: () => {}`,
      /copy of cuda\.pipelined must give what it copies, and gives undefined \(give one copy, { source, count }/,
    ],
    [
      'a copy of a number',
      `group: block, ${rest}, copy: () => ({ source: 1, count: size })`,
      /source of what copy gives must be an array, and is the number 1/,
    ],
    [
      'an array among copies',
      `group: block, ${rest}, copy: (batch) => ({ a: { source: source(batch), count: size }, b: input })`,
      /copy of cuda\.pipelined must give what it copies, and gives /,
    ],
    [
      'a misspelt copy',
      `group: block, ${rest}, copy: (batch) => ({ source: source(batch), counts: size })`,
      /what copy gives has no 'counts' \(did you mean 'count'\? /,
    ],
    [
      'a copy without a count',
      `group: block, ${rest}, copy: (batch) => ({ a: { source: source(batch) } })`,
      /'a' of what copy gives is not given 'count'/,
    ],
    [
      'room that nobody knows',
      `group: block, ${rest}, copy: (batch) => ({ source: source(batch), count: input[batch] })`,
      /WS1008 .*: how many elements of 'input' a stage has room for must be the same for all threads and known at the launch \(where batches differ, give the room of the largest beside count: /s,
    ],
    [
      'roles without who copies',
      `group: block, producers: 16, ${rest}, ${copy}`,
      /where threads have roles, a copy says which of them make it together \(add by: cuda\.thisThread\(\)/,
    ],
  ])('%s', (_, options, expected) => {
    const found = mistakes(options);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  test('what is no object', () => {
    expect(mistakesIn(schema, kernelWith('cuda.pipelined(block);'))).toEqual([
      expect.stringMatching(
        /options of cuda\.pipelined must be an object: { name: value, … }, and is the block group/,
      ),
    ]);
  });
});

test('mistakes in copy and use are where they stand', () => {
  const found = mistakesIn(
    schema,
    kernelWith(`cuda.pipelined({
      group: block, stages: 2, batches,
      copy: (batch) => ({ source: source(batch), count: sized }),
      use: (staged) => { out[t] = stage[t]; },
    });`),
  );
  expect(found).toEqual([
    expect.stringMatching(/^WS1002 8:\d+ sized: /),
    expect.stringMatching(/^WS1002 9:\d+ stage: /),
  ]);
});
