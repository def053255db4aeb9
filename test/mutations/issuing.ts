// Mutations of `runtime/cuda/issuing`: the ring, when its thread is woken, and what is settled before what.

import { mutationsOf } from './mutation.ts';

const thread = ['test/cuda/issuing-thread.test.ts'];

export const mutations = [
  ...mutationsOf('src/runtime/cuda/issuing/driver.ts', thread, [
    {
      name: 'a call of the driver overtakes those that are written down',
      from: '    thread.settle();\n    return call(...args);',
      to: '    return call(...args);',
      why: 'a stream is said to be done whose commands the driver has not been given',
    },
    {
      name: 'a launch that the driver sees first overtakes those that are written down',
      from: 'if (!call.isKnown) thread.settle();\n      else if (thread.takes())',
      to: 'if (call.isKnown && thread.takes())',
      why: 'a kernel runs before the copy that it reads',
    },
    {
      name: 'a launch that the driver sees first is written down',
      from: 'if (!call.isKnown) thread.settle();\n      else if (thread.takes())',
      to: 'if (thread.takes())',
      why: 'a launch that does not fit the GPU is refused where nobody knows which it was',
    },
  ]),
  ...mutationsOf('src/runtime/cuda/issuing/issuing-thread.ts', thread, [
    {
      name: 'the ring is written over',
      from: 'if (this.#written + needed - this.#issued > ring.words) this.#awaitRoom(needed);',
      to: '',
      why: 'launches of a long burst are lost, and others are made twice',
    },
    {
      name: 'what is left at the end of the ring is not skipped',
      from: '      this.#publish(needed - count);\n',
      to: '',
      why: 'the thread takes what a former turn left for a call',
    },
    {
      name: 'a thread that sleeps is not woken by a call',
      from: '    // The thread says that it sleeps before it looks for calls the last time.\n    this.#wake();',
      to: '',
      why: 'a launch is given to the driver when something else is asked, or never',
    },
    {
      name: 'settling does not wait',
      from: 'for (let look = 0; this.#issued !== this.#written; ++look) {',
      to: 'for (let look = 0; look < 0; ++look) {',
      why: 'two threads give the driver work, in any order',
    },
    {
      name: 'failures of calls are not noted',
      from: 'this.#failures.push({ position, kind, result });',
      to: '',
      why: 'a copy that was never made is said to be done',
    },
    {
      name: 'the addresses of a copy lose their upper half',
      from: '    this.#words[at + 1] = value / 2 ** 32;',
      to: '    this.#words[at + 1] = 0;',
      why: 'a copy reads and writes anywhere',
    },
    {
      name: 'what is held is written down all the same',
      from: 'if (this.#holds > 0 || ++this.#calls < this.#burst) return false;',
      to: 'if (++this.#calls < this.#burst) return false;',
      why: 'what CUPTI records is issued by a thread whose records nobody matches',
      tests: ['test/cuda/issuing-thread.test.ts > what is recorded is issued by the thread of the program'],
    },
  ]),
  ...mutationsOf('src/runtime/cuda/issuing/refusals.ts', thread, [
    {
      name: 'a recording that failed fails one command alone',
      from: 'const isShared = kind === issuedKinds.record;',
      to: 'const isShared = false;',
      why: 'another stream waits for the same recording, and so for nothing',
    },
  ]),
  ...mutationsOf('src/runtime/cuda/dispatcher.ts', thread, [
    {
      name: 'a call that fails fails no command',
      from: '    if (this.#driver.issuing?.hasFailures) this.#refuse(this.#driver.issuing.takeFailures());\n',
      to: '',
      why: 'a launch that never ran is said to be done',
    },
    {
      name: 'events are given to another GPU before they are recorded',
      from: '      this.#driver.issuing?.settle();\n      return events;',
      to: '      return events;',
      why: 'a stream of another GPU does not wait',
    },
  ]),
];
