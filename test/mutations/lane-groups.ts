// Mutations of what any lanes of a warp, or a subset of a block, share: pipelines and barriers of groups that are no tiles.

import { mutationsOf } from './mutation.ts';

const lanes = [
  'test/warps/lane-pipelines.test.ts',
  'test/warps/subsets.test.ts',
  'test/core/lane-pipelines.test.ts',
  'test/core/cohorts.test.ts > lane',
];

const subsets = ['test/warps/subsets.test.ts', 'test/core/lane-pipelines.test.ts'];
const tiles = ['test/warps/tiles-of-lanes.test.ts'];

export const mutations = [
  ...mutationsOf('src/compiler/intrinsics/lane-makings.ts', lanes, [
    {
      name: 'lanes do not meet before they make something together',
      from: '  meet(call, settled);\n  const masks',
      to: '  const masks',
      why: 'a pipeline that is made again is set up while other lanes still use the old one',
    },
    {
      name: 'lanes do not meet behind what they made together',
      from: ': { agreed }) }, own);\n  meet(call, settled);',
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
      from: 'convert(countOfLanes(call, ballotOf(call, own, mask)), indexType, range)',
      to: 'convert(countOfLanes(call, mask), indexType, range) ?? ballotOf(call, own, mask)',
      why: 'consumers wait for producers that there are not',
    },
  ]),
  ...mutationsOf('src/targets/legalise/sharing.ts', lanes, [
    {
      name: 'on a GPU lanes of the second warp share with those of the first',
      from: "return words.binary('add', first, lowestOf(masks[0]!, words));",
      to: "return words.binary('add', words.index(0), lowestOf(masks[0]!, words)) ?? first;",
      why: 'groups of two warps arrive at one barrier',
    },
    {
      name: 'on a GPU each lane sets up for its group',
      from: "return words.compare('equal', words.threadRank, leaderOf(masks, words));\n  }\n\n  /** Threads of",
      to: "return words.compare('equal', words.threadRank, words.threadRank);\n  }\n\n  /** Threads of",
      why: 'a barrier is made by several threads, one after the others have used it',
    },
    {
      name: 'on a GPU a barrier of lanes expects the whole block',
      from: "if (masks !== undefined) return countOf(masks, 'u32', words);",
      to: 'if (masks !== undefined) return words.u32(this.#frame.blockSize);',
      why: 'lanes wait for threads that never come',
    },
    {
      name: 'on a GPU a block has places for as many groups of lanes as it has warps',
      from: "return of === 'warp' ? blockSize : 2;",
      to: "return of === 'warp' ? Math.ceil(blockSize / 32) : 2;",
      why: 'a group whose lowest lane is high uses what lies behind the barriers',
    },
  ]),
  ...mutationsOf('src/targets/legalise/sharing.ts', subsets, [
    {
      name: 'on a GPU both halves of a block share',
      from: 'return half === undefined ? leaderOf(masks!, words) : words.convert(half, words.indexType);',
      to: 'return half === undefined ? leaderOf(masks!, words) : words.index(0);',
      why: 'the threads of one half arrive at the barrier of the other',
    },
    {
      name: 'on a GPU halves that make something again do not know that it was made',
      from: "group.kind === 'lanes' && remade ? { kind: 'lanes', of: 'warp' } : group",
      to: 'group',
      why: 'a barrier is set up anew that was not given up',
    },
    {
      name: 'the lowest thread of a subset is that of its last warp',
      from: '.reduceRight<Expression>(',
      to: '.reduce<Expression>(',
      why: 'nobody, or a thread that others do not take for the lowest, sets up for a subset',
      equivalent:
        'every thread of the subset finds the same one, which is of the subset; which it is does not matter',
    },
  ]),
  ...mutationsOf('src/compiler/intrinsics/subsets.ts', subsets, [
    {
      name: 'the block does not meet behind what a subset is made of',
      from: "  lowering.emit({ kind: 'call', intrinsic: 'sync', group: { kind: 'block' }, range });\n",
      to: '',
      why: 'a thread arrives at a barrier that nobody has set up yet',
    },
    {
      name: 'the other half is who is left, also of threads that have returned',
      from: '  refuseMissing(call, threads, name);\n',
      to: '',
      why: 'votes are read that nobody gave, and a thread that has returned is told as nothing',
    },
    {
      name: 'ranks of a subset count its threads of the own warp twice',
      from: "compare('greater', warp, index(each), range)",
      to: "compare('greaterEqual', warp, index(each), range)",
      why: 'threads of one warp have one rank',
    },
    {
      name: 'both halves exchange values in the same places',
      from: "conditional(isFirst, index(0), binary('subtract', index(threads), size, range), range)",
      to: 'index(0)',
      why: 'a thread of one half finds what one of the other has brought',
    },
    {
      name: 'a subset does not meet before its threads read what others brought',
      from: '  meet();\n  const found',
      to: '  const found',
      why: 'a thread reads what was there before',
    },
    {
      name: 'a subset does not meet behind an exchange',
      from: "'other');\n  meet();",
      to: "'other');",
      why: 'the next value is written while the one before is read',
    },
  ]),
  ...mutationsOf('src/compiler/intrinsics/combining.ts', subsets, [
    {
      name: 'a scan of a subset ends at half of its threads',
      from: "compare('less', distance, this.#subset.size, this.range)",
      to: "compare('less', binary('shiftLeft', distance, this.index(1), this.range), this.#subset.size, this.range)",
      why: 'the last threads lack what the first brought',
    },
    {
      name: 'a subset combines what its threads do not have',
      from: 'conditional(isThere, combine(sum, other), sum, range)',
      to: 'conditional(isThere, combine(sum, other), combine(sum, sum), range)',
      why: 'values count twice where nobody lies so far away',
    },
  ]),
  ...mutationsOf('src/compiler/intrinsics/groups.ts', tiles, [
    {
      name: 'the last of the tiles that lanes are cut into has all lanes above',
      from: 'const until = conditional(isLast, all, below(next), range);',
      to: 'const until = conditional(isLast, below(next), below(next), range);',
      why: 'a lane is missing that a rank beyond the group stands for',
    },
    {
      name: 'tiles of a tile are counted as those of the block',
      from: 'partitioned === undefined ?',
      to: 'partitioned !== null ?',
      why: 'the last tile of a block says that it was cut into as many as the others',
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
      from: "countOf(makers.masks!, 'i32', words)),",
      to: "words.binary('add', countOf(makers.masks!, 'i32', words), words.constant('i32', 1))),",
      why: 'lanes wait for one that there is not',
    },
    {
      name: 'each lane sets up what its group shares',
      from: "return words.compare('equal', words.threadRank, leaderOf(masks!, words));",
      to: "return words.compare('equal', words.threadRank, words.threadRank);",
      why: 'lanes set up again what others have begun to use',
      equivalent: 'lanes meet before and behind the setting up, which leaves the same whoever does it',
    },
    {
      name: 'the lowest lane of a group is that of another warp',
      from: 'words.assign(place, placeOf(makers, words)),',
      to: "words.assign(place, words.binary('remainder', placeOf(makers, words), words.index(32))),",
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
