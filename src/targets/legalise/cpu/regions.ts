// Threads become regions: a program that the block runs, with regions for what its threads do by themselves.
//
// The synchronising calls cut the program. The block's own code (loops and branches around the
// calls, uniform variables) is carried out once; a region is carried out by all threads, in any
// order, before anything that follows. So no thread ever waits, and what makes threads meet is the end of
// a region.
//
// This is possible where every synchronising call is uniform. Where one is not, planning gives
// the reason, and the threads must be run as state machines.

import type { Call, Program, Region, Statement } from '../../../compiler/ir.ts';
import { isTimedWait, verbOf } from '../../../compiler/ir-pipelines.ts';
import type { Range } from '../../../diagnostics/source.ts';
import { groupOfCopy } from '../../analysis/copies.ts';
import { factsOf } from '../../analysis/facts.ts';
import { canFail } from '../../analysis/failing.ts';
import { analyseLiveness, bit, has, type Liveness, type VariableSet } from '../../analysis/liveness.ts';
import { unanimousBarriers } from '../../analysis/unanimous.ts';
import { isUniformWork, type Uniformity } from '../../analysis/uniformity.ts';
import { assignedIn, expressionsOf, forEachStatement, listsOf, readIn } from '../../analysis/walk.ts';

/** Why the threads cannot be run region by region. */
export interface Obstacle {
  readonly reason: string;
  readonly range: Range;
}

/** The program as its block runs it, or why there is none. */
export function planRegions(
  program: Program,
): { readonly program: Program } | { readonly obstacle: Obstacle } {
  try {
    const body = new Planner(program).plan();
    return { program: { ...program, level: 'block', body } };
  } catch (error) {
    if (error instanceof Refusal) return { obstacle: error.obstacle };
    throw error;
  }
}

class Refusal extends Error {
  readonly obstacle: Obstacle;

  constructor(reason: string, range: Range) {
    super(reason);
    this.obstacle = { reason, range };
  }
}

class Planner {
  readonly #program: Program;
  readonly #uniformity: Uniformity;
  readonly #liveness: Liveness;
  /** Labels of loops and blocks at the uniform level. */
  readonly #labels = new Set<number>();
  readonly #together = new Set<Statement>();
  readonly #unanimous: ReadonlySet<number>;

