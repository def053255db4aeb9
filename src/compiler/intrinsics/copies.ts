// Asynchronous copies: those of a pipeline, those of a group, and a thread's own.
//
// A copy belongs to a pipeline or a barrier. What names none belongs to the pipeline that stands for the
// thread's own queue: `cuda.cg` and the primitives are other words for its verbs.

import { alignmentOf, bytesOf } from '../../kernel/layout.ts';
import { binary, numberConstant } from '../build.ts';
import type { Call, Expression } from '../ir.ts';
import { knownNumber } from '../numbers.ts';
import {
  type CountValue,
  type GroupValue,
  type LanesValue,
  number,
  type SubsetValue,
  undefinedValue,
  type Value,
  type ViewValue,
} from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { copyByLanes } from './lane-copies.ts';
import { meet } from './lane-makings.ts';
import { commitOwn } from './pipelines.ts';

export const copyHandlers = {
  'cuda.alignedSize': ({ lowering, args, at }) => {
    const { align, count } = args;
    if (align < 1 || !Number.isInteger(Math.log2(align))) {
      lowering.fail(
        at('align'),
        'WS1009',
        `an alignment must be a power of two, and is ${align}`,
        'write 4, 8 or 16',
      );
    }
    return { kind: 'count', count, alignment: align };
  },
  'cuda.memcpyAsync': (call) => {
    const { args } = call;
    const group = 'group' in args ? args.group : alone;
    const { sync } = args;
    const target = sync.kind === 'pipeline' ? { pipeline: sync.id } : { barrier: sync.id, index: sync.index };
    emitCopy(call, { ...args, group, zeroFill: null, target });
    return undefinedValue;
  },
  'cuda.cg': () => ({ kind: 'namespace', name: 'cg' }),
  'cg.memcpyAsync': (call) => {
    const { lowering, args, node } = call;
    const { destination, source } = args;
    const count = 'count' in args ? args.count : lesser(call, args.destinationCount, args.sourceCount);
    const pipeline = lowering.ownQueue.pipeline(lowering.range(node));
    emitCopy(call, {
      destination,
      source,
      count,
      group: args.group,
      zeroFill: null,
      target: { pipeline },
    });
    commitOwn(call);
    return undefinedValue;
  },
  'cg.wait': (call) => waitTogether(call, call.args.group, 0),
  'cg.waitPrior': (call) => waitTogether(call, call.args.group, batches(call, call.args.n)),
  'cuda.pipelineMemcpyAsync': pipelineMemcpyAsync,
  'cuda.pipelineCommit': (call) => commitOwn(call),
  'cuda.pipelineWaitPrior': (call) => waitOwn(call, batches(call, call.args.n)),
  'cuda.pipelineConsumerWaitPrior': (call) => {
    const { lowering, args, at } = call;
    const { id } = args.pipeline;
    const { name, scope } = lowering.pipelines[id]!;
    if (scope !== 'thread') {
      lowering.fail(
        at('pipeline'),
        'WS1009',
        `cuda.pipelineConsumerWaitPrior takes a pipeline of the thread's own, and '${name}' is shared`,
        `wait for its oldest stage: ${name}.consumerWait()`,
      );
    }
    return waitPrior(call, id, batches(call, args.n));
  },
} satisfies SomeHandlers;

const alone: GroupValue = { kind: 'group', group: { kind: 'thread' }, metaGroupSize: 1 };

type Place = Pick<IntrinsicCall, 'lowering' | 'node' | 'at' | 'name'>;

interface Copy extends Pick<Extract<Call, { intrinsic: 'memcpyAsync' }>, 'zeroFill'> {
  /** The threads that copy together. */
  readonly group: GroupValue | LanesValue | SubsetValue;
  /** What waits for the copy. */
  readonly target: { readonly pipeline: number } | { readonly barrier: number; readonly index: Expression };
  readonly destination: ViewValue;
  readonly source: ViewValue;
  readonly count: CountValue;
}

