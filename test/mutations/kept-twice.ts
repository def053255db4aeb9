// Mutations of what `targets/legalise` proves before it keeps a single stage twice, and of what it makes of it.

import { mutationsOf } from './mutation.ts';

const tests = ['test/core/kept-twice.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/legalise/kept-twice.ts', tests, [
    {
      name: 'a turn may call what it likes',
      from: "if (anyStatement(loop.body, (each) => each.kind === 'call' && !isVerb(each))) return false;",
      to: '',
      why: 'a batch is fetched before another block has been heard of, or before an assertion has failed',
    },
    {
      name: 'a loop may be left',
      from: ' || mayLeave(loop)) return null;',
      to: ') return null;',
      why: 'a batch behind the last one is fetched, which may lie outside its array',
    },
    {
      name: 'the counter may be moved in a turn',
      from: 'assignedIn(loop.body).has(counter)',
      to: 'assignedIn(loop.body).has(-counter - 1)',
      why: 'what is fetched is another batch than what is used',
    },
    {
      name: 'copies may fill a part',
      from: 'elements !== constantOf(length) || constantOf(offset) !== 0',
      to: 'constantOf(length) === null',
      why: 'the halves of a kernel that keeps two stages of its own are taken for one',
    },
    {
      name: 'the stage is read anywhere',
      from: 'plain === loadsIn(loop.body.slice(wait, release)).plain;',
      to: 'plain >= loadsIn(loop.body.slice(wait, release)).plain;',
      why: 'what is read behind the loop is the first half, whichever batch was the last',
    },
    {
      name: 'the stage’s length may be asked for',
      from: "if (each.kind === 'load' && each.bounds === undefined) ++plain;",
      to: 'if (!(each.kind === "load" && each.bounds !== undefined)) ++plain;',
      why: 'a kernel finds its shared array to be twice as long',
    },
    {
      name: 'a block may have any amount of shared memory',
      from: 'if (bytes > Math.min(mostBytes, mostBytesOfThread * x * y * z)) return null;',
      to: 'if (bytes > mostBytes) return null;',
      why: 'fewer blocks fit a multiprocessor than with one stage',
    },
    {
      name: 'threads may meet elsewhere',
      from: 'sharedArrays === null || !onlyCopiesMeet(program, alignments)',
      to: 'sharedArrays === null || alignments.length < 0',
      why: 'an array that the kernel writes may overlap the source, of which a later batch is read before it is written',
    },
    {
      name: 'all batches lie in one half',
      from: "words.binary('remainder', batch, words.index(2))",
      to: "words.binary('remainder', batch, words.index(1))",
      why: 'a batch is overwritten by the next one while threads read it',
    },
  ]),
  ...mutationsOf('src/targets/legalise/lowering.ts', tests, [
    {
      name: 'checked kernels keep one stage twice',
      from: 'options.checked !== true ? keptTwice(',
      to: 'options.architecture > 0 ? keptTwice(',
      why: 'an index behind the stage is inside of what is there twice, and no fault',
    },
  ]),
  ...mutationsOf(
    'src/targets/cuda/generate.ts',
    ['test/cuda/lockstep.test.ts'],
    [
      {
        name: 'shared arrays lie where one stage would be enough',
        from: 'const { count } = sharedArrays[id]!;',
        to: 'const { count } = program.sharedArrays[id]!;',
        why: 'the second half of a stage that is kept twice is another array’s, or nobody’s',
      },
    ],
  ),
];
