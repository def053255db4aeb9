// Teams: threads whose rank alone decides that they go another way than the others.
//
// In a kernel with roles it is known when the kernel is compiled which threads have which. Such
// threads start as a cohort of their own, and have a program of their own: the same, but that
// their ranks are counted from 0 within the team, and what depends on the rank is simpler for it.
// (Of the even ranks, `threadRank % 2` is 0, and `threadRank / 2` counts up.) So what separates the
// teams is uniform in each of them, and what they access lies side by side.

import { binaryOperation, type Value } from '../../../compiler/arithmetic.ts';
import type { BinaryOperator, Expression, Program, ValueType } from '../../../compiler/ir.ts';
import type { Team } from '../../executable.ts';
import { isInteger } from '../analysis/affine.ts';
import { expressionsOf, forEachStatement } from '../analysis/walk.ts';
import { mapStatements } from '../map.ts';
import { ByRank, type OfRank, onlyDefinitions } from './by-rank.ts';
import { CohortFacts } from './facts.ts';

/** More ways than these are left to be found out by the threads: each team's code is as long as the kernel's. */
const mostTeams = 4;

/** The teams of a program, or all of its threads as one. */
export function teamsOf(program: Program): readonly Team[] {
  const [x, y, z] = program.block;
  const size = x * y * z;
  const all: Team = { first: 0, stride: 1, count: size };
  const deciding = decidingTests(program);
  const ranksOfWay = new Map<string, number[]>();
  try {
    for (let rank = 0; rank < size; rank += 1) {
      const way = deciding.map((test) => (test(rank) ? 1 : 0)).join('');
      const ranks = ranksOfWay.get(way);
      if (ranks === undefined) ranksOfWay.set(way, [rank]);
      else ranks.push(rank);
      if (ranksOfWay.size > mostTeams) return [all];
    }
  } catch {
    // A test that fails does so when the kernel runs, in the thread for which it fails.
    return [all];
  }
  const teams = [...ranksOfWay.values()].map(teamOf);
  return teams.every((team) => team !== null) ? teams : [all];
}

/** What decides, by the rank, which way a thread goes around synchronising calls, or its role. */
function decidingTests(program: Program): readonly OfRank[] {
  const facts = new CohortFacts(program);
  const byRank = new ByRank(program, onlyDefinitions(program));
  const tests: OfRank[] = [];
  const add = (test: Expression) => {
    const ofRank = facts.isUniform(test) ? null : byRank.of(test);
    if (ofRank !== null) tests.push(ofRank);
  };
  forEachStatement(program.body, (statement) => {
    if (!facts.isTogether(statement)) return;
    if (statement.kind === 'if') add(statement.test);
    if (statement.kind !== 'call' || statement.intrinsic !== 'makePipeline') return;
    for (const producers of expressionsOf(statement)) if (producers.type === 'bool') add(producers);
  });
  return tests;
}

/** Ascending ranks as a team, if their distances are the same. */
function teamOf(ranks: readonly number[]): Team | null {
  const [first, second] = ranks as [number, number | undefined];
  const stride = second === undefined ? 1 : second - first;
  if (ranks.some((rank, i) => rank !== first + stride * i)) return null;
  return { first, stride, count: ranks.length };
}

/** The program of a team: a block of its threads alone, in one dimension. */
export function programOf(program: Program, team: Team): Program {
  const [x, y, z] = program.block;
  if (team.count === x * y * z) return program;
  const block = [team.count, 1, 1] as const;
  // By the rank in the block, and by that in the team. Variables are not looked into: what they are defined
  // as is mapped where it stands.
  const inBlock = new ByRank(program, new Map());
  const inTeam = new ByRank({ ...program, block }, new Map());
  const expression = (mapped: Expression): Expression => {
    switch (mapped.kind) {
      case 'constant':
      case 'variable':
        return mapped;
      case 'builtin': {
        const value = inBlock.of(mapped);
        if (value === null) return mapped;
        const ofMember: OfRank = (rank) => value(team.first + team.stride * rank);
        return simplified(program, mapped, team, ofMember) ?? builtInOf(program, mapped, team);
      }
      default: {
        const value = inTeam.of(mapped);
        return (value && simplified(program, mapped, team, value)) ?? mapped;
      }
    }
  };
  return { ...program, block, body: mapStatements(program.body, { expression }) };
}

/** An expression as a constant, or a constant and so much more from one thread of the team to the next. */
function simplified(program: Program, expression: Expression, team: Team, value: OfRank): Expression | null {
  const values: Value[] = [];
  try {
    for (let rank = 0; rank < team.count; rank += 1) values.push(value(rank));
  } catch {
    return null;
  }
  const { type } = expression;
  const [first] = values as [Value];
  if (values.every((each) => Object.is(each, first))) return literal(expression, type, first);
  if (!isInteger(type)) return null;
  const difference = binaryOperation('subtract', type);
  const step = difference(values[1]!, first);
  const isEven = values.every((each, rank) => rank === 0 || difference(each, values[rank - 1]!) === step);
  return isEven ? plus(scaled(rankIn(program, expression, type), BigInt(step)), BigInt(first)) : null;
}

/** A built-in value that does not grow evenly in a team: out of the rank in the block. */
function builtInOf(
  program: Program,
  builtin: Expression & { readonly kind: 'builtin' },
  { first, stride }: Team,
): Expression {
  const [x, y] = program.block;
  const rank = plus(scaled(rankIn(program, builtin, builtin.type), BigInt(stride)), BigInt(first));
  switch (builtin.name) {
    case 'threadIdx.x':
      return by('remainder', rank, BigInt(x));
    case 'threadIdx.y':
      return by('remainder', by('divide', rank, BigInt(x)), BigInt(y));
    case 'threadIdx.z':
      return by('divide', rank, BigInt(x * y));
    default:
      return rank;
  }
}

function rankIn(program: Program, { range }: Expression, type: ValueType): Expression {
  const rank: Expression = { kind: 'builtin', name: 'threadRank', type: program.indexType, range };
  return type === rank.type ? rank : { kind: 'convert', operand: rank, type, range };
}

function scaled(expression: Expression, factor: bigint): Expression {
  return factor === 1n ? expression : by('multiply', expression, factor);
}

function plus(expression: Expression, summand: bigint): Expression {
  return summand === 0n ? expression : by('add', expression, summand);
}

function by(operator: BinaryOperator, left: Expression, right: bigint): Expression {
  const { type, range } = left;
  return { kind: 'binary', operator, left, right: literal(left, type, right), type, range };
}

function literal({ range }: Expression, type: ValueType, value: Value): Expression {
  const narrow = typeof value === 'bigint' && type !== 'i64' && type !== 'u64';
  return { kind: 'constant', type, value: narrow ? Number(value) : value, range };
}
