// What variables hold wherever a program comes: facts (values.ts) carried through its statements.
//
// Ways that come together are joined; a test that was passed is remembered of the variables in it. The facts
// at the head of a loop grow until another turn adds nothing, by `steps` after the first turns; one more turn
// then takes back what the steps were too long. So what is known at a statement holds whenever a thread comes
// there, whatever it is called by and however the program was written.
//
// Facts are of one thread by itself: what other threads do changes memory, of which nothing but the type of
// an element is known, and no variables. In a program as regions a variable may also hold what another region
// left, in another turn or thread: of those that a region assigns nothing is known around it. Nothing at all is
// known of the variables of a program as cohorts, whose way is not that of its text.

import { zeroOf } from '../../compiler/arithmetic.ts';
import {
  type Expression,
  narrowIndexLimit,
  type Program,
  type Statement,
  type Variable,
} from '../../compiler/ir.ts';
import { isInteger } from '../../compiler/number-types.ts';
import { boundsAfter, type Compare, undone } from './comparisons.ts';
import { constantOf } from './elements.ts';
import {
  type Bounds,
  boundsOf,
  clipped,
  exactLimit,
  exactly,
  type Fact,
  isSame,
  join,
  unknown,
} from './values.ts';
import { assignedBy, assignedIn, expressionsOf, forEachOperand, forEachStatement, readBy } from './walk.ts';

type Loop = Extract<Statement, { kind: 'loop' }>;

/** What each variable holds. */
type State = Fact[];

/** What an expression gives where variables hold so much. */
export type Evaluate = (expression: Expression, ofVariable: (id: number) => Fact) => Fact;

/** What was found when a statement was last come to. The same follows from it as long as it stays the same. */
interface Visit {
  /** The variables that the statement's own expressions read, and what held of them. */
  readonly variables: readonly number[];
  readonly facts: Fact[];
  /** What it gave a variable. */
  assigned: Fact | null;
  /** What holds of the variables where its test failed, and where it held: null where it cannot. */
  readonly passed: [Passed, Passed];
}

type Passed = readonly Fact[] | null | undefined;

/** Turns in which the facts at the head of a loop grow as they come. */
const patience = 1;
/** Where bounds that go on growing stop. Above the limit of a narrow index there is room for what is added to one. */
const steps = [0, narrowIndexLimit, narrowIndexLimit + 2 ** 15, 2 ** 31 - 1, 2 ** 32 - 1, exactLimit];

/** Those, and where a product in a test begins to wrap. */
function stepsOf(body: readonly Statement[]): readonly number[] {
  const factors = new Set<number>();
  forEachStatement(body, (statement) => {
    if (statement.kind !== 'if' && statement.kind !== 'loop') return;
    for (const test of expressionsOf(statement)) {
      forEachOperand(test, (each) => {
        if (each.kind !== 'binary' || each.operator !== 'multiply') return;
        const factor = constantOf(each.right);
        if (factor !== null && factor > 1) factors.add(factor);
      });
    }
  });
  return [...steps, ...[...factors].map((factor) => Math.floor((2 ** 31 - 1) / factor))].sort(
    (a, b) => a - b,
  );
}

export class Flow {
  readonly #given: Evaluate;
  readonly #variables: readonly Variable[];
  readonly #steps: readonly number[];
  readonly #visits = new Map<Statement, Visit>();
  /** What held at the head of a loop when it was last gone through: a later round around it starts there. */
  readonly #heads = new Map<Loop, State>();
  /** What holds where `break` and `continue` go, by label. */
  readonly #breaks = new Map<number, State | null>();
  readonly #continues = new Map<number, State | null>();
  /** Of each variable, what holds wherever it is read. */
  readonly anywhere: readonly Fact[];

  constructor({ body, variables, cohorts }: Program, evaluate: Evaluate) {
    this.#given = evaluate;
    this.#variables = variables;
    this.#steps = stepsOf(body);
    const ofAll = ({ type }: Variable) => (cohorts ? unknown(type) : exactly(type, zeroOf(type)));
    const anywhere = variables.map(ofAll);
    this.#list(body, [...anywhere]);
    for (const [statement, { assigned }] of this.#visits) {
      const variable = assignedBy(statement);
      if (variable !== null && assigned !== null) anywhere[variable] = join(anywhere[variable]!, assigned);
    }
    this.anywhere = anywhere;
  }

  /** What variables hold where the expressions of a statement are evaluated. */
  at(statement: Statement): (variable: number) => Fact {
    const visit = this.#visits.get(statement);
    return (variable) => visit?.facts[visit.variables.indexOf(variable)] ?? this.anywhere[variable]!;
  }

