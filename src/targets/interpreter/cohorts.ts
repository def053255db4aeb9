// A program that cohorts run: the segments of each rank group, and nothing of its body.
//
// The weakest behaviour that the segments allow is what is run. Cohorts go on in any order, threads of a
// step in any order, and nothing orders them but what they wait for. Where only some can go on, the cohort
// parts at once, or, under a seed, perhaps later. A uniform variable that a head does not keep has no value
// there, nor has one on which the threads do not agree: to read it is an error of the lowering. What a cohort
// does once, each of its threads does here, and all must come to the same.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Call, Statement } from '../../compiler/ir.ts';
import type {
  CohortRegion,
  CohortWay,
  CountCall,
  End,
  Head,
  Jump,
  Step as SegmentStep,
} from '../../compiler/ir-cohorts.ts';
import type { Range } from '../../diagnostics/source.ts';
import { assignedBy, assignedIn } from '../analysis/walk.ts';
import type { Block, Runnable } from './block.ts';
import { compileCall } from './calls.ts';
import { compileExpression } from './expressions.ts';
import { brokenRule } from './fault.ts';
import type { ObservedProgram } from './observer.ts';
import { agree, take } from './regions.ts';
import { compileStatements } from './statements.ts';
import { breaks, type Completion, continues, normal, returns, type Step } from './step.ts';
import type { Thread, Wait } from './thread.ts';

/** What the blocks of a launch run. */
export interface Cohorts {
  readonly kind: 'cohorts';
  /** Begins a block: a cohort for each rank group. */
  start(block: Block): void;
}

export function compileCohorts(program: ObservedProgram, ways: readonly CohortWay[]): Cohorts {
  const compiled = ways.map((way) => new Way(program, way));
  return {
    kind: 'cohorts',
    start(block) {
      for (const way of compiled) way.start(block);
    },
  };
}

class Cohort implements Runnable {
  members: readonly Thread[];
  /** Of uniform variables; a hole where one has no value. */
  readonly values: Value[];
  waiting: Wait | null = null;

  constructor(members: readonly Thread[], values: Value[]) {
    this.members = members;
    this.values = values;
  }

  get block(): Block {
    return this.members[0]!.block;
  }

  get membersInAnyOrder(): readonly Thread[] {
    return this.block.inAnyOrder(this.members);
  }

  /** Keeps these variables and no others. */
  keep(live: readonly number[]): void {
    for (const id of this.values.keys()) if (!live.includes(id)) delete this.values[id];
  }
}

/** What a thread has of its own between steps. */
interface Own {
  /** Of variables with a value for each thread. */
  readonly values: Value[];
}

type Run = (cohort: Cohort) => void;
/** The number of the segment where a cohort goes on, when others have left it; null when its threads return. */
type Turn = (cohort: Cohort) => number | null;

interface CompiledSegment {
  readonly wait: ((cohort: Cohort) => Generator<Wait, void, void>) | null;
  /** What a head keeps. */
  readonly live: readonly number[] | null;
  readonly steps: readonly Run[];
  readonly end: Turn;
  readonly yieldsAt: Range | null;
}

/** What the cohorts of one rank group do, compiled. */
class Way {
  readonly #program: ObservedProgram;
  readonly #way: CohortWay;
  readonly #segments: readonly CompiledSegment[];
  /** A call is one step, whatever of it a segment does. */
  readonly #calls = new Map<Call, Step>();
  readonly #own = new WeakMap<Thread, Own>();

