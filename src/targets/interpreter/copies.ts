// Asynchronous copies: issued now, delivered when the policy says.
//
// `eager` delivers a copy when it is issued; `late` when a wait returns that covers it, which
// is the latest that a correct program may rely on; a seed at a random moment in between.
// Source and destination are read and written at the moment of delivery, so that a program
// that touches either while the copy is in flight shows it. A copy that is never committed is
// never delivered under `late`.

import type { Call } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { copyFault } from '../copy-operands.ts';
import { membership } from './barrier.ts';
import { KernelFault } from './fault.ts';
import type { Elements } from './memory.ts';
import { elementSize } from './memory.ts';
import type { Random } from './random.ts';
import type { Thread } from './thread.ts';

export type CopyCall = Extract<Call, { intrinsic: 'memcpyAsync' }>;

/** A copy of a lowered program: one thread's own, for no pipeline. */
export interface CoreCopy extends Pick<CopyCall, 'range' | 'destination' | 'source' | 'alignment'> {
  readonly intrinsic: 'core';
  readonly group: { readonly kind: 'thread' };
}

/**
 * One thread's share of a copy: elements `first`, `first + stride`, … below `count`, each
 * with all its numbers. From `copied` on they
 * are not read, but zero.
 */
export class PendingCopy {
  #delivered = false;
  /** Whether a wait is over that covers it: it is no more on its way, under whichever policy. */
  covered = false;
  /** A copy that this one goes on with: it is there first. */
  after: PendingCopy | null = null;
  /** Whether an arrival at an mbarrier waits for it. */
  awaited = false;
  readonly thread: Thread;
  readonly call: CopyCall | CoreCopy;
  /** The path to memory that it takes: the threads' own, or the copy engine's. */
  readonly proxy: 'generic' | 'async';
  readonly to: Operand;
  readonly from: Operand;
  readonly count: number;
  readonly copied: number;
  readonly first: number;
  readonly stride: number;

  constructor(
    thread: Thread,
    call: CopyCall | CoreCopy,
    operands: CopyOperands,
    first: number,
    stride: number,
    proxy: PendingCopy['proxy'] = 'generic',
  ) {
    this.thread = thread;
    this.call = call;
    this.to = operands.to;
    this.from = operands.from;
    this.count = operands.count;
    this.copied = operands.count - operands.zeroFill;
    this.first = first;
    this.stride = stride;
    this.proxy = proxy;
  }

  get delivered(): boolean {
    return this.#delivered;
  }

  /** A wait is over that covers it. */
  cover(): void {
    this.covered = true;
    this.deliver();
  }

  deliver(): void {
    if (this.#delivered) return;
    this.after?.deliver();
    this.#delivered = true;
    this.thread.observer?.delivered(this);
    const { bytes: to } = this.to.elements;
    const { bytes: from } = this.from.elements;
    const size = elementSize(this.to.elements);
    for (let i = this.first; i < this.count; i += this.stride) {
      const target = (this.to.offset + i) * size;
      const source = (this.from.offset + i) * size;
      if (i >= this.copied) to.fill(0, target, target + size);
      else for (let at = 0; at < size; at += 1) to[target + at] = from[source + at]!;
    }
  }
}

/** One side of a copy: from an element on. */
export interface Operand {
  readonly elements: Elements;
  readonly offset: number;
}

interface CopyOperands {
  readonly to: Operand;
  readonly from: Operand;
  readonly count: number;
  readonly zeroFill: number;
}

/** The copies of one block that are in flight, under a policy. */
export class Copies {
  readonly #policy: 'eager' | 'late' | Random;
  readonly #inFlight: PendingCopy[] = [];

  constructor(policy: 'eager' | 'late' | Random) {
    this.#policy = policy;
  }

  issue(copy: PendingCopy): void {
    if (this.#policy === 'late') return;
    if (this.#policy === 'eager' || this.#policy.oneIn(4)) copy.deliver();
    else this.#inFlight.push(copy);
  }

  /** Time passes: under a seed, a few of the copies in flight are delivered, in any order. */
  pass(): void {
    if (this.#policy === 'eager' || this.#policy === 'late') return;
    for (let tries = this.#policy.below(4); tries > 0 && this.#inFlight.length > 0; tries -= 1) {
      const chosen = this.#policy.below(this.#inFlight.length);
      const last = this.#inFlight.pop()!;
      const copy = chosen === this.#inFlight.length ? last : this.#inFlight[chosen]!;
      if (copy !== last) this.#inFlight[chosen] = last;
      copy.deliver();
    }
    this.#forgetDelivered();
  }

  // Waits deliver copies too; those stay in the list until it is worth going through it.
  #forgetDelivered(): void {
    if (this.#inFlight.length < this.#forgetAt) return;
    const kept = this.#inFlight.filter((copy) => !copy.delivered);
    this.#inFlight.length = 0;
    this.#inFlight.push(...kept);
    this.#forgetAt = Math.max(1024, 2 * kept.length);
  }

  #forgetAt = 1024;
}

/**
 * The calling thread's share of a copy. Elements go round: of a group of G threads, the one with rank r
 * copies elements r, r + G, …; alone, a thread copies all. Checks the operands of the whole copy.
 */
export function shareOfCopy(
  thread: Thread,
  call: CopyCall | CoreCopy,
  to: Operand,
  from: Operand,
  count: number,
  zeroFill: number,
  proxy: PendingCopy['proxy'] = 'generic',
): PendingCopy {
  checkOperands(thread, call, to, from, count, zeroFill);
  const { rank, size } = membership(call.group, thread.rank, thread.block.threads.length);
  return new PendingCopy(thread, call, { to, from, count, zeroFill }, rank, size, proxy);
}

function checkOperands(
  thread: Thread,
  call: CopyCall | CoreCopy,
  to: Operand,
  from: Operand,
  count: number,
  zeroFill: number,
): void {
  const operandOf = ({ elements: { name, length, bytes }, offset }: Operand) => ({
    array: name,
    offset,
    length,
    memory: bytes.buffer,
    address: bytes.byteOffset,
  });
  const fault = copyFault(
    {
      destination: operandOf(to),
      source: operandOf(from),
      count,
      zeroFill,
      elementBytes: bytesOf(to.elements.element),
      alignment: call.alignment,
    },
    { range: call.range, thread: thread.index, block: thread.block.index },
  );
  if (fault !== null) throw new KernelFault(fault);
}
