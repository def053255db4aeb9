// The passes that bring a program down to what a CPU runs, one after the other.

import type { Program } from '../../../compiler/ir.ts';
import { analyseLiveness } from '../../analysis/liveness.ts';
import { analyseUniformity, type Uniformity } from '../../analysis/uniformity.ts';
import { prepare } from './prepare.ts';
import { type Obstacle, planRegions } from './regions.ts';
import { splitAffine } from './split-affine.ts';
import { structure } from './structure.ts';
import { expandWarps } from './warps.ts';

/** A program that its block runs, and what is the same in all threads of it, and of each row. */
export interface LoweredToRegions {
  readonly program: Program;
  readonly uniformity: { readonly block: Uniformity; readonly row: Uniformity };
}

/** The program that a block runs region by region, if that is possible. */
export function lowerToRegions(original: Program): LoweredToRegions | { readonly obstacle: Obstacle } {
  const prepared = prepare(expandWarps(original, true), 'together');
  const structured = { ...prepared, body: structure(prepared.body) };
  const threads = splitAffine(
    structured,
    analyseUniformity(structured, analyseLiveness(structured.body), 'row'),
  );
  const liveness = analyseLiveness(threads.body);
  const block = analyseUniformity(threads, liveness);
  const planned = planRegions(threads, block, liveness);
  if ('obstacle' in planned) return planned;
  const [, y, z] = original.block;
  // A block of one row is that row.
  const row = y * z === 1 ? block : analyseUniformity(threads, liveness, 'row');
  return { program: planned.program, uniformity: { block, row } };
}

/** The program as each thread runs it, where threads wait for one another. */
export function lowerToStates(original: Program): Program {
  const prepared = prepare(expandWarps(original, false), 'counted');
  return { ...prepared, body: structure(prepared.body) };
}
