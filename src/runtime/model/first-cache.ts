// The cache of each processor, in front of the one that all share.
//
// It begins each kernel empty, and holds what the kernel reads and does not write. Where all of that fits, a processor
// fetches each byte once; what it reads again it has after `firstCacheLatency`. So the time of a load is a mean of
// both, by how many of its bytes a processor reads again.

import type { LaunchWorkload } from '../../targets/analysis/work.ts';
import type { EngineModel } from './engines.ts';

/** A launch whose work is asked for. */
export interface Followed {
  readonly blocks: number;
  /** Bytes of the arrays that it reads and does not write. */
  readonly readable: number;
  /** Its work if a value of global memory takes so many milliseconds, and one that the kernel does not write the others. */
  readonly follow: (latency: number, readLatency: number) => LaunchWorkload;
}

type FirstCache = Pick<EngineModel, 'multiProcessors' | 'firstCacheBytes' | 'firstCacheLatency'>;

/** What a launch has to do, memory taking so many milliseconds beyond the first cache. */
export function workBehindFirstCache(
  model: FirstCache,
  { blocks, readable, follow }: Followed,
  latency: number,
): LaunchWorkload {
  const all = follow(latency, latency);
  const onOne = (all.read / blocks) * Math.ceil(blocks / model.multiProcessors);
  if (readable > model.firstCacheBytes || onOne <= readable || model.firstCacheLatency >= latency) return all;
  const fetched = readable / onOne;
  const work = follow(latency, fetched * latency + (1 - fetched) * model.firstCacheLatency);
  return { ...work, bytes: work.bytes - (1 - fetched) * work.read };
}
