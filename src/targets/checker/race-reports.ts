// What races found, in words.
//
// The same two places race as often as a loop runs and as many threads as there are; that is one
// finding, with the elements and threads it was seen on.

import type { Range } from '../../diagnostics/source.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Extent3 } from '../../kernel/types.ts';
import type { Elements } from '../interpreter/memory.ts';
import type { AtomicCall } from '../interpreter/observer.ts';
import type { ThreadClock } from './clocks.ts';
import type { ArrayPart, Finding, FindingStage, Findings, RelatedPlace } from './finding.ts';
import { LockOperations } from './lock-operations.ts';
import type { AccessKind } from './races.ts';
import type { TrackedCopy } from './tracked-copies.ts';

/** One side of a race. */
export interface ConflictingAccess {
  readonly kind: AccessKind;
  readonly range: Range;
  /** The copy that reads or writes; null for a thread's own access. */
  readonly copy: TrackedCopy | null;
  readonly rank: number;
  readonly block: Extent3;
}

export interface Conflict {
  readonly array: Elements;
  readonly space: ArrayPart['space'];
  readonly index: number;
  readonly earlier: ConflictingAccess;
  readonly later: ConflictingAccess;
  /** Of the thread that makes the later access. */
  readonly clock: ThreadClock;
  /** Both store the same value. */
  readonly sameValue: boolean;
  /** The later one is a copy that another thread of the group makes here, and this one might make. */
  readonly byAnother?: boolean;
}

/** A race between two places, with all that it was seen on. */
interface Race {
  readonly first: Conflict;
  readonly threads: Set<number>;
  readonly others: Set<number>;
  least: number;
  greatest: number;
}

export class RaceReports {
  readonly #findings: Findings;
  readonly #advice: boolean;
  readonly #races = new Map<string, Race>();
  readonly #locks = new LockOperations();

  constructor(findings: Findings, advice: boolean) {
    this.#findings = findings;
    this.#advice = advice;
  }

