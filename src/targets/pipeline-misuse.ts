// Wrong uses of a pipeline, in words: the same on every target.

export interface PipelineMisuse {
  readonly message: string;
  readonly hint: string;
}

/** What a pipeline is at a moment, to a thread; made with roles, it is a producer's or a consumer's. */
export const pipelineStates = { absent: 0, made: 1, quit: 2, producer: 3, consumer: 4 } as const;

export type PipelineRole = 'producer' | 'consumer';

/** A thread uses a pipeline that it has not made. */
export function notMade(pipeline: string): PipelineMisuse {
  return {
    message: `\`${pipeline}\` is used by a thread that did not make it`,
    hint: 'Call makePipeline() in all threads of the group, before any of them uses the pipeline.',
  };
}

/** A thread uses a pipeline after its quit(). */
export function hasQuit(verb: string, pipeline: string): PipelineMisuse {
  return {
    message: `${verb} of \`${pipeline}\` by a thread that has quit it`,
    hint: 'Do nothing with a pipeline after quit().',
  };
}

/** A thread does what is for the threads of the other role. */
export function wrongRole(verb: string, pipeline: string, role: PipelineRole): PipelineMisuse {
  const required: PipelineRole = role === 'producer' ? 'consumer' : 'producer';
  return {
    message: `${verb} of \`${pipeline}\` by a ${role}`,
    hint: `Call ${verb}() only in threads that made the pipeline as '${required}'.`,
  };
}

/** A thread uses a pipeline that is, to it, in a state that forbids it. */
export function misuseOf(state: number, verb: string, pipeline: string): PipelineMisuse {
  switch (state) {
    case pipelineStates.quit:
      return hasQuit(verb, pipeline);
    case pipelineStates.producer:
      return wrongRole(verb, pipeline, 'producer');
    case pipelineStates.consumer:
      return wrongRole(verb, pipeline, 'consumer');
    default:
      return notMade(pipeline);
  }
}

/** The threads of a group do not agree how many producers there are. */
export function differentCounts(pipeline: string, counts: Iterable<number>): PipelineMisuse {
  const sorted = [...new Set(counts)].sort((a, b) => a - b);
  return {
    message: `the threads make \`${pipeline}\` with different counts of producers: ${sorted.join(', ')}`,
    hint: 'Pass the same count in all threads of the group.',
  };
}

/** A partitioned pipeline without producers, or without consumers. */
export function oneSided(pipeline: string, producers: number, threads: number): PipelineMisuse {
  const many = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  return {
    message: `\`${pipeline}\` has ${many(producers, 'producer')} among ${many(threads, 'thread')}`,
    hint: 'A partitioned pipeline needs at least one producer and one consumer.',
  };
}
