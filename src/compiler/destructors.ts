// What the destructors of pipelines do: a thread quits a pipeline that it has made and not quit itself.
//
// Whether it has is mostly known. Where a destructor finds no pipeline it is left out, where it finds one for sure
// it is a plain quit, and where it depends on the thread's way a variable says so. At the thread's end nothing is
// left to do unless somebody asks who is the last to quit: returning leaves a pipeline too.

import { constant, variable } from './build.ts';
import type { Statement, Variable } from './ir.ts';
import type { Quit, Scopes } from './scopes.ts';

/** Bits of what a thread may have at a point: nothing, or the pipeline. None: the point is never reached. */
const nothing = 1;
const held = 2;

/** What becomes of a destructor. */
type Outcome = 'dropped' | 'plain' | 'guarded';

/** The body with the destructors that do something; variables are added where needed. */
export function withDestructors(
  body: readonly Statement[],
  { destructors, asked }: Pick<Scopes, 'destructors' | 'asked'>,
  variables: Variable[],
): readonly Statement[] {
  const last = body.findLastIndex((one) => !isDestructor(one, destructors));
  const atEnd = new Set(body.slice(last + 1));
  const isNeeded = (quit: Quit) => destructors.get(quit) === 'inside' && !atEnd.has(quit);
  const needed = [...destructors.keys()].filter((quit) => isNeeded(quit) || asked.has(quit.pipeline));
  const found = new Map<Statement, number>();
  for (const pipeline of new Set(needed.map(({ pipeline }) => pipeline))) {
    new Ways(pipeline, destructors, found).list(body, nothing);
  }
  const outcomes = new Map<Statement, Outcome>();
  for (const quit of destructors.keys()) outcomes.set(quit, 'dropped');
  const flags = new Map<number, number>();
  for (const quit of needed) {
    const before = found.get(quit) ?? 0;
    if ((before & held) === 0) continue;
    outcomes.set(quit, before === held ? 'plain' : 'guarded');
    if (before === held || flags.has(quit.pipeline)) continue;
    flags.set(quit.pipeline, variables.push({ name: 'held', type: 'bool' }) - 1);
  }
  return rewrite(body, outcomes, flags);
}

function rewrite(
  statements: readonly Statement[],
  outcomes: ReadonlyMap<Statement, Outcome>,
  flags: ReadonlyMap<number, number>,
): readonly Statement[] {
  const inner = (list: readonly Statement[]) => rewrite(list, outcomes, flags);
  return statements.flatMap((one): readonly Statement[] => {
    switch (one.kind) {
      case 'if':
        return [{ ...one, then: inner(one.then), otherwise: inner(one.otherwise) }];
      case 'loop':
        return [{ ...one, body: inner(one.body), update: inner(one.update) }];
      case 'block':
        return [{ ...one, body: inner(one.body) }];
      case 'call': {
        const outcome = outcomes.get(one);
        if (outcome === 'dropped') return [];
        if (one.intrinsic !== 'quit' && one.intrinsic !== 'makePipeline') return [one];
        const flag = flags.get(one.pipeline);
        if (flag === undefined) return [one];
        const { range } = one;
        const now = constant('bool', one.intrinsic === 'makePipeline', range);
        const both: Statement[] = [one, { kind: 'assign', variable: flag, value: now, range }];
        if (outcome !== 'guarded') return both;
        return [{ kind: 'if', test: variable(flag, 'bool', range), then: both, otherwise: [], range }];
      }
      default:
        return [one];
    }
  });
}

/** The ways of a thread through a program: with which of the two it may come to each destructor of a pipeline. */
class Ways {
  readonly #pipeline: number;
  readonly #destructors: Scopes['destructors'];
  readonly #found: Map<Statement, number>;
  readonly #breaks = new Map<number, number>();
  readonly #continues = new Map<number, number>();

  constructor(pipeline: number, destructors: Scopes['destructors'], found: Map<Statement, number>) {
    this.#pipeline = pipeline;
    this.#destructors = destructors;
    this.#found = found;
  }

  /** What it may have after a list, of what it may have before it. */
  list(statements: readonly Statement[], before: number): number {
    return statements.reduce((at, one) => (at === 0 ? 0 : this.#statement(one, at)), before);
  }

  #statement(one: Statement, before: number): number {
    switch (one.kind) {
      case 'if':
        return this.list(one.then, before) | this.list(one.otherwise, before);
      case 'loop':
        return this.#loop(one, before);
      case 'block':
        return this.list(one.body, before) | (this.#breaks.get(one.label) ?? 0);
      case 'break':
        this.#breaks.set(one.label, (this.#breaks.get(one.label) ?? 0) | before);
        return 0;
      case 'continue':
        this.#continues.set(one.label, (this.#continues.get(one.label) ?? 0) | before);
        return 0;
      case 'return':
        return 0;
      case 'call':
        if (!('pipeline' in one) || one.pipeline !== this.#pipeline) return before;
        if (one.intrinsic === 'makePipeline') return held;
        if (one.intrinsic !== 'quit') return before;
        if (isDestructor(one, this.#destructors)) this.#found.set(one, (this.#found.get(one) ?? 0) | before);
        return nothing;
      default:
        return before;
    }
  }

  #loop(
    { label, test, testFirst, body, update }: Extract<Statement, { kind: 'loop' }>,
    before: number,
  ): number {
    let atStart = before;
    for (;;) {
      const atEnd = this.list(body, atStart) | (this.#continues.get(label) ?? 0);
      const again = this.list(update, atEnd) | atStart;
      if (again === atStart) {
        const tested = testFirst ? atStart : this.list(update, atEnd);
        return (test === null ? 0 : tested) | (this.#breaks.get(label) ?? 0);
      }
      atStart = again;
    }
  }
}

function isDestructor(statement: Statement, destructors: Scopes['destructors']): statement is Quit {
  return statement.kind === 'call' && statement.intrinsic === 'quit' && destructors.has(statement);
}
