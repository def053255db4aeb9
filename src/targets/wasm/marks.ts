// Modules that tell of the stages of their pipelines: a program with a mark at each point of a
// stage's use, and how a mark is written.
//
// The batches are counted in variables of the program, so that they are a thread's own, uniform where its
// threads go the same way, as everything that analyses see. Marks of a pipeline that the whole
// block shares, or of those that its threads have one by one, are reported once for threads that come
// together; where that would cut up code that threads otherwise run alone, each may tell them
// for itself.

import type { Call, Expression, Program, Statement, ValueType } from '../../compiler/ir.ts';
import { pipelineVerbs } from '../../compiler/ir-pipelines.ts';
import type { Range } from '../../diagnostics/source.ts';
import { replaceCalls } from '../analysis/map.ts';
import { marksOf } from '../stage-marks.ts';
import { pushExpression } from './expressions.ts';
import type { ThreadContext } from './thread-context.ts';

type MarkCall = Extract<Call, { intrinsic: 'mark' }>;

/** The same program with marks; reported once by threads that come together, or by each thread. */
export function withStageMarks(program: Program, reported: 'together' | 'apart'): Program {
  return new Marking(program, reported).program();
}

/** Writes a mark, for the thread or threads of a context. */
export function writeMark(context: ThreadContext, { at, of, made, batch }: MarkCall): void {
  const { code, unit, frame } = context;
  code.i32(at).i32(of);
  pushExpression(context, made);
  pushExpression(context, batch);
  frame.pushRank();
  unit.writeRankInBlock(code);
  code.call(unit.host('stages', 'mark'));
}

/** The variables that count a pipeline's uses. */
interface Counters {
  /** How many times it was made here, how many batches were committed, and released. */
  readonly made: number;
  readonly head: number;
  readonly tail: number;
}

class Marking {
  readonly #program: Program;
  readonly #reported: 'together' | 'apart';
  readonly #variables: Program['variables'][number][];
  readonly #counters: readonly Counters[];

  constructor(program: Program, reported: 'together' | 'apart') {
    this.#program = program;
    this.#reported = reported;
    this.#variables = [...program.variables];
    this.#counters = program.pipelines.map(({ name }) => ({
      made: this.#variable(`${name}.made`, 'i32'),
      head: this.#variable(`${name}.head`, 'i32'),
      tail: this.#variable(`${name}.tail`, 'i32'),
    }));
  }

  #variable(name: string, type: ValueType): number {
    return this.#variables.push({ name, type }) - 1;
  }

  program(): Program {
    const body = replaceCalls(this.#program.body, (call) => this.#call(call));
    return { ...this.#program, variables: this.#variables, body };
  }

  #call(call: Call): readonly Statement[] {
    if (!('pipeline' in call) || call.intrinsic === 'quit') return [call];
    const { pipeline, range } = call;
    const { made, head, tail } = this.#counters[pipeline]!;
    const isOwn = this.#program.pipelines[pipeline]!.scope === 'thread';
    const add = (variable: number) => assign(variable, plus(read(variable, range), 1), range);
    if (call.intrinsic === 'makePipeline') {
      const zero = (variable: number) => assign(variable, number(0, range), range);
      return [call, add(made), zero(head), zero(tail)];
    }
    const { begins, ends } = marksOf(call.intrinsic);
    const mark = (at: number, batch: Expression) => this.#mark(at, pipeline, batch, range);
    const { step } = pipelineVerbs[call.intrinsic];
    switch (step) {
      case 'acquire':
      case 'copy':
        return [mark(begins, read(head, range)), call, mark(ends, read(head, range))];
      case 'commit':
        return [call, add(head)];
      case 'wait': {
        const began = mark(begins, read(tail, range));
        if ('prior' in call) {
          const oldest = plus(read(head, range), -call.prior);
          const moved = onlyIf(less(read(tail, range), oldest), [assign(tail, oldest, range)]);
          return [began, call, moved, mark(ends, lastBefore(tail, range))];
        }
        // In thread scope it is the wait that moves on, if there is something to wait for.
        const moved = isOwn ? [onlyIf(less(read(tail, range), read(head, range)), [add(tail)])] : [];
        const ended = [mark(ends, read(tail, range)), ...moved];
        if (!('time' in call)) return [began, call, ...ended];
        const result = call.result ?? this.#variable('waited', 'bool');
        const waited: Expression = { kind: 'variable', id: result, type: 'bool', range };
        return [began, { ...call, result }, onlyIf(waited, ended)];
      }
      case 'release': {
        const batch = isOwn ? lastBefore(tail, range) : read(tail, range);
        const marked = [mark(begins, batch), call, mark(ends, batch)];
        return isOwn ? marked : [...marked, add(tail)];
      }
      default:
        return step satisfies never;
    }
  }

  #mark(at: number, pipeline: number, batch: Expression, range: Range): MarkCall {
    const { group } = this.#program.pipelines[pipeline]!;
    return {
      kind: 'call',
      intrinsic: 'mark',
      at,
      of: pipeline,
      made: read(this.#counters[pipeline]!.made, range),
      batch,
      once: this.#reported === 'together' && group.kind !== 'tile',
      range,
    };
  }
}

function read(id: number, range: Range): Expression {
  return { kind: 'variable', id, type: 'i32', range };
}

function number(value: number, range: Range): Expression {
  return { kind: 'constant', type: 'i32', value, range };
}

function plus(left: Expression, value: number): Expression {
  const { range } = left;
  return { kind: 'binary', operator: 'add', left, right: number(value, range), type: 'i32', range };
}

function less(left: Expression, right: Expression): Expression {
  return { kind: 'compare', operator: 'less', left, right, type: 'bool', range: left.range };
}

/** The batch before the one that a counter is at, or the first. */
function lastBefore(counter: number, range: Range): Expression {
  const value = read(counter, range);
  const otherwise = number(0, range);
  const test = less(otherwise, value);
  return { kind: 'conditional', test, then: plus(value, -1), otherwise, type: 'i32', range };
}

function assign(variable: number, value: Expression, range: Range): Statement {
  return { kind: 'assign', variable, value, range };
}

function onlyIf(test: Expression, then: readonly Statement[]): Statement {
  return { kind: 'if', test, then, otherwise: [], range: test.range };
}
