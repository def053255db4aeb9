// The operations of a program that its block runs, in code.

import type { CoreCall } from '../../compiler/ir-core.ts';
import { barrierFaults } from '../barrier-misuse.ts';
import { copyOf, writeCopy, writeShareOfCopy } from './copies.ts';
import { pushExpression } from './expressions.ts';
import type { ThreadContext } from './thread-context.ts';

export function writeCore(context: ThreadContext, call: CoreCall): void {
  const { code, unit, launch, frame } = context;
  const { operation, range } = call;
  switch (operation.kind) {
    case 'copyNow':
      if (frame.region === undefined) writeShareOfCopy(context, copyOf(call)!);
      else writeCopy(context, copyOf(call)!, 'whole');
      return;
    case 'fence':
      // A block is run by one thread of the device; others see what is around its atomic operations.
      if (operation.scope !== 'block') code.atomicFence();
      return;
    case 'stuckAtStage':
      code.i32(unit.pipelineSite(range, operation.pipeline, operation.verb)).get(launch.block);
      pushExpression(context, operation.stage);
      code.call(unit.host('fault', 'deadlock'));
      break;
    case 'stuckAtBarrier':
      code.i32(unit.barrierSite(range, operation.barrier)).get(launch.block);
      pushExpression(context, operation.at);
      pushExpression(context, operation.phase);
      code.call(unit.host('fault', 'deadlockAtBarrier'));
      break;
    case 'pipelineMisused':
      code.i32(unit.pipelineSite(range, operation.pipeline, operation.verb));
      frame.pushRank();
      code.get(launch.block);
      pushExpression(context, operation.state);
      code.call(unit.host('fault', 'pipeline'));
      break;
    case 'barrierMisused':
      code.i32(unit.barrierSite(range, operation.barrier));
      frame.pushRank();
      code.get(launch.block).i32(barrierFaults[operation.fault]);
      for (const operand of [operation.at, operation.first, operation.second])
        pushExpression(context, operand);
      code.call(unit.host('fault', 'barrier'));
      break;
    default:
      throw new TypeError(`a CPU has no ${operation.kind}`);
  }
  frame.fail();
}
