// The calls of barriers, compiled to steps.

import type { BarrierCall } from '../../compiler/ir-barriers.ts';
import { anyStatement } from '../analysis/walk.ts';
import { noSuchBarrier, notMade } from '../barrier-misuse.ts';
import type { BlockBarrier } from './block-barrier.ts';
import { compileExpression, compileIndex } from './expressions.ts';
import { barrierMisuse } from './fault.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';
import { compileMasks } from './sync.ts';
import type { Thread } from './thread.ts';

type UsingCall = Extract<BarrierCall, { index: unknown }>;

export function compileBarrierCall(
  program: ObservedProgram,
  call: Exclude<BarrierCall, { intrinsic: 'memcpyAsync' }>,
): Step {
  switch (call.intrinsic) {
    case 'makeBarrier':
      return compileMakeBarrier(program, call);
    case 'barrierArrive': {
      const barrier = compileBarrier(program, call);
      const count = call.count === null ? () => 1 : compileIndex(program, call.count);
      return effect((thread) => {
        const token = barrier(thread).arrive(thread, { count: count(thread), drop: call.drop }, call.range);
        if (call.result !== null) thread.variables[call.result] = token;
      });
    }
    case 'barrierComplete': {
      const barrier = compileBarrier(program, call);
      return effect((thread) => barrier(thread).complete(thread, call.range));
    }
    case 'barrierBind': {
      const barrier = compileBarrier(program, call);
      return effect((thread) => {
        thread.issued = thread.issued.filter(({ covered }) => !covered);
        barrier(thread).bind(thread, thread.issued, call.range);
      });
    }
    case 'barrierWait':
      return compileWait(program, call);
    default:
      return call satisfies never;
  }
}

/** The barrier that a call names. */
export function compileBarrier(program: ObservedProgram, call: UsingCall): (thread: Thread) => BlockBarrier {
  const index = compileIndex(program, call.index);
  const { name, count } = program.barriers[call.barrier]!;
  return (thread) => {
    const barriers = thread.barriers[call.barrier];
    if (barriers === undefined) throw barrierMisuse(thread, call.range, notMade(name));
    const position = index(thread);
    const barrier = barriers[position];
    if (barrier !== undefined) return barrier;
    throw barrierMisuse(thread, call.range, noSuchBarrier(name, position, count ?? 1));
  };
}

function compileMakeBarrier(
  program: ObservedProgram,
  call: Extract<BarrierCall, { intrinsic: 'makeBarrier' }>,
): Step {
  const expected = call.expected === null ? () => null : compileIndex(program, call.expected);
  const masks = compileMasks(program, call);
  return {
    kind: 'wait',
    begin(thread) {
      const maker = thread.block.barrierMakers[call.barrier]!;
      return maker.begin(thread, expected(thread), masks(thread), call);
    },
    end(thread) {
      thread.barriers[call.barrier] = thread.block.barrierMakers[call.barrier]!.end(thread, call);
    },
  };
}

function compileWait(
  program: ObservedProgram,
  call: Extract<BarrierCall, { intrinsic: 'barrierWait' }>,
): Step {
  const { range, result } = call;
  const barrier = compileBarrier(program, call);
  const phase = compileExpression(program, call.phase);
  const limit = call.limit === null ? null : compileExpression(program, call.limit);
  // What each thread waits for, between the beginning and the end of its wait.
  const waits = new WeakMap<Thread, { readonly at: BlockBarrier; readonly phase: number }>();
  return {
    kind: 'wait',
    begin(thread) {
      const at = barrier(thread);
      const awaited = at.awaited(thread, phase(thread) as bigint | boolean, range);
      waits.set(thread, { at, phase: awaited });
      const wait = at.wait(thread, awaited, range);
      if (limit === null) return wait;
      const { clock } = thread.block;
      const time = limit(thread) as number;
      const deadline = call.until ? time : clock.now + time;
      return { ...wait, deadline, ready: () => wait.ready() || clock.isPast(deadline) };
    },
    end(thread) {
      const awaited = waits.get(thread)!;
      const isOver = awaited.at.isOver(thread, awaited.phase, range);
      if (result !== null) thread.variables[result] = isOver;
    },
  };
}

/** Whether a program binds copies to barriers that were issued for a pipeline. */
export function binds({ body }: ObservedProgram): boolean {
  return anyStatement(body, (each) => each.kind === 'call' && each.intrinsic === 'barrierBind');
}
