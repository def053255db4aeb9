// How many threads a group should take so that it reads memory in long pieces.
//
// In a loop that strides over an array (by the grid's size, or a row's) a group reads a few elements in each turn, and
// the next turn reads elsewhere: far apart, in other pages, where no engine of a processor fetches ahead, and often
// in the same set of its caches. A group that takes more threads reads a longer piece in each turn. Its
// values no longer fit the registers, which costs less than the memory does.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { constantOf } from '../../analysis/elements.ts';
import { forEachExpression, forEachStatement, readBy } from '../../analysis/walk.ts';
import type { Lanes } from './lanes.ts';

type List = readonly Statement[];
type Loop = Extract<Statement, { kind: 'loop' }>;

/** Bytes of a piece from which on a longer one gains little. */
const enough = 512;
/** Vectors of the largest group: more of them only lengthen the code. */
const most = 32;
/** Operations of a group's code, for all its vectors. */
const longest = 1500;

/** The vectors of a group that reads long pieces, in a row of so many threads; null where nothing strides. */
export function vectorsForStreams(lanes: Lanes, body: List, row: number): number | null {
  if (!lanes.unit.does('wide')) return null;
  let bytes = 0;
  forEachStatement(body, (statement) => {
    if (statement.kind !== 'loop') return;
    const strides = stridesOf(statement, row);
    forEachExpression(statement.body, (each) => {
      if (each.kind !== 'load' || each.array.space !== 'global') return;
      if (!['contiguous', 'strided'].includes(lanes.shapeOf(each))) return;
      if ([...readBy(each.index)].some((variable) => strides.has(variable)))
        bytes = Math.max(bytes, lanes.strideOf(each));
    });
  });
  if (bytes === 0) return null;
  const cost = costOf(body);
  const fits = (vectors: number) => row % (4 * vectors) === 0 && vectors * cost <= longest;
  const wanted = Math.min(enough / (4 * bytes), most);
  const vectors = [32, 16, 8].find((each) => each <= wanted && fits(each)) ?? null;
  if (vectors !== null) {
    lanes.unit.tell(
      'wide',
      `groups of ${4 * vectors} threads, which read ${4 * vectors * bytes} bytes in a piece`,
    );
  }
  return vectors;
}

/** The variables that each turn of a loop moves by a row or more. */
function stridesOf({ body, update }: Loop, row: number): Set<number> {
  const strides = new Set<number>();
  for (const statement of [...body, ...update]) {
    if (statement.kind !== 'assign') continue;
    const { variable, value } = statement;
    if (value.kind !== 'binary' || value.operator !== 'add') continue;
    const by = addedTo(variable, value);
    if (by === null) continue;
    const literal = constantOf(by);
    if (literal === null || Math.abs(literal) >= row) strides.add(variable);
  }
  return strides;
}

/** What a sum adds to a variable, if that is what it does. */
function addedTo(variable: number, { left, right }: Expression & { kind: 'binary' }): Expression | null {
  const isIt = (each: Expression) => each.kind === 'variable' && each.id === variable;
  if (isIt(left)) return right;
  return isIt(right) ? left : null;
}

/** Operations that are written for each vector. An atomic operation is written for each lane. */
function costOf(body: List): number {
  let cost = 0;
  forEachExpression(body, () => {
    cost += 1;
  });
  forEachStatement(body, (statement) => {
    cost += statement.kind === 'call' ? 24 : 1;
  });
  return cost;
}
