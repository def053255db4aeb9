// Barriers in the scratch memory of a block: finding one, arriving, and what a wait is for.
//
// However the threads are run, a barrier is a record of three words, and a token is what ir-barriers.ts
// says. What a thread does wrong is reported to the host by a number, and by the values that its
// sentence needs.

import type { BarrierCall } from '../../compiler/ir-barriers.ts';
import type { BarrierWaitCall } from '../../compiler/ir-cohorts.ts';
import { constantOf } from '../analysis/elements.ts';
import { barrierFaults } from '../barrier-misuse.ts';
import type { Local } from './encoder/code.ts';
import { pushExpression } from './expressions.ts';
import type { ThreadContext } from './thread-context.ts';

export const barrierRecord = { phase: 0, pending: 4, expected: 8 } as const;
export const barrierRecordBytes = 16;

export type BarrierUse = Extract<BarrierCall, { index: unknown }>;
export type ArriveCall = Extract<BarrierCall, { intrinsic: 'barrierArrive' }>;

/** Where a thread finds the barriers that it has made. */
export interface BarrierPlace {
  /** Pushes whether it has made them; null where it surely has. */
  readonly pushMade: (() => void) | null;
  /** Pushes the address of the first one's record. */
  readonly pushBase: () => void;
}

/** A barrier that was found. */
export interface FoundBarrier {
  /** Both i32. */
  readonly index: Local;
  readonly address: Local;
}

/** Stops the thread: values are pushed as i64. */
export function writeBarrierFault(
  context: ThreadContext,
  call: BarrierCall,
  fault: keyof typeof barrierFaults,
  pushIndex: () => void,
  pushValues: readonly (() => void)[] = [],
): void {
  const { code, unit, launch, frame } = context;
  code.i32(unit.barrierSite(call.range, call.barrier));
  frame.pushRank();
  code.get(launch.block).i32(barrierFaults[fault]);
  pushIndex();
  for (const push of [...pushValues, () => void code.i64(0n), () => void code.i64(0n)].slice(0, 2)) push();
  code.call(unit.host('fault', 'barrier'));
  frame.fail();
}

/** Stops the thread if it has not made the barrier or there is none of that number; holds the number. */
export function withBarrierIndex(
  context: ThreadContext,
  call: BarrierUse,
  pushMade: BarrierPlace['pushMade'],
  use: (index: Local) => void,
): void {
  const { code, unit } = context;
  const count = unit.program.barriers[call.barrier]!.count ?? 1;
  if (pushMade !== null) {
    pushMade();
    code.op('i32.eqz').if(() => writeBarrierFault(context, call, 'notMade', () => void code.i32(0)));
  }
  code.withTemporary('i32', (index) => {
    const known = constantOf(call.index);
    if (known !== null && known >= 0 && known < count) {
      code.i32(known).set(index);
    } else {
      const wasm = unit.program.indexType;
      code.withTemporary(wasm, (given) => {
        pushExpression(context, call.index);
        code.tee(given);
        if (wasm === 'i64') code.i64(BigInt(count)).op('i64.ge_u');
        else code.i32(count).op('i32.ge_u');
        code.if(() =>
          writeBarrierFault(context, call, 'noSuchBarrier', () => void code.i32(0), [
            () => pushWide(context, given),
          ]),
        );
        code.get(given);
        if (wasm === 'i64') code.op('i32.wrap_i64');
        code.set(index);
      });
    }
    use(index);
  });
}

/** Finds the barrier that a call names, or stops the thread. */
export function withBarrier(
  context: ThreadContext,
  call: BarrierUse,
  { pushMade, pushBase }: BarrierPlace,
  use: (barrier: FoundBarrier) => void,
): void {
  const { code } = context;
  withBarrierIndex(context, call, pushMade, (index) => {
    code.withTemporary('i32', (address) => {
      pushBase();
      code.get(index).i32(barrierRecordBytes).op('i32.mul', 'i32.add').set(address);
      use({ index, address });
    });
  });
}

/** Pushes the token of an arrival in the current phase. */
export function pushToken({ code }: ThreadContext, { index, address }: FoundBarrier): void {
  code.get(index).op('i64.extend_i32_u').i64(32n).op('i64.shl');
  code
    .get(address)
    .memory('i32.load', barrierRecord.phase)
    .i32(1)
    .op('i32.add', 'i64.extend_i32_u', 'i64.or');
}