  constructor(program: Program) {
    const facts = factsOf(program);
    this.#program = program;
    this.#uniformity = facts.among('block');
    this.#liveness = facts.liveness;
    this.#unanimous = unanimousBarriers(program);
    forEachStatement(program.body, (statement) => {
      if (statement.kind === 'call' && this.#isTogether(statement)) this.#together.add(statement);
    });
  }

  plan(): Statement[] {
    return this.#list(this.#program.body, true);
  }

  /** Plans a list; `last` if nothing follows it in the program. */
  #list(statements: readonly Statement[], last: boolean): Statement[] {
    const planned: Statement[] = [];
    let own: Statement[] = [];
    statements.forEach((statement, position) => {
      if (!this.#belongsToUniformLevel(statement)) {
        own.push(statement);
        return;
      }
      planned.push(...this.#ownWork(own, false));
      own = [];
      planned.push(...this.#atUniformLevel(statement, last && position === statements.length - 1));
    });
    planned.push(...this.#ownWork(own, last));
    return planned;
  }

  #atUniformLevel(statement: Statement, last: boolean): Statement[] {
    switch (statement.kind) {
      case 'call':
        this.#mustBeUniform(statement, `${verbOf(statement)}() is not reached by all threads together`);
        // Threads have met where a region ends, and there are none whom the others could let go first.
        return statement.intrinsic === 'sync' || statement.intrinsic === 'nanosleep' ? [] : [statement];
      case 'if': {
        const then = this.#list(statement.then, last);
        return [{ ...statement, then, otherwise: this.#list(statement.otherwise, last) }];
      }
      case 'loop': {
        this.#labels.add(statement.label);
        const body = this.#list(statement.body, false);
        return [{ ...statement, body, update: this.#list(statement.update, false) }];
      }
      case 'block':
        this.#labels.add(statement.label);
        return [{ ...statement, body: this.#list(statement.body, last) }];
      case 'break':
      case 'continue':
      case 'return':
        this.#mustBeUniform(statement, 'some threads go on to synchronise without the others');
        return [statement];
      default:
        throw new Error(`${statement.kind} does not belong to the uniform level`);
    }
  }

  #mustBeUniform(statement: Statement, reason: string): void {
    if (this.#uniformity.partial.has(statement)) throw new Refusal(reason, statement.range);
  }

  /** Whether a call is the whole block's business. */
  #isTogether(call: Call): boolean {
    switch (call.intrinsic) {
      case 'atomic':
      case 'print':
      case 'assert':
        return false;
      case 'memcpyAsync':
      case 'core': {
        const group = groupOfCopy(call);
        if (call.intrinsic === 'core' && call.operation.kind === 'fence') return false;
        if (group === null) throw new TypeError('WebAssembly has no operations of a GPU');
        // Where the operands vary or not all threads are there, each copies its own share.
        return (
          group.kind === 'block' &&
          !this.#uniformity.partial.has(call) &&
          expressionsOf(call).every((expression) => this.#uniformity.isUniform(expression))
        );
      }
      case 'makeBarrier':
      case 'barrierArrive':
      case 'barrierComplete':
      case 'barrierBind':
      case 'barrierWait':
        if (
          this.#unanimous.has(call.barrier) &&
          expressionsOf(call).every((expression) => this.#uniformity.isUniform(expression))
        ) {
          return true;
        }
        throw new Refusal('threads arrive at a barrier one by one', call.range);
      case 'sync':
        if (call.group.kind === 'grid') throw new Refusal('the grid synchronises', call.range);
        if (call.mask !== undefined) throw new Refusal('a mask says which lanes meet', call.range);
        return true;
      case 'globaltimer':
      case 'clock64':
        return false;
      case 'nanosleep':
        return true;
      case 'mark':
        // Where not all threads are there, each tells it by itself.
        return (
          call.once &&
          !this.#uniformity.partial.has(call) &&
          expressionsOf(call).every((expression) => this.#uniformity.isUniform(expression))
        );
      case 'warp':
        throw new TypeError(`${call.operator} is said by syncs and memory here`);
      default: {
        if (isTimedWait(call))
          throw new Refusal('a wait may time out in some threads and not in others', call.range);
        const { partition, name } = this.#program.pipelines[call.pipeline]!;
        if (partition === 'unified') return true;
        throw new Refusal(`the roles of ${name} differ from thread to thread`, call.range);
      }
    }
  }

  #belongsToUniformLevel(statement: Statement): boolean {
    if (this.#together.has(statement)) return true;
    switch (statement.kind) {
      case 'break':
      case 'continue':
        return this.#labels.has(statement.label);
      case 'return':
        return this.#together.size > 0 && !this.#uniformity.partial.has(statement);
      default:
        return listsOf(statement).some((list) => list.some((inner) => this.#belongsToUniformLevel(inner)));
    }
  }

  /** Plans statements that need no other thread. */
  #ownWork(statements: readonly Statement[], last: boolean): Statement[] {
    const { before, region, after } = this.#withoutUniformWork(statements);
    if (region.length === 0) return before;
    const liveAfter = this.#liveness.after(statements.at(-1)!);
    return [...before, this.#region(region, liveAfter, last), ...after];
  }

  /**
   * Takes what all threads would do alike out of a region: in front of it what depends on nothing that
   * comes before in the region and cannot fail, behind it what is left at its end. What is first of all
   * may fail; it would in the first thread.
   */
  #withoutUniformWork(statements: readonly Statement[]): Record<'before' | 'region' | 'after', Statement[]> {
    const before: Statement[] = [];
    const region: Statement[] = [];
    const touched = new Set<number>();
    const changed = new Set<number>();
    for (const statement of statements) {
      const assigned = assignedIn([statement]);
      const read = readIn([statement]);
      const depends = intersect(assigned, touched) || intersect(read, changed);
      if (
        isUniformWork(statement, this.#uniformity) &&
        !depends &&
        (region.length === 0 || !canFail(statement))
      ) {
        before.push(statement);
        continue;
      }
      region.push(statement);
      for (const variable of assigned) changed.add(variable);
      for (const variable of [...assigned, ...read]) touched.add(variable);
    }
    const end =
      region.findLastIndex((statement) => !isUniformWork(statement, this.#uniformity) || canFail(statement)) +
      1;
    return { before, region: region.slice(0, end), after: region.slice(end) };
  }

  #region(statements: readonly Statement[], liveAfter: VariableSet, last: boolean): Region {
    if (!last) {
      forEachStatement(statements, (statement) => {
        if (statement.kind !== 'return') return;
        throw new Refusal('some threads return while others go on to synchronise', statement.range);
      });
    }
    const { varies } = this.#uniformity;
    const assigned = [...assignedIn(statements)];
    const stores = assigned.filter((variable) => varies(variable) && has(liveAfter, variable));
    const exposed = analyseLiveness(
      statements,
      stores.reduce((set, variable) => set | bit(variable), 0n),
    ).atStart;
    const loads = [...this.#program.variables.keys()].filter(
      (variable) => varies(variable) && has(exposed, variable),
    );
    const resets = assigned.filter((variable) => !varies(variable) && has(exposed, variable));
    const { range } = statements[0]!;
    return { kind: 'region', body: statements, loads, stores, resets, range };
  }
}

function intersect(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  for (const element of a) if (b.has(element)) return true;
  return false;
}
