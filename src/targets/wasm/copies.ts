// memcpyAsync: checked as a whole, and done at once.
//
// A correct program cannot tell when a copy between its issue and the wait for it is done; so
// the earliest moment is as good as any, and no copy is ever in flight. What a copy may do
// wrong (a negative count, operands outside their arrays, overlapping, not aligned as
// promised) is one cheap test; the host finds out which it was.

import type { ArrayReference, Call, Statement } from '../../compiler/ir.ts';
import { alignmentOf, bytesOf } from '../../kernel/layout.ts';

import { constantOf } from '../analysis/elements.ts';
import { type Borrowed, writeBorrowing } from './borrowed.ts';
import type { Local } from './encoder/code.ts';
import { pushExpression } from './expressions.ts';
import { isMovedAtOnce, pushOwnAddress, writeMove } from './memory.ts';
import type { ThreadContext } from './thread-context.ts';

export type MemcpyAsync = Extract<Call, { intrinsic: 'memcpyAsync' }>;

/** A copy, whichever statement asks for it. */
export type CopyCall = Pick<
  MemcpyAsync,
  'destination' | 'source' | 'count' | 'zeroFill' | 'group' | 'alignment' | 'range'
>;

/** The copy that a statement makes, if it does nothing else. */
export function copyOf(statement: Statement): CopyCall | null {
  if (statement.kind !== 'call') return null;
  if (statement.intrinsic === 'memcpyAsync') return statement;
  if (statement.intrinsic !== 'core' || statement.operation.kind !== 'copyNow') return null;
  const { operation, range } = statement;
  return { ...operation, alignment: operation.promised, range };
}

/** The part of a copy that one thread carries out: all of it, or elements `first`, `first + stride`, … */
export type Share = 'whole' | { readonly pushFirst: () => void; readonly pushStride: () => void };

interface CopyLocals {
  readonly to: Local;
  readonly from: Local;
  readonly count: Local;
  /** Elements at the end that are set to zero; null if there are none. */
  readonly zeros: Local | null;
}

/** Writes a copy, or a thread's share of it; what a share pushes is of type i32. */
export function writeCopy(context: ThreadContext, call: CopyCall, share: Share): void {
  withOperands(context, call, (locals) => {
    writeCopyCheck(context, call, locals);
    writeTransfer(context, call, locals, share);
  });
}

/** Writes a copy that is only tried: if nothing is wrong with it, it is done, and then `done`. */
export function writeCopyIfRight(context: ThreadContext, call: CopyCall, done: () => void): void {
  withOperands(context, call, (locals) => {
    pushIsWrong(context, call, locals);
    context.code.op('i32.eqz').if(() => {
      writeTransfer(context, call, locals, 'whole');
      done();
    });
  });
}

function withOperands(context: ThreadContext, call: CopyCall, use: (locals: CopyLocals) => void): void {
  const { code, unit } = context;
  code.withTemporaries((take) => {
    const locals = {
      to: take(unit.program.indexType),
      from: take(unit.program.indexType),
      count: take(unit.program.indexType),
      zeros: call.zeroFill === null ? null : take(unit.program.indexType),
    };
    pushExpression(context, call.destination.offset);
    code.set(locals.to);
    pushExpression(context, call.source.offset);
    code.set(locals.from);
    pushExpression(context, call.count);
    code.set(locals.count);
    if (call.zeroFill !== null) {
      pushExpression(context, call.zeroFill);
      code.set(locals.zeros!);
    }
    use(locals);
  });
}

/** Writes what the calling thread does of a copy: alone, all; in a group, every so-manieth element. */
export function writeShareOfCopy(context: ThreadContext, call: CopyCall): void {
  const { code, frame, unit } = context;
  const { group } = call;
  const threads = unit.threadsOfBlock;
  const pushRankInBlock = () => {
    frame.pushRank();
    unit.writeRankInBlock(code);
  };
  if (group.kind === 'thread') {
    writeCopy(context, call, 'whole');
    return;
  }
  const size = group.kind === 'tile' ? Math.min(group.size, threads) : threads;
  writeCopy(context, call, {
    pushFirst: () => {
      pushRankInBlock();
      if (size < threads) code.i32(size).op('i32.rem_u');
    },
    pushStride: () => {
      code.i32(size);
      const whole = threads - (threads % size);
      if (whole === threads) return;
      // The last tile is smaller than the others.
      code.i32(threads - whole);
      pushRankInBlock();
      code.i32(whole).op('i32.lt_u', 'select');
    },
  });
}

