// What is left of pipelines, barriers and copies in a program that its block runs.
//
// Nothing waits there and no copy is ever under way: a program that is right cannot tell when a copy
// between its issue and the wait for it is done, so the earliest moment is as good as any.

import type { Call, Program, Statement } from '../../../compiler/ir.ts';
import { replaceCalls } from '../../analysis/map.ts';
import { Frame } from '../frame.ts';
import { BarrierPhases } from './barriers.ts';
import { PipelineCounters } from './pipelines.ts';

/** The same program without calls of pipelines and barriers. */
export function lowerInBlock(program: Program): Program {
  const frame = new Frame(program);
  const pipelines = new PipelineCounters(frame);
  const barriers = new BarrierPhases(frame);
  const lower = (call: Call): readonly Statement[] => {
    const words = frame.words(call.range);
    if (call.intrinsic === 'memcpyAsync') {
      const presence = 'barrier' in call ? barriers.presence(call, words) : pipelines.presence(call, words);
      return [...presence, words.copyNow(call)];
    }
    if ('barrier' in call) return barriers.lower(call, words);
    return 'pipeline' in call ? pipelines.lower(call, words) : [call];
  };
  const begin = frame.words();
  const starts = [...pipelines.begin(begin), ...barriers.begin(begin)];
  return frame.finish([...starts, ...replaceCalls(program.body, lower)]);
}
