// One thread of a block: its registers, its own arrays, and where it waits.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Range } from '../../diagnostics/source.ts';
import type { Extent3 } from '../../kernel/types.ts';
import { notMade } from '../pipeline-misuse.ts';
import { placeIn } from '../place-in.ts';
import type { Block, Runnable } from './block.ts';
import type { BlockBarrier } from './block-barrier.ts';
import type { PendingCopy } from './copies.ts';
import { CopyQueue } from './copy-queue.ts';
import { pipelineMisuse } from './fault.ts';
import type { Elements } from './memory.ts';
import type { Observer } from './observer.ts';
import type { PipelineHandle } from './pipeline.ts';

/** Why a thread cannot go on at the moment. */
export interface Wait {
  readonly range: Range;
  /** When the block's clock says so much, it waits no longer. */
  readonly deadline?: number;
  ready(): boolean;
  /** In words, for the report of a deadlock. */
  describe(): string;
  /** Whom it waits for, where the barrier or the exchange knows; pipelines and syncs are known by the observer. */
  awaited?(): Awaited;
  /** Whether it waits for all of the grid. */
  readonly awaitsGrid?: boolean;
  /** Where lanes find each other by masks: what for, and the lanes that this one named. */
  readonly lanes?: { readonly meeting: string; readonly named: number };
}

/** Threads that have not come to where another waits. */
export interface Awaited {
  readonly at: 'barrier' | 'making' | 'lanes';
  readonly ranks: readonly number[];
  /** Whether each of them must come; else only so many arrivals are counted, whoever brings them. */
  readonly all: boolean;
}

export class Thread implements Runnable {
  readonly block: Block;
  readonly rank: number;
  readonly index: Extent3;
  readonly variables: Value[];
  readonly localArrays: readonly Elements[];
  readonly observer: Observer | null;
  /** By the program's pipelines; a hole until this thread has made it. */
  readonly pipelines: (PipelineHandle | undefined)[] = [];
  /** Its copies that belong to no stage. */
  readonly queue = new CopyQueue(this);
  /** By the program's barriers; a hole until this thread has made them. */
  readonly barriers: (readonly BlockBarrier[] | undefined)[] = [];
  /** Copies of the thread's own that may be in flight, in a program that binds such copies to barriers. */
  issued: PendingCopy[] = [];
  waiting: Wait | null = null;
  readonly members: readonly Thread[] = [this];

  constructor(block: Block, rank: number, variables: Value[], localArrays: readonly Elements[]) {
    this.block = block;
    this.rank = rank;
    this.index = placeIn(block.launch.program.block, rank);
    this.variables = variables;
    this.localArrays = localArrays;
    this.observer = block.launch.observer;
  }

  /** Whether it stands for its block as a whole, in a program that blocks run. */
  get isBlock(): boolean {
    return this.block.threads[this.rank] !== this;
  }

  /** The thread's handle of a pipeline, which it must have made. */
  pipeline(id: number, range: Range): PipelineHandle {
    const handle = this.pipelines[id];
    if (handle !== undefined) return handle;
    throw pipelineMisuse(this, range, notMade(this.block.launch.program.pipelines[id]!.name));
  }
}