  #evaluate(expression: Expression, state: State): Fact {
    return this.#given(expression, (id) => state[id]!);
  }

  /** Goes through statements, changing the state; null where they do not end by themselves. */
  #list(statements: readonly Statement[], before: State | null): State | null {
    let state = before;
    for (const statement of statements) {
      if (state === null) return null;
      state = this.#statement(statement, state);
    }
    return state;
  }

  #statement(statement: Statement, state: State): State | null {
    if (statement.kind === 'loop') return this.#loop(statement, state);
    const visit = this.#visit(statement, state);
    switch (statement.kind) {
      case 'if': {
        const then = this.#list(statement.then, this.#tested(visit, statement.test, true, [...state]));
        return either(
          then,
          this.#list(statement.otherwise, this.#tested(visit, statement.test, false, state)),
        );
      }
      case 'block':
        this.#breaks.set(statement.label, null);
        return either(this.#list(statement.body, state), this.#breaks.get(statement.label)!);
      case 'region':
        for (const id of assignedIn(statement.body)) state[id] = unknown(this.#variables[id]!.type);
        this.#list(statement.body, [...state]);
        return state;
      case 'break':
      case 'continue': {
        const ways = statement.kind === 'break' ? this.#breaks : this.#continues;
        ways.set(statement.label, either(ways.get(statement.label)!, state));
        return null;
      }
      case 'return':
        return null;
      default: {
        const variable = assignedBy(statement);
        if (variable === null) return state;
        visit.assigned ??=
          statement.kind === 'assign'
            ? this.#evaluate(statement.value, state)
            : unknown(this.#variables[variable]!.type);
        state[variable] = visit.assigned;
        return state;
      }
    }
  }

  #loop(loop: Loop, entry: State): State | null {
    const known = this.#heads.get(loop);
    let head = either(known ?? null, [...entry])!;
    let isTooLong = known !== undefined;
    for (let turn = 0; ; turn += 1) {
      const { back, after } = this.#turn(loop, [...head]);
      const next = either(back, [...entry])!;
      if (covers(head, next)) {
        this.#heads.set(loop, head);
        return isTooLong && !covers(next, head) ? this.#turn(loop, next).after : after;
      }
      const grown = either(head, next)!;
      isTooLong ||= turn >= patience;
      head = turn < patience ? grown : grown.map((fact, id) => this.#stepped(head[id]!, fact, id));
    }
  }

  /** One turn of a loop from its head: what holds when it comes back there, and when it is left. */
  #turn(loop: Loop, head: State): { readonly back: State | null; readonly after: State | null } {
    const { label, test, testFirst, body, update } = loop;
    this.#breaks.set(label, null);
    this.#continues.set(label, null);
    let left: State | null = null;
    const tested = (state: State | null): State | null => {
      if (state === null) return null;
      const visit = this.#visit(loop, state);
      if (test === null) return state;
      left = this.#tested(visit, test, false, [...state]);
      return this.#tested(visit, test, true, state);
    };
    const ended = this.#list(body, testFirst ? tested(head) : head);
    const updated = this.#list(update, either(ended, this.#continues.get(label)!));
    const back = testFirst ? updated : tested(updated);
    return { back, after: either(left, this.#breaks.get(label)!) };
  }

  /** A fact that grows, with the bounds that grew at the next step. */
  #stepped(before: Fact, after: Fact, variable: number): Fact {
    const { type } = this.#variables[variable]!;
    if (!isInteger(type) || (after.least === before.least && after.most === before.most)) return after;
    const all = unknown(type);
    const most = after.most === before.most ? after.most : this.#steps.find((step) => step >= after.most);
    const least =
      after.least === before.least ? after.least : this.#steps.find((step) => step >= -after.least);
    return {
      ...after,
      value: null,
      least:
        least === after.least ? least : Math.max(all.least, least === undefined ? all.least : -least - 1),
      most: Math.min(all.most, most ?? all.most),
    };
  }

  /** Notes what holds where a statement's own expressions are evaluated. */
  #visit(statement: Statement, state: State): Visit {
    let visit = this.#visits.get(statement);
    if (visit === undefined) {
      const variables = [...readBy(...expressionsOf(statement))];
      visit = {
        variables,
        facts: variables.map((id) => state[id]!),
        assigned: null,
        passed: [undefined, undefined],
      };
      this.#visits.set(statement, visit);
      return visit;
    }
    const { variables, facts } = visit;
    for (let i = 0; i < facts.length; i += 1) {
      const fact = state[variables[i]!]!;
      if (facts[i] === fact) continue;
      facts[i] = fact;
      visit.assigned = null;
      visit.passed[0] = visit.passed[1] = undefined;
    }
    return visit;
  }

  /** The state, which it changes, where a statement's test ended so; null where it cannot. */
  #tested({ variables, passed }: Visit, test: Expression, holds: boolean, state: State): State | null {
    const known = passed[holds ? 1 : 0];
    if (known === undefined) {
      const after = this.#passed(test, holds, state);
      passed[holds ? 1 : 0] = after && variables.map((id) => after[id]!);
      return after;
    }
    if (known === null) return null;
    for (let i = 0; i < known.length; i += 1) state[variables[i]!] = known[i]!;
    return state;
  }

  /** The state, which it changes, with what follows from a test; null where the test cannot end so. */
  #passed(test: Expression, holds: boolean, state: State): State | null {
    switch (test.kind) {
      case 'constant':
        return test.value === holds ? state : null;
      case 'variable': {
        const { value } = state[test.id]!;
        state[test.id] = exactly('bool', holds);
        return value === !holds ? null : state;
      }
      case 'unary':
        return test.operator === 'not' ? this.#passed(test.operand, !holds, state) : state;
      case 'conditional': {
        const then = this.#passed(test.test, true, [...state]);
        const otherwise = this.#passed(test.test, false, state);
        return either(
          then && this.#passed(test.then, holds, then),
          otherwise && this.#passed(test.otherwise, holds, otherwise),
        );
      }
      case 'binary': {
        const { operator, left, right } = test;
        if (operator !== 'and' && operator !== 'or') return state;
        if (holds === (operator === 'and')) {
          const first = this.#passed(left, holds, state);
          return first && this.#passed(right, holds, first);
        }
        return either(this.#passed(left, holds, [...state]), this.#passed(right, holds, state));
      }
      case 'compare':
        return isInteger(test.left.type) ? this.#compared(test, holds, state) : state;
      default:
        return state;
    }
  }

  #compared(test: Compare, holds: boolean, state: State): State | null {
    const { left, right } = test;
    const [a, b] = [this.#evaluate(left, state), this.#evaluate(right, state)];
    const [ofLeft, ofRight] = boundsAfter(test, holds, a, b);
    if (!this.#clip(left, a, ofLeft, state)) return null;
    return this.#clip(right, this.#evaluate(right, state), ofRight, state) ? state : null;
  }

  /** Remembers that an integer, of which a fact is known, lies between bounds; whether that can be. */
  #clip(expression: Expression, known: Fact, bounds: Bounds, state: State): boolean {
    const fact = clipped(known, expression.type, bounds);
    // Bounds that say nothing new of an expression say nothing new of what it is made of.
    if (fact === null || fact === known) return fact !== null;
    switch (expression.kind) {
      case 'variable':
        state[expression.id] = fact;
        return true;
      case 'convert': {
        const { operand } = expression;
        if (expression.format !== undefined) return true;
        // The same number in another type.
        const given = this.#evaluate(operand, state);
        const all = unknown(expression.type);
        const keeps = isInteger(operand.type) && given.least >= all.least && given.most <= all.most;
        return keeps ? this.#clip(operand, given, bounds, state) : true;
      }
      case 'binary': {
        const { operator, left, right, type } = expression;
        if (operator !== 'add' && operator !== 'subtract' && operator !== 'multiply') return true;
        const [a, b] = [this.#evaluate(left, state), this.#evaluate(right, state)];
        const exact = boundsOf(operator, a, b);
        const all = unknown(type);
        // Bounds beyond exact numbers may be rounded to within the type.
        const wraps =
          exact.least < Math.max(all.least, -exactLimit) || exact.most > Math.min(all.most, exactLimit);
        if (wraps || b.least !== b.most) return true;
        return this.#clip(left, a, undone(operator, bounds, b.least), state);
      }
      default:
        return true;
    }
  }
}

/** What holds where one way or another was taken; the second is changed. */
function either(one: State | null, other: State | null): State | null {
  if (one === null || other === null) return one ?? other;
  for (let id = 0; id < one.length; id += 1) {
    if (one[id] !== other[id]) other[id] = join(one[id]!, other[id]!);
  }
  return other;
}

/** Whether all that the second state allows is allowed by the first. */
function covers(one: State, other: State): boolean {
  return one.every((fact, id) => fact === other[id] || isSame(join(fact, other[id]!), fact));
}
