// The operations of the core, compiled to steps.

import type { Expression } from '../../compiler/ir.ts';
import type { CoreCall, OperationOf as Of } from '../../compiler/ir-core.ts';
import { warpSize } from '../lanes.ts';
import {
  compileBulkCopy,
  compileBulkStore,
  compileCheck,
  compileChunks,
  compileElements,
} from './core-copies.ts';
import { compilePost, compileWaitUntil } from './counts.ts';
import { compileExpression } from './expressions.ts';
import type { Mbarrier } from './mbarrier.ts';
import type { ObservedProgram } from './observer.ts';
import { compilePrefetch } from './prefetch.ts';
import { effect, type Step } from './step.ts';
import { compileStop } from './stops.ts';
import { compileSync } from './sync.ts';
import type { Thread } from './thread.ts';

export function compileCore(program: ObservedProgram, call: CoreCall): Step {
  const { operation, range, result } = call;
  const number = (expression: Expression) => compileInteger(program, expression);
  switch (operation.kind) {
    case 'mbarrierInit': {
      const mbarrier = compileMbarrier(program, operation, call);
      const expected = number(operation.expected);
      return effect((thread) => mbarrier(thread).init(thread, expected(thread), range));
    }
    case 'mbarrierInvalidate': {
      const mbarrier = compileMbarrier(program, operation, call);
      return effect((thread) => mbarrier(thread).invalidate(thread, range));
    }
    case 'mbarrierArrive': {
      const mbarrier = compileMbarrier(program, operation, call);
      const count = operation.count === null ? () => 1 : number(operation.count);
      const bytes = operation.bytes === null ? () => 0 : number(operation.bytes);
      const { drop, order } = operation;
      const releases = order === 'release';
      return effect((thread) => {
        const arrival = { count: count(thread), bytes: bytes(thread), drop, releases };
        const after = mbarrier(thread).arrive(thread, arrival, range);
        if (result !== null) thread.variables[result] = after;
      });
    }
    case 'mbarrierExpect': {
      const mbarrier = compileMbarrier(program, operation, call);
      const bytes = number(operation.bytes);
      return effect((thread) => mbarrier(thread).expect(thread, bytes(thread), range));
    }
    case 'mbarrierArriveAfterCopies': {
      const mbarrier = compileMbarrier(program, operation, call);
      return effect((thread) => arriveAfterCopies(thread, mbarrier(thread), operation, call));
    }
    case 'mbarrierWait':
      return compileWait(program, operation, call);
    case 'mbarrierComplete': {
      const mbarrier = compileMbarrier(program, operation, call);
      return effect((thread) => mbarrier(thread).end(thread, range));
    }
    case 'copyChunks':
      return compileChunks(program, operation, call);
    case 'copyCommit':
      return effect((thread) => thread.queue.commit(range));
    case 'copyWait': {
      const allBut = number(operation.allBut);
      return effect((thread) => {
        thread.queue.waitForAllBut(allBut(thread), range);
        const own = thread.block.hardware.of(thread);
        own.chunks = own.chunks.filter(({ covered }) => !covered);
      });
    }
    case 'copyWaitAll':
      return effect((thread) => {
        thread.queue.commit(range);
        thread.queue.waitForAllBut(0, range);
        thread.block.hardware.of(thread).chunks = [];
      });
    case 'copyCheck':
      return compileCheck(program, operation, call);
    case 'copyElements':
    case 'copyNow':
      return compileElements(program, operation, call);
    case 'post':
      return compilePost(program, operation, call);
    case 'waitUntil':
      return compileWaitUntil(program, operation, call);
    case 'stuckAtStage':
    case 'stuckAtBarrier':
    case 'countsDiffer':
    case 'oneSided':
    case 'pipelineMisused':
    case 'barrierMisused':
      return compileStop(program, operation, call);
    case 'prefetch':
      return compilePrefetch(program, operation, range);
    case 'groupCount':
      return compileCount(program, operation, call);
    case 'bulkCopy':
      return compileBulkCopy(program, operation, call, compileMbarrier(program, operation, call));
    case 'bulkStore':
      return compileBulkStore(program, operation, call);
    case 'bulkCommit':
      return effect((thread) => {
        const { reads, stores } = thread.block.hardware.of(thread);
        reads.commit(range);
        stores.commit(range);
      });
    case 'bulkWait': {
      const allBut = number(operation.allBut);
      return effect((thread) => {
        const { reads, stores } = thread.block.hardware.of(thread);
        reads.waitForAllBut(allBut(thread), range);
        if (!operation.reads) stores.waitForAllBut(allBut(thread), range);
      });
    }
    case 'proxyFence':
      return effect((thread) => thread.observer?.proxyFenced(thread, operation.space));
    case 'fence':
      return effect((thread) => thread.observer?.fenced(thread, operation.scope));
    case 'namedBarrier':
      return compileNamedBarrier(program, operation, call);
    case 'elect':
      return effect((thread) => {
        if (result !== null) thread.variables[result] = thread.rank % warpSize === 0;
      });
    default:
      return operation satisfies never;
  }
}

