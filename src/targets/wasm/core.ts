// The operations of a program that its block runs, in code.

import type { CoreCall, CoreOperation } from '../../compiler/ir-core.ts';
import { barrierFaults } from '../barrier-misuse.ts';
import { copyOf, writeCopy, writeShareOfCopy } from './copies.ts';
import { pushExpression } from './expressions.ts';
import { pushWord } from './memory.ts';
import type { ThreadContext } from './thread-context.ts';
import { writeSum } from './words.ts';

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
    case 'post':
      writeSum(context, operation.array, operation.index, () => pushExpression(context, operation.by));
      return;
    case 'waitUntil':
      frame.writeVariable(call.result!, () => pushExpression(context, operation.test));
      return;
    case 'countsDiffer':
      writeNotes(context, operation);
      code.i32(unit.pipelineSite(range, operation.pipeline, 'makePipeline'));
      frame.pushRank();
      code.get(launch.block).call(unit.host('fault', 'counts'));
      break;
    case 'oneSided':
      code.i32(unit.pipelineSite(range, operation.pipeline, 'makePipeline'));
      frame.pushRank();
      code.get(launch.block);
      pushExpression(context, operation.producers);
      pushExpression(context, operation.threads);
      code.call(unit.host('fault', 'producers'));
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

/** Gives the host the counts that threads have noted. */
function writeNotes(
  context: ThreadContext,
  { array, index, threads }: Extract<CoreOperation, { kind: 'countsDiffer' }>,
): void {
  const { code, unit } = context;
  code.withTemporaries((take) => {
    const [address, left, note] = [take('i32'), take('i32'), take('i64')];
    const offset = pushWord(context, array, index, pushExpression);
    code.set(address);
    pushExpression(context, threads);
    code.set(left);
    code.loop((next) => {
      code.get(address).memory('i64.load', offset).tee(note).i64(0n).op('i64.ne');
      code.if(
        () =>
          void code
            .get(note)
            .i64(-(2n ** 63n))
            .op('i64.xor')
            .call(unit.host('fault', 'count')),
      );
      code.get(address).i32(8).op('i32.add').set(address);
      code.get(left).i32(1).op('i32.sub').tee(left).brIf(next);
    });
  });
}
