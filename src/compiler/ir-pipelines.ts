// What the intermediate representation says of pipelines.
//
// A Pipeline is a place in the kernel that makes one for the threads of a group together; all
// calls name it by its number. What its threads know of it, such as the stage they are at, is
// the target's.

import type { Range } from '../diagnostics/source.ts';
import type { Expression, Group, Makers, SharingGroup, View } from './ir.ts';
import type { CopyParts } from './ir-core.ts';

/**
 * Whose threads a pipeline is for. One that is not a thread's own lies inside a block, and means the same
 * with every wider scope.
 */
export type PipelineScope = 'thread' | 'block' | 'cluster' | 'device' | 'system';

/** A place in the kernel that makes a pipeline; its state belongs to the group's threads together. */
export interface Pipeline {
  readonly name: string;
  readonly scope: PipelineScope;
  /** 1 to 255; 0 for thread scope, which has no stages of its own. */
  readonly stages: number;
  /** Places that make pipelines of one shared state have the same number here; null for thread scope. */
  readonly state: number | null;
  readonly group: SharingGroup;
  readonly partition: 'unified' | 'role' | 'count';
}

/**
 * What a thread does with a pipeline: who does it, where threads have roles; which step of a stage's use it is;
 * and whether it may have to wait.
 */
export const pipelineVerbs = {
  producerAcquire: { role: 'producer', step: 'acquire', waits: true },
  memcpyAsync: { role: 'producer', step: 'copy', waits: false },
  producerCommit: { role: 'producer', step: 'commit', waits: false },
  consumerWait: { role: 'consumer', step: 'wait', waits: true },
  consumerWaitFor: { role: 'consumer', step: 'wait', waits: true },
  consumerWaitUntil: { role: 'consumer', step: 'wait', waits: true },
  pipelineConsumerWaitPrior: { role: 'consumer', step: 'wait', waits: true },
  consumerRelease: { role: 'consumer', step: 'release', waits: false },
} as const;

export type PipelineVerb = keyof typeof pipelineVerbs;

/** Who uses a verb of a stage, given as kernels name it. */
export function roleOf(verb: string): 'producer' | 'consumer' {
  return pipelineVerbs[verb as PipelineVerb].role;
}

/** The verbs that are a step. */
export type VerbOf<Step> = {
  [Verb in PipelineVerb]: (typeof pipelineVerbs)[Verb]['step'] extends Step ? Verb : never;
}[PipelineVerb];

const stageVerbs = ['producerAcquire', 'producerCommit', 'consumerWait', 'consumerRelease'] as const;

/** A verb of the stage that the thread is at, and of nothing else. */
export interface StageCall {
  readonly kind: 'call';
  readonly intrinsic: (typeof stageVerbs)[number];
  readonly pipeline: number;
  readonly range: Range;
}

export function isStageCall(call: { readonly intrinsic: string }): call is StageCall {
  return stageVerbs.some((verb) => verb === call.intrinsic) && !isTimedWait(call);
}

/** Whether a thread may have to wait for its stage there, as long as it takes. */
export function waitsForStage(call: { readonly intrinsic: string }): call is StageCall {
  return isStageCall(call) && pipelineVerbs[call.intrinsic].waits;
}

/**
 * Waits for a stage no longer than so many nanoseconds, or until the clock `globaltimer` says so much; looks
 * at least once.
 */
export interface TimedWait {
  readonly kind: 'call';
  readonly intrinsic: 'consumerWait';
  readonly pipeline: number;
  /** An f64. */
  readonly limit: Expression;
  /** Whether the limit is a time of the clock. */
  readonly until: boolean;
  /** A bool variable that gets whether the stage is there, or null. */
  readonly result: number | null;
  readonly range: Range;
}

export function isTimedWait(call: { readonly intrinsic: string }): call is TimedWait {
  return call.intrinsic === 'consumerWait' && 'limit' in call;
}

/** The name of a wait with a limit in kernels. */
export function timedVerbOf({ until }: TimedWait): 'consumerWaitFor' | 'consumerWaitUntil' {
  return until ? 'consumerWaitUntil' : 'consumerWaitFor';
}

/** A call's name in kernels. */
export function verbOf(call: { readonly intrinsic: string }): string {
  return isTimedWait(call) ? timedVerbOf(call) : call.intrinsic;
}

/** The same wait, as long as it takes. */
export function withoutLimit({ pipeline, range }: TimedWait): StageCall {
  return { kind: 'call', intrinsic: 'consumerWait', pipeline, range };
}

export type PipelineCall =
  | (Makers & {
      readonly kind: 'call';
      readonly intrinsic: 'makePipeline';
      readonly pipeline: number;
      /** Partition `role`: true in a producer (bool). `count`: how many producers (indexType). Else null. */
      readonly producers: Expression | null;
      readonly range: Range;
    })
  | StageCall
  /** Thread scope: waits until at most `prior` of the thread's youngest commits are under way. */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'pipelineConsumerWaitPrior';
      readonly pipeline: number;
      readonly prior: number;
      readonly range: Range;
    }
  | TimedWait
  | {
      readonly kind: 'call';
      readonly intrinsic: 'quit';
      readonly pipeline: number;
      /** A bool variable that gets the result, or null. */
      readonly result: number | null;
      /** Of the thread that copies for others (legalise/roles.ts): it waits first for all that it copied. */
      readonly landed?: true;
      readonly range: Range;
    }
  | {
      readonly kind: 'call';
      readonly intrinsic: 'memcpyAsync';
      /** The threads that copy together; `thread` where each copies the whole by itself. */
      readonly group: Group;
      readonly destination: View;
      readonly source: View;
      /** Elements, of the program's indexType; both arrays have the same element type. */
      readonly count: Expression;
      /** So many elements at the end are set to zero instead, and not read; of the program's indexType. Null: none. */
      readonly zeroFill: Expression | null;
      /** What the program promises: both addresses and the size are multiples of so many bytes. */
      readonly alignment: number;
      readonly pipeline: number;
      /** Of a copy that one thread makes for others (legalise/roles.ts). */
      readonly parts?: CopyParts;
      readonly range: Range;
    };
