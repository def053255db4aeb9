// What is the same in all threads of a block, and where they all are together.
//
// A variable is uniform if all threads that are at the same place of the program find the same
// value in it; otherwise it varies. A control structure is partial at a point inside it if some
// of the threads that entered it may not be there: they took the other branch, or have left a
// loop that others are still in. A point where no structure around it is partial is reached by
// all threads of the block, and a synchronisation there is uniform.
//
// What makes a variable vary: an assignment of a varying value; or an assignment inside a
// structure that is partial there, if the value is still read after that structure, where the
// threads that were not there join the others. (So a counter of a loop that threads leave at
// different times is uniform inside it, if nothing reads it afterwards.)
//
// The analysis starts from "everything is uniform" and goes through the program until nothing
// new varies. It counts on the program being free of races: an element at a uniform index is
// uniform, unless atomics change its array.

import type { BuiltIn, Expression, Program, Statement } from '../../compiler/ir.ts';
import type { BarrierCall } from '../../compiler/ir-barriers.ts';
import { stops } from './failing.ts';
import { has, type Liveness } from './liveness.ts';
import { unanimousBarriers } from './unanimous.ts';
import { assignedBy, expressionsOf, forEachStatement, listsOf, operandsOf } from './walk.ts';

export interface Uniformity {
  /** Whether a variable varies. */
  varies(variable: number): boolean;
  isUniform(expression: Expression): boolean;
  /** Statements at which not all threads of the block may arrive together. */
  readonly partial: ReadonlySet<Statement>;
  /** Loops and blocks that threads may leave at different times, and loops whose rounds they may cut short. */
  readonly divergent: ReadonlySet<Statement>;
  /** Whether some threads may return while others go on. */
  readonly returnsDivergently: boolean;
}

/** Whether all threads of so many in each direction find the same in a built-in value. */
export function isSingular(name: BuiltIn, extents: Program['block']): boolean {
  if (name === 'threadRank') return extents.every((extent) => extent === 1);
  return !name.startsWith('threadIdx.') || extents['xyz'.indexOf(name.at(-1)!)] === 1;
}

/** The arrays in which threads count. */
export function countsOf({ sharedArrays }: Program): Set<string> {
  return new Set(sharedArrays.flatMap(({ counts }, id) => (counts ? [`shared:${id}`] : [])));
}

/**
 * Whether an expression is the same in all threads of so many in each direction: no part of it varies. Of arrays
 * in `changing` even one element may be different from thread to thread, as it is of each thread's own.
 */
export function madeOfSame(
  expression: Expression,
  extents: Program['block'],
  varying: ReadonlySet<number>,
  changing?: ReadonlySet<string>,
): boolean {
  switch (expression.kind) {
    case 'variable':
      return !varying.has(expression.id);
    case 'builtin':
      return isSingular(expression.name, extents);
    case 'load': {
      const { space, id } = expression.array;
      if (space === 'local' || changing?.has(`${space}:${id}`)) return false;
      return operandsOf(expression).every((operand) => madeOfSame(operand, extents, varying, changing));
    }
    default:
      return operandsOf(expression).every((operand) => madeOfSame(operand, extents, varying, changing));
  }
}

/** Whether a statement does nothing but compute what is uniform of what is uniform, and leads nowhere outside it. */
export function isUniformWork(
  statement: Statement,
  among: Pick<Uniformity, 'varies' | 'isUniform'> & Partial<Pick<Uniformity, 'partial'>>,
  inside: ReadonlySet<number> = new Set(),
): boolean {
  if (among.partial?.has(statement)) return false;
  switch (statement.kind) {
    case 'assign':
      return !among.varies(statement.variable) && among.isUniform(statement.value);
    case 'if':
    case 'loop':
    case 'block': {
      const labels = statement.kind === 'if' ? inside : new Set([...inside, statement.label]);
      return (
        expressionsOf(statement).every((test) => among.isUniform(test)) &&
        listsOf(statement).every((list) => list.every((each) => isUniformWork(each, among, labels)))
      );
    }
    case 'break':
    case 'continue':
      return inside.has(statement.label);
    case 'call':
      return stops(statement) && expressionsOf(statement).every((each) => among.isUniform(each));
    default:
      return false;
  }
}

/** A control structure that is being visited. */
interface Enclosing {
  readonly statement: Statement | null;
  partial: boolean;
}

/**
 * Analyses a program. With 'row', what is said of all threads of the block is said of those of each row,
 * which differ in threadIdx.x alone.
 */
export function analyseUniformity(
  program: Program,
  liveness: Liveness,
  among: 'block' | 'row' = 'block',
): Uniformity {
  const analysis = new Analysis(program, liveness, among);
  let before: number;
  do {
    before = analysis.size;
    analysis.pass(program.body);
  } while (analysis.size !== before);
  return {
    varies: (variable) => analysis.varying.has(variable),
    isUniform: (expression) => analysis.isUniform(expression),
    partial: analysis.partial,
    divergent: analysis.divergent,
    returnsDivergently: analysis.returnsDivergently,
  };
}

class Analysis {
  readonly varying = new Set<number>();
  readonly partial = new Set<Statement>();
  readonly divergent = new Set<Statement>();
  returnsDivergently = false;
  /** Loops that threads may leave at different times. */
  readonly #exits = new Set<Statement>();
  /** Loops whose rounds a thread may cut short alone. */
  readonly #continues = new Set<Statement>();
  /** Arrays that threads change one after the other. */
  readonly #atomicArrays: Set<string>;
  /** Barriers at which all threads of the block arrive together, as far as is known yet. */
  readonly #unanimous: Set<number>;
  #divided = 0;
  /** Extents of the threads among which things are uniform. */
  readonly #extents: Program['block'];
  readonly #liveness: Liveness;
  #stack: Enclosing[] = [];

