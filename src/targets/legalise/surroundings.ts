// What lies between barriers of the block and the calls that one thread makes for all (calm.ts), for
// calls as they will be lowered.

import type { Call, Program } from '../../compiler/ir.ts';
import { isStageCall, pipelineVerbs, waitsForStage } from '../../compiler/ir-pipelines.ts';
import { type Calm, calmOf } from './calm.ts';
import type { Decisions } from './decisions.ts';

export function calmAround(program: Program, decisions: Decisions, isBulk: (call: Call) => boolean): Calm {
  const { lowerings, schedule, isApart } = decisions;
  const lowering = (call: Call & { pipeline: number }) => lowerings[call.pipeline]!;
  const meets = (call: Call): boolean => {
    switch (call.intrinsic) {
      case 'sync':
        return call.group.kind === 'block' && !isApart(call);
      case 'makeBarrier':
        return program.barriers[call.barrier]!.group.kind === 'block';
      case 'makePipeline':
        return lowering(call) !== 'thread' && program.pipelines[call.pipeline]!.group.kind === 'block';
      default:
        if (!waitsForStage(call)) return false;
        // An engine's copies are waited for at an mbarrier.
        if (lowering(call) === 'bulk') return pipelineVerbs[call.intrinsic].role === 'producer';
        return lowering(call) === 'groups';
    }
  };
  const idle = (call: Call): boolean => {
    switch (call.intrinsic) {
      case 'quit':
        return call.result === null;
      case 'nanosleep':
      case 'clock64':
      case 'globaltimer':
        return true;
      default: {
        if (!isStageCall(call)) return false;
        const { role, waits } = pipelineVerbs[call.intrinsic];
        if (waits) return role === 'producer' && lowering(call) === 'thread';
        return lowering(call) !== 'barriers' && lowering(call) !== 'roles';
      }
    }
  };
  return calmOf(program, { meets, idle, copies: isBulk, released: schedule.released });
}
