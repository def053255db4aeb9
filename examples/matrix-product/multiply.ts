// What the eight products share. A block of 16 x 16 threads makes a tile of c = a * b of as many elements, in
// steps of 16 columns of a and 16 rows of b. All sizes are multiples of 16, all arrays are stored row by row:
// c has `rows` x `columns`, a `rows` x `depth`, b `depth` x `columns` elements.

import { deviceFunction } from 'warpstage';

/** The element of a product of two tiles that belongs to row y and column x. */
export const multiply = deviceFunction(
  { a: 'readonly f32[]', b: 'readonly f32[]', x: 'index', y: 'index' },
  ({ a, b, x, y }) => {
    let sum = 0.0;
    for (let k = 0; k < 16; ++k) sum += a[y * 16 + k]! * b[k * 16 + x]!;
    return sum;
  },
);

/** What every product takes. */
export const product = {
  c: 'f32[]',
  a: 'readonly f32[]',
  b: 'readonly f32[]',
  depth: 'index',
  columns: 'index',
  multiply,
} as const;
