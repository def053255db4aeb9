// Mutations of what streams of GPUs wait for, and of how it is known what they have done (`runtime/cuda`): the zeroing of memory of
// other GPUs, marks that are reached.

import { mutationsOf } from './mutation.ts';

const marks = ['test/cuda/driver-stream.test.ts'];
const zeroing = ['test/cuda/zeroing.test.ts'];

export const mutations = [
  ...mutationsOf('src/runtime/cuda/driver-stream.ts', marks, [
    {
      name: 'a mark that is reached speaks for the next one',
      from: 'if (result === driverResults.success) reached = at + 1;',
      to: 'if (result === driverResults.success) reached = Math.min(at + 2, marks.length);',
      why: 'a command is said to be done that still runs',
    },
    {
      name: 'a mark that is not reached speaks for those before it',
      from: 'else if (result === driverResults.notReady) open = at;',
      to: 'else if (result === driverResults.notReady) open = reached;',
      why: 'commands that are done are taken for running, until the last one is',
    },
    {
      name: 'of several marks the last one says whether somebody has asked',
      from: 'covered.some(({ isAsked }) => isAsked)',
      to: 'covered.at(-1)!.isAsked',
      why: 'a program that waits for one of them goes on later than it could',
    },
  ]),
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
