// Threads that wait for one another become cohorts: each rank group's body as segments (compiler/ir-cohorts.ts).
//
// What the cohort does as a whole is taken apart into segments without structure: each runs from
// its first step to its end without waiting, and says where the cohort goes on. A cohort enters
// a segment with a head from its schedule: there it may have to wait, and there its uniform
// variables are found again. All else comes from another segment, with everything in place.
//
// What threads do one by one stays structured, as regions inside a segment. A region may end in
// different ways for different threads; then the segment ends too, and the cohort parts.

import type { ArrayReference, Call, Expression, Program, Statement } from '../../../compiler/ir.ts';
import type {
  CohortRegion,
  CountCall,
  End,
  Exit,
  Head,
  Jump,
  Segment,
} from '../../../compiler/ir-cohorts.ts';
import type { CoreCall } from '../../../compiler/ir-core.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import { factsOf } from '../../analysis/facts.ts';
import { canFail } from '../../analysis/failing.ts';
import { bit, has, type Liveness, type VariableSet } from '../../analysis/liveness.ts';
import {
  anyExpression,
  anyOperand,
  anyStatement,
  assignedIn,
  expressionsOf,
  forEachStatement,
  readBy,
  readIn,
} from '../../analysis/walk.ts';
import { type Draft, emptyDraft, numbered } from './drafts.ts';
import { programOf, rankGroupsOf } from './rank-groups.ts';

/** A pass over the program of a rank group, before it is taken apart. */
type OfThreads = (program: Program) => Program;

/** The same program with the way of its cohorts. */
export function planCohorts(program: Program, prepare: OfThreads): Program {
  const cohorts = rankGroupsOf(program).map((ranks) => {
    const own: Program = { ...prepare(programOf(program, ranks)), level: 'cohort' };
    return { ranks, program: own, segments: new Planner(own).plan() };
  });
  return { ...program, cohorts };
}

interface Place {
  readonly to: Draft;
  readonly live: VariableSet;
}

class Planner {
  readonly #variables: number;
  readonly #sharedArrays: Program['sharedArrays'];
  readonly #cohort: CohortUniformity;
  readonly #liveness: Liveness;
  readonly #body: readonly Statement[];
  readonly #segments: Draft[] = [];
  /** For threads that part; they come after all others. */
  readonly #entries: Draft[] = [];
  readonly #finish: Draft = { head: { wait: null, live: [], loads: [] }, steps: [], end: { kind: 'finish' } };
  readonly #jumps = new Map<number, { readonly break: Place; readonly continue: Place | null }>();
  /** Where code goes; null after a jump. */
  #current: Draft | null = null;
  /** Statements for the next region. */
  #pending: Statement[] = [];

  constructor(program: Program) {
    const { variables, sharedArrays, body } = program;
    this.#variables = variables.length;
    this.#sharedArrays = sharedArrays;
    this.#body = body;
    const facts = factsOf(program);
    this.#cohort = facts.cohort;
    this.#liveness = facts.liveness;
  }

  /** The segments in the order in which they are written; the first is where every block begins. */
  plan(): readonly Segment[] {
    this.#place({ head: { wait: null, live: [], loads: [] }, steps: [], end: null });
    this.#list(this.#body);
    this.#jump(this.#finish);
    return numbered([...this.#segments, ...this.#entries, this.#finish]);
  }

  #list(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (this.#current === null) return;
      if (this.#cohort.isTogether(statement)) this.#together(statement);
      else if (this.#cohort.isUniformWork(statement)) this.#once(statement);
      else this.#own(statement);
    }
    this.#flush();
  }

  /**
   * What threads do one by one. Counting is kept apart, so that what is beside it may be done in lanes; but a thread
   * that learns that it has come last does at once what is to be done before others may come again.
   */
  #own(statement: Statement): void {
    const counts = this.#counts(statement);
    if (counts) this.#flush();
    this.#pending.push(statement);
    if (counts && !anyStatement([statement], asks)) this.#flush();
  }

  /** Whether a thread finds or changes words in which it counts, in one step or only if it must. */
  #counts(statement: Statement): boolean {
    const isCount = ({ array: { space, id } }: { readonly array: ArrayReference }) =>
      space === 'shared' && this.#sharedArrays[id]!.counts === true;
    if (statement.kind !== 'block') {
      if (statement.kind === 'store' && isCount(statement)) return true;
      return expressionsOf(statement).some((each) =>
        anyOperand(each, (one) => one.kind === 'load' && isCount(one)),
      );
    }
    return anyExpression([statement], (each) => each.kind === 'load' && isCount(each));
  }