  add(conflict: Conflict): void {
    const { earlier, later, index, array, sameValue } = conflict;
    if (sameValue && !this.#advice) return;
    const key = `${keyOf(earlier)} ${keyOf(later)} ${array.name} ${sameValue}`;
    let race = this.#races.get(key);
    if (race === undefined) {
      race = { first: conflict, threads: new Set(), others: new Set(), least: index, greatest: index };
      this.#races.set(key, race);
    }
    if (sameBlock(later.block, race.first.later.block)) race.threads.add(later.rank);
    if (sameBlock(earlier.block, race.first.earlier.block)) race.others.add(earlier.rank);
    race.least = Math.min(race.least, index);
    race.greatest = Math.max(race.greatest, index);
  }

  /** An atomic operation was made. */
  noteOperation(range: Range, call: AtomicCall): void {
    this.#locks.note(range, call);
  }

  /** Tells the findings of all races. */
  finish(): void {
    for (const race of this.#races.values()) {
      const finding = findingOf(race);
      const { earlier, later } = race.first;
      const isGuarded = finding.code === 'WS7001' && [earlier, later].every(({ kind }) => kind !== 'update');
      const { found } = this.#locks;
      this.#findings.report(isGuarded && found.length > 0 ? { ...finding, ordersToWrite: found } : finding);
    }
    this.#races.clear();
  }
}

function keyOf({ kind, range: { source, start, end }, copy }: ConflictingAccess): string {
  return `${kind} ${source}:${start}:${end} ${copy === null ? '' : 'copy'}`;
}

function findingOf(race: Race): Finding {
  const { first, threads, others, least, greatest } = race;
  const { array, space, earlier, later, sameValue } = first;
  const copy = earlier.copy ?? later.copy;
  const stage = copy === null ? null : stageOf(copy);
  const size = bytesOf(array.element);
  const count = greatest - least + 1;
  return {
    code: copy === null ? 'WS7001' : 'WS7002',
    severity: sameValue ? 'advice' : 'error',
    ...(copy === null ? wordsOfThreads(first) : wordsOfCopy(first)),
    place: { range: later.range, threads: ascending(threads), block: later.block },
    related: [
      {
        label: labelOf(earlier),
        range: earlier.range,
        threads: ascending(others),
        block: earlier.block,
      },
      ...relatedCommit(copy),
    ],
    ...(stage === null ? {} : { stage }),
    part: { array: array.name, space, first: least, count, bytes: [least * size, (greatest + 1) * size] },
  };
}

const ascending = (ranks: ReadonlySet<number>) => [...ranks].sort((a, b) => a - b);

function stageOf({ use }: TrackedCopy): FindingStage | null {
  if (use === null) return null;
  const { pipeline, stage, batch } = use;
  const { name, scope } = pipeline.declaration;
  return { pipeline: name, ...(scope === 'thread' ? {} : { stage }), batch };
}

function relatedCommit(copy: TrackedCopy | null): RelatedPlace[] {
  if (copy?.use == null) return [];
  const { issuer, use } = copy;
  const { index } = issuer.block.block;
  return [{ label: 'the copy was committed here', range: use.range, threads: [issuer.rank], block: index }];
}

const doing: Readonly<Record<AccessKind, string>> = {
  read: 'reads',
  write: 'writes',
  update: 'updates atomically',
};

function labelOf({ kind, copy, rank }: ConflictingAccess): string {
  if (copy === null) return `thread ${rank} ${doing[kind]} it here`;
  return `thread ${rank} issued the copy that ${doing[kind]} it here`;
}

type Words = Pick<Finding, 'message' | 'mend'>;

/** Two accesses by threads. */
function wordsOfThreads({ array, space, index, earlier, later, sameValue }: Conflict): Words {
  const apart = !sameBlock(earlier.block, later.block);
  const who = ({ rank, block }: ConflictingAccess) =>
    apart ? `thread ${rank} of block (${block.join(', ')})` : `thread ${rank}`;
  const message = `${who(later)} ${doing[later.kind]} \`${array.name}[${index}]\`, which ${who(earlier)} ${doing[earlier.kind]}, and nothing orders the two`;
  if (sameValue) {
    return {
      message: `${message}; both store the same value`,
      mend: 'Let one thread store it, or use an atomic operation.',
    };
  }
  if (earlier.kind === 'update' && later.kind === 'update') {
    return {
      message,
      mend: 'Operations of the scope of a block are atomic among its threads alone: leave the scope out, or write the device.',
    };
  }
  if (apart) {
    return {
      message,
      mend: 'Blocks run in any order: let one block do both, use atomic operations, or do the second in a launch of its own, or after a grid.sync() of a cooperative launch.',
    };
  }
  const atomic = earlier.kind === 'update' || later.kind === 'update';
  return {
    message,
    mend: atomic
      ? 'Put a block sync between the two, or make both atomic.'
      : space === 'shared'
        ? 'Put a block sync between the two: `cuda.syncthreads()`, or the sync() of a group that both are in.'
        : 'Put a sync of their group between the two, or let one thread do both.',
  };
}

/** An access and a copy in flight, or two copies. */
function wordsOfCopy(conflict: Conflict): Words {
  const { earlier } = conflict;
  return earlier.copy === null ? wordsOfIssue(conflict) : wordsOfFlight(conflict, earlier.copy);
}

/** A copy is issued, and does not come after an access. */
function wordsOfIssue({ array, index, earlier, later, byAnother = false }: Conflict): Words {
  const element = `\`${array.name}[${index}]\``;
  const before = `thread ${earlier.rank} ${doing[earlier.kind]} it`;
  if (byAnother) {
    return {
      message: `thread ${later.rank} may copy ${later.kind === 'read' ? 'from' : 'to'} ${element} while ${before}: which thread of the group copies which element is not promised, and nothing orders this one after that`,
      mend: 'Put a sync of the group between the access and the copy.',
    };
  }
  if (later.kind === 'read') {
    return {
      message: `thread ${later.rank} issues a copy from ${element}, and nothing orders it after thread ${earlier.rank}, which ${doing[earlier.kind]} it`,
      mend: 'Put a sync of their group between the write and the copy.',
    };
  }
  const threadScope = isThreadScope(later.copy);
  if (isOfBarrier(later.copy)) {
    return {
      message: `thread ${later.rank} issues a copy into ${element} while ${before}: nothing orders the copy after that`,
      mend: 'Let every thread arrive at a barrier after its last access, and wait there before the copy.',
    };
  }
  return {
    message: `thread ${later.rank} issues a copy into ${element} while ${before}: nothing orders the copy after that`,
    mend: threadScope
      ? 'Sync the block after the last access and before the next copy into the same memory: a thread-scoped acquire and release order nobody.'
      : 'Let every thread consumerRelease() the stage after its last access, and producerAcquire() the stage before the copy.',
  };
}

function isThreadScope(copy: TrackedCopy | null): boolean {
  if (copy === null) return false;
  const { call, thread } = copy.copy;
  return 'pipeline' in call && thread.block.launch.program.pipelines[call.pipeline]?.scope === 'thread';
}

/** Whether a phase of a barrier waits for a copy, and no stage of a pipeline. */
function isOfBarrier(copy: TrackedCopy | null): boolean {
  return copy !== null && 'barrier' in copy.copy.call;
}

/** An access, or another copy, does not come after the completion of a copy. */
function wordsOfFlight({ array, index, earlier, later, clock }: Conflict, copy: TrackedCopy): Words {
  const element = `\`${array.name}[${index}]\``;
  const direction = earlier.kind === 'read' ? 'from' : 'into';
  const does =
    later.copy === null ? doing[later.kind] : `issues a copy ${later.kind === 'read' ? 'from' : 'into'}`;
  const message = `thread ${later.rank} ${does} ${element} while a copy ${direction} it is in flight`;
  const waits = isOfBarrier(copy)
    ? 'Wait for the copy first: wait() at the barrier that was passed with it, for the phase that was current then'
    : 'Wait for the copy first: consumerWait() after the producerCommit() that covers it';
  if (!copy.bound) {
    return {
      message: `${message}: thread ${copy.issuer.rank} has issued it and not committed it yet`,
      mend: `${waits}${direction === 'from' ? ', and write its source after that' : ''}.`,
    };
  }
  if (isThreadScope(copy)) {
    const others = copy.group.members.find((member) => !member.isOwnSeenBy(clock)) ?? copy;
    if (others.issuer !== clock) {
      return {
        message: `${message}: thread ${others.issuer.rank} issued it, and a thread-scoped wait orders no other thread`,
        mend: 'Sync the block after the consumerWait() and before the access: a thread-scoped wait covers only the copies of the calling thread, and only for that thread.',
      };
    }
  }
  return {
    message: `${message}: thread ${later.rank} has not waited for it`,
    mend: `${waits}, in each thread that needs it${direction === 'from' ? ', before its source is written' : ''}.`,
  };
}

function sameBlock(a: Extent3, b: Extent3): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}
