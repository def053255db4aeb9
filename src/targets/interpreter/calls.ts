// The intrinsics with an effect, compiled to steps.

import { atomicOperation, type Value } from '../../compiler/arithmetic.ts';
import type { Call, View } from '../../compiler/ir.ts';
import { isTimedWait, type TimedWait, timedVerbOf } from '../../compiler/ir-pipelines.ts';
import { warpSize } from '../lanes.ts';
import { formOf, printedLine } from '../printed-line.ts';
import { binds, compileBarrier, compileBarrierCall } from './barrier-calls.ts';
import { type PendingCopy, shareOfCopy } from './copies.ts';
import { compileCore } from './core-calls.ts';
import { arrayOf, compileExpression, compileIndex } from './expressions.ts';
import { brokenAssertion } from './fault.ts';
import { updateElement } from './memory.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';
import { compileMask, compileMasks, compileSync } from './sync.ts';
import type { Thread } from './thread.ts';
import type { WarpCall } from './warp.ts';

export function compileCall(program: ObservedProgram, call: Call): Step {
  switch (call.intrinsic) {
    case 'sync':
      return compileSync(program, call);
    case 'warp':
      return compileWarp(program, call);
    case 'makePipeline':
      return compileMakePipeline(program, call);
    case 'producerAcquire':
      return {
        kind: 'wait',
        begin: (thread) => thread.pipeline(call.pipeline, call.range).beginAcquire(call.range),
        end: (thread) => thread.pipeline(call.pipeline, call.range).endAcquire(call.range),
      };
    case 'producerCommit':
      return effect((thread) => thread.pipeline(call.pipeline, call.range).commit(call.range));
    case 'consumerWait':
      if (isTimedWait(call)) return compileTimedWait(program, call);
      return {
        kind: 'wait',
        begin: (thread) => thread.pipeline(call.pipeline, call.range).beginWait(call.range, 'consumerWait'),
        end: (thread) => void thread.pipeline(call.pipeline, call.range).endWait(call.range),
      };
    case 'pipelineConsumerWaitPrior':
      return effect((thread) => thread.pipeline(call.pipeline, call.range).waitPrior(call.prior, call.range));
    case 'globaltimer':
    case 'clock64':
      return effect((thread) => assign(thread, call.result, thread.block.clock.tick()));
    case 'mark':
      throw new TypeError('the interpreter tells its observers of stages');
    case 'core':
      return compileCore(program, call);
    case 'nanosleep':
      return compileSleep(program, call);
    case 'consumerRelease':
      return effect((thread) => thread.pipeline(call.pipeline, call.range).release(call.range));
    case 'quit':
      return effect((thread) => {
        assign(thread, call.result, thread.pipeline(call.pipeline, call.range).quit(call.range));
      });
    case 'makeBarrier':
    case 'barrierArrive':
    case 'barrierComplete':
    case 'barrierBind':
    case 'barrierWait':
      return compileBarrierCall(program, call);
    case 'memcpyAsync':
      return compileCopy(program, call);
    case 'atomic':
      return compileAtomic(program, call);
    case 'print':
      return compilePrint(program, call);
    case 'assert':
      return compileAssertion(program, call);
    default:
      return call satisfies never;
  }
}

function assign(thread: Thread, variable: number | null, value: Value): void {
  if (variable !== null) thread.variables[variable] = value;
}

/** Waits until the stage is there or the time is over; whether it is there is seen afterwards. */
function compileTimedWait(program: ObservedProgram, call: TimedWait): Step {
  const { pipeline, range, result, until } = call;
  const time = compileExpression(program, call.limit);
  return {
    kind: 'wait',
    begin(thread) {
      const { clock } = thread.block;
      const given = time(thread) as number;
      const [limit, deadline] = until ? [given - clock.now, given] : [given, clock.now + given];
      const wait = thread.pipeline(pipeline, range).beginWait(range, timedVerbOf(call), limit);
      if (wait === null) return null;
      return {
        range,
        deadline,
        ready: () => wait.ready() || clock.isPast(deadline),
        describe: () => wait.describe(),
      };
    },
    end: (thread) => assign(thread, result, thread.pipeline(pipeline, range).endWait(range)),
  };
}

function compileSleep(program: ObservedProgram, call: Extract<Call, { intrinsic: 'nanosleep' }>): Step {
  const duration = compileExpression(program, call.duration);
  return {
    kind: 'wait',
    begin(thread) {
      const { clock } = thread.block;
      const deadline = clock.now + Math.min(duration(thread) as number, longestSleep);
      const ready = () => clock.isPast(deadline);
      return { range: call.range, deadline, ready, describe: () => 'nanosleep' };
    },
    end: () => {},
  };
}

/** Nanoseconds, as on the hardware. */
const longestSleep = 1e6;

