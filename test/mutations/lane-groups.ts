// Mutations of what any lanes of a warp share: pipelines and barriers of coalesced, labelled and binary groups.

import { mutationsOf } from './mutation.ts';

const lanes = [
  'test/warps/lane-pipelines.test.ts',
  'test/core/lane-pipelines.test.ts',
  'test/core/cohorts.test.ts > lane',
];

export const mutations = [
  ...mutationsOf('src/compiler/intrinsics/lane-makings.ts', lanes, [
    {
      name: 'lanes do not meet before they make something together',
      from: "syncOfLanes(call, { kind: 'lanes', mask });\n  make(",
      to: 'make(',
      why: 'a pipeline that is made again is set up while other lanes still use the old one',
    },
    {
      name: 'lanes do not meet behind what they made together',
      from: ": { agreed }) }, own);\n  syncOfLanes(call, { kind: 'lanes', mask });",
      to: ': { agreed }) }, own);',
      why: 'a lane acquires a stage of a pipeline that the lowest has not set up',
    },
    {
      name: 'lanes agree on what the lane behind the lowest brings',
      from: 'const lane = countOfLanes(call, below);',
      to: "const lane = binary('add', countOfLanes(call, below), numberConstant('i32', 1, range), range);",
      why: 'the number of producers is that of another lane, or of one that is not there',
    },
    {
      name: 'all lanes count as producers',
      from: 'return convert(countOfLanes(call, variable(result',
      to: 'return convert(countOfLanes(call, mask), indexType, range) ?? convert(countOfLanes(call, variable(result',
      why: 'consumers wait for producers that there are not',
    },
  ]),
  ...mutationsOf('src/targets/legalise/sharing.ts', lanes, [
    {
      name: 'on a GPU lanes of the second warp share with those of the first',
      from: "return words.binary('add', words.binary('and', words.threadRank, words.index(-warpSize)), lane);",
      to: 'return lane;',
      why: 'groups of two warps arrive at one barrier',
    },
    {
      name: 'on a GPU each lane sets up for its group',
      from: "return words.compare('equal', words.convert(words.threadRank, 'u32'), this.#ofLeader(words));",
      to: "return words.compare('equal', this.#ofLeader(words), this.#ofLeader(words));",
      why: 'a barrier is made by several threads, one after the others have used it',
    },
    {
      name: 'on a GPU a barrier of lanes expects the whole block',
      from: 'if (mask !== undefined) return',
      to: "if (mask !== undefined && this.group.kind === 'tile') return",
      why: 'lanes wait for threads that never come',
    },
    {
      name: 'on a GPU a block has places for as many groups of lanes as it has warps',
      from: "if (this.group.kind === 'lanes') return this.#frame.blockSize;",
      to: "if (this.group.kind === 'lanes') return Math.ceil(this.#frame.blockSize / 32);",
      why: 'a group whose lowest lane is high uses what lies behind the barriers',
    },
  ]),
  ...mutationsOf('src/targets/legalise/barriers.ts', lanes, [
    {
      name: 'a lane that made nothing takes its barrier for made',
      from: '[...all, ...fence, ...(ofLanes ? noted : [])]),\n      ...(ofLanes ? [] : noted),',
      to: '[...all, ...fence]),\n      ...noted,',
      why: 'a lane that is the lowest of the next group ends a barrier that never was',
    },
    {
      name: 'a barrier of lanes expects what each brings, not what they agreed on',
      from: 'const wanted = call.agreed ?? call.expected;',
      to: 'const wanted = call.expected;',
      why: 'where the lowest lane brings another number, which never happens: it sets up by its own',
      equivalent:
        'the lowest lane makes the barrier, and what lanes agreed on is what the lowest of them brought',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/sharing.ts', lanes, [
    {
      name: 'lanes that share something count as one cohort',
      from: 'const alone = words.core({ ...post, alone: true });',
      to: 'const alone = words.core(post);',
      why: 'what lanes of a cohort add is added to the word of one of their groups',
    },
    {
      name: 'a group of lanes has a lane more',
      from: "words.convert(words.unary('popcount', mask!), 'i32')),",
      to: "words.binary('add', words.convert(words.unary('popcount', mask!), 'i32'), words.constant('i32', 1))),",
      why: 'lanes wait for one that there is not',
    },
    {
      name: 'each lane sets up what its group shares',
      from: "return words.compare('equal', words.threadRank, this.instance(words));",
      to: "return words.compare('equal', words.threadRank, words.threadRank);",
      why: 'lanes set up again what others have begun to use',
      equivalent: 'lanes meet before and behind the setting up, which leaves the same whoever does it',
    },
    {
      name: 'the lowest lane of a group is that of another warp',
      from: 'words.assign(leader, leaderOf(mask!, words)),',
      to: "words.assign(leader, words.binary('remainder', leaderOf(mask!, words), words.index(32))),",
      why: 'groups of two warps share a pipeline',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/sharing.ts', lanes, [
    {
      name: 'a block begins with the pipelines that the lanes of the last one made',
      from: "[words.assign(this.#lanes.times, words.constant('i32', 0))]",
      to: '[]',
      why: 'a lane that made nothing is taken for one that did',
      tests: ['test/core/cpu.test.ts > lanes by the remainder'],
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/making.ts', lanes, [
    {
      name: 'lanes that bring different numbers of producers go on',
      from: 'const differing = this.#notes === null ? [] : ',
      to: 'const differing = true ? [] : ',
      why: 'of two lanes one takes itself for a producer that the others do not expect',
    },
    {
      name: 'lanes with roles all produce',
      from: "words.when(producers, enter('producer'), enter('consumer'))] : []",
      to: "words.when(producers, enter('producer'), enter('producer'))] : []",
      why: 'consumers commit, and nobody reads',
    },
    {
      name: 'lanes of which none produces go on',
      from: '            ...this.#refuseOneSided(wide, words),\n            this.#store',
      to: '            this.#store',
      why: 'consumers wait for ever, and no error says why',
    },
  ]),
  ...mutationsOf('src/targets/interpreter/lane-barriers.ts', lanes, [
    {
      name: 'in the interpreter lanes of other groups with the same lowest meet',
      from: ' || !sameRanks(barrier.members, members)',
      to: '',
      why: 'lanes that go separate ways are said to have made one pipeline',
      equivalent:
        'lanes meet by their mask before they make something, where those that do not agree wait for each other',
    },
    {
      name: 'in the interpreter what is made again is what was made before',
      from: ' || barrier.phase > 0',
      to: '',
      why: 'lanes that make a pipeline in a loop do not meet the second time',
    },
    {
      name: 'in the interpreter lanes wait for those that have returned',
      from: 'if (barrier.phase === 0 && barrier.members.includes(rank)) barrier.drop();',
      to: 'if (barrier.phase < 0) barrier.drop();',
      why: 'a kernel that ends on the GPU is said to wait for ever',
      equivalent:
        'lanes meet by their mask before they make something: who returns has done so before any of them comes here',
    },
    {
      name: 'in the interpreter a lane that returned before is expected',
      from: 'for (const member of members) if (this.#returned.has(member)) barrier.drop();',
      to: '',
      why: 'a kernel that ends on the GPU is said to wait for ever',
    },
  ]),
];
