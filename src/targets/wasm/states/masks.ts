// Lanes of a warp that find each other by masks: `syncwarp(mask)` and all that lanes exchange
// under a mask.
//
// A thread that comes notes the lanes that it names in its word of the meeting, and waits until
// the word is 0. Whoever comes last, or returns, finds all lanes of a mask there with that same
// mask, and clears their words. A lane that has returned is not waited for.

import type { Call, Expression, Group } from '../../../compiler/ir.ts';
import { warpSize } from '../../lanes.ts';
import { Code, type FunctionReference, type Local } from '../encoder/code.ts';
import type { GroupThreads } from './cohort.ts';
import type { SyncCall } from './layout.ts';
import type { CohortState, CohortWriter } from './writer.ts';

/** A sync of lanes that a mask names. Before it each thread has put its mask into the array that `mask` reads. */
export function isByMask(call: Call): call is SyncCall & { readonly mask: Expression } {
  return call.intrinsic === 'sync' && call.mask !== undefined;
}

const single: Group = { kind: 'thread' };

/** All threads of the cohort come. */
export function writeArrivalByMask(writer: CohortWriter, call: SyncCall): void {
  const { code, launch, layout, cohort } = writer;
  const { mask } = call;
  if (mask?.kind !== 'load') throw new TypeError('the masks of threads do not lie in an array');
  const waiting = layout.lanes(call).offset;
  const settle = settleFunction(writer);
  cohort.forEachThread((rank) => {
    const { index } = cohort.groupOf(rank, single);
    pushWord(writer, waiting, index);
    code.get(launch.address(mask.array));
    index();
    code.i32(2).op('i32.shl', 'i32.add').memory('i32.load').memory('i32.store');
  });
  cohort.forEachThread((rank) => {
    code.get(launch.scratch()).i32(waiting);
    cohort.groupOf(rank, single).index();
    code.call(settle);
  });
}

/** All threads of the cohort return: whoever waited for them alone may go on. */
export function writeReturnByMask(writer: CohortWriter, returned: number): void {
  const { code, launch, layout, cohort } = writer;
  const { threadsOfBlock } = writer.unit;
  const settle = settleFunction(writer);
  cohort.forEachThread((rank) => {
    pushWord(writer, returned, cohort.groupOf(rank, single).index);
    code.i32(1).memory('i32.store');
  });
  cohort.forEachThread((rank) => {
    code.withTemporaries((take) => {
      const lane = take('i32');
      const end = take('i32');
      cohort.groupOf(rank, single).index();
      code.i32(-warpSize).op('i32.and').tee(lane).i32(warpSize).op('i32.add').set(end);
      code.loop((next) => {
        code.get(lane).i32(threadsOfBlock).op('i32.lt_u');
        code.if(() => {
          for (const { offset } of layout.laneMeetings) {
            code.get(launch.scratch()).i32(offset).get(lane).call(settle);
          }
        });
        code.get(lane).i32(1).op('i32.add').tee(lane).get(end).op('i32.ne').brIf(next);
      });
    });
  });
}

/** Pushes whether nobody keeps a thread waiting. */
export function pushReadyByMask(state: CohortState, call: SyncCall, threads: GroupThreads): void {
  pushWord(state, state.layout.lanes(call).offset, threads.index);
  state.code.memory('i32.load').op('i32.eqz');
}

/** Pushes what a thread waits for: its warp, and as bits the lanes that are there, are named, have returned. */
export function pushProgressByMask(state: CohortState, call: SyncCall, threads: GroupThreads): void {
  const { code, launch } = state;
  const { offset } = state.layout.lanes(call);
  threads.index();
  code.i32(warpSize).op('i32.div_u');
  const push = (which: Which) => {
    code.get(launch.scratch()).i32(offset);
    threads.index();
    code.call(lanesFunction(state, which));
  };
  push('arrived');
  pushWord(state, offset, threads.index);
  code.memory('i32.load');
  push('returned');
}

