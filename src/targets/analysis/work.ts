// How much a launch has to do, without running it: the bytes that its threads move between
// global memory and the chip, and the operations that they carry out.
//
// A few threads, spread over the grid, are followed through the program with all that the launch
// knows; what only memory knows is unknown. Where a branch depends on something unknown the longer
// way counts, and a loop that does counts once. The sum over the followed threads, times how
// many threads each stands for, is the estimate.

import type { Value } from '../../compiler/arithmetic.ts';
import { computed } from '../../compiler/evaluate.ts';
import type { Expression, Group, Program, Statement } from '../../compiler/ir.ts';
import { type ElementType, type Extent3, elementBytes } from '../../kernel/types.ts';
import { assignedIn, operandsOf } from './walk.ts';

/** What a launch has to do, in all. */
export interface LaunchWorkload {
  /** Read from and written to global memory. */
  readonly bytes: number;
  /** Arithmetic; a function of Math counts as `mathOperations`. */
  readonly operations: number;
}

/** What one call of a function of Math counts for. */
export const mathOperations = 16;

/** How many threads of a block, and blocks of the grid, are followed. */
const threadSamples = 8;
const blockSamples = 2;
/** Statements that one thread is followed through; what comes after does not count. */
const statementLimit = 20_000;

/** A value that is known, or `undefined`. */
type Known = Value | undefined;

/** Estimates the work of a launch. `lengths`: elements of each parameter that is an array. */
export function workOfLaunch(
  program: Program,
  grid: Extent3,
  scalars: readonly Known[],
  lengths: readonly number[],
): LaunchWorkload {
  const threads = program.block[0] * program.block[1] * program.block[2];
  const blocks = grid[0] * grid[1] * grid[2];
  let bytes = 0;
  let operations = 0;
  const ranks = spread(threads, threadSamples);
  const places = spread(blocks, blockSamples);
  for (const block of places) {
    for (const rank of ranks) {
      const thread = new FollowedThread(program, grid, scalars, lengths, rank, block);
      thread.follow();
      bytes += thread.bytes;
      operations += thread.operations;
    }
  }
  const each = (threads * blocks) / (ranks.length * places.length);
  return { bytes: bytes * each, operations: operations * each };
}

/** At most `count` numbers from 0 to below `end`, spread evenly. */
function spread(end: number, count: number): number[] {
  const length = Math.min(end, count);
  return Array.from({ length }, (_, i) => Math.floor(((i + 0.5) * end) / length));
}

/** How a thread goes on: by the next statement, or out of the statement with that label, or not at all. */
type Way = null | { readonly leave: number; readonly again: boolean } | 'end';

class FollowedThread {
  bytes = 0;
  operations = 0;
  readonly #program: Program;
  readonly #grid: Extent3;
  readonly #scalars: readonly Known[];
  readonly #lengths: readonly number[];
  readonly #rank: number;
  readonly #block: number;
  readonly #variables: Known[];
  #statements = 0;

  constructor(
    program: Program,
    grid: Extent3,
    scalars: readonly Known[],
    lengths: readonly number[],
    rank: number,
    block: number,
  ) {
    this.#program = program;
    this.#grid = grid;
    this.#scalars = scalars;
    this.#lengths = lengths;
    this.#rank = rank;
    this.#block = block;
    this.#variables = program.variables.map(() => undefined);
  }

