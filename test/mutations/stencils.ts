// Mutations of halos in two directions: what lies beside rows, and who takes it for a part of them.

import { mutationsOf } from './mutation.ts';

const stencils = ['test/overlap/stencils.test.ts'];

export const mutations = [
  ...mutationsOf('src/overlap/window.ts', stencils, [
    {
      name: 'rows are as long where they are read as where they belong',
      from: 'const from = begin + row * width;',
      to: 'const from = begin + row * this.#stride;',
      why: 'each row but the first begins with the end of another',
    },
    {
      name: 'what is right of a row is its last element, whatever the channels',
      from: 'into.copyWithin(i, end - channels, end);',
      to: 'into.copyWithin(i, end - 1, end);',
      why: 'colours at the edge of a picture are mixed up',
    },
    {
      name: 'what is left of a row is what was there before',
      from: 'fillElements(into, 0, at - left, at);',
      to: '',
      why: 'the first column depends on the chunk before',
    },
    {
      name: 'rows behind the last are as long as those of the file',
      from: 'fillElements(into, 0, begin * stride, end * stride);',
      to: 'fillElements(into, 0, begin * stride, end * this.#shape.width);',
      why: 'the last rows see what a former chunk left',
    },
  ]),
  ...mutationsOf('src/overlap/chunks.ts', stencils, [
    {
      name: 'rows on the device have nothing beside them',
      from: '(rows + halo) * (width + beside)',
      to: '(rows + halo) * width',
      why: 'the kernel reads beyond its array',
    },
  ]),
  ...mutationsOf('src/overlap/bind.ts', stencils, [
    {
      name: 'page-locked rows are taken as they lie',
      from: 'const isBare = before + after + beside === 0;',
      to: 'const isBare = before + after === 0;',
      why: 'the device copies rows without what is beside them, and more of them than there are',
    },
  ]),
  ...mutationsOf('src/overlap/pieces.ts', stencils, [
    {
      name: 'large files go in pieces without what is beside rows',
      from: 'halo + beside > 0',
      to: 'halo > 0',
      why: 'outputs of large files differ from those of small ones',
    },
  ]),
  ...mutationsOf('src/overlap/synthetic-chunk.ts', stencils, [
    {
      name: 'the checker has rows without what is beside them',
      from: '...{ halo: before + after, beside: left + right },',
      to: '...{ halo: before + after, beside: 0 },',
      why: 'a kernel that is right is said to read beyond its array',
    },
  ]),
];
