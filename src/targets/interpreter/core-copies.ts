// Copies of the core, compiled to steps: those of chunks and of elements, and those of the copy engine.

import { zeroOf } from '../../compiler/arithmetic.ts';
import type { Expression, Group, View } from '../../compiler/ir.ts';
import { numberValueType } from '../../compiler/ir.ts';
import type { CopyParts, CoreCall, OperationOf as Of } from '../../compiler/ir-core.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { membership } from './barrier.ts';
import { type CoreCopy, type Operand, type PendingCopy, shareOfCopy } from './copies.ts';
import { arrayOf, compileIndex } from './expressions.ts';
import { brokenRule } from './fault.ts';
import type { Mbarrier } from './mbarrier.ts';
import { type Elements, elementsAt, readElement, writeElement } from './memory.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';
import type { Thread } from './thread.ts';

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

/** Tests a copy that is made otherwise. */
export function compileCheck(program: ObservedProgram, operation: Of<'copyCheck'>, call: CoreCall): Step {
  const operands = compileOperands(program, operation);
  const zeroFill = operation.zeroFill === null ? () => 0 : compileIndex(program, operation.zeroFill);
  const { parts } = operation;
  return effect((thread) => {
    const options = { zeroFill: zeroFill(thread), alignment: operation.promised };
    if (parts === undefined) oneThreadsCopy(thread, operation, call, operands(thread), options);
    else checkParts(thread, operation, parts, call, operands(thread));
  });
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

export function compileChunks(program: ObservedProgram, operation: Of<'copyChunks'>, call: CoreCall): Step {
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
export function compileElements(
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

export function compileBulkCopy(
  program: ObservedProgram,
  operation: Of<'bulkCopy'>,
  call: CoreCall,
  mbarrier: (thread: Thread) => Mbarrier,
): Step {
  const { range } = call;
  const operands = compileOperands(program, operation);
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
export function compileBulkStore(program: ObservedProgram, operation: Of<'bulkStore'>, call: CoreCall): Step {
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