/** Pushes the address of a thread's word. */
function pushWord({ code, launch }: CohortState, offset: number, pushRank: () => void): void {
  code.get(launch.scratch());
  pushRank();
  code.i32(2).op('i32.shl', 'i32.add').i32(offset).op('i32.add');
}

type Which = 'arrived' | 'returned';

/** `arrived` or `returned(scratch, waiting, rank)`: the lanes of a thread's warp that wait with its mask, or have returned. */
function lanesFunction({ unit, layout }: CohortState, which: Which): FunctionReference {
  return unit.ownFunction(`lanes ${which}`, () => {
    const code = new Code(parameters);
    const [scratch, waiting, rank] = [0, 1, 2];
    const [mask, lanes] = ['mask', 'lanes'].map((name) => code.local('i32', name)) as [Local, Local];
    const word = (offset: () => void, at: Local) => {
      code.get(scratch).get(at).i32(2).op('i32.shl', 'i32.add');
      offset();
      code.op('i32.add').memory('i32.load');
    };
    word(() => void code.get(waiting), rank);
    code.set(mask);
    forEachLane(code, rank, unit.threadsOfBlock, (lane) => {
      if (which === 'arrived') {
        word(() => void code.get(waiting), lane);
        code.get(mask).op('i32.eq');
      } else {
        word(() => void code.i32(layout.returned!), lane);
      }
      code.get(lane).op('i32.shl').get(lanes).op('i32.or').set(lanes);
    });
    code.get(lanes);
    return unit.module.function(`lanes ${which}`, code, ['i32', 'i32', 'i32'], ['i32']);
  });
}

/** `settle(scratch, waiting, rank)`: if all that a waiting thread names are there, none of them waits any more. */
function settleFunction(state: CohortState): FunctionReference {
  const { unit } = state;
  return unit.ownFunction('settle', () => {
    const arrived = lanesFunction(state, 'arrived');
    const returned = lanesFunction(state, 'returned');
    const code = new Code(parameters);
    const [scratch, waiting, rank] = [0, 1, 2];
    const mask = code.local('i32', 'mask');
    code.get(scratch).get(rank).i32(2).op('i32.shl', 'i32.add').get(waiting).op('i32.add');
    code.memory('i32.load').tee(mask).op('i32.eqz');
    code.if(() => void code.op('return'));
    for (const lanes of [arrived, returned]) code.get(scratch).get(waiting).get(rank).call(lanes);
    code.op('i32.or').i32(-1).op('i32.xor').get(mask).op('i32.and');
    code.if(() => void code.op('return'));
    forEachLane(code, rank, unit.threadsOfBlock, (lane) => {
      code.get(mask).get(lane).op('i32.shr_u').i32(1).op('i32.and');
      code.if(() => {
        code.get(scratch).get(lane).i32(2).op('i32.shl', 'i32.add').get(waiting).op('i32.add');
        code.i32(0).memory('i32.store');
      });
    });
    return unit.module.function('settle', code, ['i32', 'i32', 'i32'], []);
  });
}

const parameters = ['scratch', 'waiting', 'rank'].map((name) => ({ name, type: 'i32' as const }));

/** Writes what is done for the rank of each lane of a thread's warp. Shifts by a rank are shifts by its lane. */
function forEachLane(code: Code, rank: Local, threads: number, write: (lane: Local) => void): void {
  const lane = code.local('i32', 'lane');
  const end = code.local('i32', 'end');
  code.get(rank).i32(-warpSize).op('i32.and').tee(lane).i32(warpSize).op('i32.add').set(end);
  code.block((done) => {
    code.loop((next) => {
      code.get(lane).i32(threads).op('i32.ge_u').brIf(done);
      write(lane);
      code.get(lane).i32(1).op('i32.add').tee(lane).get(end).op('i32.ne').brIf(next);
    });
  });
}
