// Small programs of the core, each about one rule of the hardware, and words to write them.
//
// A program has a shared array `s`, a global array `g` that it may write, a source `x` that nobody
// writes, an output `out`, and mbarriers. Its threads begin together, when the mbarriers are made.

import type { Expression, Group, Program, Statement } from '#warpstage/compiler/ir.js';
import type { CoreOperation } from '#warpstage/compiler/ir-core.js';
import { Budget } from '#warpstage/targets/checker/budget.js';
import { observeLowered } from '#warpstage/targets/checker/checker.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import type { Fault } from '#warpstage/targets/executable.js';
import {
  createInterpreterRunner,
  type Delivery,
  interpreterExecutable,
} from '#warpstage/targets/interpreter/runner.js';
import {
  type ArrayHandle,
  add,
  compare,
  constant,
  core,
  load,
  ProgramBuilder,
  store,
  subtract,
  sync,
  type VariableHandle,
  when,
} from '../support/ir.ts';
import { runProgram } from '../support/run-program.ts';

/** Threads of a block. */
export const threads = 8;

/** What a program shows. `deadlock`: no thread can go on. `rule`: it breaks a rule that has no outcome. */
export type Verdict = 'clean' | 'race' | 'rule' | 'deadlock';

/** The words of one litmus program. */
export class Litmus {
  readonly p: ProgramBuilder;
  readonly s: ArrayHandle;
  readonly g: ArrayHandle;
  readonly x: ArrayHandle;
  readonly out: ArrayHandle;
  readonly counter: ArrayHandle;
  readonly t: Expression;
  readonly r: VariableHandle;
  readonly q: VariableHandle;
  readonly #made: Statement[] = [];

  constructor(size = threads) {
    this.p = new ProgramBuilder('litmus', size);
    this.out = this.p.array('out', 'i32');
    this.g = this.p.array('g', 'i32');
    this.x = this.p.array('x', 'i32', 'readonly');
    this.counter = this.p.array('counter', 'i32');
    this.s = this.p.shared('s', 'i32', 256);
    this.t = this.p.builtin('threadRank');
    this.r = this.p.variable('r', 'i32');
    this.q = this.p.variable('q', 'i32');
  }

  /** An mbarrier that expects so many arrivals, made before the threads begin. */
  mbarrier(expected: number, name = 'f'): number {
    const id = this.p.mbarrier(name);
    this.#made.push(this.init(id, expected));
    return id;
  }

  init(mbarrier: number, expected: number): Statement {
    return core({ kind: 'mbarrierInit', mbarrier, index: this.n(0), expected: this.n(expected) });
  }

  n(value: number): Expression {
    return this.p.index(value);
  }

  is(rank: number): Expression {
    return compare('equal', this.t, this.n(rank));
  }

  thread(rank: number, ...statements: Statement[]): Statement {
    return when(this.is(rank), statements);
  }

  arrive(
    mbarrier: number,
    operands: Partial<Extract<CoreOperation, { kind: 'mbarrierArrive' }>> = {},
  ): Statement {
    const arrival = { count: null, bytes: null, drop: false, order: 'release' } as const;
    return core({ kind: 'mbarrierArrive', mbarrier, index: this.n(0), ...arrival, ...operands });
  }

  arriveExpecting(mbarrier: number, bytes: number): Statement {
    return this.arrive(mbarrier, { bytes: this.n(bytes) });
  }

  wait(mbarrier: number, phase: number, parity = phase & 1): Statement {
    const operands = { ...this.#parity(parity), phase: this.n(phase) };
    return core({ kind: 'mbarrierWait', mbarrier, index: this.n(0), ...operands });
  }

  #parity(parity: number) {
    const awaited = { by: 'parity', awaited: this.n(parity) } as const;
    return { ...awaited, limit: null, until: false, converged: false, waiting: { verb: 'wait' } };
  }

