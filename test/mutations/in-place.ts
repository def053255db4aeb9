// Mutations of what is known of arrays that take the place of others: an output that a job writes where its input was.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/targets/analysis/in-place.ts',
    ['test/analysis/in-place.test.ts'],
    [
      {
        name: 'an input is loaded from behind a store to its output',
        from: 'else for (const inputs of late.values()) inputs.add(id);',
        to: '',
        why: 'a thread reads what it has written',
      },
      {
        name: 'a loop is gone through once',
        from: "if (statement.kind === 'loop' && !isAgain) visit(statement, true);",
        to: '',
        why: 'the second turn reads what the first one has written',
      },
      {
        name: 'threads of several blocks may have an element',
        from: ' && found.steps[1] === block[0]',
        to: '',
        why: 'a later block reads what an earlier one has written',
      },
      {
        name: 'threads may have an element together',
        from: 'found.steps[0] === 1 && ',
        to: '',
        why: 'a later thread reads what an earlier one has written',
      },
      {
        name: 'indices may differ',
        from: '.size === 1 &&',
        to: '.size > 0 &&',
        why: 'a later thread reads what an earlier one has written',
      },
      {
        name: 'inputs may be stored to',
        from: "!loads.kinds.has('store') &&",
        to: '',
        why: 'what is stored to the input is in the output',
      },
      {
        name: 'outputs may be loaded from',
        from: "!stores.kinds.has('load') &&",
        to: '',
        why: 'a thread finds an input where it had nothing',
      },
      {
        name: 'elements may have several lengths',
        from: 'bytesOf(from.element) === bytesOf(into.element) &&',
        to: '',
        why: 'an element lies over two others',
      },
      {
        name: 'arrays may be seen as other elements',
        from: 'as !== undefined || ',
        to: '',
        why: 'indices count elements of another length',
      },
      {
        name: 'threads may do anything',
        from: "return statement.intrinsic !== 'print' && statement.intrinsic !== 'assert';",
        to: 'return false;',
        why: 'copies and atomic operations are not seen',
      },
      {
        name: 'blocks may have several dimensions',
        from: 'block[1] * block[2] !== 1 || ',
        to: '',
        why: 'threads of two rows have the same x',
      },
      {
        name: 'an index that other numbers multiply is taken for even',
        from: ' || found.multiples.length > 0',
        to: '',
        why: 'several threads may have one element',
      },
      {
        name: 'blocks are not told apart from threads of a block',
        from: "return { ...expression, name: 'threadIdx.y' }",
        to: "return { ...expression, name: 'threadIdx.x' }",
        why: 'a later block reads what an earlier one has written',
      },
    ],
  ),
];
