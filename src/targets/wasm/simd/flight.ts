// How many vectors of a group an engine can have under way: as many as it has registers for their values.

import type { Region, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import type { Loop } from '../../analysis/counters.ts';
import { analyseLiveness, has } from '../../analysis/liveness.ts';
import {
  assignedIn,
  expressionsOf,
  forEachOperand,
  forEachStatement,
  listsOf,
  readIn,
} from '../../analysis/walk.ts';
import { forEachAccess } from './accesses.ts';
import { mayGoInBursts } from './bursts.ts';
import type { Lanes } from './lanes.ts';
import { vectorsOf } from './pairs.ts';

/** Vector registers that an engine has to give, after what broadcast values take; with AVX-512 there are twice as many. */
const registers = { 1: 14, 2: 14, 4: 28 } as const;

/**
 * Chains of operations overlap better the more vectors there are, as long as their values stay in
 * registers. An engine may carry out all the loads of a loop's body before anything else, so each of them
 * counts like a variable; those of a loop inside it, or around it, are not there at the same time.
 */
export function mostVectors(lanes: Lanes, { body, loads }: Omit<Region, 'range'>): number {
  const inFlight = lanes.unit.does('flight');
  const ofAll = inFlight ? 0 : vectorsOfAll(lanes, new Set([...assignedIn(body), ...loads]));
  let values = 0;
  let loops = false;
  forEachStatement(body, (statement) => {
    if (statement.kind !== 'loop') return;
    loops = true;
    const held = inFlight ? vectorsOfAll(lanes, heldBy(lanes, statement)) : ofAll;
    values = Math.max(values, held + loadedIn(lanes, statement.body));
  });
  // One by one, four of a kind are enough to overlap.
  if (lanes.hasSeparate(body)) return 2;
  if (loops && inFlight) lanes.unit.tell('flight', `${values} values of a loop at a time`);
  if (loops) return registers[lanes.unit.registers] / Math.max(values, 1);
  return lanes.unit.does('halves') && hasNarrowAlone(lanes, body) ? 8 : 4;
}

/** Whether all that is accessed are elements of 8 and 16 bits, of which two vectors may be one (halves.ts). */
function hasNarrowAlone({ unit }: Lanes, body: readonly Statement[]): boolean {
  let alone = true;
  forEachAccess(body, ({ array }) => {
    alone &&= bytesOf(unit.elementOf(array)) < 4;
  });
  return alone;
}

/** Whether a loop's turns go in bursts where so many vectors are under way: whether there would not be as many else. */
export function goesInBursts(lanes: Lanes, loop: Loop, vectors: number): boolean {
  return mayGoInBursts(lanes, loop) && vectors > vectorsFor(lanes, carriedBy(loop));
}

/** The vectors of a group, of which an engine has registers for so many variables. */
function vectorsFor(lanes: Lanes, variables: Iterable<number>): number {
  const most = registers[lanes.unit.registers] / Math.max(vectorsOfAll(lanes, variables), 1);
  return [8, 4, 2].find((count) => count <= most) ?? 1;
}

/** What goes from one turn of a loop to the next, or into all of them. */
function carriedBy(loop: Loop): number[] {
  const { atStart } = analyseLiveness([loop], 0n);
  return [...readIn([loop])].filter((id) => has(atStart, id));
}

/** Of that what is in registers: bursts find in memory what their turns only read. */
function heldBy(lanes: Lanes, loop: Loop): number[] {
  const carried = carriedBy(loop);
  if (!mayGoInBursts(lanes, loop)) return carried;
  const assigned = assignedIn([loop]);
  return carried.filter((id) => assigned.has(id));
}

function vectorsOfAll(lanes: Lanes, variables: Iterable<number>): number {
  let count = 0;
  for (const id of variables) {
    if (lanes.varies(id)) count += vectorsOf(lanes.program.variables[id]!.type);
  }
  return count;
}

/** Vectors that a list loads for each of a group's, outside of the loops in it. */
function loadedIn(lanes: Lanes, list: readonly Statement[]): number {
  let count = 0;
  for (const statement of list) {
    if (statement.kind === 'loop') continue;
    for (const expression of expressionsOf(statement)) {
      forEachOperand(expression, (each) => {
        if (each.kind === 'load' && ['contiguous', 'strided'].includes(lanes.shapeOf(each)))
          count += vectorsOf(each.type);
      });
    }
    for (const inner of listsOf(statement)) count += loadedIn(lanes, inner);
  }
  return count;
}
