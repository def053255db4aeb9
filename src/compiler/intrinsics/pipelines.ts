// Pipelines: making them, and their stages.

import { compare, numberConstant, variable } from '../build.ts';
import { textCode } from '../comparisons.ts';
import type { Expression } from '../ir.ts';
import type { Pipeline, StageCall } from '../ir-pipelines.ts';
import { knownNumber } from '../numbers.ts';
import { threadPipeline } from '../own-queue.ts';
import { type GroupValue, number, undefinedValue, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { type MakingGroup, makeTogether, sharingGroup } from './lane-makings.ts';
import { warpSize } from './warps.ts';

export const pipelineHandlers = {
  'cuda.pipelineSharedState': ({ lowering, args, at }) => {
    const { scope, stages } = args;
    if (scope === 'thread') {
      lowering.fail(
        at('scope'),
        'WS1009',
        "a pipeline of thread scope has no shared state: the scope is 'block', 'cluster', 'device' or 'system'",
        "a pipeline of the thread's own is made without one: cuda.makePipeline()",
      );
    }
    if (stages < 1 || stages > 255) {
      lowering.fail(
        at('stages'),
        'WS1009',
        `a pipeline has 1 to 255 stages, and this one ${stages}`,
        'two to four are common',
      );
    }
    return { kind: 'pipelineState', id: lowering.newPipelineState(), scope, stages };
  },
  'cuda.makePipeline': makePipeline,
  'pipeline.producerAcquire': (call) => stage(call, 'producerAcquire'),
  'pipeline.producerCommit': (call) => stage(call, 'producerCommit'),
  'pipeline.consumerWait': (call) => stage(call, 'consumerWait'),
  'pipeline.consumerRelease': (call) => stage(call, 'consumerRelease'),
  'pipeline.consumerWaitFor': (call) => timedWait(call, call.args.duration, false),
  'pipeline.consumerWaitUntil': (call) => timedWait(call, call.args.time, true),
  'pipeline.quit': ({ lowering, receiver, node }) => {
    const range = lowering.range(node);
    const result = lowering.isUnused(node) ? null : lowering.newFixedVariable('last', 'bool');
    if (result !== null) lowering.scopes.asked.add(receiver.id);
    lowering.emit({ kind: 'call', intrinsic: 'quit', pipeline: receiver.id, result, range });
    return result === null ? undefinedValue : number('bool', variable(result, 'bool', range));
  },
} satisfies SomeHandlers;

function stage(
  {
    lowering,
    receiver,
    node,
  }: Pick<IntrinsicCall<'pipeline.producerAcquire'>, 'lowering' | 'receiver' | 'node'>,
  intrinsic: StageCall['intrinsic'],
): Value {
  lowering.emit({ kind: 'call', intrinsic, pipeline: receiver.id, range: lowering.range(node) });
  return undefinedValue;
}

/** Commits to the queue that a thread has without making a pipeline. */
export function commitOwn({ lowering, node }: Pick<IntrinsicCall, 'lowering' | 'node'>): Value {
  const range = lowering.range(node);
  const pipeline = lowering.ownQueue.pipeline(range);
  lowering.emit({ kind: 'call', intrinsic: 'producerCommit', pipeline, range });
  return undefinedValue;
}

function timedWait(
  {
    lowering,
    receiver,
    node,
  }: Pick<IntrinsicCall<'pipeline.consumerWaitFor'>, 'lowering' | 'receiver' | 'node'>,
  limit: Expression,
  until: boolean,
): Value {
  const range = lowering.range(node);
  const result = lowering.isUnused(node) ? null : lowering.newFixedVariable('ready', 'bool');
  const pipeline = receiver.id;
  lowering.emit({ kind: 'call', intrinsic: 'consumerWait', pipeline, limit, until, result, range });
  return result === null ? undefinedValue : number('bool', variable(result, 'bool', range));
}

function makePipeline(call: IntrinsicCall<'cuda.makePipeline'>): Value {
  const { lowering, args, node } = call;
  const name = lowering.nameOf(node, 'pipeline');
  if (!('group' in args)) {
    return make(call, ofThread, { ...threadPipeline, name, partition: 'unified' }, null);
  }
  const { group, state } = args;
  const { id, scope, stages } = state;
  const pipeline = { name, scope, stages, state: id, group: sharingGroup(group) };
  if ('role' in args) {
    const producer = numberConstant('i32', lowering.textCode('producer'), lowering.range(node));
    const isProducer = compare('equal', textCode(lowering, args.role, node), producer, lowering.range(node));
    return make(call, group, { ...pipeline, partition: 'role' }, isProducer);
  }
  if ('producers' in args) {
    refuseProducers(call, args.producers, pipeline.group);
    return make(call, group, { ...pipeline, partition: 'count' }, args.producers);
  }
  return make(call, group, { ...pipeline, partition: 'unified' }, null);
}

const ofThread: GroupValue = { kind: 'group', group: { kind: 'thread' }, metaGroupSize: 1 };

/** The most threads that a group may have. */
function threadsOf({ lowering }: Pick<IntrinsicCall, 'lowering'>, group: Pipeline['group']): number {
  if (group.kind === 'lanes' && group.of === 'warp') return warpSize;
  if (group.kind === 'tile') return group.size;
  const [x, y, z] = lowering.block;
  return x * y * z;
}

/** A number of producers that leaves no producer or no consumer, where it is known. */
function refuseProducers(
  call: IntrinsicCall<'cuda.makePipeline'>,
  producers: Expression,
  group: Pipeline['group'],
): void {
  const threads = threadsOf(call, group);
  const { lowering, at } = call;
  const known = knownNumber(lowering, number('index', producers));
  if (known === null || (known >= 1 && known < threads)) return;
  lowering.fail(
    at('producers'),
    'WS1009',
    `a pipeline of ${group.kind === 'lanes' ? 'at most ' : ''}${threads} threads cannot have ${known} producers`,
    'there must be a producer and a consumer: 1 up to one less than the threads of the group',
  );
}

function make(
  call: Pick<IntrinsicCall, 'lowering' | 'node'>,
  group: MakingGroup,
  pipeline: Pipeline,
  brought: Expression | null,
): Value {
  const { lowering, node } = call;
  const id = lowering.pipelines.push(pipeline) - 1;
  makeTogether(call, group, brought, (makers, producers) => {
    lowering.emit({
      kind: 'call',
      intrinsic: 'makePipeline',
      pipeline: id,
      producers,
      ...makers,
      range: lowering.range(node),
    });
  });
  // A thread's own has no barriers that a destructor would destroy.
  if (pipeline.scope !== 'thread') lowering.scopes.own(id);
  return { kind: 'pipeline', id };
}
