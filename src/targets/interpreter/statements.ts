// Statements, compiled once to steps.

import type { Expression, Statement } from '../../compiler/ir.ts';
import { compileCall } from './calls.ts';
import { beginAnew } from './counts.ts';
import {
  arrayOf,
  compileBounds,
  compileExpression,
  compileIndex,
  type Evaluate,
  observerOf,
} from './expressions.ts';
import { writeElement } from './memory.ts';
import type { ObservedProgram } from './observer.ts';
import { compileRegion } from './regions.ts';
import {
  breaks,
  type Completion,
  continues,
  effect,
  normal,
  returns,
  type Sequence,
  type Step,
  sequence,
} from './step.ts';
import type { Thread } from './thread.ts';

export function compileStatements(program: ObservedProgram, statements: readonly Statement[]): Sequence {
  return sequence(statements.map((statement) => compileStatement(program, statement)));
}

function compileStatement(program: ObservedProgram, statement: Statement): Step {
  const expression = (operand: Expression) => compileExpression(program, operand);
  switch (statement.kind) {
    case 'assign': {
      const id = statement.variable;
      const value = expression(statement.value);
      return effect((thread) => {
        thread.variables[id] = value(thread);
      });
    }
    case 'store': {
      const { range, component = 0 } = statement;
      const array = arrayOf(statement.array);
      const index = compileIndex(program, statement.index);
      const value = expression(statement.value);
      const inside = compileBounds(program, statement, 'write');
      const observer = observerOf(program, statement.array);
      if (observer === undefined && program.observer !== undefined) {
        return effect((thread) => {
          const position = index(thread);
          beginAnew(thread, statement.array, position);
          writeElement(thread, array(thread), position, component, value(thread), range);
        });
      }
      if (observer === undefined && inside === null) {
        return effect((thread) => {
          const position = index(thread);
          writeElement(thread, array(thread), position, component, value(thread), range);
        });
      }
      return effect((thread) => {
        const position = index(thread);
        const written = value(thread);
        inside?.(thread);
        observer?.write(thread, array(thread), position, written, range, component);
        writeElement(thread, array(thread), position, component, written, range);
      });
    }
    case 'if':
      return compileIf(
        expression(statement.test),
        compileStatements(program, statement.then),
        compileStatements(program, statement.otherwise),
      );
    case 'loop':
      return compileLoop(program, statement);
    case 'block':
      return compileBlock(compileStatements(program, statement.body), breaks(statement.label));
    case 'break':
      return jump(breaks(statement.label));
    case 'continue':
      return jump(continues(statement.label));
    case 'return':
      return jump(returns);
    case 'region':
      return compileRegion(statement, compileStatements(program, statement.body));
    case 'call':
      return compileCall(program, statement);
    default:
      return statement satisfies never;
  }
}

function jump(completion: Completion): Step {
  return { kind: 'plain', run: () => completion };
}

function compileIf(test: Evaluate, then: Sequence, otherwise: Sequence): Step {
  if (then.kind === 'plain' && otherwise.kind === 'plain') {
    return { kind: 'plain', run: (thread) => (test(thread) ? then.run(thread) : otherwise.run(thread)) };
  }
  return {
    kind: 'coroutine',
    *run(thread) {
      const branch = test(thread) ? then : otherwise;
      return branch.kind === 'plain' ? branch.run(thread) : yield* branch.run(thread);
    },
  };
}

function compileBlock(body: Sequence, breaksHere: Completion): Step {
  const after = (completion: Completion) => (completion === breaksHere ? normal : completion);
  if (body.kind === 'plain') return { kind: 'plain', run: (thread) => after(body.run(thread)) };
  return {
    kind: 'coroutine',
    *run(thread) {
      return after(yield* body.run(thread));
    },
  };
}

function compileLoop(program: ObservedProgram, loop: Statement & { readonly kind: 'loop' }): Step {
  const { label, testFirst, range } = loop;
  const breaksHere = breaks(label);
  const continuesHere = continues(label);
  const test = loop.test === null ? () => true : compileExpression(program, loop.test);
  const body = compileStatements(program, loop.body);
  const update = compileStatements(program, loop.update);

  const enters = (thread: Thread) => !testFirst || test(thread);
  // After the body and again after the update: whether the loop is left, and if so how.
  const leaves = (completion: Completion) => completion !== normal && completion !== continuesHere;
  const left = (completion: Completion) => (completion === breaksHere ? normal : completion);

  if (body.kind === 'plain' && update.kind === 'plain') {
    return {
      kind: 'plain',
      run(thread) {
        if (!enters(thread)) return normal;
        do {
          thread.block.spend(thread, range);
          let completion = body.run(thread);
          if (leaves(completion)) return left(completion);
          completion = update.run(thread);
          if (leaves(completion)) return left(completion);
        } while (test(thread));
        return normal;
      },
    };
  }
  return {
    kind: 'coroutine',
    *run(thread) {
      if (!enters(thread)) return normal;
      do {
        thread.block.spend(thread, range);
        let completion = body.kind === 'plain' ? body.run(thread) : yield* body.run(thread);
        if (leaves(completion)) return left(completion);
        completion = update.kind === 'plain' ? update.run(thread) : yield* update.run(thread);
        if (leaves(completion)) return left(completion);
      } while (test(thread));
      return normal;
    },
  };
}
