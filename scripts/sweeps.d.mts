import type { Graph } from './random-graphs.mjs';

export const sweeps: Readonly<
  Record<'issued' | 'overlaps' | 'copies' | 'singleKernels', () => readonly Graph[]>
>;
