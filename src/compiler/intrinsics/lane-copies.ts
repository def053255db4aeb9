// A copy by any lanes of a warp, or by a subset of a block. Each thread copies its pieces by itself, and they go round by the threads' ranks:
//
//   for (i = rank * piece; i < count; i += size * piece)
//     copy min(piece, count - i) elements from source + i to destination + i
//
// A piece is the fewest whole elements that keep the alignment that was promised. So targets and the checker know
// nothing of such copies: every element is some thread's, once, and a wait of all of them covers the whole.

import { binary, compare, convert, numberConstant, unary, variable } from '../build.ts';
import type { Call, Expression, Statement } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { knownNumber } from '../numbers.ts';
import { describe, type LanesValue, number, type SubsetValue, type Value } from '../values.ts';
import type { IntrinsicCall } from './handler.ts';
import { countOfLanes, lanesBelow } from './lane-masks.ts';

type Copy = Extract<Call, { intrinsic: 'memcpyAsync' }>;

/** The longest piece of one thread, in bytes: a multiple of what any hardware copies at once. */
const longestPiece = 128;

/** Emits a copy that is given as one thread's for the threads of a group. */
export function copyByLanes(
  call: Pick<IntrinsicCall, 'lowering' | 'node' | 'at'>,
  group: LanesValue | SubsetValue,
  whole: Copy,
  elementBytes: number,
): void {
  const { lowering, node } = call;
  const { indexType } = lowering;
  const range = lowering.range(node);
  const index = (value: number) => numberConstant(indexType, value, range);
  const settled = (value: Expression, name: string) => lowering.settleExpression(value, name);
  const piece = elementsOfPiece(call, group, whole.alignment, elementBytes);
  const copy: Copy = {
    ...whole,
    destination: { ...whole.destination, offset: settled(whole.destination.offset, 'to') },
    source: { ...whole.source, offset: settled(whole.source.offset, 'from') },
    count: settled(whole.count, 'count'),
    ...('barrier' in whole ? { index: settled(whole.index, 'which') } : {}),
  };
  const elements = (threads: Expression) => binary('multiply', threads, index(piece), range);
  const count = (lanes: Expression) => convert(countOfLanes(call, lanes), indexType, range);
  const { size, rank } =
    group.kind === 'subset' ? group : { size: count(group.mask), rank: count(lanesBelow(call, group.mask)) };
  const step = settled(elements(size), 'step');

  // What no piece shows is refused as a thread's copy of the whole would be.
  for (const test of mistakes(lowering, copy)) {
    lowering.emit({ kind: 'if', test, then: [copy], otherwise: [], range });
  }

  const id = lowering.newVariable('i', indexType);
  const i = variable(id, indexType, range);
  const plus = (offset: Expression) => binary('add', offset, i, range);
  const rest = binary('subtract', copy.count, i, range);
  const own: Statement = {
    ...copy,
    destination: { ...copy.destination, offset: plus(copy.destination.offset) },
    source: { ...copy.source, offset: plus(copy.source.offset) },
    count: piece === 1 ? index(1) : binary('min', index(piece), rest, range),
  };
  lowering.emit({ kind: 'assign', variable: id, value: elements(rank), range });
  lowering.emit({
    kind: 'loop',
    label: lowering.newLabel(),
    testFirst: true,
    test: compare('less', i, copy.count, range),
    body: [own],
    update: [{ kind: 'assign', variable: id, value: binary('add', i, step, range), range }],
    range,
  });
}

/** Tests of what is wrong with a copy as a whole: fewer than no elements, or an array that is copied over itself. */
function mistakes(lowering: Lowering, { destination, source, count, range }: Copy): Expression[] {
  const known = knownNumber(lowering, number('index', count));
  const zero = numberConstant(lowering.indexType, 0, range);
  const isNegative = known !== null && known >= 0 ? [] : [compare('less', count, zero, range)];
  const [to, from] = [destination.array, source.array];
  if (to.space !== from.space || to.id !== from.id) return isNegative;
  const distance = binary('subtract', destination.offset, source.offset, range);
  return [...isNegative, compare('less', unary('abs', distance, range), count, range)];
}

function elementsOfPiece(
  { lowering, at }: Pick<IntrinsicCall, 'lowering' | 'at'>,
  group: Value,
  alignment: number,
  elementBytes: number,
): number {
  let piece = 1;
  while ((piece * elementBytes) % alignment !== 0) piece *= 2;
  if (alignment <= longestPiece) return piece;
  return lowering.fail(
    at('count'),
    'WS1009',
    `a copy of ${describe(group)} is promised to be aligned to ${alignment} bytes, and ${longestPiece} are the most`,
    'promise 16 bytes, which is all that the hardware makes use of: cuda.alignedSize(16, count)',
  );
}
