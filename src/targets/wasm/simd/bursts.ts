// Loops that lanes leave one by one, several turns of which go between two tests whether any lane is still there.
//
// A lane that has left a loop takes part without effect, so nothing is lost but time if a loop goes on for some turns with no lane
// in it. That holds where turns do nothing but compute: what they read was read before, and nothing in them fails. (What all
// lanes share has no mask, but is not read behind a loop that they leave one by one: uniformity.ts.) A burst goes through its turns vector by vector where it can, so that an
// engine has the values of few vectors to keep in registers at a time, and finds what turns only read in memory. So there may
// be more vectors, whose chains of operations overlap; where there are not, nothing is gained. The first turns go one by one, so that
// loops with few turns have none in vain.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import type { Loop } from '../../analysis/counters.ts';
import { mayFail } from '../../analysis/failing.ts';
import {
  anyExpression,
  anyStatement,
  assignedIn,
  expressionsOf,
  forEachExpression,
  forEachStatement,
  leaves,
  readBy,
} from '../../analysis/walk.ts';
import type { Code, Label, Local } from '../encoder/code.ts';
import type { Lanes } from './lanes.ts';

/** Turns of a burst: a power of two. */
const turnsOfBurst = 4;
/** Turns that go one by one before them, at least. */
const turnsBefore = 8;
/** Operations of a turn beyond which a test is little beside them. */
const mostOperations = 48;

const computes: ReadonlySet<Statement['kind']> = new Set(['assign', 'if', 'block', 'break', 'continue']);

/** Whether a loop may go in bursts: whether lanes leave it one by one, and it does nothing but compute, and little enough. */
export function mayGoInBursts(lanes: Lanes, loop: Loop): boolean {
  const { unit } = lanes;
  if (!unit.does('bursts') || unit.forProcessor || lanes.modeOf(loop) !== 'masked' || leaves([loop]))
    return false;
  if (anyStatement([...loop.body, ...loop.update], ({ kind }) => !computes.has(kind))) return false;
  if (anyExpression([loop], (each) => each.kind === 'load' || (each.kind === 'binary' && mayFail(each))))
    return false;
  let operations = 0;
  forEachExpression([loop], ({ kind }) => {
    if (kind !== 'variable' && kind !== 'constant') operations += 1;
  });
  return operations <= mostOperations;
}

/** Whether vectors can go through such a turn one after the other: nothing in it, nor its test, reads what is assigned for all. */
export function goesByVector(lanes: Lanes, { body, update }: Loop, test: Expression | null): boolean {
  const read = test === null ? new Set<number>() : readBy(test);
  forEachStatement([...body, ...update], (statement) => {
    const own = statement.kind === 'assign' ? statement.variable : null;
    for (const id of readBy(...expressionsOf(statement))) if (id !== own) read.add(id);
  });
  return [...assignedIn([...body, ...update])].every((id) => lanes.varies(id) || !read.has(id));
}

/** What a loop is made of. */
export interface BurstParts {
  /** How many turns there are at most; null where that is not counted. */
  readonly left: Local | null;
  /** Writes a turn that goes to the label if no lane is there for it. */
  readonly writeTurn: (exit: Label) => void;
  /** Writes a turn that does not ask whether any lane is left. */
  readonly writeTurnOfBurst: () => void;
  /** Pushes whether any lane is left. */
  readonly pushAny: () => void;
}

/** Writes a loop whose turns go one by one at first, and then in bursts. */
export function writeInBursts(code: Code, { left, writeTurn, writeTurnOfBurst, pushAny }: BurstParts): void {
  const single = code.local('i32', 'single');
  code.i32(turnsBefore);
  if (left !== null) {
    // So many that what is left are whole bursts; or all of them.
    code
      .get(left)
      .i32(turnsBefore)
      .op('i32.sub')
      .i32(turnsOfBurst - 1)
      .op('i32.and', 'i32.add');
    code.get(left).get(left).i32(turnsBefore).op('i32.gt_u', 'select');
    code.set(single).get(left).get(single).op('i32.sub').set(left);
  } else code.set(single);
  code.block((exit) => {
    code.block((spent) => {
      code.loop((top) => {
        writeCount(code, single, 1, spent);
        writeTurn(exit);
        code.br(top);
      });
    });
    code.loop((top) => {
      if (left !== null) writeCount(code, left, turnsOfBurst, exit);
      for (let turn = 0; turn < turnsOfBurst; turn += 1) writeTurnOfBurst();
      pushAny();
      code.brIf(top);
    });
  });
}

/** Takes turns off a count; goes to the label where none is left. */
export function writeCount(code: Code, left: Local, turns: number, none: Label): void {
  code.get(left).op('i32.eqz').brIf(none);
  code.get(left).i32(turns).op('i32.sub').set(left);
}
