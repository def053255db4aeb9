// Copies of elements of any size, lowered: cp.async takes 4, 8 or 16 bytes, and whole elements go by one thread.

import { expect, test } from 'vitest';
import { specialise } from '#warpstage/compiler/specialise.js';
import { type ElementType, numberBytes, vectorTypes } from '#warpstage/kernel/types.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { kernelOf } from '../compiler/support.ts';
import { turned } from '../support/element-kernels.ts';

const elements = [...Object.keys(numberBytes), ...Object.keys(vectorTypes)] as ElementType[];

test.each([6, 12, 24, 32, 64])('blocks of %i threads', (block) => {
  for (const element of elements) {
    const made = kernelOf(
      { out: `${element}[]`, x: `readonly ${element}[]`, more: `${element}[]` },
      turned(element),
    );
    const { program } = specialise(made, {
      block: [block, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    for (const architecture of [75, 80, 90]) {
      const chunks = [...cudaText(program, architecture).matchAll(/ws_copy_async(?:_elements)?<(\d+)/g)];
      expect(
        chunks.map(([, bytes]) => bytes).filter((bytes) => !['4', '8', '16'].includes(bytes!)),
        element,
      ).toEqual([]);
    }
  }
});
