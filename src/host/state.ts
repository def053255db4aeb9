// The shared state of a host pipeline: what `cuda::pipeline_shared_state` is between the threads
// of a block, between worker threads over one SharedArrayBuffer.
//
// It is plain data: post it to a worker and make a pipeline of it there. In the buffer, as 32-bit words: the
// index of a member that died (or -1), how many members have not quit, joined or not, a slot for each member (the
// id of its thread plus 1; 0 before it joins, -1 after it quit), and for each stage two barriers, `produced` and
// `consumed`.

import { WarpstageError } from '../diagnostics/error.ts';
import { barrierWords, initialiseBarrier, mostArrivals } from './barrier.ts';

/** Who takes part: so many threads that do both, or so many producers and so many consumers. */
export type Participants = number | { readonly producers: number; readonly consumers: number };

/** What the threads of a host pipeline have in common. Post it to the workers that take part. */
export interface PipelineSharedState {
  readonly buffer: SharedArrayBuffer;
  readonly stages: number;
  readonly partitioned: boolean;
  readonly producers: number;
  readonly consumers: number;
}

/** Words at the start of the buffer. */
export const word = { deadMember: 0, active: 1, members: 2 } as const;

/** In a member's slot: it has quit, and nobody takes its place. */
export const quitMember = -1;

/** How many threads take part in all. */
export function memberCount({ partitioned, producers, consumers }: PipelineSharedState): number {
  return partitioned ? producers + consumers : producers;
}

/** The first word of a stage's barrier. */
export function barrierOffset(
  state: PipelineSharedState,
  stage: number,
  kind: 'produced' | 'consumed',
): number {
  return word.members + memberCount(state) + (2 * stage + (kind === 'produced' ? 0 : 1)) * barrierWords;
}

function count(value: number, name: string, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new WarpstageError({
    code: 'WS4007',
    message: `${name} must be an integer from ${least} to ${most}, and ${value} was given`,
  });
}

/**
 * Makes the state of a pipeline between worker threads.
 *
 * @param stages how many stages may be filled and not yet released at a time, 1 to 255
 * @param participants how many threads do both (a unified pipeline), or how many produce and how
 *   many consume (a partitioned one)
 * @throws WarpstageError WS4007 for a count out of range
 * @example
 * const state = pipelineSharedState(2, { producers: 1, consumers: 1 });
 * worker.postMessage(state);
 * const pipeline = makePipeline(state, 'producer');
 * @see cuda::pipeline_shared_state
 */
export function pipelineSharedState(stages: number, participants: Participants): PipelineSharedState {
  const partitioned = typeof participants === 'object';
  count(stages, 'stages', 1, 255);
  const producers = count(
    partitioned ? participants.producers : participants,
    partitioned ? 'producers' : 'participants',
    1,
    mostArrivals,
  );
  const consumers = count(partitioned ? participants.consumers : participants, 'consumers', 1, mostArrivals);
  const shape = { stages, partitioned, producers, consumers, buffer: new SharedArrayBuffer(0) };
  const words = barrierOffset(shape, stages, 'produced');
  const state = { ...shape, buffer: new SharedArrayBuffer(4 * words) };
  const view = new Int32Array(state.buffer);
  view[word.deadMember] = -1;
  view[word.active] = memberCount(state);
  for (let stage = 0; stage < stages; ++stage) {
    initialiseBarrier(view, barrierOffset(state, stage, 'produced'), producers);
    initialiseBarrier(view, barrierOffset(state, stage, 'consumed'), consumers);
  }
  return Object.freeze(state);
}
