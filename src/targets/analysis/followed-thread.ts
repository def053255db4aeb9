// One thread of a launch, followed through the program with all that the launch knows: what it moves, what it has to
// carry out, and how long it would take if it had the processor to itself.
//
// Time is in cycles. A value is there when its operands are and their operation is done; values that do not depend on each other
// are computed side by side, as a compiler arranges them. What cannot be arranged is the order of stores, barriers and
// branches that depend on data. What only memory knows is unknown: of a branch on it the longer way counts, of a loop one
// round. A loop that counts is followed for some rounds, and its other rounds are taken to be like the last of those.

import type { Value } from '../../compiler/arithmetic.ts';
import { computed } from '../../compiler/evaluate.ts';
import type { ArrayReference, BuiltIn, Expression, Group, Program, Statement } from '../../compiler/ir.ts';
import { waitsForStage } from '../../compiler/ir-pipelines.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Element, Extent3 } from '../../kernel/types.ts';
import { access, costOf } from './costs.ts';
import { builtInOfRank } from './facts.ts';
import { FollowedClock } from './followed-clock.ts';
import {
  after,
  type Head,
  type Known,
  leaves,
  measuredRounds,
  progressAfter,
  stepOf,
  stepped,
} from './followed-rounds.ts';
import { assignedIn, operandsOf } from './walk.ts';

/** What all threads of a launch have in common. */
export interface FollowedLaunch {
  readonly program: Program;
  readonly grid: Extent3;
  readonly scalars: readonly Known[];
  /** Elements of each parameter that is an array. */
  readonly lengths: readonly number[];
  /** Cycles until a value from global memory is there. */
  readonly memoryLatency: number;
  /** The same for arrays that the kernel does not write. */
  readonly readLatency: number;
}

/** What one thread does, as if it had the processor to itself. */
export interface Followed {
  readonly bytes: number;
  /** Those of them that were read, element by element, from arrays that the launch does not write. */
  readonly read: number;
  readonly slots: number;
  /** Slots in parts of the program that end at a barrier: there the threads of a block wait for each other. */
  readonly phased: number;
  readonly cycles: number;
}

/** Statements that one thread is followed through; what comes after does not count. */
const statementLimit = 20_000;

/** Rounds of a loop whose loads are under way at the same time: compilers unroll by four. */
const roundsAtOnce = 4;

/** How a thread goes on: by the next statement, or out of the statement with that label, or not at all. */
type Way = null | { readonly leave: number; readonly again: boolean } | 'end';

type Loop = Extract<Statement, { kind: 'loop' }>;

export class FollowedThread {
  readonly #launch: FollowedLaunch;
  readonly #rank: number;
  readonly #block: number;
  readonly #clock: FollowedClock;
  readonly #values: Known[];
  /** When each variable's value is there. */
  readonly #ready: number[];
  #statements = 0;

  constructor(launch: FollowedLaunch, rank: number, block: number) {
    this.#launch = launch;
    this.#rank = rank;
    this.#block = block;
    const [x, y, z] = launch.program.block;
    this.#clock = new FollowedClock(Math.ceil((x * y * z) / 32));
    this.#values = launch.program.variables.map(() => undefined);
    this.#ready = launch.program.variables.map(() => 0);
  }

  /** Follows the thread, and says what it did and when it had done it. */
  follow(): Followed {
    this.#run(this.#launch.program.body);
    const { bytes, read, slots, phased, time, done } = this.#clock.progress;
    return { bytes, read, slots, phased, cycles: Math.max(time, done) };
  }

  // Statements

  #run(statements: readonly Statement[]): Way {
    for (const statement of statements) {
      if (++this.#statements > statementLimit) return 'end';
      const way = this.#step(statement);
      if (way !== null) return way;
    }
    return null;
  }

