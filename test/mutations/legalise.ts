// Mutations of `targets/legalise`: what a pipeline or barrier becomes for a GPU.

import { mutationsOf } from './mutation.ts';

const ordering = ['test/core/ordering.test.ts', 'test/core/conformance.test.ts'];
const random = [...ordering, 'test/differential/staging.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/legalise/pipelines.ts', random, [
    {
      name: 'an acquire waits for the phase that is being filled',
      from: "parity: words.binary('xor', parity, words.u32(1)),",
      to: 'parity,',
      why: 'the producer waits for ever, or fills a stage that is still read',
    },
    {
      name: 'threads do not meet before a stage is filled again',
      from: 'return this.#meetings.sync(ofBlock, words);\n    // A stage that was never',
      to: 'return [];\n    // A stage that was never',
      why: 'a fast thread overwrites what a slow one still reads',
    },
    {
      name: 'commits of copies by threads count twice',
      from: 'if (this.#onlyAsynchronous(call.pipeline)) return [afterCopies(true)];',
      to: 'if (this.#onlyAsynchronous(call.pipeline)) return [afterCopies(true), this.#arrive(state, full, stage, words)];',
      why: 'phases end when half of the threads have committed',
    },
    {
      name: 'commits order copies alone',
      from: 'return [afterCopies(false), this.#arrive(state, full, stage, words)];',
      to: 'return [afterCopies(true)];',
      why: 'what a producer stored before its commit is not seen by the consumer',
    },
    {
      name: 'a commit of bulk copies keeps the bytes of the last one',
      from: '        ...hints,\n        words.assign(state.bytes, words.u32(0)),\n',
      to: '        ...hints,\n',
      why: 'the second phase expects more bytes than come, and never ends',
    },
    {
      name: 'every warp expects the bytes of the copies',
      from: "const ofWarp = words.choose(words.read(this.#copier.warp!, 'bool'), bytes, none);",
      to: 'const ofWarp = bytes;',
      why: 'a phase of several warps expects their multiple, and never ends',
    },
    {
      name: 'a warp arrives before its lanes have come',
      from: "return [words.sync({ kind: 'tile', size: 32 }), ...this.#copier.elected(words, [arrival])];",
      to: 'return [...this.#copier.elected(words, [arrival])];',
      why: 'stores of the other lanes are not ordered before the phase ends',
    },
    {
      name: 'no thread expects the bytes of the copies',
      from: 'return [this.#arrive(state, full, stage, words, words.choose(first, bytes, none))];',
      to: 'return [this.#arrive(state, full, stage, words, none)];',
      why: 'a phase ends before its bytes have come',
    },
    {
      name: 'a wait for groups of copies leaves one group more',
      from: 'return [this.#waitForAllBut(words.u32(distance - 1), distance - 1, words), ...meeting];',
      to: 'return [this.#waitForAllBut(words.u32(distance), distance, words), ...meeting];',
      why: 'a stage is read while it is still copied to',
    },
    {
      name: 'a counted wait for groups leaves one group more',
      from: "const later = words.binary('subtract', words.read(filled, 'u32'), words.u32(1));",
      to: "const later = words.read(filled, 'u32');",
      why: 'a stage is read while it is still copied to, where the distance is not known',
    },
    {
      name: 'threads do not meet after a wait for their groups',
      from: "const meeting = lowering === 'groups' ? this.#meetings.sync(ofBlock, words) : [];",
      to: 'const meeting: Statement[] = [];',
      why: 'a thread reads what another has not copied yet',
    },
    {
      name: 'a wait for all but some waits for too few',
      from: 'const most = Math.min(prior, mostGroups);\n    const more',
      to: 'const most = mostGroups;\n    const more',
      why: 'consumerWaitPrior returns though the stage is not complete',
      tests: [...random, 'test/interpreter/pipelines.test.ts', 'test/conformance/conformance.test.ts'],
    },
    {
      name: 'a release arrives nowhere',
      from: 'return [this.#arrive(state, empty, tail!.position(words).stage, words), ...advance];',
      to: 'return advance;',
      why: 'producers with roles wait for ever for the first stage that is used again',
    },
    {
      name: 'a release arrives at the next stage',
      from: 'return [this.#arrive(state, empty, tail!.position(words).stage, words), ...advance];',
      to: 'return [...advance, this.#arrive(state, empty, tail!.position(words).stage, words)];',
      why: 'a stage that is read is given to the producer, and the one that was read is not',
    },
    {
      name: 'each that quits is the last',
      from: "const isLast = words.compare('equal', words.read(left, 'u32'), words.u32(1));",
      to: "const isLast = words.compare('greaterEqual', words.read(left, 'u32'), words.u32(1));",
      why: 'what only the last thread may do is done by all',
    },
    {
      name: 'the fence after quit is missing',
      from: 'return [fence(), counted, fence(), words.assign(result, isLast)];',
      to: 'return [fence(), counted, words.assign(result, isLast)];',
      why: 'the last thread does not see what the others did before they quit',
    },
    {
      name: 'a bulk copy is not fenced',
      from: "...(this.#calm.fenced.has(copy) ? [] : [words.core({ kind: 'proxyFence', space: 'shared' })]),",
      to: '',
      why: 'the copy engine overwrites what threads still read or write there, on an H200 in one run of many',
    },
    {
      name: 'the block does not meet before one thread copies for it',
      from: '...(known ? [] : this.#meetings.sync(group, words)),',
      to: '',
      why: 'a copy overwrites what another thread still reads',
    },
    {
      name: 'copies with zeros count as asynchronous alone',
      from: 'only &&= this.#copies.isAsynchronous(call) && call.zeroFill === null;',
      to: 'only &&= this.#copies.isAsynchronous(call);',
      why: 'the zeros, which threads may store, are not ordered before the wait',
      equivalent:
        'pipelineMemcpyAsync, which alone fills with zeros, is lowered to cp.async with a source size: the zeros come with the copy',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cursor.ts', random, [
    {
      name: 'the parity never turns',
      from: "words.binary('xor', words.read(this.#parity, 'u32'), words.u32(1)),",
      to: "words.read(this.#parity, 'u32'),",
      why: 'in the second round a wait returns at once',
    },
    {
      name: 'the parity turns at the last stage, not behind it',
      from: "const round = words.compare('equal', this.#stage(words), words.u32(0));",
      to: "const round = words.compare('equal', this.#stage(words), words.u32(this.#stages - 1));",
      why: 'the last stage of a round is waited for with the parity of the next',
    },
    {
      name: 'three stages are counted to four',
      from: "const round = words.compare('equal', count(), words.u32(this.#stages));",
      to: "const round = words.compare('greater', count(), words.u32(this.#stages));",
      why: 'a stage is used that the program has not',
    },
    {
      name: 'the parity of a head that is known by its distance ignores the tail',
      from: "parity: words.binary('and', words.binary('add', rounds, parity), words.u32(1)),",
      to: "parity: words.binary('and', rounds, words.u32(1)),",
      why: 'from the second round on a producer waits with the wrong parity',
      tests: [...random, 'test/cuda/rotate.test.ts'],
      equivalent:
        'a head by distance is asked for its stage alone: acquires that would ask for its parity belong to pipelines with roles, whose distances are not known',
    },
  ]),
  ...mutationsOf('src/targets/legalise/pipeline-state.ts', random, [
    {
      name: 'mbarriers of the copy engine are not fenced when they are made',
      from: "...(copiesInBulk(lowering) ? [words.core({ kind: 'proxyFence', space: 'shared' })] : []),",
      to: '',
      why: 'the first bytes of the copy engine may count at an mbarrier that it does not see yet',
      tests: [
        ...random,
        'test/core/litmus.test.ts',
        'test/cuda/barriers.test.ts',
        'test/cuda/golden.test.ts',
      ],
    },
    {
      name: 'a block of one warp too few arrives',
      from: 'const warps = words.u32(this.#frame.blockSize / 32);',
      to: 'const warps = words.u32(this.#frame.blockSize / 32 - 1);',
      why: 'phases end before the last warp has arrived',
    },
    {
      name: 'one thread arrives for all, whatever they did',
      from: "arrivals: stirred.has(id) && !decisions.onlyCopiesMeet() ? all : 'one',",
      to: "arrivals: 'one',",
      why: 'stores of other threads before their commit are not seen behind consumerWait, as an H200 showed',
    },
    {
      name: 'empty stages expect all threads',
      from: "const empty = words.binary('subtract', size(), full);",
      to: 'const empty = size();',
      why: 'producers wait for releases of their own, which never come',
    },
    {
      name: 'a pipeline is used before its mbarriers are made',
      from: '...(ofLanes ? [] : noted),\n      ...meet(),',
      to: '...(ofLanes ? [] : noted),',
      why: 'a fast thread arrives at an mbarrier that the first one has not made yet',
    },
    {
      name: 'a pipeline that is made again keeps its mbarriers',
      from: '...(made === null\n        ? []\n        : [words.when(words.read(made',
      to: '...(made !== null\n        ? []\n        : [words.when(words.read(made!',
      why: 'an mbarrier is made while it exists, which PTX leaves undefined',
    },
  ]),
  ...mutationsOf(
    'src/targets/legalise/barriers.ts',
    [...ordering, 'test/barriers/members.test.ts'],
    [
      {
        name: 'copies for a barrier are not fenced',
        from: "words.core({ kind: 'proxyFence', space: 'shared' }),\n      words.core({ kind: 'mbarrierExpect'",
        to: "words.core({ kind: 'mbarrierExpect'",
        why: 'the copy engine overwrites what threads stored there before',
      },
      {
        name: 'a phase expects the bytes after they may have come',
        from: "words.core({ kind: 'mbarrierExpect', ...at, bytes: this.#copies.bytes(copy, words) }),\n      words.core({ kind: 'bulkCopy', ...at, destination, source, count, promised }),",
        to: "words.core({ kind: 'bulkCopy', ...at, destination, source, count, promised }),\n      words.core({ kind: 'mbarrierExpect', ...at, bytes: this.#copies.bytes(copy, words) }),",
        why: 'the bytes of a fast copy underflow the count of the phase',
        equivalent:
          'the last arrival of the phase comes after the copy in the program, and so after both; until then the count of bytes may be below zero',
      },
      {
        name: 'an empty copy for a barrier expects nothing and copies all the same',
        from: "const some = words.compare('greater', count, words.index(0));",
        to: "const some = words.compare('greaterEqual', count, words.index(0));",
        why: 'a bulk copy of no bytes is undefined in PTX',
        tests: ['test/barriers/copies.test.ts', 'test/cuda/barriers.test.ts', ...ordering],
        equivalent: 'ws_bulk_copy makes no copy of no bytes, and a phase that expects none waits for none',
      },
      {
        name: 'the copy engine copies though threads may return',
        from: 'if (this.#returnsAmongCopies) return false;',
        to: '',
        why: 'the block ends while bytes still come, and the next block there is overwritten',
        tests: [...ordering, 'test/barriers/copies.test.ts', 'test/cuda/barriers.test.ts'],
      },
      {
        name: 'arrivals are relaxed',
        from: "drop,\n      order: 'release',",
        to: "drop,\n      order: 'relaxed',",
        why: 'what a thread stored before it arrived is not seen by those that waited',
      },
      {
        name: 'copies are bound to no phase',
        from: 'return this.#copies.isAsynchronous(copy) ? [...byThreads, this.#bind(copy, words)] : byThreads;',
        to: 'return byThreads;',
        why: 'a wait returns while copies are under way',
        tests: ['test/barriers/copies.test.ts', ...ordering],
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/meetings.ts',
    ['test/cuda/barriers.test.ts', ...random],
    [
      {
        name: 'stores are not fenced where threads meet',
        from: 'this.#fencesWrites = bulk && (copied || storesToShared(program.body));',
        to: 'this.#fencesWrites = false;',
        why: 'the copy engine overwrites a stage that threads stored to before they met',
      },
      {
        name: 'copies by threads are not fenced where threads meet',
        from: 'this.#fencesWrites = bulk && (copied || storesToShared(program.body));',
        to: 'this.#fencesWrites = bulk && storesToShared(program.body);',
        why: 'the copy engine overwrites what threads copied to the stage before',
        equivalent:
          'the thread that gives the engine work fences behind the meeting, and one fence on the way is enough; those of the others follow NVIDIA’s guide',
      },
    ],
  ),
];