  constructor({ observer, exact }: ObservedProgram, way: CohortWay) {
    const { ranks, program, segments } = way;
    const observed = { ...(observer && { observer }), ...(exact && { exact }) };
    this.#program = { ...program, ...observed, ranks };
    this.#way = way;
    this.#segments = segments.map(({ head, steps, end }, number) => ({
      wait: head === null || head.wait === null ? null : this.#wait(head.wait, head.loads, number),
      live: head === null ? null : head.live,
      steps: [...this.#after(head), ...steps.map((step) => this.#step(step))],
      end: this.#end(end),
      yieldsAt: end.kind === 'yield' ? segments[end.to]!.head!.yieldedAt! : null,
    }));
  }

  start(block: Block): void {
    const { first, stride, count } = this.#way.ranks;
    const members = Array.from({ length: count }, (_, i) => block.threads[first + stride * i]!);
    for (const member of members) this.#own.set(member, { values: [] });
    this.#begin(new Cohort(members, []), 0);
  }

  #begin(cohort: Cohort, segment: number): void {
    cohort.block.start(cohort, this.#run(cohort, segment));
  }

  *#run(cohort: Cohort, first: number): Generator<Wait, Completion, void> {
    const [start] = this.#program.body;
    let number = first;
    for (;;) {
      const { wait, live, steps, end, yieldsAt } = this.#segments[number]!;
      if (live !== null) cohort.keep(live);
      if (wait !== null) yield* wait(cohort);
      for (const run of steps) run(cohort);
      const next = end(cohort);
      if (next === null) return returns;
      if (next <= number) cohort.block.spend(cohort.members[0]!, start!.range);
      number = next;
      if (yieldsAt !== null) yield { range: yieldsAt, ready: () => true, describe: () => 'nanosleep' };
    }
  }

  /** Some threads go their own way, from a segment with a head on. */
  #part(cohort: Cohort, leaving: readonly Thread[], segment: number): void {
    const other = new Cohort(leaving, cohort.values.slice());
    other.keep(this.#way.segments[segment]!.head!.live);
    cohort.members = cohort.members.filter((member) => !leaving.includes(member));
    this.#begin(other, segment);
  }

  #after(head: Head | null): Run[] {
    return head === null || head.wait === null ? [] : [this.#endOf(head.wait, head.loads)];
  }

  /** Waits until some can go on at a segment; those who cannot part from them. */
  #wait(wait: CountCall, loads: readonly number[], number: number): CompiledSegment['wait'] {
    const begin = this.#begins(wait, loads);
    const isReady = (thread: Thread) => thread.waiting!.ready();
    const part = (cohort: Cohort, late: readonly Thread[]) => this.#part(cohort, late, number);
    return function* (cohort) {
      begin(cohort);
      for (;;) {
        const ready = () => cohort.members.some(isReady);
        yield { range: wait.range, ready, describe: () => wait.intrinsic };
        const late = cohort.members.filter((thread) => !isReady(thread));
        if (late.length > 0 && !cohort.block.partsNow()) continue;
        if (late.length > 0) part(cohort, late);
        return;
      }
    };
  }

  /** Each thread tests words with the values that the head keeps. */
  #begins(wait: CountCall, loads: readonly number[]): Run {
    const step = this.#waitOf(wait);
    return (cohort) => {
      for (const thread of cohort.members) {
        this.#enter(thread, cohort, loads);
        thread.waiting = step.begin(thread);
      }
    };
  }

  #step(step: SegmentStep): Run {
    switch (step.kind) {
      case 'region':
        return this.#region(step.region);
      case 'once':
        return this.#once(step.statement);
      case 'call':
        return this.#call(step.call);
      default:
        return step satisfies never;
    }
  }

  /** Runs a region; gives each thread's code. */
  #region({ body, loads, stores, exits, gives }: CohortRegion): (cohort: Cohort) => Map<Thread, number> {
    const steps = compileStatements(this.#program, body);
    if (steps.kind !== 'plain') throw new TypeError('threads of a region wait for nobody');
    const assigned = [...assignedIn(body)];
    const codes = new Map(exits.map((jump, i) => [completionOf(jump), i + 1]));
    codes.set(normal, 0);
    const test = gives?.kind === 'test' ? compileExpression(this.#program, gives.test) : () => true;
    return (cohort) => {
      const given = new Map<Thread, number>();
      for (const thread of cohort.membersInAnyOrder) {
        this.#enter(thread, cohort, loads);
        const code = codes.get(steps.run(thread))!;
        for (const id of stores) take(this.#own.get(thread)!.values, thread.variables, id);
        given.set(thread, code === 0 && !test(thread) ? 1 : code);
      }
      for (const id of assigned) delete cohort.values[id];
      return given;
    };
  }

  #once(statement: Statement): Run {
    const steps = compileStatements(this.#program, [statement]);
    if (steps.kind !== 'plain') throw new TypeError('a cohort waits in heads alone');
    const assigned = [...assignedIn([statement])];
    return (cohort) => {
      const left: Value[][] = [];
      for (const thread of cohort.membersInAnyOrder) {
        this.#enter(thread, cohort);
        steps.run(thread);
        left.push(thread.variables.slice());
      }
      for (const id of assigned) agree(cohort.values, left, id);
    };
  }

  #call(call: Call): Run {
    const step = this.#callStep(call);
    if (step.kind === 'coroutine') throw new TypeError('a cohort waits in heads alone');
    const run = (thread: Thread) => {
      if (step.kind === 'plain') {
        step.run(thread);
        return;
      }
      step.begin(thread);
      step.end(thread);
    };
    return this.#ofEach(call, run);
  }

  /** What a call gives when the wait for it is over. */
  #endOf(call: CountCall, loads: readonly number[]): Run {
    const step = this.#waitOf(call);
    const end = (thread: Thread) => {
      step.end(thread);
      thread.waiting = null;
    };
    return this.#ofEach(call, end, loads);
  }

  /** What each thread does at a call; what it gives is the thread's own. */
  #ofEach(call: Call, run: (thread: Thread) => void, loads: readonly number[] = []): Run {
    const result = assignedBy(call);
    return (cohort) => {
      for (const thread of cohort.membersInAnyOrder) {
        this.#enter(thread, cohort, loads);
        run(thread);
        if (result !== null) take(this.#own.get(thread)!.values, thread.variables, result);
      }
    };
  }

  #end(end: End): Turn {
    switch (end.kind) {
      case 'jump':
      case 'suspend':
      case 'yield':
        return () => end.to;
      case 'branch': {
        const test = compileExpression(this.#program, end.test);
        return (cohort) => {
          const values = cohort.membersInAnyOrder.map((thread) => {
            this.#enter(thread, cohort);
            return test(thread);
          });
          if (values.some((value) => value !== values[0])) {
            throw brokenRule(cohort.members[0]!, end.test.range, 'threads of a cohort go different ways');
          }
          return values[0] === true ? end.then : end.otherwise;
        };
      }
      case 'split':
        return this.#split(end);
      case 'finish':
        return () => null;
      default:
        return end satisfies never;
    }
  }

  #split({ by, next, exits }: Extract<End, { kind: 'split' }>): Turn {
    const codes = this.#region(by);
    return (cohort) => {
      const given = codes(cohort);
      let to = next;
      for (const [i, exit] of exits.entries()) {
        const leaving = cohort.members.filter((member) => given.get(member) === i + 1);
        if (leaving.length === 0) continue;
        if (leaving.length === cohort.members.length) to = exit.to;
        else this.#part(cohort, leaving, exit.entry);
      }
      return to;
    };
  }

  /** A thread begins with what it finds. */
  #enter(thread: Thread, { values }: Cohort, loads: readonly number[] = []): void {
    thread.variables.length = 0;
    Object.assign(thread.variables, values);
    for (const id of loads) take(thread.variables, this.#own.get(thread)!.values, id);
  }

  #callStep(call: Call): Step {
    let step = this.#calls.get(call);
    if (step === undefined) {
      step = compileCall(this.#program, call);
      this.#calls.set(call, step);
    }
    return step;
  }

  #waitOf(call: Call): Extract<Step, { kind: 'wait' }> {
    const step = this.#callStep(call);
    if (step.kind === 'wait') return step;
    throw new TypeError(`nobody waits at ${call.intrinsic}()`);
  }
}

function completionOf(jump: Jump): Completion {
  if (jump.kind === 'return') return returns;
  return jump.kind === 'break' ? breaks(jump.label) : continues(jump.label);
}
