// The parameters that statements with mistakes use.

import { deviceFunction } from 'warpstage';

const scale = deviceFunction(
  { out: 'f32[]', by: 'f32', times: 'constant index = 1' },
  ({ out, by, times }) => {
    out[0]! *= by * times;
  },
);

const corner = deviceFunction({ image: 'f32[][]' }, ({ image }) => image[0]![0]!);
const middle = deviceFunction({ cube: 'f32[][][]' }, ({ cube }) => cube[1]![1]![1]!);

export const schema = {
  y: 'f32[]',
  x: 'readonly f32[]',
  n: 'index',
  i: 'i32',
  u: 'u32',
  f: 'f32',
  h: 'i32[]',
  b: 'u8[]',
  c: 'constant index = 2',
  scale,
  corner,
  middle,
} as const;
