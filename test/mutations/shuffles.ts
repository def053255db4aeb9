// Mutations of what lanes of a warp say to each other: which lane is read, what is folded, and how it goes through memory
// on a CPU.

import { mutationsOf } from './mutation.ts';

const warps = [
  'test/warps/operations.test.ts',
  'test/warps/divergence.test.ts',
  'test/differential/warps.test.ts',
];

export const mutations = [
  ...mutationsOf('src/targets/lanes.ts', warps, [
    {
      name: 'a shuffle down leaves its part of the warp',
      from: 'return own + distance <= last ? own + distance : own;',
      to: 'return own + distance <= 31 ? own + distance : own;',
      why: 'sums over parts of a warp take values of the next part',
    },
    {
      name: 'a shuffle up leaves its part of the warp',
      from: 'return own - distance >= first ? own - distance : own;',
      to: 'return own - distance >= 0 ? own - distance : own;',
      why: 'scans over parts of a warp go on from the part before',
    },
    {
      name: 'the whole of a shuffle’s operand counts',
      from: 'const distance = operand & (warpSize - 1);',
      to: 'const distance = operand;',
      why: 'a lane 33 is no lane, where the hardware reads lane 1',
    },
    {
      name: 'shflXor reads no earlier part of the warp',
      from: 'return (own ^ distance) <= last ? own ^ distance : own;',
      to: 'return (own ^ distance) <= last && (own ^ distance) >= first ? own ^ distance : own;',
      why: 'lanes keep their value where the hardware reads the part before',
    },
    {
      name: 'a short last tile has all its lanes',
      from: 'const count = Math.min(size, threads - first);',
      to: 'const count = size;',
      why: 'lanes of a block’s last tile wait for some that there are not',
    },
  ]),
  ...mutationsOf('src/targets/legalise/cpu/warps.ts', warps, [
    {
      name: 'lanes read before all have brought their value',
      from: 'const slots = this.#bring(subset, value);\n    this.#meet(subset);\n    if (result === null) return;',
      to: 'const slots = this.#bring(subset, value);\n    if (result === null) return;',
      why: 'shuffles give what lay in the slot before',
    },
    {
      name: 'lanes of states go on before all have read',
      from: 'if (this.asRegions) return;\n    this.#meet(subset);',
      to: 'if (this.asRegions) return;',
      why: 'the next shuffle overwrites a slot that a slow lane still reads',
    },
    {
      name: 'a lane that has left is read as there',
      from: "if (!this.asRegions) index = conditional(this.#isThere(rank), index, absent('returned'), this.range);",
      to: '',
      why: 'a value of an earlier shuffle is taken where the hardware has none',
    },
    {
      name: 'what a shuffle asks for is looked up when all have met',
      from: "const operand = readsMemory(lane!) ? this.kept('lane', lane!) : lane!;",
      to: 'const operand = lane!;',
      why: 'another lane has changed the memory that says which lane is read',
      equivalent: 'what another lane changes between is a race',
    },
    {
      name: 'a lane that is not named is read',
      from: "index = conditional(this.#names(lanes, lane), index, absent('unnamed'), this.range);",
      to: '',
      why: 'no error says that the mask lacks the lane',
    },
    {
      name: 'a tile’s shflXor reads the tile before',
      from: "index = this.choose('greaterEqual', rank, first, index, absent('unnamed'));",
      to: '',
      why: 'no error says that the lane is none of the tile',
    },
    {
      name: 'what a block does not have is read',
      from: 'if (this.frame.blockSize % warpSize === 0) return index;',
      to: 'if (this.frame.blockSize > 0) return index;',
      why: 'no error says that the last warp has fewer lanes',
    },
    {
      name: 'folds take the lanes of a full last warp',
      from: "isPartial ? this.operation('min', whole, this.index(this.frame.blockSize)) : whole",
      to: 'whole',
      why: 'sums of a short last warp read behind the exchange array',
    },
    {
      name: 'a fold in states counts lanes that brought nothing',
      from: '(this.asRegions ? write(other) : this.if(this.#isThere(other), () => write(other)))',
      to: 'write(other)',
      why: 'lanes that have returned add what they brought before',
    },
    {
      name: 'matches take 0 and -0 for the same',
      from: 'return conditional(conditional(equal, sameSign, no, range), yes, neither, range);',
      to: 'return conditional(equal, yes, neither, range);',
      why: 'lanes with other bits count as equal',
    },
    {
      name: 'matches take no NaN for another',
      from: 'yes, neither, range);',
      to: 'yes, no, range);',
      why: 'a lane with a NaN does not match itself',
    },
    {
      name: 'matchAll gives the lanes with the value of some',
      from: "return conditional(compare('equal', same, all, this.range), same, this.u32(0), this.range);",
      to: 'return same;',
      why: 'lanes that differ are told that all agree',
    },
    {
      name: 'masks name lanes that the last warp does not have',
      from: "const lanes = this.choose('less', this.rank(), whole, given, there);",
      to: 'const lanes = given;',
      why: 'lanes of a short last warp wait for some that there are not',
    },
  ]),
  ...mutationsOf(
    'src/targets/legalise/cpu/rank-groups.ts',
    ['test/wasm/states-rank-groups.test.ts', 'test/core/cohorts.test.ts'],
    [
      {
        name: 'ranks at any distances are a group',
        from: 'if (ranks.some((rank, i) => rank !== first + stride * i)) return null;',
        to: '',
        why: 'some threads run twice and others never',
      },
      {
        name: 'a rank group begins with the first thread of the block',
        from: 'builtInOfRank(program, mapped.name, rankGroup.first + rankGroup.stride * rank)!',
        to: 'builtInOfRank(program, mapped.name, rankGroup.stride * rank)!',
        why: 'consumers do what the producers do, with their ranks',
      },
      {
        name: 'values that grow unevenly are taken to grow evenly',
        from: 'difference(each, values[rank - 1]!) === step);',
        to: 'difference(each, values[rank - 1]!) === step || rank > 1);',
        why: 'places in a block of two dimensions are wrong from the second row on',
      },
      {
        name: 'what may fail is replaced by its value',
        from: "const value = mapped.kind === 'constant' || fails(mapped) ? null : byRank(mapped);",
        to: "const value = mapped.kind === 'constant' ? null : byRank(mapped);",
        why: 'a division by zero is no error',
        equivalent:
          'byRank gives a value only where facts know one for each thread, and of what fails in some thread they know none',
      },
      {
        name: '0 and -0 are one value',
        from: 'if (values.every((each) => Object.is(each, first)))',
        to: 'if (values.every((each) => each === first))',
        why: 'a thread gets 0 where it is to get -0',
      },
      {
        name: 'as many rank groups as there are ways',
        from: 'if (ranksOfWay.size > mostRankGroups) return null;',
        to: '',
        why: 'a kernel whose threads all go their own way becomes as much code as it has threads',
      },
    ],
  ),
];
