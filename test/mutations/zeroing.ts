// Mutations of how other GPUs wait for the zeroing of memory that they copy from or to (`runtime/cuda`).

import { mutationsOf } from './mutation.ts';

const zeroing = ['test/cuda/zeroing.test.ts'];

export const mutations = [
  ...mutationsOf('src/runtime/cuda/dispatcher.ts', zeroing, [
    {
      name: 'a copy waits for the zeroing of its own GPU alone',
      from: '    if (peers.length > 0) this.#awaitPeers(stream, peers);\n',
      to: '',
      why: 'an array of another GPU is set to zero behind the copy into it',
    },
  ]),
  ...mutationsOf('src/runtime/cuda/peers.ts', zeroing, [
    {
      name: 'a graph waits for the zeroing of its own GPU alone',
      from: "if (work.kind !== 'graph') return none;",
      to: 'return none;',
      why: 'an array of another GPU is set to zero behind the copy of a graph',
    },
    {
      name: 'a copy waits for the zeroing of its destination alone',
      from: 'return [source, destination].flatMap',
      to: 'return [destination].flatMap',
      why: 'what a copy reads of another GPU is not zero yet',
    },
  ]),
  ...mutationsOf('src/runtime/cuda/memory.ts', zeroing, [
    {
      name: 'another GPU waits before the zeroing is marked',
      from: '    this.#driver.issuing?.settle();\n    return this.#zeroed;',
      to: '    return this.#zeroed;',
      why: 'a wait for an event that is not recorded yet is none',
    },
    {
      name: 'a stream of another GPU waits for the first zeroing alone',
      from: 'if (this.#awaited.get(stream) === this.#zeroings) return null;',
      to: 'if (this.#awaited.has(stream)) return null;',
      why: 'later arrays are set to zero behind the copies into them',
    },
  ]),
];
