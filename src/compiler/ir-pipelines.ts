// What the intermediate representation says of pipelines.
//
// A Pipeline is a place in the kernel that makes one for the threads of a group together; all
// calls name it by its number. What its threads know of it, such as the stage they are at, is
// the target's.

import type { Range } from '../diagnostics/source.ts';
import type { Expression, Group, View } from './ir.ts';

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
  readonly group: Group;
  readonly partition: 'unified' | 'role' | 'count';
}

/** What a thread does with a pipeline: whose part it is, where threads have roles, and whether it may have to wait. */
export const pipelineVerbs = {
  producerAcquire: { role: 'producer', waits: true },
  memcpyAsync: { role: 'producer', waits: false },
  producerCommit: { role: 'producer', waits: false },
  consumerWait: { role: 'consumer', waits: true },
  consumerWaitFor: { role: 'consumer', waits: true },
  consumerWaitUntil: { role: 'consumer', waits: true },
  consumerWaitPrior: { role: 'consumer', waits: true },
  consumerRelease: { role: 'consumer', waits: false },
} as const;

const stageVerbs = ['producerAcquire', 'producerCommit', 'consumerWait', 'consumerRelease'] as const;

/** A verb of the stage that the thread is at, and of nothing else. */
export interface StageCall {
  readonly kind: 'call';
  readonly intrinsic: (typeof stageVerbs)[number];
  readonly pipeline: number;
  readonly range: Range;
}

export function isStageCall(call: { readonly intrinsic: string }): call is StageCall {
  return stageVerbs.some((verb) => verb === call.intrinsic);
}

/** Whether a thread may have to wait for its stage there, as long as it takes. */
export function waitsForStage(call: { readonly intrinsic: string }): call is StageCall {
  return isStageCall(call) && pipelineVerbs[call.intrinsic].waits;
}

export type PipelineCall =
  | {
      readonly kind: 'call';
      readonly intrinsic: 'makePipeline';
      readonly pipeline: number;
      /** Partition `role`: true in a producer (bool). `count`: how many producers (indexType). Else null. */
      readonly producers: Expression | null;
      readonly range: Range;
    }
  | StageCall
  /** Thread scope: waits until at most `prior` of the thread's youngest commits are under way. */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'consumerWaitPrior';
      readonly pipeline: number;
      readonly prior: number;
      readonly range: Range;
    }
  /**
   * Waits for a stage no longer than so many nanoseconds, or until the clock `globaltimer` says so much; looks
   * at least once.
   */
  | {
      readonly kind: 'call';
      readonly intrinsic: 'consumerWaitFor' | 'consumerWaitUntil';
      readonly pipeline: number;
      /** An f64. */
      readonly time: Expression;
      /** A bool variable that gets whether the stage is there, or null. */
      readonly result: number | null;
      readonly range: Range;
    }
  | {
      readonly kind: 'call';
      readonly intrinsic: 'quit';
      readonly pipeline: number;
      /** A bool variable that gets the result, or null. */
      readonly result: number | null;
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
      readonly range: Range;
    };
