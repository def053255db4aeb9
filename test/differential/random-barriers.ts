// Barriers for random programs: each expects all threads of its group, and whoever arrives waits before it
// arrives there again. So a phase is over when all have come, whatever the order, or never.

import type { Expression, Group, Statement } from '#warpstage/compiler/ir.js';
import {
  type ArrayHandle,
  add,
  atomic,
  type BarrierPlace,
  barrierArrive,
  barrierComplete,
  barrierWait,
  binary,
  compare,
  constant,
  convert,
  load,
  makeBarrier,
  memcpyToBarrier,
  type ProgramBuilder,
  store,
  sync,
  type VariableHandle,
  when,
} from '../support/ir.ts';
import type { Tape } from './tape.ts';

export interface RandomBarrier {
  readonly id: number;
  readonly group: Group;
  readonly count: number | null;
  readonly completes: boolean;
  readonly token: VariableHandle;
  /** Of each thread an element, and of each thread's group how many phases are over. */
  readonly shared: ArrayHandle;
  readonly phases: ArrayHandle;
}

/** What the statements around a barrier give it. */
export interface Surroundings {
  readonly p: ProgramBuilder;
  readonly tape: Tape;
  readonly input: ArrayHandle;
  readonly state: VariableHandle;
}

export function declareBarrier(
  { p, tape }: Surroundings,
  n: number,
  tileSizes: readonly number[],
): RandomBarrier {
  const group: Group = tape.chance(1, 3) ? { kind: 'tile', size: tape.pick(tileSizes) } : { kind: 'block' };
  const count = tape.pick([null, 2, 3]);
  const completes = tape.chance(1, 4);
  return {
    id: p.barrier(`barrier${n}`, { group, count, completes }),
    group,
    count,
    completes,
    token: p.variable(`token${n}`, 'i64'),
    shared: p.shared(`staged${n}`, 'i32', p.blockSize),
    phases: p.shared(`phases${n}`, 'i32', p.blockSize),
  };
}

export function makesOf(barriers: readonly RandomBarrier[]): Statement[] {
  return barriers.map(({ id }) => makeBarrier(id));
}

/** Shared memory holds anything at first. */
export function countsFromZero({ p }: Surroundings, barriers: readonly RandomBarrier[]): Statement[] {
  if (barriers.length === 0) return [];
  const rank = p.builtin('threadRank');
  return [...barriers.map(({ phases }) => store(phases, rank, constant('i32', 0))), sync()];
}

/** A thread arrives, does something else, and waits; what it finds then goes into its state. */
export function meeting(
  { p, tape, input, state }: Surroundings,
  { id, group, count, completes, token, shared, phases }: RandomBarrier,
  between: readonly Statement[],
): Statement[] {
  const rank = p.builtin('threadRank');
  const which: VariableHandle = p.variable(`which${id}`, p.indexType);
  const place: BarrierPlace = [id, count === null ? p.index(0) : which.value];
  const first = firstOfGroup(p, group);
  const copy = memcpyToBarrier(place, {
    group: { kind: 'thread' },
    to: [shared, rank],
    from: [input, rank],
    count: p.index(1),
  });
  const copies = tape.chance(1, 3);
  return [
    which.set(tape.chance(1, 6) ? lowBit(p, state.value) : p.index(tape.below(count ?? 1))),
    ...(copies ? [copy] : []),
    barrierArrive(place, token),
    ...(completes
      ? [
          when(compare('less', token.value, constant('i64', 0n)), [
            atomic('add', [phases, first], constant('i32', 1)),
            barrierComplete(place),
          ]),
        ]
      : []),
    ...between,
    barrierWait(place, { by: 'token', phase: token.value }),
    ...(copies ? [state.set(add(state.value, load(shared, rank)))] : []),
    ...(completes ? [state.set(add(state.value, load(phases, first)))] : []),
  ];
}

function lowBit(p: ProgramBuilder, value: Expression): Expression {
  return binary('and', convert(value, p.indexType), p.index(1));
}

function firstOfGroup(p: ProgramBuilder, group: Group): Expression {
  const rank = p.builtin('threadRank');
  if (group.kind !== 'tile') return p.index(0);
  return binary('subtract', rank, binary('remainder', rank, p.index(group.size)));
}