  follow(): void {
    this.#run(this.#program.body);
  }

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
        this.#variables[statement.variable] = this.#value(statement.value);
        return null;
      case 'store':
        this.#value(statement.index);
        this.#value(statement.value);
        if (statement.array.space === 'global') this.bytes += this.#elementBytes(statement.array.id);
        return null;
      case 'if': {
        const test = this.#value(statement.test);
        if (test !== undefined) return this.#run(test ? statement.then : statement.otherwise);
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

  /** Both ways of a branch, of which the one with more bytes, then more operations, counts. */
  #longer(then: readonly Statement[], otherwise: readonly Statement[]): Way {
    const before = { bytes: this.bytes, operations: this.operations };
    const variables = [...this.#variables];
    this.#run(then);
    const first = { bytes: this.bytes, operations: this.operations };
    this.bytes = before.bytes;
    this.operations = before.operations;
    for (const [id, value] of variables.entries()) this.#variables[id] = value;
    this.#run(otherwise);
    if (first.bytes > this.bytes || (first.bytes === this.bytes && first.operations > this.operations)) {
      this.bytes = first.bytes;
      this.operations = first.operations;
    }
    for (const id of [...assignedIn(then), ...assignedIn(otherwise)]) this.#variables[id] = undefined;
    return null;
  }

  #loop(statement: Extract<Statement, { kind: 'loop' }>): Way {
    const { label, test, testFirst, body, update } = statement;
    for (let first = true; ; first = false) {
      const goesOn = first && !testFirst ? true : test === null ? true : this.#value(test);
      if (goesOn === false) return null;
      const way = this.#run(body);
      const mine = way !== null && way !== 'end' && way.leave === label;
      if (way !== null && !(mine && way.again)) return mine ? null : way;
      this.#run(update);
      if (this.#statements > statementLimit) return 'end';
      if (goesOn === undefined) {
        for (const id of [...assignedIn(body), ...assignedIn(update)]) this.#variables[id] = undefined;
        return null;
      }
    }
  }

  #call(call: Extract<Statement, { kind: 'call' }>): void {
    if (call.intrinsic === 'memcpyAsync') {
      const count = Number(this.#value(call.count) ?? 0);
      const globals = [call.destination.array, call.source.array].filter(({ space }) => space === 'global');
      const share = 1 / this.#sizeOf(call.group);
      for (const { id } of globals) this.bytes += count * share * this.#elementBytes(id);
    } else if (call.intrinsic === 'atomic') {
      this.#value(call.index);
      this.#value(call.value);
      if (call.array.space === 'global') this.bytes += 2 * this.#elementBytes(call.array.id);
    }
    if ('result' in call && typeof call.result === 'number') this.#variables[call.result] = undefined;
  }

  #sizeOf(group: Group): number {
    const [x, y, z] = this.#program.block;
    return group.kind === 'thread' ? 1 : group.kind === 'tile' ? group.size : x * y * z;
  }

  #elementBytes(parameter: number): number {
    const { element } = this.#program.parameters[parameter] as { element: ElementType };
    return elementBytes[element];
  }

  #value(expression: Expression): Known {
    switch (expression.kind) {
      case 'constant':
        return expression.value;
      case 'variable':
        return this.#variables[expression.id];
      case 'scalar':
        return this.#scalars[expression.id];
      case 'builtin':
        return this.#wide(expression, this.#builtIn(expression.name));
      case 'length': {
        const { space, id } = expression.array;
        const length = space === 'global' ? this.#lengths[id] : undefined;
        return length === undefined ? undefined : this.#wide(expression, length);
      }
      case 'load':
        this.#value(expression.index);
        if (expression.array.space === 'global') this.bytes += this.#elementBytes(expression.array.id);
        return undefined;
      case 'conditional': {
        const test = this.#value(expression.test);
        if (test !== undefined) return this.#value(test ? expression.then : expression.otherwise);
        this.#value(expression.then);
        this.#value(expression.otherwise);
        return undefined;
      }
      default:
        if (expression.kind === 'math') this.operations += mathOperations;
        else if (expression.kind !== 'convert') this.operations += 1;
        return computed(
          expression,
          operandsOf(expression).map((operand) => this.#value(operand)),
        );
    }
  }

  #wide({ type }: Expression, value: number): Value {
    return type === 'i64' ? BigInt(value) : value;
  }

  #builtIn(name: Extract<Expression, { kind: 'builtin' }>['name']): number {
    const [x, y] = this.#program.block;
    const axis = 'xyz'.indexOf(name.slice(-1));
    if (name === 'threadRank') return this.#rank;
    if (name.startsWith('gridDim')) return this.#grid[axis]!;
    const [width, height] = name.startsWith('blockIdx') ? this.#grid : [x, y];
    const rank = name.startsWith('blockIdx') ? this.#block : this.#rank;
    return [rank % width, Math.floor(rank / width) % height, Math.floor(rank / (width * height))][axis]!;
  }
}
