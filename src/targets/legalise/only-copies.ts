// Whether the copies of a pipeline are all that its edges have to order.
//
// A release orders everything before it before the acquires that it allows, and a commit before the
// waits for it: accesses of any memory, and what the thread has seen of others. A lowering may do
// with less only where no two accesses need the rest. That is so where two threads of a block meet
// nowhere but in the stages, which copies alone fill:
//
// - there is one pipeline, and no other object that threads wait at;
// - its copies read arrays that nobody writes (an argument that overlaps a written one is reported by
//   its alignment, which then counts for 8 at most);
// - at most one array that may be written is touched, and of it each thread has elements of its own;
// - so it is with shared arrays too, unless copies write them and threads only read them.

import type { ArrayReference, Program, Statement } from '../../compiler/ir.ts';
import { expressionsOf, forEachOperand, listsOf } from '../analysis/walk.ts';
import { forEachCall } from './calls.ts';
import { type Guard, type GuardedIndex, ownPlaces } from './own-places.ts';

/** What a program does with one array, copies apart. */
interface Uses {
  readonly array: ArrayReference;
  readonly accesses: GuardedIndex[];
  stores: boolean;
}

export function onlyCopiesMeet(program: Program, alignments: readonly number[]): boolean {
  if (program.pipelines.length !== 1 || program.barriers.length > 0 || program.views !== undefined)
    return false;
  const filled = new Set<number>();
  let only = true;
  const isUnwritten = (id: number) => {
    const parameter = program.parameters[id]!;
    return parameter.kind === 'array' && parameter.readonly && (alignments[id] ?? 1) >= 16;
  };
  forEachCall(program.body, (call) => {
    if (call.intrinsic === 'atomic' && call.array.space !== 'local') only = false;
    if (call.intrinsic !== 'memcpyAsync') return;
    const { source, destination } = call;
    only &&= source.array.space === 'global' && isUnwritten(source.array.id);
    only &&= destination.array.space === 'shared';
    filled.add(destination.array.id);
  });
  if (!only) return false;

  let own: ReturnType<typeof ownPlaces> | undefined;
  let written = 0;
  for (const { array, accesses, stores } of usesOf(program)) {
    if (array.space === 'global' && isUnwritten(array.id)) continue;
    if (array.space === 'global' && ++written > 1) return false;
    if (array.space === 'shared' && filled.has(array.id)) {
      if (stores) return false;
      continue;
    }
    own ??= ownPlaces(program);
    if (!own(accesses)) return false;
  }
  return true;
}

/** The global and shared arrays that threads load from and store to. */
function usesOf(program: Program): readonly Uses[] {
  const uses = new Map<string, Uses>();
  const of = (array: ArrayReference) => {
    const key = `${array.space} ${array.id}`;
    const known = uses.get(key) ?? { array, accesses: [], stores: false };
    uses.set(key, known);
    return known;
  };
  const visit = (statements: readonly Statement[], guards: readonly Guard[]): void => {
    for (const statement of statements) {
      for (const expression of expressionsOf(statement)) {
        forEachOperand(expression, (each) => {
          if (each.kind === 'load') of(each.array).accesses.push({ index: each.index, guards });
        });
      }
      if (statement.kind === 'store') {
        const stored = of(statement.array);
        stored.accesses.push({ index: statement.index, guards });
        stored.stores = true;
      }
      if (statement.kind === 'if') {
        visit(statement.then, [...guards, { test: statement.test, holds: true }]);
        visit(statement.otherwise, [...guards, { test: statement.test, holds: false }]);
      } else for (const list of listsOf(statement)) visit(list, guards);
    }
  };
  visit(program.body, []);
  return [...uses.values()].filter(({ array }) => array.space !== 'local');
}
