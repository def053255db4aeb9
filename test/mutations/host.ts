// Mutations of `host`: pipelines between worker threads.

import { mutationsOf } from './mutation.ts';

const tests = ['test/host/verbs.test.ts', 'test/host/pipeline.test.ts'];

export const mutations = [
  ...mutationsOf('src/host/barrier.ts', tests, [
    {
      name: 'a host barrier wakes nobody',
      from: '  Atomics.notify(words, at);\n',
      to: '',
      why: 'a thread that waits sleeps for a slice at every stage',
    },
    {
      name: 'a host barrier completes one arrival early',
      from: 'if (missingOf(Atomics.sub(words, at, 1)) !== 1) return;',
      to: 'if (missingOf(Atomics.sub(words, at, 1)) > 2) return;',
      why: 'consumers read a stage that a producer still fills',
    },
    {
      name: 'a host barrier counts down from one after its first phase',
      from: 'Atomics.add(words, at, phaseStep + Atomics.load(words, at + 1));',
      to: 'Atomics.add(words, at, phaseStep + 1);',
      why: 'from the second use on, a stage counts as filled when one of several producers has committed',
    },
    {
      name: 'a host barrier asks for the other parity',
      from: '((word >>> arrivalBits) & 1) === parity',
      to: '((word >>> arrivalBits) & 1) !== parity',
      why: 'the first acquire of an empty pipeline waits for ever',
    },
  ]),
  ...mutationsOf('src/host/pipeline.ts', tests, [
    {
      name: 'the host consumer begins with the other parity',
      from: '#tail: Cursor = { stage: 0, parity: 0 }',
      to: '#tail: Cursor = { stage: 0, parity: 1 }',
      why: 'the first wait returns before anything was committed',
    },
    {
      name: 'the parity of a host cursor stays when it wraps',
      from: '    cursor.parity ^= 1;\n',
      to: '',
      why: 'in the second turn a wait returns at once',
    },
    {
      name: 'a host release arrives at the barrier of commits',
      from: "barrierOffset(this.state, this.#tail.stage, 'consumed')",
      to: "barrierOffset(this.state, this.#tail.stage, 'produced')",
      why: 'a released stage is never free again',
    },
    {
      name: 'every thread is the last to quit',
      from: 'return Atomics.sub(this.#words, word.active, 1) === 1;',
      to: 'return Atomics.sub(this.#words, word.active, 1) >= 1;',
      why: 'several threads free what only the last may free',
    },
    {
      name: 'a waiting host thread looks at no death',
      from: '      this.#expectAllAlive();\n      this.#expectPossible(kind, stage, parity);\n      const left',
      to: '      this.#expectPossible(kind, stage, parity);\n      const left',
      why: 'a thread waits for ever for one that has died',
    },
    {
      name: 'a waiting host thread looks at no quit',
      from: '      this.#expectPossible(kind, stage, parity);\n      const left',
      to: '      const left',
      why: 'a thread waits for ever for arrivals of one that has quit',
    },
    {
      name: 'expectPossible does not look again after its count',
      from: 'if (missing <= count - quit || isComplete(this.#words, at, parity)) return;',
      to: 'if (missing <= count - quit) return;',
      why: 'a phase that completes while the quits are counted is called impossible',
      tests: ['delayed:test/host/pipeline.test.ts'],
    },
    {
      name: 'a host wait sleeps on a word that has changed',
      from: 'if (isFilled(phase, parity)) Atomics.wait(',
      to: 'Atomics.wait(',
      why: 'a phase that completes just before the wait is slept through',
      equivalent: 'the sleep ends after a slice and the loop looks again: it is late, and nothing else',
    },
    {
      name: 'two host threads may take one place',
      from: 'if (Atomics.compareExchange(words, word.members + member, 0, threadId + 1) === 0) {',
      to: 'if (Atomics.exchange(words, word.members + member, threadId + 1) === 0) {',
      why: 'a thread beyond the number of places replaces another, whose death is no longer noticed',
    },
  ]),
  ...mutationsOf('src/host/state.ts', tests, [
    {
      name: 'one fewer than all threads of a pipeline may quit',
      from: 'view[word.active] = memberCount(state);',
      to: 'view[word.active] = memberCount(state) - 1;',
      why: 'the last but one to quit is taken for the last',
    },
    {
      name: 'the barriers of a host stage overlap',
      from: "(2 * stage + (kind === 'produced' ? 0 : 1)) * barrierWords",
      to: "(2 * stage + (kind === 'produced' ? 0 : 1)) * (barrierWords - 1)",
      why: 'an arrival at one barrier changes the phase of the next',
    },
    {
      name: 'consumed stages expect the producers',
      from: "initialiseBarrier(view, barrierOffset(state, stage, 'consumed'), consumers);",
      to: "initialiseBarrier(view, barrierOffset(state, stage, 'consumed'), producers);",
      why: 'with more consumers than producers, a stage is free while one still reads it',
    },
  ]),
  ...mutationsOf('src/host/watch.ts', tests, [
    {
      name: 'a watched worker is looked for by its id, not its id plus one',
      from: 'const thread = worker.threadId + 1;',
      to: 'const thread = worker.threadId;',
      why: 'the death of a worker is never found in the members',
    },
  ]),
];