function writeTransfer(context: ThreadContext, call: CopyCall, locals: CopyLocals, share: Share): void {
  const { code, unit } = context;
  const { array: target } = call.destination;
  const { array: source } = call.source;
  if ((locals.zeros !== null || share !== 'whole') && borrowedOf(context, target) !== undefined)
    throw new TypeError('a slot that is borrowed is filled as a whole');
  if (locals.zeros !== null) {
    writeElementLoop(context, call, locals, share);
  } else if (share === 'whole' && constantOf(call.count) === 1) {
    writeOrBorrow(context, call, locals, () => writeElementMove(context, call, locals.to, locals.from));
  } else if (share === 'whole' && target.space !== 'local' && source.space !== 'local') {
    writeOrBorrow(context, call, locals, () => {
      pushOwnAddress(context, target, locals.to);
      pushOwnAddress(context, source, locals.from);
      pushBytes(context, call, locals);
      if (unit.forProcessor) code.memoryCopy();
      else code.call(unit.copyFunction());
    });
  } else {
    writeElementLoop(context, call, locals, share);
  }
}

function borrowedOf({ unit }: ThreadContext, { space, id }: ArrayReference): Borrowed | undefined {
  return space === 'shared' ? unit.borrowed.get(id) : undefined;
}

/** Writes a copy, or for a slot that is borrowed where it lies. */
function writeOrBorrow(
  context: ThreadContext,
  { destination: { array: target }, source: { array: source } }: CopyCall,
  { to, from }: CopyLocals,
  copy: () => void,
): void {
  const borrowed = borrowedOf(context, target);
  if (borrowed === undefined) copy();
  else writeBorrowing(context, { borrowed, to, from }, { target, source }, copy);
}

/** Element by element: for shares, and for local arrays, whose elements do not lie side by side. */
function writeElementLoop(context: ThreadContext, call: CopyCall, locals: CopyLocals, share: Share): void {
  const { code, unit } = context;
  const wasm = unit.program.indexType;
  const { pushFirst, pushStride } =
    share === 'whole' ? { pushFirst: () => code.i32(0), pushStride: () => code.i32(1) } : share;
  const widen = () => {
    if (wasm === 'i64') code.op('i64.extend_i32_u');
  };
  code.withTemporaries((take) => {
    const [position, to, from] = [take(wasm), take(wasm), take(wasm)];
    pushFirst();
    widen();
    code.set(position);
    code.block((done) => {
      code.loop((next) => {
        code.get(position).get(locals.count).op(`${wasm}.ge_s`).brIf(done);
        code.get(locals.to).get(position).op(`${wasm}.add`).set(to);
        const copy = () => {
          code.get(locals.from).get(position).op(`${wasm}.add`).set(from);
          writeElementMove(context, call, to, from);
        };
        if (locals.zeros === null) {
          copy();
        } else {
          code.get(position).get(locals.count).get(locals.zeros).op(`${wasm}.sub`, `${wasm}.lt_s`);
          code.if(copy, () => writeElementMove(context, call, to, null));
        }
        code.get(position);
        pushStride();
        widen();
        code.op(`${wasm}.add`).set(position).br(next);
      });
    });
  });
}

/** Copies one element, or makes it zero. */
function writeElementMove(context: ThreadContext, call: CopyCall, to: Local, from: Local | null): void {
  const { code, unit } = context;
  const { destination, source } = call;
  const element = unit.elementOf(destination.array);
  const pushTo = () => pushOwnAddress(context, destination.array, to);
  const pushFrom = from === null ? null : () => pushOwnAddress(context, source.array, from);
  if (isMovedAtOnce(element)) {
    writeMove(context, element, pushTo, pushFrom);
    return;
  }
  code.withTemporaries((take) => {
    const [target, origin] = [take(unit.addressType), take(unit.addressType)];
    pushTo();
    code.set(target);
    pushFrom?.();
    if (pushFrom !== null) code.set(origin);
    writeMove(context, element, () => code.get(target), pushFrom && (() => code.get(origin)));
  });
}

/** Stops the thread if the copy as a whole is wrong. */
function writeCopyCheck(context: ThreadContext, call: CopyCall, locals: CopyLocals): void {
  const { code, unit, launch, frame } = context;
  pushIsWrong(context, call, locals);
  code.if(() => {
    code.i32(unit.copySite(call));
    frame.pushRank();
    code.get(launch.block);
    for (const local of [locals.to, locals.from, locals.count, locals.zeros]) {
      if (local === null) {
        code.i64(0n);
        continue;
      }
      code.get(local);
      if (unit.program.indexType === 'i32') code.op('i64.extend_i32_s');
    }
    code.call(unit.host('fault', 'copy'));
    frame.fail();
  });
}

