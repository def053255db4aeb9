// Random pipelines that are right, as the text of a kernel, and single mutations of them.
//
// Every group stages its batches through shared memory, mirrors each and stores it. A mutation drops one
// statement (for all threads, or for one thread of each group), or shifts the index of a stage.

import fc from 'fast-check';
import { type Kernel, kernel } from '#warpstage/kernel/kernel.js';

/** How a pipeline is used. */
export interface Shape {
  readonly partition: 'unified' | 'role' | 'count' | 'thread';
  /** Threads of a group: the block, or tiles of it. */
  readonly group: 8 | 32 | 64;
  readonly grid: 1 | 2;
  /** 1 to 4. */
  readonly stages: number;
  readonly batches: number;
  /** Batches that are fetched ahead, at most as many as there are stages. */
  readonly depth: number;
  /** Whether a group copies together, or each thread its own element. */
  readonly together: boolean;
  readonly quits: boolean;
}

const statements = ['acquire', 'commit', 'wait', 'release', 'sync', 'reuse'] as const;

/** What a mutation changes, and in which threads of a group. */
export interface Mutation {
  readonly drop: (typeof statements)[number] | null;
  readonly shift: 'copy' | 'read' | null;
  readonly thread: number | 'all';
}

export const blockSize = 64;

export const shapes: fc.Arbitrary<Shape> = fc
  .record({
    partition: fc.constantFrom('unified', 'role', 'count', 'thread'),
    group: fc.constantFrom(8, 32, 64),
    grid: fc.constantFrom(1, 2),
    stages: fc.integer({ min: 1, max: 4 }),
    batches: fc.integer({ min: 1, max: 7 }),
    depth: fc.integer({ min: 1, max: 4 }),
    together: fc.boolean(),
    quits: fc.boolean(),
  } as const)
  .map((shape) => ({ ...shape, depth: Math.min(shape.depth, shape.stages) }));

/** The mutations of a kernel of this shape: what is dropped is dropped where it stands. */
export function mutations(shape: Shape): fc.Arbitrary<Mutation> {
  const { partition, group, stages } = shape;
  const dropped: Mutation['drop'][] =
    partition === 'thread' ? ['commit', 'wait', 'sync', 'reuse'] : ['acquire', 'commit', 'wait', 'release'];
  const drops = fc.constantFrom(...dropped).chain((drop) => {
    const produces = drop === 'acquire' || drop === 'commit';
    const half = isParted(shape) ? group / 2 : group;
    const first = isParted(shape) && !produces ? half : 0;
    const thread = fc.oneof(fc.constant('all' as const), fc.integer({ min: first, max: first + half - 1 }));
    return thread.map((who): Mutation => ({ drop, shift: null, thread: who }));
  });
  const shifts = fc
    .constantFrom('copy' as const, 'read' as const)
    .map((shift): Mutation => ({ drop: null, shift, thread: 'all' }));
  return stages === 1 ? drops : fc.oneof(drops, drops, shifts);
}

function isParted({ partition }: Shape): boolean {
  return partition === 'role' || partition === 'count';
}

/** Elements of a batch of one group. */
export function batchSize(shape: Shape): number {
  return isParted(shape) ? shape.group / 2 : shape.group;
}

/** The kernel of a shape; with a mutation, a wrong one. */
export function kernelOf(shape: Shape, mutation: Mutation | null = null): Kernel {
  const text = textOf(shape, mutation);
  return kernel({ out: 'i32[]', x: 'readonly i32[]' }, new Function(`return ${text}`)(), {
    name: 'random',
  }) as Kernel;
}

export function textOf(shape: Shape, mutation: Mutation | null): string {
  const { partition, group, stages, batches, depth, together, quits } = shape;
  const own = partition === 'thread';
  const width = batchSize(shape);
  const groups = blockSize / group;
  const parted = isParted(shape);

  /** A statement, unless the mutation drops it. */
  const say = (name: (typeof statements)[number], text: string) => {
    if (mutation?.drop !== name) return text;
    return mutation.thread === 'all' ? '' : `if (group.threadRank() !== ${mutation.thread}) ${text}`;
  };
  const stage = (batch: string, use: 'copy' | 'read') =>
    `((${batch}${mutation?.shift === use ? ' + 1' : ''}) % ${stages})`;
  const slot = (batch: string, use: 'copy' | 'read') => `(at * ${stages} + ${stage(batch, use)}) * ${width}`;

  const verb = (name: string) => `pipe.${name}();`;
  const copy =
    together && !parted
      ? `cuda.memcpyAsync(group, shared.subarray(${slot('fetch', 'copy')}), x.subarray(begin + fetch * ${width}), ${width}, pipe);`
      : `cuda.memcpyAsync(shared.subarray(${slot('fetch', 'copy')} + r), x.subarray(begin + fetch * ${width} + r), 1, pipe);`;
  const produce = `
    ${own ? '' : say('acquire', verb('producerAcquire'))}
    ${copy}
    ${say('commit', verb('producerCommit'))}`;
  const consume = `
    ${say('wait', verb('consumerWait'))}
    ${own ? say('sync', 'group.sync();') : ''}
    out[begin + batch * ${width} + r] = shared[${slot('batch', 'read')} + ${width - 1} - r] * 3 + batch;
    ${own ? say('reuse', 'group.sync();') : say('release', verb('consumerRelease'))}`;
  const state = `cuda.pipelineSharedState('block', ${stages})`;
  const made = {
    unified: `cuda.makePipeline(group, ${state})`,
    role: `cuda.makePipeline(group, ${state}, produces ? 'producer' : 'consumer')`,
    count: `cuda.makePipeline(group, ${state}, ${width})`,
    thread: 'cuda.makePipeline()',
  }[partition];
  const body = parted
    ? `if (produces) {
        for (let fetch = 0; fetch < ${batches}; fetch++) {${produce}}
      } else {
        for (let batch = 0; batch < ${batches}; batch++) {${consume}}
      }`
    : `for (let batch = 0, fetch = 0; batch < ${batches}; batch++) {
        for (; fetch < ${batches} && fetch < batch + ${depth}; fetch++) {${produce}}
        ${consume}
      }`;
  return `({ out, x }, cuda) => {
      const block = cuda.thisThreadBlock();
      const group = ${groups === 1 ? 'block' : `cuda.tiledPartition(block, ${group})`};
      const at = ${groups === 1 ? '0' : 'group.metaGroupRank()'};
      const r = group.threadRank() % ${width};
      const produces = group.threadRank() < ${width};
      const begin = (cuda.blockIdx.x * ${groups} + at) * ${batches * width};
      const shared = cuda.sharedArray('i32', ${groups * stages * width});
      const pipe = ${made};
      ${body}
      ${quits ? 'pipe.quit();' : ''}
    }`.replaceAll(/^\s*\n/gm, '');
}

/** Whether a mutated kernel is right as well. */
export function isHarmless({ stages, batches, depth }: Shape, { drop, thread }: Mutation): boolean {
  // Who does not go on need not give back, nor meet the others once more.
  if (batches === 1) return drop === 'release' || drop === 'reuse';
  // Nothing is filled again, or the sync of a batch in between comes before it is.
  return drop === 'reuse' && thread === 'all' && (batches <= stages || depth < stages);
}
