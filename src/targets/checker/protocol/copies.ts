// Copies that nobody waits for: never committed, or committed and still on their way at the end.
//
// A commit binds copies to a phase of something that can be waited for; who waited for that phase,
// or for a later one, has them. So the rule is the same for pipelines of every scope, for barriers and for
// the copies of groups.

import type { Range } from '../../../diagnostics/source.ts';
import type { PendingCopy } from '../../interpreter/copies.ts';
import type { MadePipeline, StageUse } from '../../interpreter/observer.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Thread } from '../../interpreter/thread.ts';
import type { Finding, Findings } from '../finding.ts';
import type { Handle, Handles } from './handles.ts';

export class UnawaitedCopies implements PartialObserver {
  readonly #findings: Findings;
  readonly #handles: Handles;
  readonly #uncommitted = new Set<PendingCopy>();
  /** By what completes them, and by its phase. */
  readonly #underWay = new Map<object, Map<number, PendingCopy[]>>();

  constructor(findings: Findings, handles: Handles) {
    this.#findings = findings;
    this.#handles = handles;
  }

  issued(copy: PendingCopy): void {
    this.#uncommitted.add(copy);
  }

  bound(copies: readonly PendingCopy[], sync: object, phase: number): void {
    if (copies.length === 0) return;
    for (const copy of copies) this.#uncommitted.delete(copy);
    let phases = this.#underWay.get(sync);
    if (phases === undefined) {
      phases = new Map();
      this.#underWay.set(sync, phases);
    }
    const before = phases.get(phase);
    if (before === undefined) phases.set(phase, [...copies]);
    else before.push(...copies);
  }

  waited(_thread: Thread, sync: object, phase: number): void {
    const phases = this.#underWay.get(sync);
    if (phases === undefined) return;
    for (const bound of phases.keys()) if (bound <= phase) phases.delete(bound);
  }

  quit(thread: Thread, { pipeline, range }: StageUse): void {
    const handle = this.#handles.find(pipeline, thread);
    if (handle === undefined || handle.quitAt !== null) return;
    this.#tellUncommitted(thread, pipeline, range);
    if (this.#isLast(handle)) this.#tellUnderWay(pipeline, range);
  }

  threadEnded(thread: Thread): void {
    this.#tellUncommitted(thread, null, null);
  }

  blockEnded(): void {
    this.#tellUnderWay(null, null);
  }

  /** Whether all other threads have quit: a thread's own pipeline is never destroyed before it returns. */
  #isLast(handle: Handle): boolean {
    const { pipeline } = handle;
    if (pipeline.declaration.scope === 'thread') return false;
    return this.#handles.sharing(pipeline).every((other) => other === handle || other.quitAt !== null);
  }

  #tellUncommitted(thread: Thread, pipeline: MadePipeline | null, quitAt: Range | null): void {
    const left = [...this.#uncommitted].filter(
      (copy) => copy.thread === thread && (pipeline === null || this.#pipelineOf(copy) === pipeline),
    );
    for (const [call, copies] of byCall(left)) {
      this.#report(call, copies, quitAt, {
        code: 'WS7012',
        message: `memcpyAsync into \`${copies[0]!.to.elements.name}\` is never committed`,
        mend: 'Commit after the copy: what is not committed, no wait covers.',
      });
    }
    for (const copy of left) this.#uncommitted.delete(copy);
  }

  #tellUnderWay(pipeline: MadePipeline | null, quitAt: Range | null): void {
    const when = quitAt === null ? 'the block ends' : 'the last of its threads quits';
    for (const [call, copies] of byCall(this.#takeUnderWay(pipeline))) {
      this.#report(call, copies, quitAt, {
        code: 'WS7013',
        message: `memcpyAsync into \`${copies[0]!.to.elements.name}\` is still on its way when ${when}`,
        mend: 'Wait for every batch that is committed, before quitting and before the kernel ends.',
      });
    }
  }

  /** Takes the copies of a pipeline, or all, out of the book. */
  #takeUnderWay(pipeline: MadePipeline | null): PendingCopy[] {
    const taken: PendingCopy[] = [];
    for (const phases of this.#underWay.values()) {
      for (const [phase, copies] of phases) {
        if (pipeline !== null && this.#pipelineOf(copies[0]!) !== pipeline) continue;
        // What was bound twice, to a batch and to a barrier, has been waited for where one of them was.
        taken.push(...copies.filter(({ covered }) => !covered));
        phases.delete(phase);
      }
    }
    return taken;
  }

  #pipelineOf(copy: PendingCopy): MadePipeline | undefined {
    return this.#handles.ofCopy(copy)?.pipeline;
  }

  #report(
    call: PendingCopy['call'],
    copies: readonly PendingCopy[],
    quitAt: Range | null,
    text: Pick<Finding, 'code' | 'message' | 'mend'>,
  ): void {
    const threads = [...new Set(copies.map(({ thread }) => thread.rank))].sort((a, b) => a - b);
    const block = copies[0]!.thread.block.index;
    const related =
      quitAt === null ? [] : [{ label: 'the pipeline is quit here', range: quitAt, threads, block }];
    this.#findings.report({
      ...text,
      severity: 'error',
      place: { range: call.range, threads, block },
      related,
    });
  }
}

function byCall(copies: readonly PendingCopy[]): Map<PendingCopy['call'], PendingCopy[]> {
  const calls = new Map<PendingCopy['call'], PendingCopy[]>();
  for (const copy of copies) {
    const before = calls.get(copy.call);
    if (before === undefined) calls.set(copy.call, [copy]);
    else before.push(copy);
  }
  return calls;
}
