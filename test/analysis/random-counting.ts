// Random programs that count: nested loops whose counters start, step and end near the places where
// integers wrap, tests of every form, jumps, and arithmetic on what was counted.

import type { CompareOperator, Expression, Program, Statement, ValueType } from '#warpstage/compiler/ir.js';
import { randomExpression } from '../differential/random-expression.ts';
import type { Tape } from '../differential/tape.ts';
import {
  add,
  binary,
  block,
  compare,
  conditional,
  constant,
  convert,
  finish,
  leave,
  load,
  loop,
  ProgramBuilder,
  store,
  subtract,
  unary,
  type VariableHandle,
  when,
} from '../support/ir.ts';

export const countingThreads = 4;
export const countingLength = 16;

type Integer = 'i32' | 'u32' | 'i64' | 'u64';

const edges: readonly bigint[] = [
  0n,
  1n,
  2n,
  3n,
  10n,
  100n,
  -1n,
  -3n,
  255n,
  2n ** 31n - 1n,
  2n ** 31n - 2n ** 16n,
  -(2n ** 31n),
  2n ** 32n - 2n,
  2n ** 53n,
  2n ** 63n - 2n,
];
const compares: readonly CompareOperator[] = [
  'less',
  'lessEqual',
  'greater',
  'greaterEqual',
  'notEqual',
  'equal',
];

/** A literal of a type, of a number that may be beyond it. */
function integer(type: Integer, value: bigint): Expression {
  const bits = type === 'i32' || type === 'u32' ? 32 : 64;
  const wrapped = type.startsWith('i') ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  return constant(type, bits === 64 ? wrapped : Number(wrapped));
}

interface Place {
  readonly depth: number;
  readonly breakable: readonly number[];
  readonly continuable: readonly number[];
}

