// Mutations of what memory may hold and how it is seen, for the random kernels over records, vectors, parts of arrays and
// arrays that are chosen while a kernel runs.

import { mutationsOf } from './mutation.ts';

const memory = ['test/differential/memory.test.ts'];

export const mutations = [
  ...mutationsOf('src/compiler/views.ts', memory, [
    {
      name: 'a part of a part begins where the array does',
      from: "return { ...view, offset: binary('add', view.offset, start, range), length };",
      to: 'return { ...view, offset: start, length };',
      why: 'a thread reads and writes the part of another one',
    },
    {
      name: 'a member of a nested record is stored where the record begins',
      from: 'store(where, one, place.first + part);',
      to: 'store(where, one, part);',
      why: 'the assignment of an inner record or vector overwrites what stands before it',
    },
  ]),
  ...mutationsOf('src/compiler/array-choice.ts', memory, [
    {
      name: 'of two parts of an array the first is meant, whatever the test says',
      from: 'offset: conditional(test, a.offset, b.offset, range),',
      to: 'offset: a.offset,',
      why: 'a variable that is assigned another part of an array stays with the one before',
    },
    {
      name: 'of two chosen arrays the first is meant, whatever the test says',
      from: '    test,\n    codeAmong(lowering, one, options, node),\n    codeAmong(lowering, other, options, node),',
      to: '    test,\n    codeAmong(lowering, one, options, node),\n    codeAmong(lowering, one, options, node),',
      why: 'a choice between two arrays reads and writes the wrong one',
    },
  ]),
];
