// What each thread of a block did with each pipeline so far, and what it waits for now.
//
// A handle is a thread's side of a pipeline. The rules of this folder read it; this observer keeps it,
// and stands after them in the list, so that a rule sees the state before the event.

import type { Group } from '../../../compiler/ir.ts';
import type { Pipeline } from '../../../compiler/ir-pipelines.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { Block } from '../../interpreter/block.ts';
import type { PendingCopy } from '../../interpreter/copies.ts';
import type { MadePipeline, StageUse } from '../../interpreter/observer.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Thread } from '../../interpreter/thread.ts';
import type { PipelineRole } from '../../pipeline-misuse.ts';

/** One thread's side of a pipeline. */
export interface Handle {
  readonly thread: Thread;
  readonly pipeline: MadePipeline;
  readonly madeAt: Range;
  /** Producers that the pipeline was made for, where it was made with a count. */
  readonly producers: number | null;
  /** What the thread is, as it was made or by what it did first, and where that was; null in a unified pipeline. */
  role: { readonly name: PipelineRole; readonly range: Range } | null;
  /** Whether it has acted in the other role, which is reported once. */
  misplayed: boolean;
  /** Whether the next commit, or release, has its acquire, or wait. */
  acquired: boolean;
  waited: boolean;
  commits: number;
  releases: number;
  /** Thread scope: commits that a wait has taken away. */
  taken: number;
  lastCommit: Range | null;
  lastRelease: Range | null;
  quitAt: Range | null;
}

/** The threads that share a pipeline when all have made it. */
export function groupSize({ pipeline }: Handle): number {
  return pipeline.members.length;
}

/** What a thread waits for. */
export type Activity =
  | { readonly kind: 'acquire' | 'wait'; readonly use: StageUse }
  | { readonly kind: 'sync'; readonly group: Group; readonly range: Range }
  | {
      readonly kind: 'make';
      readonly declaration: Pipeline;
      readonly members: readonly number[];
      readonly range: Range;
    };

/** The handles of a block's threads. */
export class Handles implements PartialObserver {
  readonly block: Block;
  readonly activities = new Map<number, Activity>();
  readonly returned = new Set<number>();
  readonly #handles = new Map<MadePipeline, Map<number, Handle>>();
  readonly #makings = new Map<number, boolean | number | null>();

  constructor(block: Block) {
    this.block = block;
  }

  /** A thread's side of a pipeline, if it has made it. */
  find(pipeline: MadePipeline, thread: Thread): Handle | undefined {
    return this.#handles.get(pipeline)?.get(thread.rank);
  }

  of(thread: Thread, { pipeline }: StageUse): Handle {
    return this.find(pipeline, thread)!;
  }

  /** The handle that a copy goes by; copies that belong to no pipeline of the program's have none. */
  ofCopy({ thread, call }: PendingCopy): Handle | undefined {
    if (!('pipeline' in call)) return undefined;
    const made = thread.pipelines[call.pipeline]?.pipeline;
    return made && this.find(made, thread);
  }

  /** All threads that made a pipeline. */
  sharing(pipeline: MadePipeline): Handle[] {
    return [...(this.#handles.get(pipeline)?.values() ?? [])];
  }

  /** Every handle of the block. */
  all(): Handle[] {
    return [...this.#handles.keys()].flatMap((pipeline) => this.sharing(pipeline));
  }

  threadEnded({ rank }: Thread): void {
    this.returned.add(rank);
  }

  makeBegan(
    { rank }: Thread,
    declaration: Pipeline,
    producers: boolean | number | null,
    members: readonly number[],
    range: Range,
  ): void {
    this.#makings.set(rank, producers);
    this.activities.set(rank, { kind: 'make', declaration, members, range });
  }

  made(thread: Thread, pipeline: MadePipeline, range: Range): void {
    const { rank } = thread;
    this.activities.delete(rank);
    const producers = this.#makings.get(rank) ?? null;
    const role = producers === true ? 'producer' : producers === false ? 'consumer' : null;
    let handles = this.#handles.get(pipeline);
    if (handles === undefined) {
      handles = new Map();
      this.#handles.set(pipeline, handles);
    }
    handles.set(rank, {
      thread,
      pipeline,
      madeAt: range,
      producers: typeof producers === 'number' ? producers : null,
      role: role && { name: role, range },
      misplayed: false,
      acquired: false,
      waited: false,
      commits: 0,
      releases: 0,
      taken: 0,
      lastCommit: null,
      lastRelease: null,
      quitAt: null,
    });
  }

  acquireBegan(thread: Thread, use: StageUse): void {
    this.activities.set(thread.rank, { kind: 'acquire', use });
  }

  acquired(thread: Thread, use: StageUse): void {
    this.activities.delete(thread.rank);
    this.of(thread, use).acquired = true;
  }

  committed(thread: Thread, use: StageUse): void {
    const handle = this.of(thread, use);
    handle.acquired = false;
    handle.commits += 1;
    handle.lastCommit = use.range;
  }

  waitBegan(thread: Thread, use: StageUse): void {
    this.activities.set(thread.rank, { kind: 'wait', use });
  }

  waitEnded(thread: Thread, use: StageUse): void {
    this.activities.delete(thread.rank);
    const handle = this.of(thread, use);
    handle.waited = true;
    handle.taken = Math.min(use.batch + 1, handle.commits);
  }

  waitGaveUp({ rank }: Thread): void {
    this.activities.delete(rank);
  }

  released(thread: Thread, use: StageUse): void {
    const handle = this.of(thread, use);
    handle.waited = false;
    handle.releases += 1;
    handle.lastRelease = use.range;
  }

  quit(thread: Thread, use: StageUse): void {
    this.of(thread, use).quitAt ??= use.range;
  }

  syncBegan({ rank }: Thread, group: Group, range: Range): void {
    this.activities.set(rank, { kind: 'sync', group, range });
  }

  syncEnded({ rank }: Thread): void {
    this.activities.delete(rank);
  }
}
