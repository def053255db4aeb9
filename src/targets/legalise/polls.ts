// Loops that wait for what another thread does: `while (cuda.atomicLoad(ready, 0, 'acquire') === 0);`, a lock, a flag.
//
// A GPU's threads go on by themselves. On a CPU one thread after the other runs until it waits, so such a loop would never
// end: each round begins with a sleep of no time, in which the others go on. A loop waits if what lets it go on or leave
// follows from an atomic operation that every round repeats as it is: a load, or another whose operands do not change
// in the loop, as a lock's. A loop that counts on by itself ends by itself, and a round that adds to a counter,
// or tries another place, gets somewhere: those stay as they are, and as fast.

import type { Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import {
  anyOperand,
  anyStatement,
  assignedBy,
  assignedIn,
  expressionsOf,
  forEachStatement,
  listsOf,
  readBy,
} from '../analysis/walk.ts';

type Atomic = Extract<Call, { intrinsic: 'atomic' }>;
type Loop = Extract<Statement, { kind: 'loop' }>;

/** The program in which the loops that wait let others go on. */
export function withPolls(program: Program): Program {
  const mayWait = (each: Statement) => isAtomic(each) && each.result !== null;
  if (program.level !== undefined || !anyStatement(program.body, mayWait)) return program;
  const body = inStatements(program.body);
  return body === program.body ? program : { ...program, body };
}

function inStatements(statements: readonly Statement[]): readonly Statement[] {
  let isSame = true;
  const changed = statements.map((statement) => {
    const now = inStatement(statement);
    isSame &&= now === statement;
    return now;
  });
  return isSame ? statements : changed;
}

function inStatement(statement: Statement): Statement {
  switch (statement.kind) {
    case 'if': {
      const [then, otherwise] = [inStatements(statement.then), inStatements(statement.otherwise)];
      const isSame = then === statement.then && otherwise === statement.otherwise;
      return isSame ? statement : { ...statement, then, otherwise };
    }
    case 'block':
    case 'region': {
      const body = inStatements(statement.body);
      return body === statement.body ? statement : { ...statement, body };
    }
    case 'loop': {
      const body = inStatements(statement.body);
      if (waits(statement)) return { ...statement, body: [letOthersGoOn(statement), ...body] };
      return body === statement.body ? statement : { ...statement, body };
    }
    default:
      return statement;
  }
}

function letOthersGoOn({ range }: Loop): Statement {
  const duration: Expression = { kind: 'constant', type: 'f64', value: 0, range };
  return { kind: 'call', intrinsic: 'nanosleep', duration, range };
}

function isAtomic(statement: Statement): statement is Atomic {
  return statement.kind === 'call' && statement.intrinsic === 'atomic';
}

function waits(loop: Loop): boolean {
  const inside = [...loop.body, ...loop.update];
  if (anyStatement(inside, (each) => each.kind === 'call' && each.intrinsic === 'nanosleep')) return false;
  const rounds = new Rounds(loop, inside);
  const seen = new Set<number>();
  forEachStatement(inside, (each) => {
    if (isAtomic(each) && each.result !== null && rounds.repeat(each)) seen.add(each.result);
  });
  if (seen.size === 0) return false;
  // What a round ends with happens after each that goes on.
  while ([loop.body, loop.update].some((list) => spread(list, seen, false)));
  const assigned = assignedIn(inside);
  let isWaiting = false;
  let endsByItself = false;
  const note = (test: Expression | null, follows: boolean) => {
    if (follows || (test !== null && isSeen(test, seen))) isWaiting = true;
    else if (test !== null && isSeen(test, assigned)) endsByItself = true;
  };
  if (loop.test !== null) note(loop.test, false);
  forEachExit(loop.body, new Set(), note, seen, false);
  return isWaiting && !endsByItself;
}

/** What changes from round to round of a loop. */
class Rounds {
  /** By variable, what its values in the loop are made of. */
  readonly #from = new Map<number, Expression[]>();
  /** Given a value in every round. */
  readonly #always = new Set<number>();

  constructor(loop: Loop, inside: readonly Statement[]) {
    forEachStatement(inside, (each) => {
      const variable = assignedBy(each);
      if (variable === null) return;
      this.#from.set(variable, [...(this.#from.get(variable) ?? []), ...expressionsOf(each)]);
    });
    const goesOn = (each: Statement) => each.kind === 'continue' && each.label === loop.label;
    const until = loop.body.findIndex((each) => anyStatement([each], goesOn));
    for (const each of [...(until < 0 ? loop.body : loop.body.slice(0, until)), ...loop.update]) {
      const variable = assignedBy(each);
      if (variable !== null) this.#always.add(variable);
    }
  }

  /** Whether there is a round that does the same again, and gets nowhere until another thread has done something. */
  repeat({ operator, index, value, compare }: Atomic): boolean {
    const isFixed = (operand: Expression) => ![...this.#behind([operand])].some((one) => this.#moves(one));
    if (operator === 'load') return isFixed(index);
    if (operator === 'inc' || operator === 'dec' || operator === 'store') return false;
    // To add nothing is to load, as CUDA's programs did before there were loads.
    const adds = operator === 'add' || operator === 'sub';
    if (adds && !(value.kind === 'constant' && Number(value.value) === 0)) return false;
    const operands = [index, value, ...(compare === null ? [] : [compare])];
    return operands.every((operand) => isFixed(operand) && !this.#isRead(operand));
  }

  /** The variables that values are made of, and those that these are. */
  #behind(expressions: readonly Expression[]): Set<number> {
    const all = new Set<number>();
    const left = [...readBy(...expressions)];
    while (left.length > 0) {
      const one = left.pop()!;
      if (all.has(one)) continue;
      all.add(one);
      left.push(...readBy(...(this.#from.get(one) ?? [])));
    }
    return all;
  }

  /** Whether each round gives a variable a value that follows from the one before. */
  #moves(one: number): boolean {
    return this.#always.has(one) && this.#behind(this.#from.get(one)!).has(one);
  }

  /** Whether memory is read for a value in each round. */
  #isRead(operand: Expression): boolean {
    const made = [...this.#behind([operand])].flatMap((one) => this.#from.get(one) ?? []);
    return [operand, ...made].some((each) => anyOperand(each, ({ kind }) => kind === 'load'));
  }
}

/** Adds the variables whose values follow from those that are seen; whether there are more now. */
function spread(statements: readonly Statement[], seen: Set<number>, given: boolean): boolean {
  let more = false;
  let follows = given;
  for (const statement of statements) {
    const variable = assignedBy(statement);
    const reads = expressionsOf(statement).some((one) => isSeen(one, seen));
    if (variable !== null && !seen.has(variable) && (follows || reads)) {
      seen.add(variable);
      more = true;
    }
    const inside = follows || (statement.kind === 'if' && reads);
    for (const list of listsOf(statement)) more = spread(list, seen, inside) || more;
    // What stands behind a jump happens where that did not.
    follows ||= decidesJump(statement, seen);
  }
  return more;
}

function isSeen(test: Expression, seen: ReadonlySet<number>): boolean {
  return [...readBy(test)].some((variable) => seen.has(variable));
}

/** Whether a jump in a statement depends on what is seen. */
function decidesJump(statement: Statement, seen: ReadonlySet<number>): boolean {
  return anyStatement([statement], (each) => each.kind === 'if' && isSeen(each.test, seen) && jumps(each));
}

function jumps(statement: Statement): boolean {
  return anyStatement(
    [statement],
    ({ kind }) => kind === 'break' || kind === 'continue' || kind === 'return',
  );
}

/** Visits the tests on which the statements of a loop leave it, and whether they stand where a seen one has decided. */
function forEachExit(
  statements: readonly Statement[],
  labels: ReadonlySet<number>,
  visit: (test: Expression | null, follows: boolean) => void,
  seen: ReadonlySet<number>,
  given: boolean,
): void {
  let follows = given;
  for (const statement of statements) {
    const inner =
      statement.kind === 'loop' || statement.kind === 'block'
        ? new Set([...labels, statement.label])
        : labels;
    const decides = statement.kind === 'if' && isSeen(statement.test, seen);
    if (statement.kind === 'if' && [statement.then, statement.otherwise].some((list) => leaves(list, labels)))
      visit(statement.test, follows);
    else if (leaves([statement], labels) && listsOf(statement).length === 0) visit(null, follows);
    for (const list of listsOf(statement)) forEachExit(list, inner, visit, seen, follows || decides);
    follows ||= decidesJump(statement, seen);
  }
}

/** Whether statements leave the loop that they stand in, where these labels are inside of it. */
function leaves(statements: readonly Statement[], inside: ReadonlySet<number>): boolean {
  return statements.some((statement) => {
    if (statement.kind === 'return') return true;
    if (statement.kind === 'break') return !inside.has(statement.label);
    const within =
      statement.kind === 'loop' || statement.kind === 'block'
        ? new Set([...inside, statement.label])
        : inside;
    return listsOf(statement).some((list) => leaves(list, within));
  });
}
