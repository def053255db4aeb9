// The code of statements that one thread carries out from beginning to end.
//
// What other threads take part in goes to the frame; everything else is written here.

import type { Call, Statement } from '../../compiler/ir.ts';
import { writeAtomic } from './atomics.ts';
import { writeCore } from './core.ts';
import { pushExpression } from './expressions.ts';
import {
  pushElementAddress,
  pushWord,
  withIndex,
  writeBoundsCheck,
  writeCheck,
  writeStore,
} from './memory.ts';
import type { ThreadContext } from './thread-context.ts';
import { wasmType } from './types.ts';

/** Writes statements in order. */
export function writeStatements(context: ThreadContext, statements: readonly Statement[]): void {
  for (const statement of statements) writeStatement(context, statement);
}

export function writeStatement(context: ThreadContext, statement: Statement): void {
  const { code, frame, labels } = context;
  switch (statement.kind) {
    case 'assign':
      frame.writeVariable(statement.variable, () => pushExpression(context, statement.value));
      return;
    case 'store':
      writeElementStore(context, statement);
      return;
    case 'if':
      pushExpression(context, statement.test);
      code.if(
        () => writeStatements(context, statement.then),
        statement.otherwise.length === 0 ? undefined : () => writeStatements(context, statement.otherwise),
      );
      return;
    case 'loop':
      writeLoop(context, statement, {
        pushTest: (test) => pushExpression(context, test),
        writeBody: () => writeStatements(context, statement.body),
        writeUpdate: () => writeStatements(context, statement.update),
      });
      return;
    case 'block':
      code.block((exit) => {
        labels.set(statement.label, { break: exit, continue: null });
        writeStatements(context, statement.body);
      });
      return;
    case 'break':
      code.br(labels.get(statement.label)!.break);
      return;
    case 'continue':
      code.br(labels.get(statement.label)!.continue!);
      return;
    case 'return':
      frame.finish();
      return;
    case 'region':
      frame.region!(statement);
      return;
    case 'call':
      writeCall(context, statement);
      return;
    default:
      statement satisfies never;
  }
}

type Loop = Extract<Statement, { kind: 'loop' }>;

/** Writes the structure of a loop around parts that the caller writes. */
export function writeLoop(
  { code, labels }: Pick<ThreadContext, 'code' | 'labels'>,
  { label, test, testFirst }: Loop,
  parts: {
    readonly pushTest: (test: NonNullable<Loop['test']>) => void;
    readonly writeBody: () => void;
    readonly writeUpdate: () => void;
  },
): void {
  code.block((exit) => {
    code.loop((top) => {
      if (test !== null && testFirst) {
        parts.pushTest(test);
        code.op('i32.eqz').brIf(exit);
      }
      code.block((next) => {
        labels.set(label, { break: exit, continue: next });
        parts.writeBody();
      });
      parts.writeUpdate();
      if (test !== null && !testFirst) {
        parts.pushTest(test);
        code.brIf(top);
      } else {
        code.br(top);
      }
    });
  });
}

function writeElementStore(context: ThreadContext, statement: Extract<Statement, { kind: 'store' }>): void {
  const { code } = context;
  const { array, value } = statement;
  if (context.unit.isCounts(array)) {
    const offset = pushWord(context, array, statement.index, pushExpression);
    pushExpression(context, value);
    writeStore(context, statement, offset);
    return;
  }
  const pushIndex = () => pushExpression(context, statement.index);
  withIndex(context, pushIndex, (index) => {
    code.withTemporary(wasmType(value.type), (element) => {
      pushExpression(context, value);
      code.set(element);
      writeBoundsCheck(context, statement, 'write', (each) => pushExpression(context, each));
      writeCheck(context, statement, index, 'write');
      pushElementAddress(context, array, index);
      code.get(element);
      writeStore(context, statement);
    });
  });
}

/** A call, if it is a single thread's own business; else, and if it uses a pipeline, it goes to the frame. */
function writeCall(context: ThreadContext, call: Call): void {
  switch (call.intrinsic) {
    case 'atomic':
      writeAtomic(context, call);
      return;
    case 'core':
      writeCore(context, call);
      return;
    case 'print':
      writeLine(context, call, 'line');
      return;
    case 'assert':
      pushExpression(context, call.test);
      context.code.op('i32.eqz');
      context.code.if(() => {
        writeLine(context, call, 'assertion');
        context.frame.fail();
      });
      return;
    case 'globaltimer':
    case 'clock64':
      context.frame.writeVariable(call.result, () => {
        context.code.call(context.unit.host('clock', 'now'));
      });
      return;
    default:
      context.frame.collective(call);
  }
}

/** The values of a line go to the host one by one, and then the line. */
function writeLine(
  context: ThreadContext,
  call: Extract<Call, { intrinsic: 'print' | 'assert' }>,
  as: 'line' | 'assertion',
): void {
  const { code, unit, launch, frame } = context;
  for (const part of call.parts) {
    if (typeof part === 'string') continue;
    pushExpression(context, part);
    code.call(unit.host('print', part.type));
  }
  code.i32(unit.printSite(call));
  frame.pushRank();
  code.get(launch.block).call(unit.host('print', as));
}
