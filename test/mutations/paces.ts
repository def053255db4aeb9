// Mutations of launches that are over soon: who runs them, and who looks for their end.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/runtime/cpu/paces.ts',
    ['test/runtime/paces.test.ts'],
    [
      {
        name: 'a launch that takes longer than expected is left to its lead',
        from: '        share = null;\n        this.#call();\n',
        to: '        share = null;\n',
        why: 'one thread does what all of them should',
      },
      {
        name: 'others are called where nothing is left',
        from: ' || done === blocks) return result;',
        to: ') return result;',
        why: 'threads wake for nothing',
      },
      {
        name: 'what is expected is not by blocks',
        from: 'expected * blocks < soon',
        to: 'expected < soon',
        why: 'a large grid of small blocks is begun by one thread',
      },
      {
        name: 'what a block took is not forgotten',
        from: 'this.#times.delete(executable);',
        to: '',
        why: 'memory grows with each kernel that was ever launched',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/worker-pool.ts',
    ['test/runtime/worker-pool.test.ts'],
    [
      {
        name: 'helpers are called though the lead begins alone',
        from: 'if (calls || Atomics.load(words, Word.awaited) !== 0) this.call();',
        to: 'this.call();',
        why: 'small kernels take several times as long',
      },
      {
        name: 'ranges of blocks that take turns get as short as others',
        from: 'launch.inTurn ? Math.ceil(launch.blocks / (mostParts * this.#members)) : 1',
        to: '1',
        why: 'the last blocks have few to take turns with',
      },
      {
        name: 'a thread takes more blocks than are left',
        from: 'const share = Math.min(left, wanted);',
        to: 'const share = wanted;',
        why: 'a block is run that the launch does not have',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/dispatcher.ts',
    ['test/runtime/paces.test.ts'],
    [
      {
        name: 'who waits for a kernel does not say so',
        from: 'if (++this.#watched === 1) this.#engines.awaitKernels(true);',
        to: 'this.#watched += 1;',
        why: 'a block waits for ever for one that no thread was called for',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/turn.ts',
    ['test/runtime/turn.test.ts'],
    [
      {
        name: 'the event loop never turns for who finds what he waits for',
        from: 'return now - this.#since < longest ? null : nextTurn();',
        to: 'return null;',
        why: 'timers and sockets of a program that launches small kernels have no turn',
      },
    ],
  ),
];
