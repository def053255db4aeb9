// The operations of the core, compiled to steps.

import { zeroOf } from '../../compiler/arithmetic.ts';
import type { Expression, Group, View } from '../../compiler/ir.ts';
import { numberValueType } from '../../compiler/ir.ts';
import type { CopyParts, CoreCall, CoreOperation } from '../../compiler/ir-core.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { warpSize } from '../lanes.ts';
import { membership } from './barrier.ts';
import { type CoreCopy, type Operand, type PendingCopy, shareOfCopy } from './copies.ts';
import { compilePost, compileWaitUntil } from './counts.ts';
import { arrayOf, compileExpression, compileIndex } from './expressions.ts';
import { brokenRule } from './fault.ts';
import type { Mbarrier } from './mbarrier.ts';
import { type Elements, elementsAt, readElement, writeElement } from './memory.ts';
import type { ObservedProgram } from './observer.ts';
import { compilePrefetch } from './prefetch.ts';
import { effect, type Step } from './step.ts';
import { compileStop } from './stops.ts';
import { compileSync } from './sync.ts';
import type { Thread } from './thread.ts';

type Of<Kind extends CoreOperation['kind']> = Extract<CoreOperation, { kind: Kind }>;

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
    case 'copyCheck': {
      const operands = compileOperands(program, operation);
      const zeroFill = operation.zeroFill === null ? () => 0 : compileIndex(program, operation.zeroFill);
      const { parts } = operation;
      return effect((thread) => {
        const options = { zeroFill: zeroFill(thread), alignment: operation.promised };
        if (parts === undefined) oneThreadsCopy(thread, operation, call, operands(thread), options);
        else checkParts(thread, operation, parts, call, operands(thread));
      });
    }
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
      return compileBulkCopy(program, operation, call);
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
  { mbarrier, index }: { readonly mbarrier: number; readonly index: Expression },
  { range }: CoreCall,
): (thread: Thread) => Mbarrier {
  const position = compileInteger(program, index);
  return (thread) => thread.block.hardware.mbarrier(thread, mbarrier, position(thread), range);
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

interface Operands {
  readonly to: Operand;
  readonly from: Operand;
  readonly count: number;
}

function compileOperands(
  program: ObservedProgram,
  { destination, source, count }: { destination: View; source: View; count: Expression },
): (thread: Thread) => Operands {
  const view = ({ array, offset }: View) => {
    const elements = arrayOf(array);
    const position = compileIndex(program, offset);
    return (thread: Thread): Operand => ({ elements: elements(thread), offset: position(thread) });
  };
  const [to, from, number] = [view(destination), view(source), compileIndex(program, count)];
  return (thread) => ({ to: to(thread), from: from(thread), count: number(thread) });
}

/** Tests each part of a copy that one thread makes for others, as that of the thread whose it is. */
function checkParts(
  thread: Thread,
  views: { readonly destination: View; readonly source: View; readonly promised: number },
  parts: CopyParts,
  call: CoreCall,
  { to, from, count }: Operands,
): void {
  const each = count / parts.count;
  for (let n = 0; n < parts.count; n += 1) {
    const whose = thread.block.threads[n * parts.threads]!;
    const part = {
      to: { ...to, offset: to.offset + n * each },
      from: { ...from, offset: from.offset + n * each },
      count: each,
    };
    oneThreadsCopy(whose, views, call, part, { alignment: views.promised });
  }
}

/** A copy by one thread: the whole, or a part of it. */
function oneThreadsCopy(
  thread: Thread,
  { destination, source }: { readonly destination: View; readonly source: View },
  { range }: CoreCall,
  { to, from, count }: Operands,
  { zeroFill = 0, alignment = 1, proxy = 'generic' as PendingCopy['proxy'] } = {},
): PendingCopy {
  const place: CoreCopy = {
    intrinsic: 'core',
    range,
    group: { kind: 'thread' },
    destination,
    source,
    alignment,
  };
  return shareOfCopy(thread, place, to, from, count, zeroFill, proxy);
}

function compileChunks(program: ObservedProgram, operation: Of<'copyChunks'>, call: CoreCall): Step {
  const operands = compileOperands(program, operation);
  const zeroFill = operation.zeroFill === null ? () => 0 : compileIndex(program, operation.zeroFill);
  return effect((thread) => {
    const whole = operands(thread);
    const zeros = zeroFill(thread);
    const { rank, size } = membership(operation.group, thread.rank, thread.block.threads.length);
    const bytes = bytesOf(whole.to.elements.element);
    // Elements that are longer than a chunk are copied by one thread each, in several.
    const chunk = Math.max(1, operation.chunkBytes / bytes);
    for (let at = rank * chunk; at < whole.count; at += size * chunk) {
      const count = Math.min(chunk, whole.count - at);
      const part = {
        to: { ...whole.to, offset: whole.to.offset + at },
        from: { ...whole.from, offset: whole.from.offset + at },
        count,
      };
      const alignment = Math.min(operation.chunkBytes, count * bytes);
      const left = Math.min(Math.max(zeros - (whole.count - at - count), 0), count);
      const copy = oneThreadsCopy(thread, operation, call, part, { zeroFill: left, alignment });
      thread.observer?.issued(copy);
      thread.queue.add(copy);
      thread.block.hardware.of(thread).chunks.push(copy);
      thread.block.copies.issue(copy);
    }
  });
}

/** Elements go round, as of any copy by a group; the block as a whole copies all of them. */
function compileElements(
  program: ObservedProgram,
  operation: Of<'copyElements' | 'copyNow'>,
  call: CoreCall,
): Step {
  const { range } = call;
  const zeros = operation.kind === 'copyNow' ? operation.zeroFill : null;
  const zeroFill = zeros === null ? () => 0 : compileIndex(program, zeros);
  const operands = compileOperands(program, operation);
  return effect((thread) => {
    const whole = operands(thread);
    const { to, from, count } = whole;
    const copied = count - zeroFill(thread);
    if (operation.kind === 'copyNow') {
      const options = { zeroFill: count - copied, alignment: operation.promised };
      oneThreadsCopy(thread, operation, call, whole, options);
    }
    const { rank, size } = thread.isBlock ? { rank: 0, size: 1 } : shareIn(operation.group, thread);
    for (let i = rank; i < count; i += size) {
      for (let component = 0; component < to.elements.parts.length; component += 1) {
        const read = [from.elements, from.offset + i] as const;
        if (i < copied) thread.observer?.read(thread, ...read, range, component);
        const value =
          i < copied
            ? readElement(thread, ...read, component, range)
            : zeroOf(numberValueType(to.elements.parts[component]!.element));
        thread.observer?.write(thread, to.elements, to.offset + i, value, range, component);
        writeElement(thread, to.elements, to.offset + i, component, value, range);
      }
    }
  });
}

/** Which of a copy's elements a thread copies: nobody may count on that. */
function shareIn(group: Group, { rank, block }: Thread): { readonly rank: number; readonly size: number } {
  const own = membership(group, rank, block.threads.length);
  return { ...own, rank: block.shareOf(own) };
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

function compileBulkCopy(program: ObservedProgram, operation: Of<'bulkCopy'>, call: CoreCall): Step {
  const { range } = call;
  const operands = compileOperands(program, operation);
  const mbarrier = compileMbarrier(program, operation, call);
  return effect((thread) => {
    const whole = operands(thread);
    if (whole.count === 0) return;
    const bytes = whole.count * bytesOf(whole.to.elements.element);
    if (bytes % 16 !== 0) throw brokenRule(thread, range, `a bulk copy of ${bytes} bytes, no multiple of 16`);
    const copy = oneThreadsCopy(thread, operation, call, whole, { alignment: 16, proxy: 'async' });
    thread.observer?.issued(copy);
    const at = mbarrier(thread);
    at.announceBytes(thread, range);
    thread.block.hardware.owe([copy]);
    thread.block.hardware.flights.start({
      thread,
      range,
      what: 'a bulk copy',
      land() {
        copy.deliver();
        at.complete(copy, bytes, range);
      },
    });
  });
}

/** The engine first reads the source, and at another moment writes the destination. */
function compileBulkStore(program: ObservedProgram, operation: Of<'bulkStore'>, call: CoreCall): Step {
  const operands = compileOperands(program, operation);
  return effect((thread) => {
    const { to, from, count } = operands(thread);
    const inside: Operand = { elements: likeElements(from.elements, count), offset: 0 };
    const options = { alignment: 16, proxy: 'async' } as const;
    const read = oneThreadsCopy(thread, operation, call, { to: inside, from, count }, options);
    const written = oneThreadsCopy(thread, operation, call, { to, from: inside, count }, options);
    written.after = read;
    const { reads, stores } = thread.block.hardware.of(thread);
    for (const [copy, queue] of [
      [read, reads],
      [written, stores],
    ] as const) {
      thread.observer?.issued(copy);
      queue.add(copy);
      thread.block.copies.issue(copy);
    }
  });
}

/** Memory of the copy engine's own. */
function likeElements({ element }: Elements, count: number): Elements {
  return elementsAt('', element, new ArrayBuffer(count * bytesOf(element)), 0, count);
}
