// Mutations of what `targets/legalise` proves of a program, so that less synchronisation will do.

import { mutationsOf } from './mutation.ts';

const ordering = ['test/core/ordering.test.ts', 'test/core/conformance.test.ts'];
const random = [...ordering, 'test/differential/staging.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/legalise/calm.ts', random, [
    {
      name: 'a store is calm',
      from: "if (statement.array.space !== 'local') access(state);",
      to: "if (statement.array.space === 'local') access(state);",
      why: 'a copy or commit that follows stores is left without its barrier',
    },
    {
      name: 'a load of what others write is calm',
      from: 'if (evaluated.some(readsOthers)) access(state);',
      to: '',
      why: 'the stage is overwritten while a thread still reads it',
    },
    {
      name: 'behind a branch it is as calm as on one of its ways',
      from: 'calm: one.calm && other.calm,',
      to: 'calm: one.calm || other.calm,',
      why: 'a barrier is left out where one of two ways needs it',
    },
    {
      name: 'behind a branch it is as fenced as on one of its ways',
      from: 'fenced: one.fenced && other.fenced,',
      to: 'fenced: one.fenced || other.fenced,',
      why: 'a proxy fence is left out where one of two ways needs it',
    },
    {
      name: 'a loop begins as it is entered',
      from: "if (statement.kind === 'loop') meet(entry, entry, end);",
      to: '',
      why: 'what the end of a turn leaves is not ordered before the next one copies',
    },
    {
      name: 'a commit that nothing precedes is calm',
      from: 'const nothing: State = { calm: false, fenced: false, met: 0 };',
      to: 'const nothing: State = { calm: true, fenced: false, met: 0 };',
      why: 'stores before the first barrier of a kernel are not ordered',
    },
    {
      name: 'a barrier of the block is a fence of the copying thread',
      from: 'Object.assign(state, { calm: true, fenced: false, met: Number.POSITIVE_INFINITY });\n    else if',
      to: 'Object.assign(state, { calm: true, fenced: true, met: Number.POSITIVE_INFINITY });\n    else if',
      why: 'threads that wrote the stage are ordered before the copying thread, and not before its engine',
    },
  ]),
  ...mutationsOf('src/targets/legalise/only-copies.ts', random, [
    {
      name: 'atomics count as nothing',
      from: "if (call.intrinsic === 'atomic' && call.array.space !== 'local') only = false;",
      to: '',
      why: 'threads that meet by an atomic are ordered by no stage',
    },
    {
      name: 'copies may read what the kernel writes',
      from: "only &&= source.array.space === 'global' && isUnwritten(source.array.id);",
      to: "only &&= source.array.space === 'global';",
      why: 'a copy reads what a thread wrote before the release, without order',
      equivalent:
        'the engine copies from readonly arrays alone; a copy by threads comes after the acquire and before the arrival behind it, which order it',
    },
    {
      name: 'arrays that overlap count as apart',
      from: "return parameter.kind === 'array' && parameter.readonly && (alignments[id] ?? 1) >= 16;",
      to: "return parameter.kind === 'array' && parameter.readonly;",
      why: 'a source that is written through another argument is taken for one that nobody writes',
      tests: [...random, 'test/runtime/proven-alignment.test.ts', 'test/runtime/alignment.test.ts'],
    },
    {
      name: 'any number of written arrays is one',
      from: "if (array.space === 'global' && ++written > 1) return false;",
      to: "if (array.space === 'global' && ++written > 2) return false;",
      why: 'two outputs that overlap are each taken for their threads’ own',
      tests: random,
    },
    {
      name: 'stages that threads store to are left to the copies',
      from: 'if (stores) return false;\n      continue;',
      to: 'continue;',
      why: 'what threads store to a stage is not ordered before the wait',
    },
    {
      name: 'every element is its thread’s own',
      from: 'if (!own(accesses)) return false;',
      to: 'void own(accesses);',
      why: 'threads that exchange values through a shared array are ordered by no stage',
    },
  ]),
  ...mutationsOf(
    'src/targets/legalise/own-places.ts',
    [...random, 'test/cuda/lockstep.test.ts'],
    [
      {
        name: 'all residues are taken modulo the largest modulus',
        from: 'const modulus = places.reduce((least, { at }) => Math.min(least, at.modulus), mostModulus);',
        to: 'const modulus = places.reduce((most, { at }) => Math.max(most, at.modulus), 1);',
        why: 'two threads are taken for apart though the lesser modulus lets them meet',
      },
      {
        name: 'guards keep out those that pass',
        from: 'factOf(test).value !== !holds',
        to: 'factOf(test).value !== holds',
        why: 'accesses of the threads that a test lets in are not looked at',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/calls.ts',
    [...random, 'test/cuda/types.test.ts'],
    [
      {
        name: 'the count of a copy needs no alignment',
        from: 'Math.max(Math.min(addresses, proven(count)), alignment)',
        to: 'Math.max(addresses, alignment)',
        why: 'the last chunk of a copy writes behind its end',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/lowering.ts',
    [...random, 'test/cuda/types.test.ts'],
    [
      {
        name: 'the copy engine copies what the kernel writes',
        from: 'if (!isReadonly(program, id))',
        to: 'if (!isReadonly(program, id) && id < 0)',
        why: 'the engine reads what threads wrote without a fence between',
      },
      {
        name: 'the copy engine copies from addresses of 8 bytes',
        from: 'return known < 16 ?',
        to: 'return known < 8 ?',
        why: 'a bulk copy from such an address is a fault of the GPU',
        tests: ['test/cuda/lockstep.test.ts'],
      },
      {
        name: 'a single stage is brief however much it holds',
        from: 'return bytes <= chunk * x * y * z;',
        to: 'return bytes <= chunk * x * y * z * 64;',
        why: 'threads copy in many turns what the copy engine would at once',
        tests: ['test/cuda/lockstep.test.ts'],
      },
      {
        name: 'bulk copies stay though threads may return',
        from: "if (returns) return groups('threads may return while copies are under way');\n",
        to: '',
        why: 'the block ends while bytes still come',
      },
      {
        name: 'a block that comes in parts is one',
        from: "if (!options.blockUniform(id)) return barriers('not all threads of the block reach its calls together');\n",
        to: '',
        why: 'a barrier of the block in a branch that some threads do not take: they wait for ever',
        tests: ['test/core/block-in-parts.test.ts'],
      },
      {
        name: 'times of a wait are ignored',
        from: "if (timed.has(id)) return barriers('a wait for it may time out');\n",
        to: '',
        why: 'consumerWaitFor waits for ever',
        tests: [
          'test/core/conformance.test.ts',
          'test/conformance/conformance.test.ts',
          'test/barriers/timed.test.ts',
        ],
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/prefetch.ts',
    ['test/cuda/lockstep.test.ts', 'test/cuda/rotate.test.ts', 'test/cuda/golden.test.ts'],
    [
      {
        name: 'the distance of prefetches counts the stages too',
        from: 'const ahead = batchesUnderWay(loop.body, program, schedule.pace) - stages;',
        to: 'const ahead = batchesUnderWay(loop.body, program, schedule.pace);',
        why: 'what is prefetched is a round later than what the memory should be at',
      },
      {
        name: 'prefetches do not ask whether there is such a batch',
        from: 'for (const copy of copies) {\n    const offset = laterOffset(copy, loop.body, counter, next);\n    if (offset !== null) schedule.prefetches.set(copy, { offset, when });',
        to: 'for (const copy of copies) {\n    const offset = laterOffset(copy, loop.body, counter, next);\n    if (offset !== null) schedule.prefetches.set(copy, { offset, when: when && null });',
        why: 'the last turns prefetch what lies behind the array',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/lockstep.ts',
    ['test/core/pace.test.ts', 'test/core/greatest-counters.test.ts'],
    [
      {
        name: 'single turns prefetch what is not there',
        from: 'const when = turn === null ? conjunctionOf(far) : null;',
        to: 'const when = turn === null && far.length > 9 ? conjunctionOf(far) : null;',
        why: 'the last turns of a checked loop prefetch what lies behind the array',
      },
      {
        name: 'single turns look too far ahead',
        from: 'const next = variablePlus(used, inFlight - 1 + flow.ahead, capacity);',
        to: 'const next = variablePlus(used, inFlight + flow.ahead, capacity);',
        why: 'what is prefetched is a batch later than what was asked whether it is there',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/copier.ts',
    ['test/core/pace.test.ts', 'test/core/examples.test.ts'],
    [
      {
        name: 'one election forgets what the first did',
        from: 'before.then([...before.body, ...after.body])',
        to: 'before.then([...after.body])',
        why: 'bytes are expected that nobody copies',
      },
    ],
  ),
];
