// Rank groups: threads whose rank alone decides that they go another way than the others.
//
// In a kernel with roles it is known when the kernel is compiled which threads have which. Such
// threads start as a cohort of their own, and have a program of their own: the same, but that
// their ranks are counted from 0 within the rank group, and what depends on the rank is simpler for it.
// (Of the even ranks, `threadRank % 2` is 0, and `threadRank / 2` counts up.) So what separates the
// rank groups is uniform in each of them, and what they access lies side by side.

import { binaryOperation, type Value } from '../../../compiler/arithmetic.ts';
import type { BinaryOperator, Expression, Program, ValueType } from '../../../compiler/ir.ts';
import type { RankGroup } from '../../../compiler/ir-cohorts.ts';
import { isInteger } from '../../../compiler/number-types.ts';
import { builtInOfRank, factsOf } from '../../analysis/facts.ts';
import { mayFail } from '../../analysis/failing.ts';
import { mapStatements } from '../../analysis/map.ts';
import { forEachStatement, operandsOf } from '../../analysis/walk.ts';

/** More ways than these are left to be found out by the threads: each rank group's code is as long as the kernel's. */
const mostRankGroups = 4;

/** The rank groups of a program, or all of its threads as one. */
export function rankGroupsOf(program: Program): readonly RankGroup[] {
  const [x, y, z] = program.block;
  return groupedBy(program, decidingTests(program)) ?? [{ first: 0, stride: 1, count: x * y * z }];
}

/** The rank groups that tests part a program's threads into; null where the ranks do not tell, or are at no regular distance. */
export function rankGroupsBy(program: Program, tests: readonly Expression[]): readonly RankGroup[] | null {
  const deciding = tests.map(valuesByRank(program));
  return deciding.every((test) => test !== null) ? groupedBy(program, deciding) : null;
}

function groupedBy(program: Program, deciding: readonly OfRank[]): readonly RankGroup[] | null {
  const [x, y, z] = program.block;
  const size = x * y * z;
  const ranksOfWay = new Map<string, number[]>();
  for (let rank = 0; rank < size; rank += 1) {
    const way = deciding.map((test) => (test(rank) ? 1 : 0)).join('');
    const ranks = ranksOfWay.get(way);
    if (ranks === undefined) ranksOfWay.set(way, [rank]);
    else ranks.push(rank);
    if (ranksOfWay.size > mostRankGroups) return null;
  }
  const rankGroups = [...ranksOfWay.values()].map(rankGroupOf);
  return rankGroups.every((rankGroup) => rankGroup !== null) ? rankGroups : null;
}

/** A value for each thread, which its rank tells. */
type OfRank = (rank: number) => Value;

/** A function that gives the values of an expression by rank; null where some thread's is not known, or it fails there. */
export function valuesByRank(program: Program): (expression: Expression) => OfRank | null {
  const [x, y, z] = program.block;
  const facts = factsOf(program);
  const threads = Array.from({ length: x * y * z }, (_, rank) => facts.inThread(rank));
  return (expression) => {
    const values: Value[] = [];
    for (const factOf of threads) {
      const { value } = factOf(expression);
      if (value === null) return null;
      values.push(value);
    }
    return (rank) => values[rank]!;
  };
}

/** What decides, by the rank, which way a thread goes around synchronising calls. */
function decidingTests(program: Program): readonly OfRank[] {
  const { cohort } = factsOf(program);
  const byRank = valuesByRank(program);
  const tests: OfRank[] = [];
  const add = (test: Expression) => {
    const ofRank = cohort.isUniform(test) ? null : byRank(test);
    if (ofRank !== null) tests.push(ofRank);
  };
  forEachStatement(program.body, (statement) => {
    if (!cohort.isTogether(statement)) return;
    if (statement.kind === 'if') add(statement.test);
  });
  return tests;
}

/** Ascending ranks as a rank group, if their distances are the same. */
function rankGroupOf(ranks: readonly number[]): RankGroup | null {
  const [first, second] = ranks as [number, number | undefined];
  const stride = second === undefined ? 1 : second - first;
  if (ranks.some((rank, i) => rank !== first + stride * i)) return null;
  return { first, stride, count: ranks.length };
}

/** The program of a rank group: a block of its threads alone, in one dimension. */
export function programOf(program: Program, rankGroup: RankGroup): Program {
  const [x, y, z] = program.block;
  if (rankGroup.count === x * y * z) return program;
  return withKnownValues(countedInRankGroup(program, rankGroup));
}

/** The program with what it says of the rank in the block said of the rank in its rank group. */
function countedInRankGroup(program: Program, rankGroup: RankGroup): Program {
  const expression = (mapped: Expression): Expression => {
    if (mapped.kind !== 'builtin' || builtInOfRank(program, mapped.name, 0) === null) return mapped;
    const ofMember: OfRank = (rank) => {
      const value = builtInOfRank(program, mapped.name, rankGroup.first + rankGroup.stride * rank)!;
      return mapped.type === 'i64' ? BigInt(value) : value;
    };
    return (
      simplified(mapped, program.indexType, rankGroup.count, ofMember) ??
      builtInOf(program, mapped, rankGroup)
    );
  };
  return { ...program, block: [rankGroup.count, 1, 1], body: mapStatements(program.body, { expression }) };
}

/** The program with what follows from the rank alone made simple, and without the branches that nobody takes. */
function withKnownValues(program: Program): Program {
  const { indexType, block } = program;
  const byRank = valuesByRank(program);
  // What may fail stays, whatever is made of it: so does the fault.
  const fails = (expression: Expression): boolean =>
    expression.kind === 'load' ||
    (expression.kind === 'binary' && mayFail(expression) && byRank(expression) === null) ||
    operandsOf(expression).some(fails);
  const body = mapStatements(program.body, {
    expression: (mapped) => {
      const value = mapped.kind === 'constant' || fails(mapped) ? null : byRank(mapped);
      return (value && simplified(mapped, indexType, block[0], value)) ?? mapped;
    },
    statement: (mapped) => {
      if (mapped.kind !== 'if' || mapped.test.kind !== 'constant') return mapped;
      return mapped.test.value === true ? { ...mapped, otherwise: [] } : { ...mapped, then: [] };
    },
  });
  return { ...program, body };
}

/** An expression as a constant, or a constant and so much more from one thread of the rank group to the next. */
function simplified(
  expression: Expression,
  indexType: ValueType,
  threads: number,
  value: OfRank,
): Expression | null {
  const values = Array.from({ length: threads }, (_, rank) => value(rank));
  const { type } = expression;
  const [first] = values as [Value];
  if (values.every((each) => Object.is(each, first))) return literal(expression, type, first);
  if (!isInteger(type)) return null;
  const difference = binaryOperation('subtract', type);
  const step = difference(values[1]!, first);
  const isEven = values.every((each, rank) => rank === 0 || difference(each, values[rank - 1]!) === step);
  return isEven ? plus(scaled(rankIn(indexType, expression, type), BigInt(step)), BigInt(first)) : null;
}

/** A built-in value that does not grow evenly in a rank group: out of the rank in the block. */
function builtInOf(
  program: Program,
  builtin: Expression & { readonly kind: 'builtin' },
  { first, stride }: RankGroup,
): Expression {
  const [x, y] = program.block;
  const rank = plus(scaled(rankIn(program.indexType, builtin, builtin.type), BigInt(stride)), BigInt(first));
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

function rankIn(indexType: ValueType, { range }: Expression, type: ValueType): Expression {
  const rank: Expression = { kind: 'builtin', name: 'threadRank', type: indexType, range };
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