/** Makes a program of the tape's decisions. Its arrays: `memory` of i32, `bytes` of u8, `signed` of i8; scalars `n` and `m`. */
export function countingProgram(tape: Tape): Program {
  const indexType = tape.pick(['i32', 'i64'] as const);
  const p = new ProgramBuilder('counting', tape.pick([countingThreads, [2, 2, 1], [1, 2, 2]] as const), {
    indexType,
  });
  const memory = p.array('memory', 'i32');
  const bytes = p.array('bytes', 'u8');
  const signed = p.array('signed', 'i8');
  const n = p.scalar('n', 'i32');
  const m = p.scalar('m', 'i64');
  const types: readonly Integer[] = ['i32', 'i32', 'u32', 'i64', 'u64', 'i32'];
  const variables = types.map((type, i) => [type, p.variable(`v${i}`, type)] as const);
  const flag = p.variable('flag', 'bool');
  // So many turns in all, whatever the loops say.
  const fuel = p.variable('fuel', 'i32');

  const leaves = (type: ValueType): (() => Expression)[] => [
    () => (type === 'bool' ? flag.value : integer(type as Integer, tape.pick(edges))),
    ...variables
      .filter(([of]) => of === type)
      .map(
        ([, { value }]) =>
          () =>
            value,
      ),
    () => convert(p.builtin(tape.pick(['threadRank', 'threadIdx.x', 'threadIdx.y', 'threadIdx.z'])), type),
    () => convert(tape.pick([n, m]), type),
    () => convert(load(tape.pick([bytes, signed]), p.builtin('threadRank')), type),
  ];
  const scope = { types: ['i32', 'u32', 'i64', 'u64', 'bool'] as const, exact: true, leaves };
  const value = (type: ValueType, depth = 2) => randomExpression(tape, scope, type, depth);

  const limit = (type: Integer): Expression =>
    tape.chance(1, 3) ? value(type, 1) : integer(type, tape.pick(edges) + BigInt(tape.below(5)) - 2n);

  /** A comparison of a variable, of what is a little more, or of a multiple. */
  const comparison = (): Expression => {
    const [type, { value: variable }] = tape.pick(variables);
    const few = integer(type, BigInt(tape.below(9)) - 1n);
    const left = tape.pick([
      variable,
      add(variable, few),
      subtract(variable, few),
      binary('multiply', variable, few),
      add(variable, value(type, 1)),
      convert(tape.pick(variables)[1].value, type),
      binary('remainder', variable, integer(type, 7n)),
    ]);
    const right = limit(type);
    const wide = type === 'i32' && tape.chance(1, 4);
    const [a, b] = wide ? [convert(left, 'i64'), convert(right, 'i64')] : [left, right];
    const operator = tape.pick(compares);
    return tape.chance(1, 4) ? compare(operator, b, a) : compare(operator, a, b);
  };
  const test = (depth = 2): Expression => {
    if (depth === 0) return comparison();
    switch (tape.below(8)) {
      case 0:
        return conditional(test(depth - 1), test(depth - 1), constant('bool', false));
      case 1:
        return conditional(test(depth - 1), constant('bool', true), test(depth - 1));
      case 2:
        return unary('not', test(depth - 1));
      case 3:
        return binary(tape.pick(['and', 'or'] as const), test(depth - 1), test(depth - 1));
      case 4:
        return flag.value;
      default:
        return comparison();
    }
  };
  const step = ([type, variable]: readonly [Integer, VariableHandle]): Statement => {
    const by = integer(type, BigInt(tape.pick([1, 1, 2, 4, 8, 3, 16, 1000, 2 ** 30])));
    return variable.set(
      tape.chance(1, 4)
        ? subtract(variable.value, by)
        : add(variable.value, tape.chance(1, 8) ? limit(type) : by),
    );
  };

  const some = (place: Place, atMost: number): Statement[] => {
    const statements: Statement[] = [];
    for (let left = 1 + tape.below(atMost); left > 0 && !tape.ended; left -= 1)
      statements.push(...statement({ ...place, depth: place.depth - 1 }));
    return statements;
  };
  const counting = (place: Place): Statement[] => {
    const label = p.label();
    const counter = tape.pick(variables);
    const burn = [
      when(compare('lessEqual', fuel.value, constant('i32', 0)), [leave('break', label)]),
      fuel.set(subtract(fuel.value, constant('i32', 1))),
    ];
    const inside = {
      depth: place.depth,
      breakable: [...place.breakable, label],
      continuable: [...place.continuable, label],
    };
    const body = [...burn, ...some(inside, 3)];
    const update = [
      ...(tape.chance(3, 4) ? [step(counter)] : []),
      ...(tape.chance(1, 4) ? [step(counter)] : []),
    ];
    const start = tape.chance(2, 3) ? [counter[1].set(limit(counter[0]))] : [];
    const [type, { value: variable }] = counter;
    const bound = compare(tape.pick(compares), variable, limit(type));
    const turns = tape.chance(1, 8) ? null : tape.chance(1, 2) ? bound : test();
    return [...start, loop(label, turns, body, update, turns === null || tape.chance(3, 4))];
  };
  const statement = (place: Place): Statement[] => {
    const { breakable, continuable } = place;
    switch (place.depth <= 0 ? tape.below(4) : tape.below(9)) {
      case 0:
        return [step(tape.pick(variables))];
      case 1: {
        const [type, variable] = tape.pick(variables);
        return [variable.set(tape.chance(1, 2) ? limit(type) : value(type))];
      }
      case 2:
        return [flag.set(test())];
      case 3:
        return [store(memory, p.builtin('threadRank'), value('i32'))];
      case 4:
        return [when(test(), some(place, 3), tape.chance(1, 2) ? some(place, 2) : [])];
      case 5: {
        const label = p.label();
        return [block(label, some({ ...place, breakable: [...breakable, label] }, 3))];
      }
      case 6: {
        const jumps = [
          ...breakable.map((label) => leave('break', label)),
          ...continuable.map((label) => leave('continue', label)),
          finish(),
        ];
        return [when(test(), [...some({ ...place, depth: 0 }, 2), tape.pick(jumps)])];
      }
      default:
        return counting(place);
    }
  };
  const place: Place = { depth: 4, breakable: [], continuable: [] };
  return p.build([
    fuel.set(constant('i32', 20)),
    ...some(place, 4),
    ...some(place, 4),
    ...variables.map(([, { value: read }]) => store(memory, p.builtin('threadRank'), convert(read, 'i32'))),
  ]);
}
