// Words in which the threads of a block count, and the order that comes of it: `post` and `waitUntil`, compiled to
// steps.
//
// A word is a synchronisation object, whose phases the program names.

import type { Value } from '../../compiler/arithmetic.ts';
import type { ArrayReference } from '../../compiler/ir.ts';
import type { CoreCall, OperationOf as Of } from '../../compiler/ir-core.ts';
import { waitsForLanes } from '../lanes.ts';
import { waitsForCount } from '../waiting.ts';
import type { Block } from './block.ts';
import { arrayOf, compileExpression, compileIndex } from './expressions.ts';
import type { Grid } from './grid.ts';
import { updateElement } from './memory.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';
import type { Thread } from './thread.ts';

const words = new WeakMap<Block | Grid, Map<string, object>>();

/** What stands for a word of a block or grid where threads come one after the other. */
function wordOf({ block }: Thread, { id }: ArrayReference, index: number): object {
  const owner = block.launch.program.sharedArrays[id]!.ofGrid ? block.grid! : block;
  let owned = words.get(owner);
  if (owned === undefined) {
    owned = new Map();
    words.set(owner, owned);
  }
  const key = `${id} ${index}`;
  let word = owned.get(key);
  if (word === undefined) {
    word = {};
    owned.set(key, word);
  }
  return word;
}

/** A word that is set, and not added to, begins anew: nothing that was published there is known from it any more. */
export function beginAnew({ block }: Thread, { id }: ArrayReference, index: number): void {
  words.get(block)?.delete(`${id} ${index}`);
}

const sum = (old: Value, added: Value): Value => ((old as number) + (added as number)) | 0;

export function compilePost(
  program: ObservedProgram,
  operation: Of<'post'>,
  { range, result }: CoreCall,
): Step {
  const { array } = operation;
  const elements = arrayOf(array);
  const index = compileIndex(program, operation.index);
  const by = compileExpression(program, operation.by);
  const phase = operation.phase === null ? null : compileExpression(program, operation.phase);
  return effect((thread) => {
    const at = index(thread);
    if (phase !== null) {
      thread.observer?.arrived(thread, wordOf(thread, array, at), phase(thread) as number, range);
    }
    const added = by(thread);
    const before = updateElement(thread, elements(thread), at, sum, added, null, range);
    if (result !== null) thread.variables[result] = sum(before, added);
  });
}

export function compileWaitUntil(
  program: ObservedProgram,
  operation: Of<'waitUntil'>,
  { range, result }: CoreCall,
): Step {
  const { array, waits, waiting } = operation;
  const index = compileIndex(program, operation.index);
  const test = compileExpression(program, operation.test);
  const phase = compileExpression(program, operation.phase);
  const [place, arrived, expected, left] = [
    operation.place,
    operation.arrived,
    operation.expected,
    operation.left,
  ].map((each) => compileExpression(program, each) as (thread: Thread) => number);
  const awaitsGrid = waiting.group?.kind === 'grid';
  const lanesOf = (thread: Thread) =>
    waiting.byMask ? { meeting: waiting.operator ?? 'sync', named: expected!(thread) } : undefined;
  const describe = (thread: Thread) => {
    const lanes = lanesOf(thread);
    if (lanes !== undefined) {
      const progress = thread.block.progressOfLanes(thread, lanes);
      return waitsForLanes(lanes.meeting, place!(thread), { ...progress, named: lanes.named });
    }
    const progress = awaitsGrid
      ? thread.block.progressAtGrid
      : { arrived: arrived!(thread), expected: expected!(thread), left: left!(thread) };
    return waitsForCount(
      program,
      waiting,
      { place: place!(thread), phase: phase(thread) as number },
      progress,
    );
  };
  const learn = (thread: Thread) => {
    thread.observer?.waited(thread, wordOf(thread, array, index(thread)), phase(thread) as number, range);
  };
  if (!waits) {
    return effect((thread) => {
      const holds = test(thread);
      if (holds === true) learn(thread);
      thread.variables[result!] = holds;
    });
  }
  return {
    kind: 'wait',
    begin: (thread) => ({
      range,
      ready: () => test(thread) === true,
      describe: () => describe(thread),
      awaitsGrid,
      ...(waiting.byMask ? { lanes: lanesOf(thread)! } : {}),
    }),
    end: learn,
  };
}