function compileWarp(program: ObservedProgram, call: WarpCall): Step {
  const { operator, group, result, range } = call;
  if (operator === 'activemask') {
    return effect((thread) => assign(thread, result, (1 << (thread.rank % warpSize)) >>> 0));
  }
  const mask = compileMask(program, call);
  const value = compileExpression(program, call.value);
  const lane = call.lane === null ? () => 0 : compileExpression(program, call.lane);
  return {
    kind: 'wait',
    begin: (thread) =>
      thread.block.warps.begin(thread, operator, {
        size: group.size,
        mask: mask(thread),
        value: value(thread),
        operand: lane(thread) as number,
        range,
      }),
    end(thread) {
      const { warps } = thread.block;
      thread.observer?.lanesMet(thread, operator, warps.gatheringOf(thread));
      assign(thread, result, warps.resultOf(thread, call));
    },
  };
}

function compileMakePipeline(
  program: ObservedProgram,
  call: Extract<Call, { intrinsic: 'makePipeline' }>,
): Step {
  const producers = call.producers === null ? () => null : compileExpression(program, call.producers);
  const masks = compileMasks(program, call);
  return {
    kind: 'wait',
    begin(thread) {
      const maker = thread.block.makers[call.pipeline]!;
      return maker.begin(thread, producers(thread), masks(thread), call);
    },
    end(thread) {
      const maker = thread.block.makers[call.pipeline]!;
      thread.pipelines[call.pipeline] = maker.end(thread, call);
    },
  };
}

function compileCopy(program: ObservedProgram, call: Extract<Call, { intrinsic: 'memcpyAsync' }>): Step {
  const destination = compileView(program, call.destination);
  const source = compileView(program, call.source);
  const count = compileIndex(program, call.count);
  const zeroFill = call.zeroFill === null ? () => 0 : compileIndex(program, call.zeroFill);
  const add = compileAdd(program, call);
  return effect((thread) => {
    const operands = [destination(thread), source(thread), count(thread), zeroFill(thread)] as const;
    const copy = shareOfCopy(thread, call, ...operands);
    thread.observer?.issued(copy);
    add(thread, copy);
    thread.block.copies.issue(copy);
  });
}

/** Notifies what the copy is for. */
function compileAdd(
  program: ObservedProgram,
  call: Extract<Call, { intrinsic: 'memcpyAsync' }>,
): (thread: Thread, copy: PendingCopy) => void {
  if ('barrier' in call) {
    const barrier = compileBarrier(program, call);
    return (thread, copy) => barrier(thread).bind(thread, [copy], call.range);
  }
  const isOwn = program.pipelines[call.pipeline]!.scope === 'thread' && binds(program);
  return (thread, copy) => {
    thread.pipeline(call.pipeline, call.range).add(copy, call.range);
    if (isOwn) thread.issued.push(copy);
  };
}

function compileView(program: ObservedProgram, view: View) {
  const array = arrayOf(view.array);
  const offset = compileIndex(program, view.offset);
  return (thread: Thread) => ({ elements: array(thread), offset: offset(thread) });
}

function compileAtomic(program: ObservedProgram, call: Extract<Call, { intrinsic: 'atomic' }>): Step {
  const { range, result } = call;
  const array = arrayOf(call.array);
  const index = compileIndex(program, call.index);
  const value = compileExpression(program, call.value);
  const compared = call.compare === null ? () => null : compileExpression(program, call.compare);
  const update = atomicOperation(call.operator, call.value.type);
  return effect((thread) => {
    const position = index(thread);
    const comparand = compared(thread);
    const operand = value(thread);
    thread.observer?.update(thread, array(thread), position, range, call);
    assign(thread, result, updateElement(thread, array(thread), position, update, operand, comparand, range));
  });
}

function compileAssertion(program: ObservedProgram, call: Extract<Call, { intrinsic: 'assert' }>): Step {
  const test = compileExpression(program, call.test);
  const line = compileLine(program, call);
  return effect((thread) => {
    if (test(thread) !== true) throw brokenAssertion(thread, call.range, line(thread));
  });
}

function compilePrint(program: ObservedProgram, call: Extract<Call, { intrinsic: 'print' }>): Step {
  const line = compileLine(program, call);
  return effect((thread) => thread.block.launch.print(line(thread), thread.index, thread.block.index));
}

/** What is printed, or said of an assertion. */
function compileLine(
  program: ObservedProgram,
  call: Extract<Call, { intrinsic: 'print' | 'assert' }>,
): (thread: Thread) => string {
  const form = formOf(call);
  const values = call.parts.flatMap((part) =>
    typeof part === 'string' ? [] : [compileExpression(program, part)],
  );
  const valuesIn = (thread: Thread) => values.map((value) => value(thread));
  return (thread) => printedLine(form, valuesIn(thread));
}
