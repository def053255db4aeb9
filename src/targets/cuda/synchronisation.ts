// Which pipelines all threads of a block use together: then a block barrier may stand for the
// pipeline's own.

import type { Program } from '../../compiler/ir.ts';
import { analyseLiveness } from '../analysis/liveness.ts';
import { analyseUniformity } from '../analysis/uniformity.ts';
import { forEachCall } from './lowering.ts';

/** A function that says of a pipeline whether each of its uses stands where all threads of the block arrive. */
export function blockUniformPipelines(program: Program): (pipeline: number) => boolean {
  const { partial, returnsDivergently } = analyseUniformity(program, analyseLiveness(program.body));
  const apart = new Set<number>();
  forEachCall(program.body, (call) => {
    if ('pipeline' in call && (returnsDivergently || partial.has(call))) apart.add(call.pipeline);
  });
  return (pipeline) => !apart.has(pipeline);
}