/** Pushes whether anything is wrong with a copy as a whole. */
function pushIsWrong(context: ThreadContext, call: CopyCall, locals: CopyLocals): void {
  const { code } = context;
  pushSourceOutside(context, call, locals);
  pushOutside(context, call.destination.array, locals.to, locals.count);
  code.op('i32.or');
  if (pushOverlap(context, call, locals)) code.op('i32.or');
  if (pushMisaligned(context, call, locals)) code.op('i32.or');
}

/** Pushes whether what is read of the source lies outside of it; where nothing is read, it may lie anywhere. */
function pushSourceOutside(context: ThreadContext, call: CopyCall, locals: CopyLocals): void {
  const { code, unit } = context;
  const { zeros, count, from } = locals;
  const wasm = unit.program.indexType;
  if (zeros === null) {
    pushOutside(context, call.source.array, from, count);
    return;
  }
  code.withTemporary(wasm, (read) => {
    code.get(zeros).get(count).op(`${wasm}.gt_u`);
    code.get(count).get(zeros).op(`${wasm}.sub`).set(read);
    pushOutside(context, call.source.array, from, read);
    code.get(read).op(`${wasm}.eqz`, 'i32.eqz', 'i32.and', 'i32.or');
  });
}

/** Pushes whether count > length or offset > length - count, unsigned: so negative ones count as outside. */
function pushOutside(context: ThreadContext, array: ArrayReference, offset: Local, count: Local): void {
  const { code, unit, launch } = context;
  const wasm = unit.program.indexType;
  code.get(count);
  launch.pushLength(array);
  code.op(`${wasm}.gt_u`).get(offset);
  launch.pushLength(array);
  code.get(count).op(`${wasm}.sub`, `${wasm}.gt_u`, 'i32.or');
}

/** Pushes whether source and destination are nearer than the copy is long, where they may be. */
function pushOverlap(context: ThreadContext, call: CopyCall, locals: CopyLocals): boolean {
  const { code, unit } = context;
  const { array: target } = call.destination;
  const { array: source } = call.source;
  if (target.space !== source.space) return false;
  if (target.id === source.id) {
    const wasm = unit.program.indexType;
    code.get(locals.to).get(locals.from).op(`${wasm}.sub`).get(locals.count).op(`${wasm}.lt_u`);
    code.get(locals.from).get(locals.to).op(`${wasm}.sub`).get(locals.count).op(`${wasm}.lt_u`);
    code.op('i32.or');
    return true;
  }
  // Two parameters may be one array of the device.
  if (target.space !== 'global') return false;
  const type = unit.addressType;
  code.withTemporary(type, (to) => {
    code.withTemporary(type, (from) => {
      code.withTemporary(type, (bytes) => {
        pushOwnAddress(context, target, locals.to);
        code.set(to);
        pushOwnAddress(context, source, locals.from);
        code.set(from);
        pushBytes(context, call, locals);
        code.set(bytes);
        code.get(to).get(from).op(`${type}.sub`).get(bytes).op(`${type}.lt_u`);
        code.get(from).get(to).op(`${type}.sub`).get(bytes).op(`${type}.lt_u`, 'i32.or');
      });
    });
  });
  return true;
}

/** Pushes what an address or the size has below the promised alignment, where it promises anything. */
function pushMisaligned(context: ThreadContext, call: CopyCall, locals: CopyLocals): boolean {
  const { code, unit } = context;
  const { array: target } = call.destination;
  const { array: source } = call.source;
  if (call.alignment <= alignmentOf(unit.elementOf(target))) return false;
  if (target.space === 'local' || source.space === 'local') return false;
  pushOwnAddress(context, target, locals.to);
  pushOwnAddress(context, source, locals.from);
  code.op(`${unit.addressType}.or`);
  pushBytes(context, call, locals);
  code.op(`${unit.addressType}.or`);
  if (unit.addressType === 'i64') code.op('i32.wrap_i64');
  code.i32(call.alignment - 1).op('i32.and');
  return true;
}

/** Pushes how many bytes a copy has, of the type of addresses. */
function pushBytes({ code, unit }: ThreadContext, call: CopyCall, { count }: CopyLocals): void {
  const type = unit.addressType;
  code.get(count);
  unit.writeAsAddress(code);
  code.address(type, bytesOf(unit.elementOf(call.destination.array))).op(`${type}.mul`);
}
