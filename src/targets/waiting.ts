// What a thread waits for, in words, and a deadlock made of them: the same on every target.

import type { Group, Program, SharingGroup } from '../compiler/ir.ts';
import type { Waiting } from '../compiler/ir-core.ts';
import { type Pipeline, roleOf } from '../compiler/ir-pipelines.ts';
import type { Range } from '../diagnostics/source.ts';
import type { Extent3 } from '../kernel/types.ts';
import { barrierName } from './barrier-misuse.ts';
import type { Fault } from './executable.ts';
import type { PipelineRole } from './pipeline-misuse.ts';

/** How far what is waited for has come. */
export interface Progress {
  readonly arrived: number;
  readonly expected: number;
  /** Threads of the group that returned and cannot arrive any more. */
  readonly left: number;
}

/** A thread waits at a sync of its group. Threads that returned are not expected there. */
export function waitsAtSync(group: Group, index: number, progress: Progress): string {
  const whose = group.kind === 'tile' ? `tile ${index}` : `the ${group.kind}`;
  return `sync of ${whose}: ${share(progress, 'threads', 'have arrived')}`;
}

/** A thread waits for all of the grid; the progress is that of its block. Threads that returned are expected too. */
export function waitsForGrid(progress: Progress): string {
  const others = progress.arrived === progress.expected ? '; not all of other blocks have' : '';
  return `sync of the grid: ${share(progress, 'threads of the block', 'have arrived')}${others}`;
}

/** A thread waits for the others of the group to make the pipeline too. */
export function waitsToMake(pipeline: string, progress: Progress): string {
  return `makePipeline of \`${pipeline}\`: ${share(progress, 'threads', 'have called it')}`;
}

/** A producer waits for a stage to be released, a consumer for one to be committed. */
export function waitsAtStage(
  role: PipelineRole,
  { name, partition }: Pick<Pipeline, 'name' | 'partition'>,
  stage: number,
  progress: Progress,
): string {
  const who = (others: string) => (partition === 'unified' ? 'threads' : others);
  return role === 'producer'
    ? `producerAcquire on stage ${stage} of \`${name}\`: ${share(progress, who('consumers'), 'have released it')}`
    : `consumerWait on stage ${stage} of \`${name}\`: ${share(progress, who('producers'), 'have committed')}`;
}

/** A thread waits for the others of the group to make a barrier too. */
export function waitsToMakeBarrier(barrier: string, progress: Progress): string {
  return `the making of \`${barrier}\`: ${share(progress, 'threads', 'have called it')}`;
}

/** A thread waits for a phase of a barrier to be over. */
export function waitsAtBarrier(barrier: string, phase: number, progress: Progress): string {
  const arrivals = progress.expected === 1 ? 'arrival' : 'arrivals';
  return `phase ${phase} of \`${barrier}\`: ${share(progress, arrivals, 'have come')}`;
}

/** What a thread waits for that counts: which of the groups or stages that is, and how far it has come. */
export function waitsForCount(
  { pipelines, barriers }: Pick<Program, 'pipelines' | 'barriers'>,
  { verb, group, pipeline, barrier }: Partial<Pick<Waiting, 'verb' | 'group' | 'pipeline' | 'barrier'>>,
  { place, phase }: { readonly place: number; readonly phase?: number | undefined },
  progress: Progress,
): string {
  if (barrier !== undefined) {
    const declaration = barriers[barrier]!;
    return phase === undefined || verb === 'makeBarrier'
      ? waitsToMakeBarrier(declaration.name, progress)
      : waitsAtBarrier(barrierName(declaration, place), phase, progress);
  }
  if (group?.kind === 'grid') return waitsForGrid(progress);
  if (pipeline === undefined) return waitsAtSync(group!, place, progress);
  const declaration = pipelines[pipeline]!;
  return verb === 'makePipeline'
    ? waitsToMake(declaration.name, progress)
    : waitsAtStage(roleOf(verb!), declaration, place, progress);
}

/** A thread only sleeps, or waits with a limit, again and again. */
export const sleepsInVain =
  'a sleep or a wait with a limit, again and again, while no thread of the block arrives anywhere';

function share({ arrived, expected, left }: Progress, who: string, what: string): string {
  const gone = left === 0 ? '' : left === 1 ? '; 1 thread has returned' : `; ${left} threads have returned`;
  return `${arrived} of ${expected} ${who} ${what}${gone}`;
}

/** A thread that cannot go on. */
export interface WaitingThread {
  readonly rank: number;
  readonly range: Range;
  readonly what: string;
}

/** The deadlock of all threads of a block at one place, where none of their group has arrived. */
export function deadlockOfAll(
  block: Extent3,
  threads: number,
  { group, range }: { readonly group: SharingGroup; readonly range: Range },
  words: (progress: Progress) => string,
): Fault {
  const expected = (rank: number) => {
    if (group.kind === 'thread') return 1;
    return group.kind === 'tile' ? Math.min(group.size, threads - (rank - (rank % group.size))) : threads;
  };
  const waiting = Array.from({ length: threads }, (_, rank) => {
    return { rank, range, what: words({ arrived: 0, expected: expected(rank), left: 0 }) };
  });
  return deadlockOf(block, waiting);
}

/** The deadlock of all threads of a block at a stage, by the verb of which nobody is left who could help. */
export function deadlockAtStage(
  block: Extent3,
  threads: number,
  { pipeline, verb, range }: { readonly pipeline: Pipeline; readonly verb: string; readonly range: Range },
  stage: number,
): Fault {
  return deadlockOfAll(block, threads, { group: pipeline.group, range }, (progress) =>
    waitsAtStage(roleOf(verb), pipeline, stage, progress),
  );
}

/** The deadlock of a block's threads, given by ascending rank, grouped by the place where they wait and what for. */
export function deadlockOf(block: Extent3, threads: readonly WaitingThread[]): Fault {
  const groups = new Map<string, { range: Range; what: string; threads: number[] }>();
  for (const { rank, range, what } of threads) {
    const key = `${range.source}:${range.start}:${range.end}:${what}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { range, what, threads: [rank] });
    else group.threads.push(rank);
  }
  return { kind: 'deadlock', block, waiting: [...groups.values()] };
}
