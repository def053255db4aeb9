// Puzzles about copies that run while threads compute: stages, roles and barriers.

import { integers, type Puzzle, program, scattered, type Trial } from './puzzle.ts';

const stageSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]', batches: 'index' }",
  '{ out, x, batches }',
  `  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const part = cuda.sharedArray('i32', 64);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  for (let batch = 0; batch < batches; ++batch) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, part, x.subarray(batch * 64), 64, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    out[batch * 64 + t] = part[63 - t]!;
    pipeline.consumerRelease();
  }
`,
  '{ grid: 1, block: 64, arguments: { out: { length: 256 }, x: { length: 256 }, batches: 4 } }',
);

const overlapSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]', batches: 'index' }",
  '{ out, x, batches }',
  `  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 2 * 64);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  for (let batch = 0, fetch = 0; batch < batches; ++batch) {
    for (; fetch < batches && fetch < batch + 2; ++fetch) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(block, staged.subarray((fetch % 2) * 64), x.subarray(fetch * 64), 64, pipeline);
      pipeline.producerCommit();
    }
    pipeline.consumerWait();
    let value = staged[(batch % 2) * 64 + 63 - t]!;
    for (let round = 0; round < 8; ++round) value = (value * 5 + 1) % 1009;
    out[batch * 64 + t] = value;
    pipeline.consumerRelease();
  }
`,
  '{ grid: 1, block: 64, arguments: { out: { length: 512 }, x: { length: 512 }, batches: 8 } }',
);

const rolesSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]', batches: 'index' }",
  '{ out, x, batches }',
  `  const block = cuda.thisThreadBlock();
  const lane = block.threadRank() % 32;
  const produces = block.threadRank() < 32;
  const staged = cuda.sharedArray('i32', 2 * 32);
  const state = cuda.pipelineSharedState('block', 2);
  const pipeline = cuda.makePipeline(block, state, produces ? 'producer' : 'consumer');
  for (let batch = 0; batch < batches; ++batch) {
    const stage = staged.subarray((batch % 2) * 32);
    if (produces) {
      pipeline.producerAcquire();
      cuda.memcpyAsync(stage.subarray(lane), x.subarray(batch * 32 + lane), 1, pipeline);
      pipeline.producerCommit();
    } else {
      pipeline.consumerWait();
      out[batch * 32 + lane] = stage[31 - lane]!;
      pipeline.consumerRelease();
    }
  }
`,
  '{ grid: 1, block: 64, arguments: { out: { length: 160 }, x: { length: 160 }, batches: 5 } }',
);

const barrierSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]' }",
  '{ out, x }',
  `  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const first = cuda.blockIdx.x * 64;
  const part = cuda.sharedArray('i32', 64);
  const copied = cuda.barrierArray(block, 1)[0]!;
  cuda.memcpyAsync(block, part, x.subarray(first), 64, copied);
  const token = copied.arrive();
  const own = t * t;
  copied.wait(token);
  out[first + t] = part[63 - t]! + own;
`,
  '{ grid: 2, block: 64, arguments: { out: { length: 128 }, x: { length: 128 } } }',
);

const pairSolution = program(
  "{ out: 'i32[]', a: 'readonly i32[]', b: 'readonly i32[]', batches: 'index' }",
  '{ out, a, b, batches }',
  `  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const staged = cuda.sharedArray('i32', 2 * 64);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  for (let batch = 0; batch < batches; ++batch) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, staged, a.subarray(batch * 64), 64, pipeline);
    cuda.memcpyAsync(block, staged.subarray(64), b.subarray(batch * 64), 64, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    out[batch * 64 + t] = staged[t]! - staged[64 + 63 - t]!;
    pipeline.consumerRelease();
  }
`,
  '{ grid: 1, block: 64, arguments: { out: { length: 192 }, a: { length: 192 }, b: { length: 192 }, batches: 3 } }',
);

const ownSolution = program(
  "{ out: 'i32[]', x: 'readonly i32[]', batches: 'index' }",
  '{ out, x, batches }',
  `  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const part = cuda.sharedArray('i32', 64);
  const pipeline = cuda.makePipeline();
  for (let batch = 0; batch < batches; ++batch) {
    pipeline.producerAcquire();
    cuda.memcpyAsync(part.subarray(t), x.subarray(batch * 64 + t), 1, pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    block.sync();
    out[batch * 64 + t] = part[63 - t]!;
    pipeline.consumerRelease();
    block.sync();
  }
`,
  '{ grid: 1, block: 64, arguments: { out: { length: 256 }, x: { length: 256 }, batches: 4 } }',
);