function emitCopy(call: Place, copy: Copy): void {
  const { lowering, node, at } = call;
  const { group, destination, source, count, zeroFill, target } = copy;
  if (destination.element !== source.element) {
    lowering.fail(
      at('source'),
      'WS1004',
      `'${destination.name}' holds ${destination.element}, and '${source.name}' holds ${source.element}`,
      'a copy keeps the bits: both arrays must have the same element type',
    );
  }
  const whole = {
    kind: 'call',
    intrinsic: 'memcpyAsync',
    group: group.kind === 'group' ? group.group : alone.group,
    destination: { array: destination.array, offset: destination.offset },
    source: { array: source.array, offset: source.offset },
    count: count.count,
    zeroFill,
    alignment: Math.max(alignmentOf(source.element), count.alignment),
    ...target,
    range: lowering.range(node),
  } as const;
  if (group.kind === 'group') lowering.emit(whole);
  else copyByLanes(call, group, whole, bytesOf(source.element));
}

/** What fits both; promises are kept of both. */
function lesser({ lowering, node }: Place, a: CountValue, b: CountValue): CountValue {
  const count = binary('min', a.count, b.count, lowering.range(node));
  return { kind: 'count', count, alignment: Math.max(a.alignment, b.alignment) };
}

function waitOwn(call: Place, prior: number): Value {
  return waitPrior(call, call.lowering.ownQueue.pipeline(call.lowering.range(call.node)), prior);
}

function waitPrior({ lowering, node }: Place, pipeline: number, prior: number): Value {
  const range = lowering.range(node);
  lowering.emit({ kind: 'call', intrinsic: 'pipelineConsumerWaitPrior', pipeline, prior, range });
  return undefinedValue;
}

function waitTogether(call: Place, group: GroupValue | LanesValue | SubsetValue, prior: number): Value {
  waitOwn(call, prior);
  if (group.kind !== 'group') return meet(call, group);
  const range = call.lowering.range(call.node);
  call.lowering.emit({ kind: 'call', intrinsic: 'sync', group: group.group, range });
  return undefinedValue;
}

/** A number of commits that may be under way. */
function batches({ lowering, at, name }: Place, n: number): number {
  if (n >= 0) return n;
  return lowering.fail(
    at('n'),
    'WS1009',
    `${name} leaves ${n} commits under way`,
    'pass how many of the youngest need not be done yet; 0 waits for all',
  );
}

function pipelineMemcpyAsync(call: IntrinsicCall<'cuda.pipelineMemcpyAsync'>): Value {
  const { lowering, args, node, at, name } = call;
  const { destination, source, count, zeroFill } = args;
  const bytes = count * bytesOf(source.element);
  if (bytes !== 4 && bytes !== 8 && bytes !== 16) {
    lowering.fail(
      at('count'),
      'WS1009',
      `${name} copies 4, 8 or 16 bytes, and ${count} of ${source.element} are ${bytes}`,
      'cuda.memcpyAsync copies any number',
    );
  }
  mustLieIn(call, 'destination', destination, 'shared');
  mustLieIn(call, 'source', source, 'global');
  refuseZeros(call, count, zeroFill ?? null);
  const size = numberConstant(lowering.indexType, count, lowering.range(node));
  emitCopy(call, {
    group: alone,
    destination,
    source,
    count: { kind: 'count', count: size, alignment: bytes },
    zeroFill: zeroFill ?? null,
    target: { pipeline: lowering.ownQueue.pipeline(lowering.range(node)) },
  });
  return undefinedValue;
}

function mustLieIn(
  { lowering, at, name }: Place,
  operand: 'destination' | 'source',
  { name: array, array: { space } }: ViewValue,
  wanted: 'shared' | 'global',
): void {
  if (space === wanted) return;
  lowering.fail(
    at(operand),
    'WS1009',
    `${operand} of ${name} must lie in ${wanted} memory, and '${array}' lies in ${space} memory`,
    'cuda.memcpyAsync copies from anywhere to anywhere',
  );
}

/** Zeros that are more than the copy, or less than none, where that is known. */
function refuseZeros({ lowering, at, name }: Place, count: number, zeroFill: Expression | null): void {
  const known = zeroFill === null ? 0 : knownNumber(lowering, number('index', zeroFill));
  if (known === null || (known >= 0 && known <= count)) return;
  lowering.fail(
    at('zeroFill'),
    'WS1009',
    `${name} of ${count} elements cannot set ${known} of them to zero`,
    `pass 0 to ${count}`,
  );
}
