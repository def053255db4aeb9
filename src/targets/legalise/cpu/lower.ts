// The passes that bring a program down to what a CPU runs, one after the other.

import type { Program } from '../../../compiler/ir.ts';
import { analyseLiveness } from '../../analysis/liveness.ts';
import { analyseUniformity, type Uniformity } from '../../analysis/uniformity.ts';
import { lowerInBlock } from './block.ts';
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
  const ofThreads = analyseLiveness(threads.body);
  const planned = planRegions(threads, analyseUniformity(threads, ofThreads), ofThreads);
  if ('obstacle' in planned) return planned;
  const program = lowerInBlock(planned.program);
  const liveness = analyseLiveness(program.body);
  const block = analyseUniformity(program, liveness);
  const [, y, z] = original.block;
  // A block of one row is that row.
  const row = y * z === 1 ? block : analyseUniformity(program, liveness, 'row');
  return { program, uniformity: { block, row } };
}

/** The program as each thread runs it, where threads wait for one another. */
export function lowerToStates(original: Program): Program {
  const prepared = prepare(expandWarps(original, false), 'counted');
  return { ...prepared, body: structure(prepared.body) };
}
