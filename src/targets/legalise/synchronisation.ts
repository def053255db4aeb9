// Which pipelines and syncs all threads of a block come to together: then a block barrier may stand for
// the pipeline's own, and the hardware may assume that the sync finds whole warps.

import type { Call, Program } from '../../compiler/ir.ts';
import { factsOf } from '../analysis/facts.ts';
import { forEachCall } from './calls.ts';

/** A function that says of a pipeline whether each of its uses stands where all threads of the block arrive. */
export function blockUniformPipelines(program: Program): (pipeline: number) => boolean {
  const { partial, returnsDivergently } = factsOf(program).among('block');
  const apart = new Set<number>();
  forEachCall(program.body, (call) => {
    if ('pipeline' in call && (returnsDivergently || partial.has(call))) apart.add(call.pipeline);
  });
  return (pipeline) => !apart.has(pipeline);
}

/** A function that says of a call of `sync` whether threads of one warp may come to it apart from each other. */
export function syncsApart(program: Program): (call: Call) => boolean {
  let partial: ReadonlySet<unknown> | undefined;
  return (call) => {
    partial ??= factsOf(program).among('block').partial;
    return partial.has(call);
  };
}
