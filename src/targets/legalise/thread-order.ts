// Which thread of the kernel each thread of the hardware is, so that warps have one role as a whole.
//
// Where even threads produce and odd ones consume, each warp would go both ways, one after the other. Which
// thread of the hardware does a thread's work changes nothing that a program can see, as long as it does not
// ask for warps. So the producers come first, in their order, and behind them the consumers. It is done for
// roles that repeat: of every `period` threads, `width` in a row have the one role.

import type { BuiltIn, CallName, Expression, Program, Statement } from '../../compiler/ir.ts';
import type { RankRun, ThreadOrder } from '../../compiler/ir-core.ts';
import { mapStatements } from '../analysis/map.ts';
import { anyStatement } from '../analysis/walk.ts';
import { stageStepOf } from './verbs.ts';
import type { Words } from './words.ts';

/** The order for threads that are producers or not; null where there is no short way to say it. */
export function orderOf(produces: readonly boolean[]): ThreadOrder | null {
  const size = produces.length;
  for (let period = 1; period <= size; ++period) {
    if (size % period !== 0 || produces.some((each, rank) => each !== produces[rank % period])) continue;
    const producers = runOf(produces, true, period);
    const consumers = runOf(produces, false, period);
    if (producers === null || consumers === null) return null;
    const count = (producers.width * size) / period;
    return { producers, consumers, count, isSame: period === size && producers.first === 0 };
  }
  return null;
}

function runOf(produces: readonly boolean[], role: boolean, period: number): RankRun | null {
  const ranks = [...produces.keys()].filter((rank) => rank < period && produces[rank] === role);
  const [first] = ranks;
  if (first === undefined || ranks.some((rank, n) => rank !== first + n)) return null;
  return { period, first, width: ranks.length };
}

/** Calls, beside the steps of a stage, that are the same whichever thread of the hardware makes them. */
const regardless: ReadonlySet<string> = new Set<CallName>([
  'sync',
  'makePipeline',
  'quit',
  'nanosleep',
  'clock64',
  'globaltimer',
]);

/** Whether a program asks which threads are a warp, or part of one, or tells who a thread is. */
export function asksForWarps({ pipelines, barriers, body }: Program): boolean {
  const isTile = ({ kind }: { readonly kind: string }) => kind === 'tile';
  if (pipelines.some(({ group }) => isTile(group)) || barriers.some(({ group }) => isTile(group)))
    return true;
  return anyStatement(body, (each) => {
    if (each.kind !== 'call') return false;
    const asks = !regardless.has(each.intrinsic) && stageStepOf(each) === null;
    return asks || ('group' in each && isTile(each.group));
  });
}

/** The rank in the kernel's block of the thread of the hardware that evaluates this. */
export function rankIn({ producers, consumers, count }: ThreadOrder, words: Words): Expression {
  const rank = words.threadRank;
  const inRun = (number: Expression, { period, first, width }: RankRun): Expression => {
    const [of, within] = [words.index(width), words.index(period)];
    const round = words.binary('multiply', width === 1 ? number : words.binary('divide', number, of), within);
    const rank = width === 1 ? round : words.binary('add', round, words.binary('remainder', number, of));
    return first === 0 ? rank : words.binary('add', rank, words.index(first));
  };
  return words.choose(
    words.compare('less', rank, words.index(count)),
    inRun(rank, producers),
    inRun(words.binary('subtract', rank, words.index(count)), consumers),
  );
}

/** The same of a thread of the hardware that is known. */
export function kernelRank({ producers, consumers, count }: ThreadOrder, rank: number): number {
  const [{ period, first, width }, number] = rank < count ? [producers, rank] : [consumers, rank - count];
  return Math.floor(number / width) * period + (number % width) + first;
}

/** Statements in which a thread's rank, and its place in the block, follow from an expression. */
export function withRank(
  statements: readonly Statement[],
  rank: Expression,
  [x, y]: Program['block'],
  words: Words,
): readonly Statement[] {
  const placeOf = (name: BuiltIn): Expression | null => {
    switch (name) {
      case 'threadRank':
        return rank;
      case 'threadIdx.x':
        return words.binary('remainder', rank, words.index(x));
      case 'threadIdx.y':
        return words.binary('remainder', words.binary('divide', rank, words.index(x)), words.index(y));
      case 'threadIdx.z':
        return words.binary('divide', rank, words.index(x * y));
      default:
        return null;
    }
  };
  return mapStatements(statements, {
    expression: (mapped) => (mapped.kind === 'builtin' ? (placeOf(mapped.name) ?? mapped) : mapped),
  });
}