  #step(statement: Statement): Way {
    switch (statement.kind) {
      case 'assign':
        this.#values[statement.variable] = this.#value(statement.value);
        this.#ready[statement.variable] = this.#clock.at;
        return null;
      case 'store': {
        this.#value(statement.index);
        const index = this.#clock.at;
        this.#value(statement.value);
        this.#access(statement.array, Math.max(index, this.#clock.at), 0);
        // Loads that follow may read what it writes: none is moved before it.
        if (statement.array.space !== 'local') this.#clock.holdUntil(this.#clock.at);
        return null;
      }
      case 'if': {
        const test = this.#value(statement.test);
        if (test !== undefined) return this.#run(test ? statement.then : statement.otherwise);
        this.#clock.holdUntil(this.#clock.at);
        return this.#longer(statement.then, statement.otherwise);
      }
      case 'loop':
        return this.#loop(statement);
      case 'block': {
        const way = this.#run(statement.body);
        return way !== null && way !== 'end' && way.leave === statement.label ? null : way;
      }
      case 'break':
        return { leave: statement.label, again: false };
      case 'continue':
        return { leave: statement.label, again: true };
      case 'return':
        return 'end';
      case 'region':
        throw new TypeError('work is counted before threads become regions');
      case 'call':
        this.#call(statement);
        return null;
      default:
        return statement satisfies never;
    }
  }

  /** Both ways of a branch, of which the one with more bytes, then more to do, counts. */
  #longer(then: readonly Statement[], otherwise: readonly Statement[]): Way {
    const before = this.#head();
    this.#run(then);
    const first = { ...this.#clock.progress };
    this.#restore(before);
    this.#run(otherwise);
    const { bytes, slots } = this.#clock.progress;
    if (first.bytes > bytes || (first.bytes === bytes && first.slots > slots)) this.#clock.progress = first;
    this.#forget([...assignedIn(then), ...assignedIn(otherwise)]);
    return null;
  }

  /** What these variables hold is not known, and not before now. */
  #forget(variables: Iterable<number>): void {
    for (const id of variables) {
      this.#values[id] = undefined;
      this.#ready[id] = Math.max(this.#ready[id]!, this.#clock.progress.time);
    }
  }

  #head(): Head {
    return { values: [...this.#values], ready: [...this.#ready], state: { ...this.#clock.progress } };
  }

  #restore({ values, ready, state }: Head): void {
    for (const [id, value] of values.entries()) this.#values[id] = value;
    for (const [id, time] of ready.entries()) this.#ready[id] = time;
    this.#clock.progress = { ...state };
  }

  // Loops

  #loop(statement: Loop): Way {
    const { label, testFirst, body, update } = statement;
    const assigned = [...assignedIn(body), ...assignedIn(update)];
    const ends: number[] = [];
    let full: Head | null = null;
    for (let round = 0; ; ++round) {
      const goesOn = round === 0 && !testFirst ? true : this.#test(statement);
      if (goesOn === false) return null;
      if (goesOn === undefined) this.#clock.holdUntil(this.#clock.at);
      if (round === measuredRounds) full = this.#head();
      if (round === 2 * measuredRounds && full !== null && !leaves(body)) {
        this.#skip(statement, full, assigned);
        full = null;
        if (this.#test(statement) === false) return null;
      }
      if (round >= roundsAtOnce) this.#clock.holdUntil(ends[round - roundsAtOnce]!);
      const way = this.#run(body);
      const mine = way !== null && way !== 'end' && way.leave === label;
      if (way !== null && !(mine && way.again)) return mine ? null : way;
      this.#clock.cheaply(() => this.#run(update));
      ends.push(this.#clock.progress.done);
      if (this.#statements > statementLimit) return 'end';
      if (goesOn === undefined) {
        this.#forget(assigned);
        return null;
      }
    }
  }

  #test({ test }: Loop): Known {
    return test === null ? true : this.#clock.cheaply(() => this.#value(test));
  }

  /** Takes all rounds but the last to be like those since `full`. */
  #skip(statement: Loop, full: Head, assigned: readonly number[]): void {
    const now = this.#head();
    const steps = new Map(assigned.map((id) => [id, stepOf(full.values[id], now.values[id])]));
    const place = (rounds: number) => {
      for (const [id, step] of steps) this.#values[id] = stepped(now.values[id], step, rounds);
    };
    const holdsAfter = (rounds: number) => {
      place(rounds);
      const holds = this.#test(statement) === true;
      this.#restore(now);
      return holds;
    };
    let [least, most] = [0, 1];
    while (most < 2 ** 40 && holdsAfter(most)) [least, most] = [most, 2 * most];
    if (most >= 2 ** 40) return;
    while (most - least > 1) {
      const middle = Math.floor((least + most) / 2);
      if (holdsAfter(middle)) least = middle;
      else most = middle;
    }
    const rounds = least;
    place(rounds);
    this.#clock.skipTo(progressAfter(full.state, now.state, rounds));
    for (const id of assigned) this.#ready[id] = after(full.ready[id]!, now.ready[id]!, rounds);
  }

  // Calls

  #call(call: Extract<Statement, { kind: 'call' }>): void {
    if (call.intrinsic === 'memcpyAsync') {
      const count = Number(this.#value(call.count) ?? 0);
      const globals = [call.destination.array, call.source.array].filter(({ space }) => space === 'global');
      const share = 1 / this.#sizeOf(call.group);
      for (const { id } of globals) this.#clock.progress.bytes += count * share * this.#elementBytes(id);
      this.#clock.issue({ slots: access.slots, latency: this.#launch.memoryLatency }, 0);
    } else if (call.intrinsic === 'atomic') {
      this.#value(call.index);
      const index = this.#clock.at;
      this.#value(call.value);
      this.#access(call.array, Math.max(index, this.#clock.at), this.#latencyOf(call.array));
      if (call.array.space === 'global') this.#clock.progress.bytes += this.#elementBytes(call.array.id);
    } else if (call.intrinsic === 'warp') {
      this.#value(call.value);
      this.#clock.issue({ slots: 2, latency: access.exchange }, this.#clock.at);
    } else if (call.intrinsic === 'sync') {
      if (call.group.kind === 'block' || call.group.kind === 'grid') this.#clock.barrier();
    } else if (waitsForStage(call) || call.intrinsic === 'barrierWait') this.#clock.barrier();
    if ('result' in call && typeof call.result === 'number') {
      this.#values[call.result] = undefined;
      this.#ready[call.result] = this.#clock.at;
    }
  }

  #sizeOf(group: Group): number {
    const [x, y, z] = this.#launch.program.block;
    return group.kind === 'thread' ? 1 : group.kind === 'tile' ? group.size : x * y * z;
  }

  // Memory

  #elementBytes(parameter: number): number {
    const { element } = this.#launch.program.parameters[parameter] as { element: Element };
    return bytesOf(element);
  }

  #isReadOnly({ space, id }: ArrayReference): boolean {
    const parameter = space === 'global' ? this.#launch.program.parameters[id] : undefined;
    return parameter?.kind === 'array' && parameter.readonly;
  }

  #latencyOf(array: ArrayReference): number {
    if (array.space !== 'global') return access[array.space];
    return this.#isReadOnly(array) ? this.#launch.readLatency : this.#launch.memoryLatency;
  }

  /** Reads or writes an element when its index is there. */
  #access(array: ArrayReference, from: number, latency: number): void {
    if (array.space === 'global') {
      const bytes = this.#elementBytes(array.id);
      this.#clock.progress.bytes += bytes;
      if (this.#isReadOnly(array)) this.#clock.progress.read += bytes;
    }
    this.#clock.issue({ slots: array.space === 'local' ? 0 : access.slots, latency }, from);
  }

  // Expressions

  #value(expression: Expression): Known {
    switch (expression.kind) {
      case 'constant':
        this.#clock.at = 0;
        return expression.value;
      case 'variable':
        this.#clock.at = this.#ready[expression.id]!;
        return this.#values[expression.id];
      case 'scalar':
        this.#clock.at = 0;
        return this.#launch.scalars[expression.id];
      case 'builtin':
        this.#clock.at = 0;
        return wideOf(expression, this.#builtIn(expression.name));
      case 'length': {
        this.#clock.at = 0;
        const { space, id, as } = expression.array;
        const length = space === 'global' && as === undefined ? this.#launch.lengths[id] : undefined;
        return length === undefined ? undefined : wideOf(expression, length);
      }
      case 'load':
        this.#value(expression.index);
        this.#access(expression.array, this.#clock.at, this.#latencyOf(expression.array));
        return undefined;
      case 'conditional': {
        const test = this.#value(expression.test);
        if (test !== undefined) return this.#value(test ? expression.then : expression.otherwise);
        let from = this.#clock.at;
        this.#value(expression.then);
        from = Math.max(from, this.#clock.at);
        this.#value(expression.otherwise);
        this.#clock.issue(costOf(expression), Math.max(from, this.#clock.at));
        return undefined;
      }
      default: {
        let from = 0;
        const operands = operandsOf(expression).map((operand) => {
          const value = this.#value(operand);
          from = Math.max(from, this.#clock.at);
          return value;
        });
        const { slots, latency } = costOf(expression);
        if (slots > 0) this.#clock.issue({ slots, latency }, from);
        else this.#clock.at = from;
        // It branches inside: a compiler arranges nothing around it.
        if (expression.kind === 'math') this.#clock.holdUntil(this.#clock.at);
        return computed(expression, operands);
      }
    }
  }

  #builtIn(name: BuiltIn): number {
    const { grid, program } = this.#launch;
    const [what, axis] = name.split('.');
    if (what === 'gridDim') return grid['xyz'.indexOf(axis!)]!;
    const place = `threadIdx.${axis!}` as BuiltIn;
    if (what === 'blockIdx') return builtInOfRank({ block: grid }, place, this.#block)!;
    return builtInOfRank(program, name, this.#rank)!;
  }
}

function wideOf({ type }: Expression, value: number): Value {
  return type === 'i64' ? BigInt(value) : value;
}
