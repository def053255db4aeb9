// What a cohort carries out together, and what is the same in all of its threads.
//
// A cohort is a set of threads of a block that have come the same way: through the same control
// flow around synchronising calls. It starts as the whole block, and splits where its threads
// part; it is never joined by others. So whatever stands around a synchronising call (`together`)
// is done once for the cohort, and a variable that gets a uniform value there is uniform, however
// the other threads of the block fare.
//
// All else is done thread by thread. What is assigned there varies, unless a whole statement does
// nothing but compute uniform values of uniform ones (`isUniformWork`): that is done once too.
//
// A load at a uniform index counts as uniform where it is done once: reading an element for all
// threads at one moment is one of the orders in which they may run.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import type { CoreOperation } from '../../compiler/ir-core.ts';
import { groupOfCopy } from './copies.ts';
import { countsOf, isUniformWork, madeOfSame } from './uniformity.ts';
import { anyStatement, assignedBy, assignedIn, expressionsOf, listsOf } from './walk.ts';

export class CohortUniformity {
  readonly #block: Program['block'];
  /** Arrays in which threads count, one after the other. */
  readonly #counts: ReadonlySet<string>;
  readonly #varying = new Set<number>();
  #together = new Set<Statement>();

  constructor(program: Program) {
    this.#block = program.block;
    this.#counts = countsOf(program);
    // Start from "all is uniform"; what is found to vary makes more vary, until nothing new does.
    let before: number;
    do {
      before = this.#varying.size;
      this.#together = new Set();
      this.#list(program.body);
    } while (this.#varying.size !== before);
  }

  varies(variable: number): boolean {
    return this.#varying.has(variable);
  }

  /** Whether the cohort carries out a statement as a whole. */
  isTogether(statement: Statement): boolean {
    return this.#together.has(statement);
  }

  isUniform(expression: Expression): boolean {
    return madeOfSame(expression, this.#block, this.#varying, this.#counts);
  }

  /** The same where all find the words in which threads count as they are at one moment. */
  isUniformNow(expression: Expression): boolean {
    return madeOfSame(expression, this.#block, this.#varying);
  }

  /** Whether a statement that is not `together` does no more than all threads alike can do at once. */
  isUniformWork(statement: Statement): boolean {
    return isUniformWork(statement, this);
  }

  /** A list that the cohort carries out. */
  #list(statements: readonly Statement[]): void {
    for (const statement of statements) {
      const variable = assignedBy(statement);
      if (this.#belongsToCohort(statement)) {
        this.#together.add(statement);
        if (variable !== null) this.#varying.add(variable);
        for (const list of listsOf(statement)) this.#list(list);
      } else if (statement.kind === 'assign') {
        if (!this.isUniform(statement.value)) this.#varying.add(statement.variable);
      } else if (!this.isUniformWork(statement)) {
        for (const each of assignedIn([statement])) this.#varying.add(each);
      }
    }
  }

  #belongsToCohort(statement: Statement): boolean {
    switch (statement.kind) {
      case 'break':
      case 'continue':
      case 'return':
        return true;
      case 'if':
      case 'loop':
      case 'block':
        return (
          synchronises(statement) || this.#copiesWhole(statement) || this.#leadsOut(statement, new Set())
        );
      case 'call':
        return isSynchronising(statement) || this.#isWholeCopy(statement);
      default:
        return false;
    }
  }

  /** Whether a statement, with uniform tests all around, copies for the cohort as a whole. */
  #copiesWhole(statement: Statement): boolean {
    return (
      this.#isWholeCopy(statement) ||
      (expressionsOf(statement).every((test) => this.isUniform(test)) &&
        listsOf(statement).some((list) => list.some((each) => this.#copiesWhole(each))))
    );
  }

  /** Whether a branch with a uniform test leads the whole cohort out of a structure around it. */
  #leadsOut(statement: Statement, inside: ReadonlySet<number>): boolean {
    switch (statement.kind) {
      case 'return':
        return true;
      case 'break':
      case 'continue':
        return !inside.has(statement.label);
      case 'if':
      case 'block': {
        if (!expressionsOf(statement).every((test) => this.isUniform(test))) return false;
        const labels = statement.kind === 'if' ? inside : new Set([...inside, statement.label]);
        return listsOf(statement).some((list) => list.some((each) => this.#leadsOut(each, labels)));
      }
      default:
        return false;
    }
  }

  #isWholeCopy(statement: Statement): boolean {
    return (
      groupOfCopy(statement)?.kind === 'block' &&
      expressionsOf(statement).every((operand) => this.isUniform(operand))
    );
  }
}

function synchronises(structure: Statement): boolean {
  return anyStatement([structure], isSynchronising);
}

/** Whether all threads of a cohort count at once, or wait. */
function isCounting(operation: CoreOperation): boolean {
  return operation.kind === 'post'
    ? operation.alone !== true
    : operation.kind === 'waitUntil' && operation.waits;
}

/** Whether a statement is a call at which threads meet, or that moves a pipeline on. */
function isSynchronising(statement: Statement): boolean {
  if (statement.kind !== 'call') return false;
  switch (statement.intrinsic) {
    case 'atomic':
    case 'print':
    case 'assert':
    case 'memcpyAsync':
    case 'globaltimer':
    case 'clock64':
    case 'barrierArrive':
    case 'barrierComplete':
    case 'barrierBind':
      return false;
    case 'core':
      return isCounting(statement.operation);
    case 'mark':
      return statement.once;
    default:
      return true;
  }
}