/** An integer as a number, whatever its width. */
function compileInteger(program: ObservedProgram, expression: Expression): (thread: Thread) => number {
  const evaluate = compileExpression(program, expression);
  return (thread) => Number(evaluate(thread));
}

function compileMbarrier(
  program: ObservedProgram,
  {
    mbarrier,
    index,
    instance,
  }: { readonly mbarrier: number; readonly index: Expression; readonly instance?: Expression },
  { range }: CoreCall,
): (thread: Thread) => Mbarrier {
  const position = compileInteger(program, index);
  const ofGroup = instance === undefined ? () => null : compileInteger(program, instance);
  return (thread) =>
    thread.block.hardware.mbarrier(thread, mbarrier, position(thread), ofGroup(thread), range);
}

/** The mbarrier gets an arrival when the chunk copies that the thread has issued so far are done. */
function arriveAfterCopies(
  thread: Thread,
  mbarrier: Mbarrier,
  { noIncrement }: Of<'mbarrierArriveAfterCopies'>,
  { range }: CoreCall,
): void {
  const copies = thread.block.hardware.of(thread).chunks.filter(({ covered }) => !covered);
  for (const copy of copies) copy.awaited = true;
  thread.block.hardware.owe(copies);
  mbarrier.announce(thread, noIncrement, range);
  thread.block.hardware.flights.start({
    thread,
    range,
    what: 'an arrival that waits for copies',
    land() {
      for (const copy of copies) copy.deliver();
      mbarrier.arriveAfter(thread, copies, range);
    },
  });
}

function compileWait(program: ObservedProgram, operation: Of<'mbarrierWait'>, call: CoreCall): Step {
  const { range, result } = call;
  const mbarrier = compileMbarrier(program, operation, call);
  const awaited = compileExpression(program, operation.awaited);
  const ghost = operation.phase === null ? () => null : compileInteger(program, operation.phase);
  const isToken = operation.by === 'token';
  // A token is the number of the phase after, whatever its sign says besides.
  const phaseOf = (thread: Thread) =>
    isToken ? Number(BigInt.asUintN(63, awaited(thread) as bigint)) - 1 : ghost(thread);
  const parityOf = (thread: Thread, phase: number | null) =>
    isToken ? phase! & 1 : Number(awaited(thread)) & 1;
  const limit = operation.limit === null ? null : compileExpression(program, operation.limit);
  // What each thread waits for: the operands are not looked at again when the wait is over.
  const waits = new WeakMap<Thread, readonly [Mbarrier, number, number | null]>();
  return {
    kind: 'wait',
    begin(thread) {
      const at = mbarrier(thread);
      const ofPhase = phaseOf(thread);
      const ofParity = parityOf(thread, ofPhase);
      waits.set(thread, [at, ofParity, ofPhase]);
      const wait = at.begin(thread, ofParity, ofPhase, range);
      if (limit === null) return wait;
      const { clock } = thread.block;
      const time = limit(thread) as number;
      const deadline = operation.until ? time : clock.now + time;
      return { ...wait, deadline, ready: () => wait.ready() || clock.isPast(deadline) };
    },
    end(thread) {
      const [at, ofParity, ofPhase] = waits.get(thread)!;
      const isOver = at.finish(thread, ofParity, ofPhase, range);
      if (result !== null) thread.variables[result] = isOver;
    },
  };
}

function compileNamedBarrier(
  program: ObservedProgram,
  operation: Of<'namedBarrier'>,
  { range }: CoreCall,
): Step {
  const id = compileInteger(program, operation.id);
  const { threads, waits } = operation;
  if (!waits) return effect((thread) => void thread.block.hardware.meet(thread, id(thread), threads, range));
  return {
    kind: 'wait',
    begin: (thread) => thread.block.hardware.meet(thread, id(thread), threads, range),
    end: (thread) => thread.block.hardware.leave(thread, id(thread), range),
  };
}

/** The threads of a group meet, and each gets how many of them have a true value. */
function compileCount(
  program: ObservedProgram,
  { group, value }: Of<'groupCount'>,
  { range, result }: CoreCall,
): Step {
  const evaluate = compileExpression(program, value);
  const meet = compileSync(program, { kind: 'call', intrinsic: 'sync', group, range }) as Extract<
    Step,
    { kind: 'wait' }
  >;
  return {
    kind: 'wait',
    begin(thread) {
      thread.block.hardware.vote(thread, group, evaluate(thread) === true);
      return meet.begin(thread);
    },
    end(thread) {
      meet.end(thread);
      if (result !== null) thread.variables[result] = thread.block.hardware.votes(thread, group);
    },
  };
}