  constructor(program: Program, liveness: Liveness, among: 'block' | 'row') {
    this.#extents = among === 'block' ? program.block : [program.block[0], 1, 1];
    this.#liveness = liveness;
    this.#unanimous = among === 'block' ? unanimousBarriers(program) : new Set();
    this.#atomicArrays = countsOf(program);
    forEachStatement(program.body, (statement) => {
      if (statement.kind !== 'call' || statement.intrinsic !== 'atomic') return;
      this.#atomicArrays.add(`${statement.array.space}:${statement.array.id}`);
    });
  }

  /** Grows as long as the analysis learns something. */
  get size(): number {
    const returns = this.returnsDivergently ? 1 : 0;
    const structures = this.#exits.size + this.#continues.size + this.partial.size;
    return this.varying.size + structures + this.#divided + returns;
  }

  pass(body: readonly Statement[]): void {
    this.#stack = [{ statement: null, partial: false }];
    this.#list(body);
  }

  isUniform(expression: Expression): boolean {
    return madeOfSame(expression, this.#extents, this.varying, this.#atomicArrays);
  }

  #list(statements: readonly Statement[]): void {
    for (const statement of statements) this.#statement(statement);
  }

  #statement(statement: Statement): void {
    if (this.#stack.some(({ partial }) => partial)) this.partial.add(statement);
    if (statement.kind === 'call' && 'barrier' in statement) this.#atBarrier(statement);
    switch (statement.kind) {
      case 'if': {
        const partial = !this.isUniform(statement.test);
        this.#inside(statement, partial, () => this.#list(statement.then));
        this.#inside(statement, partial, () => this.#list(statement.otherwise));
        return;
      }
      case 'loop': {
        if (statement.test !== null && !this.isUniform(statement.test)) this.#leaves(statement);
        this.#inside(statement, this.#exits.has(statement), (own) => {
          this.#list(statement.body);
          // Threads that cut the round short are here again.
          own.partial = this.#exits.has(statement);
          this.#list(statement.update);
        });
        return;
      }
      case 'block':
        this.#inside(statement, false, () => this.#list(statement.body));
        return;
      case 'region':
        this.#list(statement.body);
        return;
      case 'break':
      case 'continue':
        this.#jump(statement.label, statement.kind);
        return;
      case 'return':
        if (!this.#stack.some(({ partial }) => partial)) return;
        this.returnsDivergently = true;
        this.#goOnWithout(this.#stack);
        return;
      default: {
        const variable = assignedBy(statement);
        if (variable === null) return;
        const uniform =
          statement.kind === 'assign' ? this.isUniform(statement.value) : this.#givesAllTheSame(statement);
        if (!uniform || this.#joinsOthers(variable)) this.varying.add(variable);
      }
    }
  }

  /** Where not all threads come to a call of a barrier together, they find different tokens. */
  #atBarrier(call: BarrierCall): void {
    const isTogether = !this.partial.has(call) && expressionsOf(call).every((each) => this.isUniform(each));
    // Copies and what binds them move no phase.
    const moves = call.intrinsic !== 'memcpyAsync' && call.intrinsic !== 'barrierBind';
    if (moves && !isTogether && this.#unanimous.delete(call.barrier)) this.#divided += 1;
  }

  /** Whether a call that gives a value gives all threads the same. */
  #givesAllTheSame(statement: Statement): boolean {
    if (statement.kind !== 'call') return false;
    if (statement.intrinsic === 'core') {
      const { operation } = statement;
      return (
        operation.kind === 'groupCount' && operation.group.kind === 'block' && !this.partial.has(statement)
      );
    }
    const isOfBarrier = statement.intrinsic === 'barrierArrive' || statement.intrinsic === 'barrierWait';
    return isOfBarrier && this.#unanimous.has(statement.barrier);
  }

  /** Whether the value of a variable assigned here is read where threads that are not here have joined. */
  #joinsOthers(variable: number): boolean {
    return this.#stack.some(({ statement, partial }) => {
      if (!partial || statement === null) return false;
      if (has(this.#liveness.after(statement), variable)) return true;
      return this.#continues.has(statement) && has(this.#liveness.atUpdate(statement), variable);
    });
  }

  #jump(label: number, kind: 'break' | 'continue'): void {
    const position = this.#stack.findLastIndex(
      ({ statement }) =>
        (statement?.kind === 'loop' || statement?.kind === 'block') && statement.label === label,
    );
    const left = this.#stack.slice(position);
    if (!left.some(({ partial }) => partial)) return;
    const target = left[0]!.statement!;
    if (kind === 'continue') {
      this.#continues.add(target);
      this.divergent.add(target);
      left[0]!.partial = true;
      this.#goOnWithout(left.slice(1));
    } else {
      this.#leaves(target);
      this.#goOnWithout(left);
    }
  }

  /** Some threads leave all these structures; what is left of them, and later rounds of loops, others do alone. */
  #goOnWithout(structures: readonly Enclosing[]): void {
    for (const enclosing of structures) {
      enclosing.partial = true;
      if (enclosing.statement?.kind === 'loop') this.#leaves(enclosing.statement);
    }
  }

  #leaves(structure: Statement): void {
    this.divergent.add(structure);
    if (structure.kind === 'loop') this.#exits.add(structure);
  }

  #inside(statement: Statement, partial: boolean, visit: (own: Enclosing) => void): void {
    const own: Enclosing = { statement, partial };
    this.#stack.push(own);
    visit(own);
    this.#stack.pop();
  }
}
