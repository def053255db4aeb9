// Whether those who wait for a pipeline's stages come to as many as one thread commits, where producers and consumers
// are written apart (roles.ts).
//
// Both parts are read as sums: so many stages, times the turns of the loops around them. A loop's turns are told by where
// its counter begins, by its step and by its limit, which are the same in both parts where they are written alike. A part
// that is told otherwise, or that a thread may leave on its way, is not known.

import type { Statement } from '../../compiler/ir.ts';
import { conjunctsOf, counterOf, isInvariant, type Loop } from '../analysis/counters.ts';
import { constantOf } from '../analysis/elements.ts';
import { keyOf } from '../analysis/expression-key.ts';
import { anyStatement, assignedIn, leaves } from '../analysis/walk.ts';
import { stageStepOf } from './verbs.ts';

type Part = readonly Statement[];

/** How many stages, by the turns of the loops that they stand in. */
type Stages = ReadonlyMap<string, number>;

/** Whether consumers wait for each stage that is committed, and nothing is copied beside these; `before` comes before both. */
export function waitsForAll(copier: Part, consumers: Part, before: Part): boolean {
  const assigned = assignedIn([...copier, ...consumers]);
  const committed = new Counting('commit', assigned).of(copier, before);
  const awaited = new Counting('wait', assigned).of(consumers, before);
  if (committed === null || awaited === null || committed.size !== awaited.size) return false;
  return [...committed].every(([turns, count]) => awaited.get(turns) === count);
}

class Counting {
  readonly #step: 'commit' | 'wait';
  readonly #assigned: ReadonlySet<number>;

  constructor(step: 'commit' | 'wait', assigned: ReadonlySet<number>) {
    this.#step = step;
    this.#assigned = assigned;
  }

  /** The stages of a list, with what comes before it; null where they are not known. */
  of(list: Part, before: Part): Stages | null {
    if (leaves(list)) return null;
    const stages = new Map<string, number>();
    let isOpen = false;
    for (const [at, statement] of list.entries()) {
      const step = stepOf(statement);
      if (step === 'copy') isOpen = true;
      if (step === 'commit') isOpen = false;
      let some: Stages | null = new Map();
      if (step === this.#step) some = new Map([['', 1]]);
      else if (step === null && anyStatement([statement], (each) => isCounted(stepOf(each)))) {
        if (statement.kind !== 'loop') return null;
        some = this.#turns(statement, [...before, ...list.slice(0, at)]);
      }
      if (some === null) return null;
      for (const [turns, count] of some) stages.set(turns, (stages.get(turns) ?? 0) + count);
    }
    return isOpen ? null : stages;
  }

  /** The stages of all turns of a loop. */
  #turns(loop: Loop, before: Part): Stages | null {
    const counter = counterOf(loop, before);
    if (counter === null || counter.init === null) return null;
    const { init, step, operator, limit } = counter;
    if (
      conjunctsOf(loop.test!).length > 1 ||
      constantOf(init) === null ||
      !isInvariant(limit, this.#assigned)
    )
      return null;
    const of = this.of([...loop.body, ...loop.update], []);
    const turns = `${keyOf(init)} ${step} ${operator} ${keyOf(limit)};`;
    return of && new Map([...of].map(([inner, count]) => [turns + inner, count]));
  }
}

function stepOf(statement: Statement) {
  return statement.kind === 'call' ? stageStepOf(statement) : null;
}

function isCounted(step: ReturnType<typeof stepOf>): boolean {
  return step === 'copy' || step === 'commit' || step === 'wait';
}
