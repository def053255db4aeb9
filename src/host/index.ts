// warpstage/host: pipelines between worker threads.

import '../diagnostics/disposal.ts';

export { HostPipeline, makePipeline, type PipelineRole } from './pipeline.ts';
export { type Participants, type PipelineSharedState, pipelineSharedState } from './state.ts';
export { type WatchedWorker, watchWorker } from './watch.ts';
