// Barriers: making them, arriving and waiting.
//
// A function that runs at the end of a phase is inlined where a thread arrives: the arrival's token
// says whether it was the phase's last. So it means what it says in the frame of that thread.

import type { Node } from 'acorn';
import { replacementAdvice } from '../advice.ts';
import { compare, constant, variable } from '../build.ts';
import type { Expression } from '../ir.ts';
import { mostArrivals } from '../ir-barriers.ts';
import type { Lowering } from '../lowering.ts';
import { knownNumber, toBool } from '../numbers.ts';
import {
  type BarrierValue,
  type Numeric,
  number,
  type TokenValue,
  undefinedValue,
  type Value,
} from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';
import { makeTogether, sharingGroup } from './lane-makings.ts';

/** More than fit in the shared memory of a block, at 8 bytes each, with anything else in it. */
const mostBarriers = 4096;

export const barrierHandlers = {
  'cuda.barrier': (call) => {
    const { id, name } = make(call, null);
    return { kind: 'barrier', id, name, index: call.lowering.indexConstant(0, call.node) };
  },
  'cuda.barrierArray': (call) => {
    const { count } = call.args;
    if (count < 1 || count > mostBarriers) {
      call.lowering.fail(
        call.at('count'),
        'WS1009',
        `an array has 1 to ${mostBarriers} barriers, and this one ${count}`,
        'make as many as there are stages or buffers',
      );
    }
    return { kind: 'barriers', ...make(call, count), count };
  },
  'cuda.pipelineProducerCommit': ({ lowering, args, node, at }) => {
    const { scope, name } = lowering.pipelines[args.pipeline.id]!;
    if (scope !== 'thread') {
      lowering.fail(
        at('pipeline'),
        'WS1009',
        `pipeline of cuda.pipelineProducerCommit must be one of the thread's own, and '${name}' has stages that its group shares`,
        "commit to its stages by producerCommit(), or make the thread's own by cuda.makePipeline()",
      );
    }
    return bind(lowering, args.barrier, node);
  },
  'cuda.pipelineArriveOn': ({ lowering, args, node }) => bind(lowering, args.barrier, node),
  'barriers.length': ({ lowering, receiver, node }) =>
    number('index', lowering.indexConstant(receiver.count, node)),
  'barrier.arrive': ({ lowering, receiver, args, node, at }) => {
    const count = args.count ?? null;
    if (count !== null) refuseCount(lowering, count, at('count'), 'arrive() counts as');
    const phase = arrive(lowering, receiver, node, {
      count,
      drop: false,
      isWaitedFor: !lowering.isUnused(node),
    });
    if (phase === null) return undefinedValue;
    return { kind: 'token', barrier: receiver.id, name: receiver.name, phase };
  },
  'barrier.wait': ({ lowering, receiver, args, node, at }) =>
    wait(lowering, receiver, node, tokenOf(lowering, receiver, args.token, at('token'))),
  'barrier.arriveAndWait': ({ lowering, receiver, node }) => {
    const barrier = { ...receiver, index: lowering.settleExpression(receiver.index, 'which') };
    const phase = arrive(lowering, barrier, node, { count: null, drop: false, isWaitedFor: true });
    return wait(lowering, barrier, node, { by: 'token', phase: phase! });
  },
  'barrier.arriveAndDrop': ({ lowering, receiver, node }) => {
    arrive(lowering, receiver, node, { count: null, drop: true, isWaitedFor: false });
    return undefinedValue;
  },
  'barrier.waitParity': ({ lowering, receiver, args, node, at }) =>
    wait(lowering, receiver, node, parityOf(lowering, args.parity, at('parity'))),
  'barrier.tryWait': ({ lowering, receiver, args, node, at }) =>
    tryWait(lowering, receiver, node, tokenOf(lowering, receiver, args.token, at('token'))),
  'barrier.tryWaitParity': ({ lowering, receiver, args, node, at }) =>
    tryWait(lowering, receiver, node, parityOf(lowering, args.parity, at('parity'))),
  'barrier.tryWaitFor': ({ lowering, receiver, args, node, at }) =>
    tryWait(lowering, receiver, node, tokenOf(lowering, receiver, args.token, at('token')), {
      limit: args.duration,
      until: false,
    }),
  'barrier.tryWaitUntil': ({ lowering, receiver, args, node, at }) =>
    tryWait(lowering, receiver, node, tokenOf(lowering, receiver, args.token, at('token')), {
      limit: args.time,
      until: true,
    }),
  'barrier.tryWaitParityFor': ({ lowering, receiver, args, node, at }) =>
    tryWait(lowering, receiver, node, parityOf(lowering, args.parity, at('parity')), {
      limit: args.duration,
      until: false,
    }),
  'barrier.tryWaitParityUntil': ({ lowering, receiver, args, node, at }) =>
    tryWait(lowering, receiver, node, parityOf(lowering, args.parity, at('parity')), {
      limit: args.time,
      until: true,
    }),
} satisfies SomeHandlers;

