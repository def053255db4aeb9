// The code of a checkpoint: do all indices lie below their limits, and where are the elements.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { integer } from '../../analysis/affine.ts';
import type { Loop } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { growthIn, type Range } from '../../analysis/indices.ts';
import { conjunctionOf } from '../../legalise/loops.ts';
import type { Label, Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { pushElementAddress, withIndex } from '../memory.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Address, Check, Checkpoints } from './checkpoints.ts';

/** An index that moves further than this is outside any array. */
const furthest = 2n ** 40n;

/**
 * Branches to `slow` unless the indices of a check lie below its limit, for so many threads from the first lane
 * on, for which `first` is the context.
 */
export function writeCheck(first: ThreadContext, check: Check, threads: number, slow: Label): void {
  const when = conjunctionOf(check.when);
  if (when === null) {
    writeQuestion(first, check, threads, slow);
    return;
  }
  pushExpression(first, when);
  first.code.if(() => writeQuestion(first, check, threads, slow));
}

function writeQuestion(first: ThreadContext, check: Check, threads: number, slow: Label): void {
  const { code, unit } = first;
  const { limit, step, ranges, smallest, largest } = check;
  const extent = largest - smallest + step * (threads - 1) + 1;
  if (ranges.length > 0) {
    writeRangeCheck(first, check, extent, slow);
    return;
  }
  const known = unit.knownLimit(limit);
  if (known !== null && known < extent) {
    code.br(slow);
    return;
  }
  pushIndex(first, check);
  if (known === null) pushExpression(first, roomOf(limit, extent));
  else code.i32(known - extent + 1);
  code.op('i32.ge_u').brIf(slow);
}

/** At how many places so many elements can begin: the same in a region, so it is computed in front of it. */
function roomOf(limit: Expression, extent: number): Expression {
  if (extent === 1) return limit;
  const { type, range } = limit;
  const left: Expression = {
    kind: 'binary',
    operator: 'subtract',
    left: limit,
    right: integer(limit, extent - 1),
    type,
    range,
  };
  return { kind: 'binary', operator: 'max', left, right: integer(limit, 0), type, range };
}

/** The same where loops move the index by what is known only now: in 64 bits, so that nothing wraps. */
function writeRangeCheck(first: ThreadContext, check: Check, extent: number, slow: Label): void {
  const { code } = first;
  code.withTemporaries((take) => {
    const lowest = take('i64');
    const highest = take('i64');
    const distance = take('i64');
    pushIndex(first, check);
    code.op('i64.extend_i32_s').tee(lowest).set(highest);
    for (const range of check.ranges) {
      writeDistance(first, range, distance, slow);
      // Down or up from where the index starts.
      code.get(lowest).get(distance).i64(0n).get(distance).i64(0n).op('i64.lt_s', 'select', 'i64.add');
      code.set(lowest);
      code.get(highest).get(distance).i64(0n).get(distance).i64(0n).op('i64.gt_s', 'select', 'i64.add');
      code.set(highest);
    }
    code.get(lowest).i64(0n).op('i64.lt_s').brIf(slow);
    code.get(highest).i64(BigInt(extent)).op('i64.add');
    pushExpression(first, check.limit);
    code.op('i64.extend_i32_u', 'i64.gt_s').brIf(slow);
  });
}

/** How far an index moves while a counter goes from its first value to its last. */
function writeDistance(first: ThreadContext, range: Range, distance: Local, slow: Label): void {
  const { code } = first;
  const pushWide = (expression: Expression) => {
    pushExpression(first, expression);
    code.op('i64.extend_i32_s');
  };
  pushExpression(first, range.to);
  code.i32(range.largest).op('i32.gt_s').brIf(slow);
  if (range.highest !== undefined) {
    pushExpression(first, range.from);
    code.i32(range.highest).op('i32.gt_s').brIf(slow);
  }
  pushWide(range.to);
  pushWide(range.from);
  code.op('i64.sub').tee(distance);
  // A loop that is not entered moves nothing.
  code.i64(0n).get(distance).i64(0n).op('i64.gt_s', 'select');
  pushWide(range.factor);
  code.op('i64.mul').tee(distance);
  code
    .i64(furthest)
    .op('i64.add')
    .i64(2n * furthest)
    .op('i64.gt_u')
    .brIf(slow);
}

/** Computes the addresses of what a list accesses, but for those that move by themselves. */
export function writeAddresses(
  first: ThreadContext,
  checkpoints: Checkpoints,
  list: readonly Statement[],
  moving: readonly Address[] = [],
): void {
  for (const address of checkpoints.addressesAt(list)) {
    if (!moving.includes(address)) writeAddress(first, address);
  }
}

/** Addresses that a loop moves on in each turn by the same. */
export interface Moving {
  readonly addresses: readonly Address[];
  /** Writes what stands behind each turn. */
  readonly writeMoves: () => void;
}

/** Computes in front of a loop the addresses of its body that each turn moves on by the same. */
export function writeMoving(
  first: ThreadContext,
  checkpoints: Checkpoints,
  loop: Loop,
  take: (type: 'i32') => Local,
): Moving {
  const { code, unit } = first;
  const type = unit.addressType;
  const addresses: Address[] = [];
  const moves: (() => void)[] = [];
  // Addresses of 64 bits do not wrap as indices of 32 do, where a loop goes through more of them than there are.
  if (unit.does('advance') && type === 'i32') {
    for (const address of checkpoints.addressesAt(loop.body)) {
      const growth = address.common === null ? null : growthIn(loop, address.common);
      if (growth === null) continue;
      unit.tell('advance', 'addresses that go on from turn to turn of a loop');
      writeAddress(first, address);
      addresses.push(address);
      const bytes = growth.step * bytesOf(unit.elementOf(address.array));
      const literal = constantOf(growth.factor);
      const by = literal === null ? take(type) : null;
      if (by !== null) {
        pushExpression(first, growth.factor);
        unit.writeAsAddress(code);
        code.address(type, bytes).op(`${type}.mul`).set(by);
      }
      moves.push(() => {
        code.get(address.local!);
        if (by === null) code.address(type, literal! * bytes);
        else code.get(by);
        code.op(`${type}.add`).set(address.local!);
      });
    }
  }
  return {
    addresses,
    writeMoves: () => {
      for (const write of moves) write();
    },
  };
}

/**
 * Moves the addresses of what a region accesses on to its next group of so many threads: in front of each row they are
 * computed, for its first.
 */
export function advanceAddresses(
  { code, unit }: ThreadContext,
  checkpoints: Checkpoints,
  region: readonly Statement[],
  threads: number,
): void {
  for (const { local, array, step } of checkpoints.addressesAt(region)) {
    if (step === 0) continue;
    code
      .get(local!)
      .address(unit.addressType, threads * step * bytesOf(unit.elementOf(array)))
      .op(`${unit.addressType}.add`)
      .set(local!);
  }
}

function writeAddress(first: ThreadContext, address: Address): void {
  const { code, unit } = first;
  address.local ??= code.local(unit.addressType);
  const { local, array } = address;
  withIndex(
    first,
    () => pushIndex(first, address),
    (index) => {
      pushElementAddress(first, array, index);
      code.set(local);
    },
  );
}

/** Pushes the first lane's smallest index. */
export function pushIndex(first: ThreadContext, { common, smallest, place }: Address | Check): void {
  if (common === null || smallest === 0) {
    pushExpression(first, common ?? integer(place, smallest));
  } else {
    pushExpression(first, common);
    first.code.i32(smallest).op('i32.add');
  }
}
