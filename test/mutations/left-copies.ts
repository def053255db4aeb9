// Mutations of what waits, at the end of a thread or a block, for copies that a kernel may have left behind.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/targets/legalise/left-copies.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'copies of a loop are over when it is',
        from: 'return copies ? underWay.copies : before;',
        to: 'return before;',
        why: 'a kernel that forgets its last wait writes to the shared memory of a later block',
      },
      {
        name: 'what one branch copies is over behind both',
        from: 'return one > other ? one : other;',
        to: 'return one > other ? other : one;',
        why: 'threads that copy by themselves leave copies behind',
      },
      {
        name: 'a wait for groups covers what is in none',
        from: 'before === underWay.groups && constantOf',
        to: 'constantOf',
        why: 'a copy that is not committed writes to the shared memory of a later block',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/interpreter/block.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'threads that wait for nothing may leave copies behind',
        from: '        this.hardware.threadEnds(thread);\n        observer?.threadEnded(thread);',
        to: '        observer?.threadEnded(thread);',
        why: 'a lowering that forgets to wait for copies is not found',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/forgotten.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'what is not committed is no copy',
        from: 'return end === null || end.stages > 0 || end.isOpen;',
        to: 'return end === null || end.stages > 0;',
        why: 'a block ends while the engine still writes to its memory',
      },
      {
        name: 'a loop is left by its test alone',
        from: 'return anyStatement([statement], jumps) ? null : before;',
        to: 'return before;',
        why: 'a loop that breaks off leaves stages under way',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/turns.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'loops that begin later have as many turns',
        from: '`${keyOf(init)} ${step}',
        to: '`${step}',
        why: 'a block ends while the engine still writes to its memory',
      },
      {
        name: 'loops have as many turns, whatever their limits',
        from: ' ${operator} ${keyOf(limit)};`',
        to: ' ${operator};`',
        why: 'a block ends while the engine still writes to its memory',
      },
      {
        name: 'a producer may leave a copy that it does not commit',
        from: 'return isOpen ? null : stages;',
        to: 'return stages;',
        why: 'a block ends while the engine still writes to its memory',
      },
      {
        name: 'consumers that leave their loop wait for all',
        from: 'if (leaves(list)) return null;',
        to: '',
        why: 'a block ends while the engine still writes to its memory',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cursor.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'the last phase of a stage is taken for the one before',
        from: 'parity: words.choose(isFilled, parity, before),',
        to: 'parity: words.choose(isFilled, before, parity),',
        why: 'the end of the block waits for what is over, or for what never comes',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/pipelines.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'the end of a block commits nothing',
        from: 'return [closed, ...landed];',
        to: 'return [...landed];',
        why: 'copies that were not committed are under way at the end',
      },
      {
        name: 'the end of a block waits for nothing',
        from: 'return [closed, ...landed];',
        to: 'return [closed];',
        why: 'a block ends while the engine still writes to its memory',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/lockstep.ts',
    ['test/core/forgotten-copies.test.ts'],
    [
      {
        name: 'a loop that copies more than it uses settles',
        from: 'tests.every((test) => bounds.some((bound) => isSame(test, below(bound))))',
        to: 'tests.length > 0',
        why: 'stages are under way behind it',
      },
      {
        name: 'a loop that is left early settles',
        from: '!mayLeave(outer) && tests.every',
        to: 'tests.every',
        why: 'stages are under way behind it',
      },
    ],
  ),
];
