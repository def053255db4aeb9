// Mutations of how the first launch of a CPU device begins: threads that start early, kept kernels, the compiler that is loaded late.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/runtime/cpu/early-thread.ts',
    ['test/runtime/early-thread.test.ts'],
    [
      {
        name: 'a thread that nobody took runs on',
        from: 'if (this.#leave()) await this.worker.terminate();',
        to: 'this.#leave();',
        why: 'every run that fails early leaves a thread',
      },
      {
        name: 'a thread ends with the run that started it',
        from: 'if (this.#leave()) await',
        to: 'this.#leave(); await',
        why: 'the device that took it loses its engine',
      },
      {
        name: 'a thread starts where the address space is limited',
        from: 'if (addressSpaceLeft() !== Number.POSITIVE_INFINITY) return null;',
        to: '',
        why: 'the device finds less room than it was promised, and V8 ends the process',
      },
      {
        name: 'a second thread starts beside those of the device',
        from: 'if (waiting.includes(first)) ',
        to: '',
        why: 'a thread starts that nobody wants',
      },
      {
        name: 'a second thread is left',
        from: 'await Promise.all(this.#threads.map(',
        to: 'await Promise.all(this.#threads.slice(0, 1).map(',
        why: 'a run that fails leaves a thread',
      },
      {
        name: 'two threads start for whatever is read',
        from: '>= much',
        to: '>= 0',
        why: 'a short run waits for a thread that it has no work for',
      },
      {
        name: 'a thread that did not start is given away',
        from: "this.worker.on('error', () => this.#leave());",
        to: "this.worker.on('error', () => {});",
        why: 'the first launch waits for a thread that is not there',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/kept-kernels.ts',
    ['test/runtime/kept-kernels.test.ts'],
    [
      {
        name: 'who has made code is not asked',
        from: 'kind, this.#maker);\n    if (made',
        to: 'kind, null);\n    if (made',
        why: 'a job runs what an older compiler made of its kernel, or code for another engine',
      },
      {
        name: 'constants are no part of what a kernel is made from',
        from: 'Object.entries(constants).map(([name, value]) => [name, typeof value, valueText(value)])',
        to: '[]',
        why: 'a job computes with the settings of a former run',
      },
      {
        name: 'a negative zero is a zero',
        from: "Object.is(value, -0) ? '-0' : String(value)",
        to: 'String(value)',
        why: 'a job computes with another sign than its setting has',
      },
      {
        name: 'functions that a launch gives are not asked for their texts',
        from: 'Object.entries(given).map(([name, fn]) => [name, functionIn(fn, name)])',
        to: 'Object.keys(given)',
        why: 'a kernel calls a function of a former launch',
      },
      {
        name: 'texts of functions are left out',
        from: '    return createKernelSource(fn, name).text;\n',
        to: "    return '';\n",
        why: 'a job runs a former version of its kernel',
      },
      {
        name: 'two functions of one text are taken for one',
        from: 'same.length === 1 ? same[0]! : -1',
        to: 'same[0] ?? -1',
        why: 'a fault is shown at another function than it is in',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/late-compiler.ts',
    ['test/runtime/kept-kernels.test.ts'],
    [
      {
        name: 'nothing is kept',
        from: 'this.#missed.get(program)?.(executable, bytes);',
        to: '',
        why: 'each run of a job compiles its kernel again',
      },
    ],
  ),
];
