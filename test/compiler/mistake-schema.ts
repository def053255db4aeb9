// The parameters that statements with mistakes use.

import { deviceFunction } from 'warpstage';

const scale = deviceFunction(
  { out: 'f32[]', by: 'f32', times: 'constant index = 1' },
  ({ out, by, times }) => {
    out[0]! *= by * times;
  },
);

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
} as const;
