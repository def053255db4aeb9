// Mutations of generators that count their draws, and of divisions that need not be exact.

import { mutationsOf } from './mutation.ts';

const draws = ['test/conformance/conformance.test.ts > generators that count their draws'];
const fast = ['test/runtime/fast-functions.test.ts'];

export const mutations = [
  ...mutationsOf('src/compiler/intrinsics/random-states.ts', draws, [
    {
      name: 'four words are made for one that is left',
      from: 'isFirst(place, true),\n      () => keep(lowering, state, made(lowering, state, four, range), node),',
      to: 'isFirst(place),\n      () => keep(lowering, state, made(lowering, state, four, range), node),',
      why: 'a generator that begins among four words draws zeros up to the next four',
    },
    {
      name: 'a draw is not counted',
      from: 'count(lowering, state, 1n, node);',
      to: '',
      why: 'each draw gives the same word',
    },
    {
      name: 'a draw counts for two',
      from: 'count(lowering, state, 1n, node);',
      to: 'count(lowering, state, 2n, node);',
      why: 'every other word of a subsequence is left out',
    },
    {
      name: 'four draws count for three',
      from: 'count(lowering, state, 4n, node);',
      to: 'count(lowering, state, 3n, node);',
      why: 'the last of four words is drawn once more',
    },
    {
      name: 'four words are not kept for later draws',
      from: 'keep(lowering, state, fresh, node);\n    count',
      to: 'count',
      why: 'what is drawn behind four words comes from those before them',
    },
    {
      name: 'four words at the beginning of four are those that follow',
      from: 'conditional(first, zero, one, range)',
      to: 'one',
      why: 'four words are left out of a subsequence',
    },
    {
      name: 'four words are those of one counter',
      from: 'conditional(first, word, picked(both, place, n), range)',
      to: 'word',
      why: 'four words drawn in the middle leave some out and draw others twice',
    },
    {
      name: 'new words are made with every second draw',
      from: 'branch(lowering, isFirst(place), make, null, node);',
      to: 'branch(lowering, isFirst(place, true), make, null, node);',
      why: 'the first of each four words is that of the four before',
    },
    {
      name: 'an offset has 32 bits',
      from: "binary('or', shifted, low!, range)",
      to: 'low!',
      why: 'generators that begin 2^32 words apart draw the same',
    },
    {
      name: 'four words have the counter of their first',
      from: "binary('shiftRight', drawn, constant('u64', 2n, range), range)",
      to: 'drawn',
      why: 'draws are not the words of cuRAND and of cuda.philox',
    },
    {
      name: 'a counter has 32 bits',
      from: "[convert(whole, 'u32', range), upper(whole, range), ...subsequence]",
      to: "[convert(whole, 'u32', range), constant('u32', 0, range), ...subsequence]",
      why: 'a subsequence comes round after 2^34 words',
    },
    {
      name: 'all subsequences are one',
      from: 'upper(whole, range), ...subsequence]',
      to: 'upper(whole, range), ...seed]',
      why: 'threads with subsequences of their own draw the same words',
    },
  ]),
  ...mutationsOf('src/compiler/intrinsics/numbers.ts', fast, [
    {
      name: 'a fast quotient is upside down',
      from: "binary('divide', left!, right!, lowering.range(node), { fast: true })",
      to: "binary('divide', right!, left!, lowering.range(node), { fast: true })",
      why: 'cuda.fastDivide(x, y) is y / x',
    },
    {
      name: 'a fast quotient is an exact one',
      from: "binary('divide', left!, right!, lowering.range(node), { fast: true })",
      to: "binary('divide', left!, right!, lowering.range(node))",
      why: 'a GPU divides slowly where people have asked for a fast division',
    },
  ]),
  ...mutationsOf('src/targets/cuda/expressions.ts', fast, [
    {
      name: 'fast quotients of f64 are those of f32',
      from: "if (expression.fast && type === 'f32')\n",
      to: 'if (expression.fast)\n',
      why: 'a GPU rounds f64 to f32 to divide it',
    },
  ]),
  ...mutationsOf('src/targets/analysis/expression-key.ts', fast, [
    {
      name: 'a fast quotient is taken for an exact one',
      from: "`${expression.fast ? 'fast ' : ''}${expression.operator} ${expression.left.type}`",
      to: '`${expression.operator} ${expression.left.type}`',
      why: 'an exact quotient beside a fast one is less exact on a GPU',
    },
  ]),
];