  /** By the parity alone, as on hardware. */
  waitParity(mbarrier: number, parity: number): Statement {
    const operands = { ...this.#parity(parity), phase: null };
    return core({ kind: 'mbarrierWait', mbarrier, index: this.n(0), ...operands });
  }

  /** Copies elements from `x`, or from another array, to the same place of `s`, or of another. */
  bulk(mbarrier: number, first: number, count: number, from: ArrayHandle = this.x, at = first): Statement {
    return core({
      kind: 'bulkCopy',
      mbarrier,
      index: this.n(0),
      destination: { array: this.s, offset: this.n(first) },
      source: { array: from, offset: this.n(at) },
      count: this.n(count),
      promised: 16,
    });
  }

  bulkStore(count = threads): Statement {
    return core({
      kind: 'bulkStore',
      destination: { array: this.g, offset: this.n(0) },
      source: { array: this.s, offset: this.n(0) },
      count: this.n(count),
      promised: 16,
    });
  }

  bulkCommit(): Statement {
    return core({ kind: 'bulkCommit' });
  }

  bulkWait(reads: boolean): Statement {
    return core({ kind: 'bulkWait', allBut: this.n(0), reads });
  }

  /** The thread copies one element of `x` by itself. */
  copy(to: Expression = this.t, from: Expression = this.t): Statement {
    const group: Group = { kind: 'thread' };
    return core({
      kind: 'copyChunks',
      destination: { array: this.s, offset: to },
      source: { array: this.x, offset: from },
      count: this.n(1),
      chunkBytes: 4,
      promised: 4,
      group,
      zeroFill: null,
    });
  }

  commit(): Statement {
    return core({ kind: 'copyCommit' });
  }

  waitGroup(allBut: number): Statement {
    return core({ kind: 'copyWait', allBut: this.n(allBut), most: allBut });
  }

  arriveAfterCopies(mbarrier: number, noIncrement: boolean): Statement {
    return core({ kind: 'mbarrierArriveAfterCopies', mbarrier, index: this.n(0), noIncrement });
  }

  fence(space: 'shared' | 'global' = 'shared'): Statement {
    return core({ kind: 'proxyFence', space });
  }

  invalidate(mbarrier: number): Statement {
    return core({ kind: 'mbarrierInvalidate', mbarrier, index: this.n(0) });
  }

  /** `s[t] = t`, or another value, or in another place. */
  set(value: Expression = this.t, at: Expression = this.t): Statement {
    return store(this.s, at, value);
  }

  /** `r = s[G-1-t]`: what another thread has. */
  readOther(array: ArrayHandle = this.s): Statement {
    return this.r.set(load(array, subtract(this.n(threads - 1), this.t)));
  }

  readOwn(array: ArrayHandle = this.s): Statement {
    return this.r.set(load(array, this.t));
  }

  sync(): Statement {
    return sync();
  }

  warpSync(): Statement {
    return sync({ kind: 'tile', size: threads });
  }

  build(...body: Statement[]): Program {
    return this.p.build([
      when(this.is(0), this.#made),
      sync(),
      ...body,
      store(this.out, this.t, add(this.r.value, this.q.value)),
    ]);
  }

  constant(value: number): Expression {
    return constant('i32', value);
  }

  /** Lets other threads go on. */
  pause(): Statement {
    const duration = constant('f64', 1);
    return { kind: 'call', intrinsic: 'nanosleep', duration, range: duration.range };
  }
}

/** What one schedule showed. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly fault: Fault | null;
  readonly findings: readonly Finding[];
  readonly out: readonly number[];
}

export const schedules: readonly Delivery[] = ['eager', 'late', ...Array.from({ length: 24 }, (_, i) => i)];

/** Runs a program under one schedule, watched by the checker. */
export function outcomeOf(program: Program, delivery: Delivery): Outcome {
  const findings: Finding[] = [];
  const settings = { unfilled: new Set<number>(), budget: new Budget(2 ** 28) };
  const out = new Int32Array(threads);
  const { fault } = runProgram(
    {
      name: 'the core',
      compile: (compiled) => interpreterExecutable(compiled, delivery),
      createRunner: (executable, context) =>
        createInterpreterRunner(
          executable as ReturnType<typeof interpreterExecutable>,
          context,
          observeLowered(program, settings, { report: (finding) => findings.push(finding) }),
        ),
    },
    program,
    {
      grid: 1,
      arguments: {
        out,
        g: new Int32Array(256),
        x: Int32Array.from({ length: 256 }, (_, i) => 100 + i),
        counter: new Int32Array(4),
      },
    },
  );
  const errors = findings.filter(({ severity }) => severity === 'error');
  return { verdict: verdictOf(fault, errors), fault, findings: errors, out: [...out] };
}

function verdictOf(fault: Fault | null, errors: readonly Finding[]): Verdict {
  // A race is reported even where the schedule ends badly: it is the cause.
  if (errors.some(({ code }) => code === 'WS7001' || code === 'WS7002')) return 'race';
  if (fault?.kind === 'deadlock') return 'deadlock';
  if (fault !== null) return 'rule';
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('; '));
  return 'clean';
}