  /** Uniform work goes in front of the pending region where the region cannot tell, else behind it. */
  #once(statement: Statement): void {
    if (this.#isInVain(statement)) return;
    if (this.#pending.length > 0 && !this.#canPrecedePending(statement)) this.#flush();
    this.#current!.steps.push({ kind: 'once', statement });
  }

  /** Whether a statement gives a variable a value that is never read, as a lowering may. */
  #isInVain(statement: Statement): boolean {
    if (statement.kind !== 'assign' || canFail(statement)) return false;
    return !has(this.#liveness.after(statement), statement.variable);
  }

  #canPrecedePending(statement: Statement): boolean {
    const pending = this.#pending;
    // A region whose threads leave it is followed by another segment: what comes behind is not for them.
    if (canFail(statement) || exitsOf(pending).length > 0) return false;
    const assigned = assignedIn([statement]);
    const touched = new Set([...assignedIn(pending), ...readIn(pending)]);
    return ![...assigned].some((variable) => touched.has(variable));
  }

  #together(statement: Statement): void {
    switch (statement.kind) {
      case 'if':
        this.#if(statement);
        return;
      case 'loop':
        this.#loop(statement);
        return;
      case 'block': {
        const exit = emptyDraft();
        const live = this.#liveness.after(statement);
        this.#jumps.set(statement.label, { break: { to: exit, live }, continue: null });
        this.#list(statement.body);
        this.#jump(exit);
        this.#place(exit);
        return;
      }
      case 'break':
      case 'continue':
      case 'return':
        this.#flush();
        this.#jump(this.#placeOf(statement).to);
        return;
      case 'call':
        this.#flush();
        this.#call(statement);
        return;
      default:
        throw new Error(`${statement.kind} is not done by the cohort`);
    }
  }

  #if(statement: Extract<Statement, { kind: 'if' }>): void {
    const then = emptyDraft();
    const otherwise = emptyDraft();
    const after = emptyDraft();
    const hasElse = statement.otherwise.length > 0;
    const live = this.#liveness.before(statement);
    this.#branch(statement.test, then, hasElse ? otherwise : after, live);
    this.#place(then);
    this.#list(statement.then);
    this.#jump(after);
    if (hasElse) {
      this.#place(otherwise);
      this.#list(statement.otherwise);
      this.#jump(after);
    }
    this.#place(after);
  }

  #loop(loop: Extract<Statement, { kind: 'loop' }>): void {
    const head = emptyDraft();
    const body = emptyDraft();
    const update = emptyDraft();
    const exit = emptyDraft();
    const after = this.#liveness.after(loop);
    const live = this.#liveness.before(loop) | after | readsOf(expressionsOf(loop));
    this.#jumps.set(loop.label, {
      break: { to: exit, live: after },
      continue: { to: update, live: this.#liveness.atUpdate(loop) },
    });
    this.#flush();
    this.#jump(head);
    this.#place(head);
    if (loop.testFirst && loop.test !== null) {
      this.#branch(loop.test, body, exit, live);
      this.#place(body);
    }
    this.#list(loop.body);
    this.#jump(update);
    this.#place(update);
    this.#list(loop.update);
    if (loop.testFirst || loop.test === null) this.#jump(head);
    else this.#branch(loop.test, head, exit, live);
    this.#place(exit);
  }

  #call(call: Call): void {
    switch (call.intrinsic) {
      case 'core':
        if (waitsUntil(call)) this.#suspend(call);
        else this.#current!.steps.push({ kind: 'call', call });
        return;
      case 'nanosleep': {
        const live = this.#uniform(this.#liveness.after(call));
        const to: Draft = {
          head: { wait: null, yieldedAt: call.range, live, loads: [] },
          steps: [],
          end: null,
        };
        this.#end({ kind: 'yield', to });
        this.#place(to);
        return;
      }
      default:
        this.#current!.steps.push({ kind: 'call', call });
    }
  }

  #suspend(call: CountCall): void {
    const reads = readsOf(expressionsOf(call));
    const live = this.#uniform(this.#liveness.after(call) | reads);
    const loads = this.#varying(reads);
    const to: Draft = { head: { wait: call, live, loads }, steps: [], end: null };
    this.#end({ kind: 'suspend', to });
    this.#place(to);
  }

  /** The end of a segment at a test; the pending region may come with it. */
  #branch(test: Expression, then: Draft, otherwise: Draft, live: VariableSet): void {
    if (this.#current === null) return;
    if (this.#cohort.isUniform(test)) {
      this.#flush();
      this.#end({ kind: 'branch', test, then, otherwise });
      return;
    }
    if (exitsOf(this.#pending).length > 0) this.#flush();
    const region = this.#region(this.#takePending(), { kind: 'test', test });
    this.#end({ kind: 'split', by: region, next: then, exits: [this.#exit({ to: otherwise, live })] });
  }

  /** Ends the pending region, if there is one. */
  #flush(): void {
    const statements = this.#takePending();
    if (statements.length === 0) return;
    const region = this.#region(statements, null);
    if (region.exits.length === 0) {
      this.#current!.steps.push({ kind: 'region', region });
      return;
    }
    const next = emptyDraft();
    const exits = region.exits.map((jump) => this.#exit(this.#placeOf(jump)));
    this.#end({ kind: 'split', by: region, next, exits });
    this.#place(next);
  }

  #takePending(): Statement[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }

  #region(statements: readonly Statement[], gives: CohortRegion['gives']): CohortRegion {
    const exits = exitsOf(statements);
    const first = statements[0];
    const last = statements.at(-1);
    const given = gives === null ? [] : [gives.test];
    const read = new Set([...readIn(statements), ...given.flatMap((value) => [...readBy(value)])]);
    let liveAfter = last === undefined ? 0n : this.#liveness.after(last);
    for (const jump of exits) liveAfter |= this.#placeOf(jump).live;
    const varying = [...Array(this.#variables).keys()].filter((variable) => this.#cohort.varies(variable));
    const assigned = assignedIn(statements);
    const stores = varying.filter((variable) => assigned.has(variable) && has(liveAfter, variable));
    // What is not live before the region is never read as it was, whichever way a thread takes.
    const isLiveBefore = (variable: number) =>
      first === undefined || has(this.#liveness.before(first), variable);
    const loads = varying.filter(
      (variable) => (read.has(variable) || stores.includes(variable)) && isLiveBefore(variable),
    );
    return { kind: 'region', body: statements, gives, exits, loads, stores };
  }

  #exit({ to, live }: Place): Exit<Draft> {
    if (to === this.#finish) return { to, entry: this.#finish };
    const head: Head = { wait: null, live: this.#uniform(live), loads: [] };
    const entry: Draft = { head, steps: [], end: { kind: 'jump', to } };
    this.#entries.push(entry);
    return { to, entry };
  }

  #uniform(live: VariableSet): readonly number[] {
    return [...Array(this.#variables).keys()].filter(
      (variable) => has(live, variable) && !this.#cohort.varies(variable),
    );
  }

  #varying(live: VariableSet): readonly number[] {
    return [...Array(this.#variables).keys()].filter(
      (variable) => has(live, variable) && this.#cohort.varies(variable),
    );
  }

  #placeOf(jump: Jump): Place {
    if (jump.kind === 'return') return { to: this.#finish, live: 0n };
    return this.#jumps.get(jump.label)![jump.kind]!;
  }

  #jump(to: Draft): void {
    if (this.#current === null) return;
    this.#flush();
    this.#end({ kind: 'jump', to });
  }

  #end(end: End<Draft>): void {
    this.#current!.end = end;
    this.#current = null;
  }

  #place(segment: Draft): void {
    this.#segments.push(segment);
    this.#current = segment;
  }
}

function waitsUntil(call: CoreCall): call is CountCall {
  return call.operation.kind === 'waitUntil' && call.operation.waits;
}

/** Whether a thread asks where others have come. */
function asks(statement: Statement): boolean {
  if (statement.kind !== 'call' || statement.intrinsic !== 'core') return false;
  return statement.operation.kind === 'waitUntil';
}

/** The jumps out of these statements, each way once. */
function exitsOf(statements: readonly Statement[]): readonly Jump[] {
  const inside = new Set<number>();
  const exits = new Map<string, Jump>();
  forEachStatement(statements, (statement) => {
    if (statement.kind === 'loop' || statement.kind === 'block') inside.add(statement.label);
    else if (statement.kind === 'return') exits.set('return', statement);
    else if ((statement.kind === 'break' || statement.kind === 'continue') && !inside.has(statement.label)) {
      exits.set(`${statement.kind} ${statement.label}`, statement);
    }
  });
  return [...exits.values()];
}

function readsOf(expressions: readonly Expression[]): VariableSet {
  let set = 0n;
  for (const expression of expressions) for (const variable of readBy(expression)) set |= bit(variable);
  return set;
}
