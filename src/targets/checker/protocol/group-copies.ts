// Copies of a group, which all its threads must make alike, and copies of single threads, which no
// two should make alike.
//
// The n-th copy that a thread issues for a group into a batch of a shared pipeline (or at all into one
// of its own, or for a barrier) must be the n-th of every other thread of the group. And where several
// threads copy by themselves at one place in one batch, or for one phase of a barrier, each has a part
// of its own; if all of them copy the same, the group's copy was meant.

import { membership } from '../../interpreter/barrier.ts';
import type { Operand, PendingCopy } from '../../interpreter/copies.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import { threadsInWords } from '../../rank-words.ts';
import type { Findings } from '../finding.ts';
import type { Handles } from './handles.ts';

/** One copy of a group, as far as its threads have come. */
interface Together {
  readonly first: PendingCopy;
  readonly ranks: Set<number>;
  readonly size: number;
}

/** Copies that threads made by themselves at one place in one batch; `ranks` is null where they differ. */
interface Alone {
  readonly first: PendingCopy;
  ranks: number[] | null;
}

export class GroupCopies implements PartialObserver {
  readonly #findings: Findings;
  readonly #handles: Handles;
  readonly #together = new Map<string, Together>();
  readonly #alone = new Map<string, Alone>();
  /** Of each thread, at each kind of copy: its batch, and how many it has issued in that. */
  readonly #issued = new Map<string, { batch: number; count: number }>();
  /** Barriers that threads copied for by themselves, numbered. */
  readonly #barriers = new Map<object, number>();

  constructor(findings: Findings, handles: Handles) {
    this.#findings = findings;
    this.#handles = handles;
  }

  issued(copy: PendingCopy): void {
    if (copy.call.group.kind !== 'thread') this.#issueTogether(copy);
    else if ('pipeline' in copy.call) this.#issueAlone(copy, this.#handles.ofCopy(copy)?.commits ?? 0);
  }

  /** A copy for a barrier belongs to the phase that it is bound to. */
  bound(copies: readonly PendingCopy[], sync: object, phase: number): void {
    for (const copy of copies) {
      if (!('barrier' in copy.call) || copy.call.group.kind !== 'thread') continue;
      let number = this.#barriers.get(sync);
      if (number === undefined) {
        number = this.#barriers.size;
        this.#barriers.set(sync, number);
      }
      this.#issueAlone(copy, phase, `barrier ${number} `);
    }
  }

  blockEnded(): void {
    this.#tellMissing();
    this.#tellAlike();
  }

  /** Of a block that did not end: whose threads are missing in a copy may be stuck before it. */
  launchEnded(): void {
    this.#tellAlike();
  }

  #issueTogether(copy: PendingCopy): void {
    const { thread, call } = copy;
    const { group } = call;
    const { index, size } = membership(group, thread.rank, thread.block.threads.length);
    const which = group.kind === 'tile' ? `${group.size}.${index}` : group.kind;
    // Threads commit to pipelines of their own as they like; only their copies for the group go in step.
    const handle = this.#handles.ofCopy(copy);
    const batch = handle?.pipeline.declaration.scope === 'thread' ? 0 : (handle?.commits ?? 0);
    const target =
      'barrier' in call ? `barrier ${call.barrier}` : 'pipeline' in call ? call.pipeline : 'none';
    const key = this.#placeOf(copy, `${target} ${which}`, batch);
    const together = this.#together.get(key);
    if (together === undefined) {
      if (size > 1) this.#together.set(key, { first: copy, ranks: new Set([thread.rank]), size });
      return;
    }
    if (!isSame(together.first, copy)) this.#tellDifferent(together.first, copy);
    together.ranks.add(thread.rank);
    if (together.ranks.size === size) this.#together.delete(key);
  }

  #issueAlone(copy: PendingCopy, batch: number, target = ''): void {
    const { range, destination } = copy.call;
    // What each has of its own, nobody else copies.
    if (destination.array.space === 'local') return;
    const key = this.#placeOf(copy, `${target}${range.source}:${range.start}`, batch);
    const alone = this.#alone.get(key);
    if (alone === undefined) this.#alone.set(key, { first: copy, ranks: [copy.thread.rank] });
    else if (isSame(alone.first, copy)) alone.ranks?.push(copy.thread.rank);
    else alone.ranks = null;
  }

  /** The same for copies of different threads that belong together. */
  #placeOf({ thread }: PendingCopy, kind: string, batch: number): string {
    const own = `${thread.rank} ${kind}`;
    const issued = this.#issued.get(own);
    const count = issued?.batch === batch ? issued.count + 1 : 0;
    this.#issued.set(own, { batch, count });
    return `${kind} ${batch} ${count}`;
  }

  #tellDifferent(first: PendingCopy, copy: PendingCopy): void {
    const { block } = copy.thread;
    this.#findings.report({
      code: 'WS7009',
      severity: 'error',
      message: `the threads of a group pass memcpyAsync different arguments: thread ${first.thread.rank} copies ${inWords(first)}, thread ${copy.thread.rank} ${inWords(copy)}`,
      place: { range: copy.call.range, threads: [copy.thread.rank], block: block.index },
      related: [
        {
          label: `thread ${first.thread.rank} copies here`,
          range: first.call.range,
          threads: [first.thread.rank],
          block: block.index,
        },
      ],
      mend: 'Pass the same arrays, offsets and count in all threads of the group: it divides the copy among them. For a copy of the thread’s own, leave the group out.',
    });
  }

  #tellMissing(): void {
    for (const { first, ranks, size } of this.#together.values()) {
      const { thread, call } = first;
      const { index } = membership(call.group, thread.rank, thread.block.threads.length);
      const missing = Array.from({ length: size }, (_, i) => index * size + i).filter(
        (rank) => !ranks.has(rank),
      );
      this.#findings.report({
        code: 'WS7009',
        severity: 'error',
        message: `${ranks.size} of ${size} threads of the ${call.group.kind} make its memcpyAsync of ${inWords(first)}: ${threadsInWords(missing)} ${missing.length === 1 ? 'does' : 'do'} not`,
        place: { range: call.range, threads: [...ranks].sort((a, b) => a - b), block: thread.block.index },
        related: [],
        mend: 'Let all threads of the group make the copy: each carries a part of it. Let some threads copy by a smaller group, or by themselves.',
      });
    }
    this.#together.clear();
  }

  #tellAlike(): void {
    for (const { first, ranks } of this.#alone.values()) {
      if (ranks === null || ranks.length < 2) continue;
      this.#findings.report({
        code: 'WS7016',
        severity: 'error',
        message: `${ranks.length} threads make the same memcpyAsync of ${inWords(first)}`,
        place: {
          range: first.call.range,
          threads: ranks.sort((a, b) => a - b),
          block: first.thread.block.index,
        },
        related: [],
        mend: 'Pass the group first, memcpyAsync(group, …), so that its threads divide the copy; or let one thread copy.',
      });
    }
    this.#alone.clear();
  }
}

function isSame(a: PendingCopy, b: PendingCopy): boolean {
  const isSameOperand = (x: Operand, y: Operand) => x.elements === y.elements && x.offset === y.offset;
  return a.count === b.count && isSameOperand(a.to, b.to) && isSameOperand(a.from, b.from);
}

function inWords({ count, from, to }: PendingCopy): string {
  const elements = `${count} element${count === 1 ? '' : 's'}`;
  return `${elements} of \`${from.elements.name}\` at ${from.offset} to \`${to.elements.name}\` at ${to.offset}`;
}
