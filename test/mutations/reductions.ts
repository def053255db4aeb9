// Mutations of what `overlap` does with whole arrays: accumulators, groups and reductions.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/overlap/accumulate.ts',
    ['test/overlap/several-devices.test.ts', 'test/overlap/run.test.ts', 'test/overlap/declaration.test.ts'],
    [
      {
        name: 'the initial value counts once for each device',
        from: 'const begin = first || !isKnown || initial === undefined ? this.#declaration : { combine };',
        to: 'const begin = this.#declaration;',
        why: 'a sum that begins at 100 is 100 too large with two devices',
      },
      {
        name: 'blocks are combined without the last one',
        from: 'for (let at = i + length; at < first.length; at += length) value = fold(value, first[at]!);',
        to: 'for (let at = i + length; at < first.length - length; at += length) value = fold(value, first[at]!);',
        why: 'a sum over blocks lacks what the last block found',
      },
      {
        name: 'a minimum begins at zero',
        from: "if (combine !== 'min' && combine !== 'max') return 0;",
        to: "if (combine !== 'max') return 0;",
        why: 'the least of positive numbers is 0',
      },
      {
        name: 'the least signed integer is one too high',
        from: 'return signed ? -(2n ** (bits - 1n)) : 0n;',
        to: 'return signed ? -(2n ** (bits - 1n)) + 1n : 0n;',
        why: 'a maximum over the least integer alone is wrong',
        tests: ['test/overlap/accumulate.test.ts'],
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/groups.ts',
    ['test/overlap/groups.test.ts'],
    [
      {
        name: 'a key below 0 is a place of another group',
        from: "${this.#isSigned ? 'key >= 0 && ' : ''}key <",
        to: 'key <',
        why: 'a row is folded into the partial result before, or outside of all',
      },
      {
        name: 'a key past the last group is folded into the next partial result',
        from: 'key < ${this.count}',
        to: 'key <= ${this.count}',
        why: 'a stray key counts for group 0',
      },
      {
        name: 'groups without rows are listed',
        from: 'if (rows === 0) continue;',
        to: '',
        why: 'there are records of what no row has',
      },
      {
        name: 'stray keys are not told',
        from: 'if (stray > Number.NEGATIVE_INFINITY) {',
        to: 'if (stray > Number.POSITIVE_INFINITY) {',
        why: 'rows vanish in silence',
      },
      {
        name: 'partial results share their places',
        from: 'const place = partial * ${this.count} + key;',
        to: 'const place = key;',
        why: 'threads fold into one place at once',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/reduce.ts',
    ['test/overlap/groups.test.ts'],
    [
      {
        name: 'partial results of groups are halved once too often',
        from: 'half >= groups; half /= 2',
        to: 'half >= 1; half /= 2',
        why: 'groups are folded into one another',
      },
    ],
  ),
];