/** Batches, each of them reversed, and what becomes of an element. */
function batched(
  width: number,
  batches: number,
  becomes: (value: number) => number = (value) => value,
): Trial {
  const x = scattered(width * batches);
  const out = integers(x.length, (i) => becomes(x[i - (i % width) + width - 1 - (i % width)]!));
  const given = { out: new Int32Array(x.length), x, batches };
  return { launch: { grid: 1, block: 64, arguments: given }, expected: { out } };
}

function rounds(value: number): number {
  for (let round = 0; round < 8; ++round) value = (value * 5 + 1) % 1009;
  return value;
}

export const stagePuzzles: readonly Puzzle[] = [
  {
    name: 'stage',
    title: 'A pipeline with one stage',
    task: 'Copy each batch of 64 elements to shared memory by a pipeline, and write it in the reverse order.',
    hint: 'A stage goes round: producerAcquire, memcpyAsync, producerCommit, consumerWait, use it, consumerRelease.',
    solution: stageSolution,
    gaps: [
      ['    pipeline.consumerWait();\n', '    // When is the copy there?\n'],
      ['    pipeline.consumerRelease();\n', '    // And when may the next one come?\n'],
    ],
    mistakes: [
      { what: 'nobody waits for the copy', edits: [['    pipeline.consumerWait();\n', '']], says: 'WS7002' },
      {
        what: 'the stage is never free again',
        edits: [['    pipeline.consumerRelease();\n', '']],
        says: 'WS3002',
      },
      {
        what: 'the copy is not committed',
        edits: [['    pipeline.producerCommit();\n', '']],
        says: 'WS3002',
      },
      {
        what: 'the stage is free before it is read',
        edits: [
          ['    pipeline.consumerRelease();\n', ''],
          ['    out[batch * 64 + t]', '    pipeline.consumerRelease();\n    out[batch * 64 + t]'],
        ],
        says: 'WS7002',
      },
    ],
    goal: { kind: 'kernel', trials: () => [batched(64, 4)] },
  },
  {
    name: 'overlap',
    title: 'Two stages: copy and compute at once',
    task: 'Let the copy of the next batch run while the threads compute on this one. Stages shows it: the two rows overlap.',
    hint: 'Fill stages ahead: as long as fetch < batch + 2, there is one that is free or about to be.',
    solution: overlapSolution,
    gaps: [['fetch < batch + 2', 'fetch < batch + 1']],
    mistakes: [
      { what: 'one batch at a time', edits: [['fetch < batch + 2', 'fetch < batch + 1']], says: 'steps' },
      {
        what: 'the wrong stage is read',
        edits: [['staged[(batch % 2) * 64', 'staged[((batch + 1) % 2) * 64']],
        says: 'WS7002',
      },
      {
        what: 'three batches for two stages',
        edits: [['fetch < batch + 2', 'fetch < batch + 3']],
        says: 'WS3002',
      },
    ],
    goal: { kind: 'kernel', trials: () => [batched(64, 8, rounds)], steps: 200 },
  },
  {
    name: 'pair',
    title: 'Two copies in a stage',
    task: 'Take the batches of two arrays together: out is a batch of a, less that of b in the reverse order. One stage holds both.',
    hint: 'All copies between producerAcquire and producerCommit belong to the stage. Who waits for it waits for all of them.',
    solution: pairSolution,
    gaps: [
      [
        '    cuda.memcpyAsync(block, staged.subarray(64), b.subarray(batch * 64), 64, pipeline);\n',
        '    // And the batch of b.\n',
      ],
    ],
    mistakes: [
      {
        what: 'the second copy comes after the commit',
        edits: [
          [
            '    cuda.memcpyAsync(block, staged.subarray(64), b.subarray(batch * 64), 64, pipeline);\n    pipeline.producerCommit();\n',
            '    pipeline.producerCommit();\n    cuda.memcpyAsync(block, staged.subarray(64), b.subarray(batch * 64), 64, pipeline);\n',
          ],
        ],
        says: 'WS70',
      },
      {
        what: 'both copies go to one place',
        edits: [['staged.subarray(64), b', 'staged, b']],
        says: 'WS70',
      },
      {
        what: 'each copy takes a stage, and there is one',
        edits: [
          [
            'a.subarray(batch * 64), 64, pipeline);\n',
            'a.subarray(batch * 64), 64, pipeline);\n    pipeline.producerCommit();\n    pipeline.producerAcquire();\n',
          ],
        ],
        says: 'WS3002',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const [a, b] = [scattered(192), integers(192, (i) => i)];
        const out = integers(192, (i) => a[i]! - b[i - (i % 64) + 63 - (i % 64)]!);
        const given = { out: new Int32Array(192), a, b, batches: 3 };
        return [{ launch: { grid: 1, block: 64, arguments: given }, expected: { out } }];
      },
    },
  },
  {
    name: 'own',
    title: 'A pipeline of one’s own',
    task: 'Each thread has a pipeline of its own, and copies one element of each batch. Then it reads what another thread has copied.',
    hint: 'A wait of such a pipeline says that the own copy is there. For those of others, wait for the block; and before one copies again, too.',
    solution: ownSolution,
    gaps: [
      [
        '    pipeline.consumerWait();\n    block.sync();\n',
        '    pipeline.consumerWait(); // for one’s own\n',
      ],
      ['    pipeline.consumerRelease();\n    block.sync();\n', '    pipeline.consumerRelease();\n'],
    ],
    mistakes: [
      {
        what: 'the own copy alone is waited for',
        edits: [['    pipeline.consumerWait();\n    block.sync();\n', '    pipeline.consumerWait();\n']],
        says: 'WS70',
      },
      {
        what: 'the next copy comes while others read',
        edits: [
          ['    pipeline.consumerRelease();\n    block.sync();\n', '    pipeline.consumerRelease();\n'],
        ],
        says: 'WS70',
      },
      {
        what: 'nobody waits for copies',
        edits: [['    pipeline.consumerWait();\n', '']],
        says: 'WS70',
      },
    ],
    goal: { kind: 'kernel', trials: () => [batched(64, 4)] },
  },
  {
    name: 'roles',
    title: 'Some copy, others compute',
    task: 'One warp copies, and the other computes: each has its role in the pipeline.',
    hint: 'A producer acquires and commits; a consumer waits and releases.',
    solution: rolesSolution,
    gaps: [
      ['      pipeline.producerAcquire();\n', ''],
      ['      pipeline.producerCommit();\n', ''],
      ['      pipeline.consumerWait();\n', ''],
      ['      pipeline.consumerRelease();\n', ''],
    ],
    mistakes: [
      {
        what: 'a stage is filled before it is free',
        edits: [['      pipeline.producerAcquire();\n', '']],
        says: 'out[0] is',
      },
      {
        what: 'nobody waits for the copy',
        edits: [['      pipeline.consumerWait();\n', '']],
        says: 'WS7002',
      },
      {
        what: 'stages are never free again',
        edits: [['      pipeline.consumerRelease();\n', '']],
        says: 'WS3002',
      },
      {
        what: 'the roles are swapped',
        edits: [["produces ? 'producer' : 'consumer'", "produces ? 'consumer' : 'producer'"]],
        says: 'WS3006',
      },
    ],
    goal: { kind: 'kernel', trials: () => [batched(32, 5)] },
  },
  {
    name: 'barrier',
    title: 'Arrive now, wait later',
    task: 'A barrier says when a copy is there. Arrive when it is issued, compute what does not depend on it, and wait only then.',
    hint: 'arrive() gives a token for this phase; wait(token) waits until all have arrived, and the copy has.',
    solution: barrierSolution,
    gaps: [['  copied.wait(token);\n', '']],
    mistakes: [
      { what: 'nobody waits', edits: [['  copied.wait(token);\n', '']], says: 'WS7002' },
      {
        what: 'one thread waits',
        edits: [['  copied.wait(token);', '  if (t === 0) copied.wait(token);']],
        says: 'WS7002',
      },
      {
        what: 'the copy says nothing to the barrier that is waited for',
        edits: [
          [
            '  const copied = cuda.barrierArray(block, 1)[0]!;\n',
            '  const copied = cuda.barrierArray(block, 2)[0]!;\n  const other = cuda.barrierArray(block, 1)[0]!;\n',
          ],
          ['64, copied);', '64, other);'],
        ],
        says: 'WS7002',
      },
    ],
    goal: {
      kind: 'kernel',
      trials: () => {
        const x = scattered(128);
        const out = integers(128, (i) => x[i - (i % 64) + 63 - (i % 64)]! + (i % 64) ** 2);
        return [
          { launch: { grid: 2, block: 64, arguments: { out: new Int32Array(128), x } }, expected: { out } },
        ];
      },
    },
  },
];
