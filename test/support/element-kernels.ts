// Kernels' texts for any type of elements.

/** Staged through shared memory by a copy of the block, kept in a local array, and turned round. */
export const turned = (element: string): string => `({ out, x, more }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const begin = block.groupIndex().x * block.size();
  const shared = cuda.sharedArray('${element}', 3 * block.size());
  const own = cuda.localArray('${element}', 3);
  const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
  pipeline.producerAcquire();
  cuda.memcpyAsync(block, shared.subarray(block.size()), x.subarray(begin), block.size(), pipeline);
  cuda.memcpyAsync(cuda.thisThread(), shared.subarray(t), x.subarray(begin + t), 1, pipeline);
  pipeline.producerCommit();
  pipeline.consumerWait();
  own[t % 2] = shared[2 * block.size() - 1 - t];
  shared[2 * block.size() + t] = own[t % 2];
  out[begin + t] = shared[2 * block.size() + t];
  more[begin + t] = shared[t];
  pipeline.consumerRelease();
}`;
