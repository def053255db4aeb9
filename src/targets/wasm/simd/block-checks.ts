// What groups of lanes ask, asked for all threads of the block at once.
//
// In front of a region it is found whether all threads of the block might do what a list does, wherever they are in it. Then
// no group asks at that list any more. Lists behind branches are asked about so, and the region itself where the block has
// several rows, each of which would ask. Where a block fails, its groups and rows ask for themselves.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { constantOf } from '../../analysis/elements.ts';
import { isSame } from '../../analysis/expression-key.ts';
import type { Range } from '../../analysis/indices.ts';
import { plus, type Spread, type Steps, spreadOf } from '../../analysis/spread.ts';
import type { Local } from '../encoder/code.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Check, Checkpoints } from './checkpoints.ts';
import { writeCheck } from './checks.ts';

type List = readonly Statement[];

export class BlockChecks {
  /** What is asked of a list, and a local that says whether it holds. */
  readonly #asked = new Map<List, { readonly checks: readonly Check[]; readonly holds: Local }>();

  /** `isFixed` says what is the same for all threads all through the region. */
  constructor(
    { code, unit }: ThreadContext,
    region: List,
    checkpoints: Checkpoints,
    isFixed: (expression: Expression) => boolean,
  ) {
    const { block } = unit.program;
    for (const [list, checks] of checkpoints.blockChecks) {
      if (costOf(checkpoints.checksAt(list)) < enough) continue;
      const all = checks.map((check) => overBlock(check, block, isFixed));
      if (all.includes(null)) continue;
      const where = list === region ? 'in all rows' : 'behind branches';
      unit.tell('blocks', `indices ${where} that are tested for a block of threads`);
      this.#asked.set(list, { checks: all as readonly Check[], holds: code.local('i32') });
    }
  }

  /** The local that says whether all threads of the block might carry out a list; null where that is not asked. */
  holds(list: List): Local | null {
    return this.#asked.get(list)?.holds ?? null;
  }

  /** Writes the tests, in front of the region. */
  write(uniform: ThreadContext): void {
    const { code } = uniform;
    for (const { checks, holds } of this.#asked.values()) {
      code.i32(0).set(holds);
      code.block((fails) => {
        for (const check of checks) writeCheck(uniform, check, 1, fails);
        code.i32(1).set(holds);
      });
    }
  }
}

/**
 * A check of one thread that is one of all threads of a block. Where a loop's counter begins at what differs from thread to
 * thread, the index at the loop's end does not: it is as far from where it starts as the counter starts before its end. Who
 * never comes into the loop accesses nothing.
 */
function overBlock(
  check: Check,
  block: readonly [number, number, number],
  isFixed: (expression: Expression) => boolean,
): Check | null {
  const { common, limit, ranges } = check;
  // A test that differs from row to row is left out: then more is asked.
  const when = check.when.filter(isFixed);
  if (![limit, ...ranges.flatMap(({ factor, to }) => [factor, to])].every(isFixed)) return null;
  const begins = common === null ? nothing : spreadOf(common, block, isFixed);
  if (begins === null) return null;
  let [least, most] = [begins.steps, begins.steps];
  let { multiples } = begins;
  let { smallest, largest } = check;
  const farthest = (steps: Steps, of: (a: number, b: number) => number) =>
    steps.reduce((all, each, axis) => all + of(each * (block[axis]! - 1), 0), 0);
  const open: Range[] = [];
  for (const range of ranges) {
    const { factor, from } = range;
    const first = spreadOf(from, block, isFixed);
    if (first === null || first.multiples.length > 0 || first.steps.some((each) => each < 0)) return null;
    const isAlike = first.steps.every((each) => each === 0);
    const ways = distanceOf(range);
    if (ways === null && isAlike) open.push(range);
    else if (ways === null) open.push({ ...range, highest: 2 ** 31 - 1 - farthest(first.steps, Math.max) });
    else {
      smallest += Math.min(ways, 0);
      largest += Math.max(ways, 0);
    }
    if (isAlike) continue;
    const by = constantOf(factor);
    if (by === null) {
      // At any value of the counter the index is the same for them all, and that of the first thread moves through these.
      const left = multiples.filter(
        (each) => !isSame(each.factor, factor) || !isSteps(each.steps, first.steps),
      );
      if (left.length === multiples.length) return null;
      multiples = left;
    } else if (by > 0) most = plus(most, first.steps, -by);
    else least = plus(least, first.steps, -by);
  }
  if (multiples.length > 0) return null;
  smallest += farthest(least, Math.min);
  largest += farthest(most, Math.max);
  return { ...check, step: 0, smallest, largest, ranges: open, when };
}

/** How far a loop moves an index for the first thread of a block, where that is known now and not far. */
function distanceOf({ factor, from, to, largest }: Range): number | null {
  const [by, last] = [constantOf(factor), constantOf(to)];
  const isRank = from.kind === 'builtin' && from.name.startsWith('thread');
  const first = isRank ? 0 : constantOf(from);
  if (by === null || last === null || first === null || last > largest) return null;
  const distance = by * Math.max(last - first, 0);
  return Math.abs(distance) <= farthestLiteral ? distance : null;
}

function isSteps(a: Steps, b: Steps): boolean {
  return a.every((each, axis) => each === b[axis]);
}

/** What a group saves where it asks only whether it has to ask. */
function costOf(checks: readonly Check[]): number {
  return checks.reduce((sum, { ranges }) => sum + (ranges.length > 0 ? 8 : 1), 0);
}

/** From here on that is less than what it has to ask. */
const enough = 4;

const nothing: Spread = { steps: [0, 0, 0], multiples: [] };
/** Beyond this a loop's end is computed when it runs. */
const farthestLiteral = 2 ** 16;
