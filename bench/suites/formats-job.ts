// The jobs of the formats' suite, for the command: numbers as they are.

import { map } from 'warpstage';

export const f32 = map({ x: 'f32', y: 'f32' }, ({ y }) => y, { inputs: { y: { column: 'x' } } });
export const u8 = map({ x: 'u8', y: 'u8' }, ({ y }) => y, { inputs: { y: { column: 'x' } } });