/** `barriers[index]`. */
export function barrierOf(
  lowering: Lowering,
  { id, name, count }: Extract<Value, { kind: 'barriers' }>,
  index: Expression,
  node: Node,
): Value {
  const known = knownNumber(lowering, number('index', index));
  if (known !== null && (known < 0 || known >= count)) {
    lowering.fail(
      node,
      'WS1009',
      `'${name}' has ${count === 1 ? 'one barrier' : `${count} barriers`}, and none with the number ${known}`,
      replacementAdvice(lowering, node, String(known < 0 ? 0 : count - 1)),
    );
  }
  return { kind: 'barrier', id, name, index };
}

function make(
  call: IntrinsicCall<'cuda.barrier'> | IntrinsicCall<'cuda.barrierArray'>,
  count: number | null,
): { readonly id: number; readonly name: string } {
  const { lowering, args, node, at } = call;
  const { completion = null } = args;
  const expected = ('expected' in args ? args.expected : null) ?? null;
  if (expected !== null) refuseCount(lowering, expected, at('expected'), 'a barrier expects');
  const name = lowering.nameOf(node, count === null ? 'barrier' : 'barriers');
  const barrier = { name, group: sharingGroup(args.group), count, completes: completion !== null };
  const id = lowering.barriers.push({ barrier, completion }) - 1;
  makeTogether(call, args.group, expected, (makers, own) => {
    lowering.emit({
      kind: 'call',
      intrinsic: 'makeBarrier',
      barrier: id,
      expected: own,
      ...makers,
      range: lowering.range(node),
    });
  });
  return { id, name };
}

/** A number of arrivals that no barrier takes, where it is known. */
function refuseCount(lowering: Lowering, count: Expression, node: Node, what: string): void {
  const known = knownNumber(lowering, number('index', count));
  if (known === null || (known >= 1 && known <= mostArrivals)) return;
  lowering.fail(
    node,
    'WS1009',
    `${what} 1 to ${mostArrivals} arrivals, and not ${known}`,
    'count the threads that arrive',
  );
}

interface Arrival {
  readonly count: Expression | null;
  readonly drop: boolean;
  /** Whether the token is needed to wait with. */
  readonly isWaitedFor: boolean;
}

/** Arrives, and runs the completion if this was the last; gives the token. */
function arrive(
  lowering: Lowering,
  { id, index }: BarrierValue,
  node: Node,
  { count, drop, isWaitedFor }: Arrival,
): Expression | null {
  const range = lowering.range(node);
  const { completion } = lowering.barriers[id]!;
  const at = completion === null ? index : lowering.settleExpression(index, 'which');
  const result = isWaitedFor || completion !== null ? lowering.newFixedVariable('token', 'i64') : null;
  lowering.emit({
    kind: 'call',
    intrinsic: 'barrierArrive',
    barrier: id,
    index: at,
    count,
    drop,
    result,
    range,
  });
  if (result === null) return null;
  const token = variable(result, 'i64', range);
  if (completion !== null) {
    const last = compare('less', token, constant('i64', 0n, range), range);
    const then = lowering.collect(() => {
      lowering.call(completion, [], node);
      lowering.emit({ kind: 'call', intrinsic: 'barrierComplete', barrier: id, index: at, range });
    });
    lowering.emit({ kind: 'if', test: last, then, otherwise: [], range });
  }
  return token;
}

type Awaited =
  | { readonly by: 'token'; readonly phase: Expression }
  | { readonly by: 'parity'; readonly phase: Expression };

interface Limit {
  readonly limit: Expression;
  /** Whether the limit is a time, and no duration. */
  readonly until: boolean;
}

function wait(lowering: Lowering, { id, index }: BarrierValue, node: Node, awaited: Awaited): Value {
  const range = lowering.range(node);
  lowering.emit({
    kind: 'call',
    intrinsic: 'barrierWait',
    barrier: id,
    index,
    ...awaited,
    limit: null,
    until: false,
    result: null,
    range,
  });
  return undefinedValue;
}

/** Waits no longer than to a limit, which is none for who only asks. */
function tryWait(
  lowering: Lowering,
  { id, index }: BarrierValue,
  node: Node,
  awaited: Awaited,
  given?: Limit,
): Value {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('over', 'bool');
  const { limit, until } = given ?? { limit: constant('f64', 0, range), until: false };
  lowering.emit({
    kind: 'call',
    intrinsic: 'barrierWait',
    barrier: id,
    index,
    ...awaited,
    limit,
    until,
    result,
    range,
  });
  return number('bool', variable(result, 'bool', range));
}

/** The phase of a token, which must be one of this barrier or of its array. */
function tokenOf(lowering: Lowering, { id, name }: BarrierValue, token: TokenValue, node: Node): Awaited {
  if (token.barrier === id) return { by: 'token', phase: token.phase };
  return lowering.fail(
    node,
    'WS1009',
    `this is a token of '${token.name}', and '${name}' gave none like it`,
    'wait with the token that arrive() of the same barrier gave',
  );
}

function parityOf(lowering: Lowering, parity: Numeric, node: Node): Awaited {
  return { by: 'parity', phase: toBool(lowering, parity, node) };
}

function bind(lowering: Lowering, { id, index }: BarrierValue, node: Node): Value {
  lowering.emit({ kind: 'call', intrinsic: 'barrierBind', barrier: id, index, range: lowering.range(node) });
  return undefinedValue;
}
