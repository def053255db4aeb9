// The program as it is analysed: what means nothing here is gone, what is implicit is said.
//
// - A sync of a thread with itself, and everything a thread-scope pipeline does, disappears: its
//   copies are done when they are issued.
// - What `quit` gives is an assignment where all threads quit together: true in the last thread of
//   the pipeline's group. Where they do not, the threads are counted as they quit.
// - A variable that may be read before it is assigned is assigned its zero at the beginning.

import { zeroOf } from '../../compiler/arithmetic.ts';
import type { Call, Expression, Group, Program, Statement } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { analyseLiveness, has } from '../analysis/liveness.ts';

/** Whether all threads of a group quit its pipelines together. */
type Quitting = 'together' | 'counted';

export function prepare(program: Program, quitting: Quitting): Program {
  const body = preparedList(program, program.body, quitting);
  const { atStart } = analyseLiveness(body);
  const zeros = program.variables.flatMap(({ type }, variable): Statement[] => {
    if (!has(atStart, variable)) return [];
    const range = nowhere(program);
    const value: Expression = { kind: 'constant', type, value: zeroOf(type), range };
    return [{ kind: 'assign', variable, value, range }];
  });
  return { ...program, body: [...zeros, ...body] };
}

function preparedList(
  program: Program,
  statements: readonly Statement[],
  quitting: Quitting,
): readonly Statement[] {
  return statements.flatMap((statement) => prepared(program, statement, quitting));
}

function prepared(program: Program, statement: Statement, quitting: Quitting): readonly Statement[] {
  switch (statement.kind) {
    case 'if': {
      const then = preparedList(program, statement.then, quitting);
      const otherwise = preparedList(program, statement.otherwise, quitting);
      return [{ ...statement, then, otherwise }];
    }
    case 'loop': {
      const body = preparedList(program, statement.body, quitting);
      return [{ ...statement, body, update: preparedList(program, statement.update, quitting) }];
    }
    case 'block':
      return [{ ...statement, body: preparedList(program, statement.body, quitting) }];
    case 'call':
      return preparedCall(program, statement, quitting);
    default:
      return [statement];
  }
}

function preparedCall(program: Program, call: Call, quitting: Quitting): readonly Statement[] {
  switch (call.intrinsic) {
    case 'sync':
      return call.group.kind === 'thread' ? [] : [call];
    case 'makePipeline':
    case 'producerAcquire':
    case 'producerCommit':
    case 'consumerWait':
    case 'consumerRelease':
      return program.pipelines[call.pipeline]!.scope === 'thread' ? [] : [call];
    case 'quit': {
      const { scope, group } = program.pipelines[call.pipeline]!;
      if (scope === 'block' && quitting === 'counted') return [call];
      const { result, range } = call;
      const value = isLast(program, scope === 'thread' ? { kind: 'thread' } : group, range);
      return [
        ...(scope === 'thread' ? [] : [{ ...call, result: null }]),
        ...(result === null ? [] : [{ kind: 'assign' as const, variable: result, value, range }]),
      ];
    }
    default:
      return [call];
  }
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
  const then: Expression = { kind: 'constant', type: 'bool', value: true, range };
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