/** One thread arrives; the record counts down. */
export function writeArrival(context: ThreadContext, call: ArriveCall, place: BarrierPlace): void {
  const { code, unit, frame } = context;
  const { completes } = unit.program.barriers[call.barrier]!;
  withBarrier(context, call, place, (barrier) => {
    const { address } = barrier;
    code.withTemporaries((take) => {
      const count = take('i32');
      const pending = take('i32');
      const token = take('i64');
      writeCount(context, call, barrier, count, pending);
      pushToken(context, barrier);
      code.set(token);
      if (call.drop) {
        code.get(address).get(address).memory('i32.load', barrierRecord.expected).i32(1).op('i32.sub');
        code.memory('i32.store', barrierRecord.expected);
      }
      code.get(address).get(pending).get(count).op('i32.sub').memory('i32.store', barrierRecord.pending);
      code.get(pending).get(count).op('i32.eq');
      code.if(() => {
        if (completes)
          code
            .get(token)
            .i64(-(2n ** 63n))
            .op('i64.or')
            .set(token);
        else writeNextPhase(context, address);
      });
      const { result } = call;
      if (result !== null) frame.writeVariable(result, () => void code.get(token));
    });
  });
}

/** Holds how many arrivals a call counts as and how many the phase awaits, or stops the thread. */
function writeCount(
  context: ThreadContext,
  call: ArriveCall,
  { index, address }: FoundBarrier,
  count: Local,
  pending: Local,
): void {
  const { code, unit } = context;
  const wasm = unit.program.indexType;
  code.get(address).memory('i32.load', barrierRecord.pending).set(pending);
  code.withTemporary(wasm, (given) => {
    if (call.count === null) {
      if (wasm === 'i64') code.i64(1n).set(given);
      else code.i32(1).set(given);
    } else {
      pushExpression(context, call.count);
      code.set(given);
    }
    // From 1 to what is pending.
    code.get(given);
    if (wasm === 'i64') code.i64(1n).op('i64.sub').get(pending).op('i64.extend_i32_u', 'i64.ge_u');
    else code.i32(1).op('i32.sub').get(pending).op('i32.ge_u');
    code.if(() =>
      writeBarrierFault(context, call, 'wrongCount', () => void code.get(index), [
        () => pushWide(context, given),
        () => void code.get(pending).op('i64.extend_i32_u'),
      ]),
    );
    code.get(given);
    if (wasm === 'i64') code.op('i32.wrap_i64');
    code.set(count);
  });
}

/** The phase is over: the next awaits what is expected now. */
export function writeNextPhase({ code }: ThreadContext, address: Local): void {
  code.get(address).get(address).memory('i32.load', barrierRecord.phase).i32(1).op('i32.add');
  code.memory('i32.store', barrierRecord.phase);
  code.get(address).get(address).memory('i32.load', barrierRecord.expected);
  code.memory('i32.store', barrierRecord.pending);
}

/** Holds the phase that a wait is for, or stops the thread if it cannot be one to wait for. */
export function withAwaitedPhase(
  context: ThreadContext,
  call: BarrierWaitCall,
  { index, address }: FoundBarrier,
  use: (phase: Local) => void,
): void {
  const { code } = context;
  code.withTemporary('i32', (phase) => {
    const pushCurrent = () => void code.get(address).memory('i32.load', barrierRecord.phase);
    if (call.by === 'parity') {
      // The current phase if it has that parity, else the one before it.
      pushCurrent();
      pushCurrent();
      code.i32(1).op('i32.and');
      pushExpression(context, call.phase);
      code.op('i32.ne', 'i32.sub').set(phase);
    } else {
      code.withTemporary('i64', (token) => {
        const pushIndex = () => void code.get(index);
        pushExpression(context, call.phase);
        code.tee(token).op('i64.eqz');
        code.if(() => writeBarrierFault(context, call, 'noToken', pushIndex));
        const pushOther = () => void code.get(token).i64(32n).op('i64.shr_u').i64(0x7fffffffn).op('i64.and');
        pushOther();
        code.get(index).op('i64.extend_i32_u', 'i64.ne');
        code.if(() => writeBarrierFault(context, call, 'otherToken', pushIndex, [pushOther]));
        code.get(token).op('i32.wrap_i64').i32(1).op('i32.sub').set(phase);
        pushCurrent();
        code.get(phase).op('i32.sub').i32(1).op('i32.gt_s');
        code.if(() =>
          writeBarrierFault(context, call, 'staleToken', pushIndex, [
            () => void code.get(phase).op('i64.extend_i32_s'),
            () => {
              pushCurrent();
              code.op('i64.extend_i32_s');
            },
          ]),
        );
      });
    }
    use(phase);
  });
}

/** Pushes an index as an i64. */
function pushWide({ code, unit }: ThreadContext, local: Local): void {
  code.get(local);
  if (unit.program.indexType === 'i32') code.op('i64.extend_i32_s');
}
