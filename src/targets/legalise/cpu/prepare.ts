// The program as it is analysed: what means nothing here is gone, what is implicit is said.
//
// - A sync of a thread with itself, and everything a thread-scope pipeline does, disappears: its
//   copies are done when they are issued.
// - What `quit` gives is an assignment where all threads quit together: true in the last thread of
//   the pipeline's group. Where they do not, the threads are counted as they quit.
// - Where threads run as state machines, a wait that may time out is a loop: it looks, and lets others
//   go on. What is left of the call is the look, which waits for no time at all.
// - A variable that may be read before it is assigned is assigned its zero at the beginning.

import { zeroOf } from '../../../compiler/arithmetic.ts';
import type {
  Call,
  Expression,
  Group,
  Program,
  Statement,
  ValueType,
  Variable,
} from '../../../compiler/ir.ts';
import type { Range } from '../../../diagnostics/source.ts';
import { analyseLiveness, has } from '../../analysis/liveness.ts';
import { forEachStatement } from '../../analysis/walk.ts';

/** Whether all threads of a group quit its pipelines together. */
type Quitting = 'together' | 'counted';

export function prepare(program: Program, quitting: Quitting): Program {
  const preparation = new Preparation(program, quitting);
  const body = preparation.list(program.body);
  const { atStart } = analyseLiveness(body);
  const { variables } = preparation;
  const zeros = variables.flatMap(({ type }, variable): Statement[] => {
    if (!has(atStart, variable)) return [];
    const range = nowhere(program);
    const value: Expression = { kind: 'constant', type, value: zeroOf(type), range };
    return [{ kind: 'assign', variable, value, range }];
  });
  return { ...program, variables, body: [...zeros, ...body] };
}

class Preparation {
  readonly #program: Program;
  readonly #quitting: Quitting;
  /** Those of the program, and those that it takes to say what is implicit. */
  readonly variables: Variable[];
  #labels: number;

  constructor(program: Program, quitting: Quitting) {
    this.#program = program;
    this.#quitting = quitting;
    this.variables = [...program.variables];
    this.#labels = labelsIn(program);
  }

  list(statements: readonly Statement[]): readonly Statement[] {
    return statements.flatMap((statement) => this.#statement(statement));
  }

  #statement(statement: Statement): readonly Statement[] {
    switch (statement.kind) {
      case 'if': {
        const then = this.list(statement.then);
        return [{ ...statement, then, otherwise: this.list(statement.otherwise) }];
      }
      case 'loop': {
        const body = this.list(statement.body);
        return [{ ...statement, body, update: this.list(statement.update) }];
      }
      case 'block':
        return [{ ...statement, body: this.list(statement.body) }];
      case 'call':
        return this.#call(statement);
      default:
        return [statement];
    }
  }

  #call(call: Call): readonly Statement[] {
    switch (call.intrinsic) {
      case 'sync':
        return call.group.kind === 'thread' ? [] : [call];
      case 'consumerWaitPrior':
        return [];
      case 'makePipeline':
      case 'producerAcquire':
      case 'producerCommit':
      case 'consumerWait':
      case 'consumerRelease':
        return this.#isOwn(call.pipeline) ? [] : [call];
      case 'consumerWaitFor':
      case 'consumerWaitUntil':
        if (this.#isOwn(call.pipeline)) return assigned(call.result, always(call.range), call.range);
        if (isForEver(call.time)) {
          const { pipeline, result, range } = call;
          const wait: Call = { kind: 'call', intrinsic: 'consumerWait', pipeline, range };
          return [wait, ...assigned(result, always(range), range)];
        }
        return this.#quitting === 'counted' ? this.#timedWait(call, call) : [call];
      case 'barrierWait':
        if (call.limit === null) return [call];
        if (isForEver(call.limit)) {
          const wait: Call = { ...call, limit: null, result: null };
          return [wait, ...assigned(call.result, always(call.range), call.range)];
        }
        if (this.#quitting === 'together') return [call];
        if (call.limit.kind === 'constant' && !call.until && !(Number(call.limit.value) > 0)) {
          return [call, letOthersGoOn(call.range)];
        }
        return this.#timedWait(call, {
          intrinsic: call.until ? 'consumerWaitUntil' : 'consumerWaitFor',
          time: call.limit,
        });
      case 'quit': {
        const { result, range } = call;
        if (this.#isOwn(call.pipeline)) return assigned(result, always(range), range);
        if (this.#quitting === 'counted') return [call];
        const { group } = this.#program.pipelines[call.pipeline]!;
        return [{ ...call, result: null }, ...assigned(result, isLast(this.#program, group, range), range)];
      }
      default:
        return [call];
    }
  }

  #isOwn(pipeline: number): boolean {
    return this.#program.pipelines[pipeline]!.scope === 'thread';
  }

  /**
   * A look at the stage or barrier, a look at the clock, and so on until one of them says that the wait is
   * over. Others go on in between, so that a kernel may wait again and again for no time at all.
   */
  #timedWait(
    call: Extract<Call, { intrinsic: 'consumerWaitFor' | 'consumerWaitUntil' | 'barrierWait' }>,
    {
      intrinsic,
      time,
    }: Pick<Extract<Call, { intrinsic: 'consumerWaitFor' | 'consumerWaitUntil' }>, 'intrinsic' | 'time'>,
  ): Statement[] {
    const { range } = call;
    const limit = this.#variable('limit', 'f64', range);
    const start = this.#variable('start', 'f64', range);
    const now = this.#variable('now', 'f64', range);
    const ready = call.result ?? this.#variable('ready', 'bool', range).id;
    const label = this.#labels++;
    const read = (result: number): Statement => ({ kind: 'call', intrinsic: 'globaltimer', result, range });
    const leaveIf = (test: Expression): Statement => {
      return { kind: 'if', test, then: [{ kind: 'break', label, range }], otherwise: [], range };
    };
    // Differences of times are more exact than sums.
    const passed: Expression =
      intrinsic === 'consumerWaitUntil'
        ? now
        : { kind: 'binary', operator: 'subtract', left: now, right: start, type: 'f64', range };
    const early: Expression = {
      kind: 'compare',
      operator: 'less',
      left: passed,
      right: limit,
      type: 'bool',
      range,
    };
    const zero: Expression = { kind: 'constant', type: 'f64', value: 0, range };
    return [
      { kind: 'assign', variable: limit.id, value: time, range },
      ...(intrinsic === 'consumerWaitFor' ? [read(start.id)] : []),
      {
        kind: 'loop',
        label,
        test: null,
        testFirst: true,
        body: [
          call.intrinsic === 'barrierWait'
            ? { ...call, limit: zero, until: false, result: ready }
            : { ...call, time: zero, result: ready },
          leaveIf({ kind: 'variable', id: ready, type: 'bool', range }),
          letOthersGoOn(range),
          read(now.id),
          leaveIf({ kind: 'unary', operator: 'not', operand: early, type: 'bool', range }),
        ],
        update: [],
        range,
      },
    ];
  }

  #variable(name: string, type: ValueType, range: Range): Expression & { readonly kind: 'variable' } {
    return { kind: 'variable', id: this.variables.push({ name, type }) - 1, type, range };
  }
}

function assigned(variable: number | null, value: Expression, range: Range): Statement[] {
  return variable === null ? [] : [{ kind: 'assign', variable, value, range }];
}

/** A wait without an end is one that can be found to be a deadlock. */
function isForEver(time: Expression): boolean {
  return time.kind === 'constant' && time.value === Number.POSITIVE_INFINITY;
}

function letOthersGoOn(range: Range): Statement {
  const duration: Expression = { kind: 'constant', type: 'f64', value: 0, range };
  return { kind: 'call', intrinsic: 'nanosleep', duration, range };
}

function always(range: Range): Expression {
  return { kind: 'constant', type: 'bool', value: true, range };
}

/** A number above those of all labels. */
function labelsIn({ body }: Program): number {
  let labels = 0;
  forEachStatement(body, (statement) => {
    if ('label' in statement) labels = Math.max(labels, statement.label + 1);
  });
  return labels;
}

/** Whether a thread is the last of its group. */
function isLast(program: Program, group: Group, range: Range): Expression {
  const type = program.indexType;
  const size = program.block[0] * program.block[1] * program.block[2];
  const index = (value: number): Expression => {
    return { kind: 'constant', type, value: type === 'i64' ? BigInt(value) : value, range };
  };
  const rank: Expression = { kind: 'builtin', name: 'threadRank', type, range };
  const equal = (left: Expression, right: Expression): Expression => {
    return { kind: 'compare', operator: 'equal', left, right, type: 'bool', range };
  };
  const then = always(range);
  const lastOfBlock = equal(rank, index(size - 1));
  switch (group.kind) {
    case 'thread':
      return then;
    case 'tile': {
      const own: Expression = {
        kind: 'binary',
        operator: 'remainder',
        left: rank,
        right: index(group.size),
        type,
        range,
      };
      const lastOfTile = equal(own, index(group.size - 1));
      return {
        kind: 'conditional',
        test: lastOfTile,
        then,
        otherwise: lastOfBlock,
        type: 'bool',
        range,
      };
    }
    default:
      return lastOfBlock;
  }
}

function nowhere(program: Program): Range {
  return program.body[0]?.range ?? { source: 0, start: 0, end: 0 };
}
