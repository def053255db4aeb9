// What lies between the barriers of a block and the calls that one thread makes for all.
//
// With bulk copies one thread copies and arrives for the block. It can speak for what it knows: all
// that lies before the last barrier of the block, and what it did itself since. So of each commit
// and each copy this tells whether the way from a barrier to it is calm: no thread loads or stores
// there what another may write or read, and none learns anything from another.
//
// A copy for a barrier is made by the group's first thread. What threads wait for is theirs to see to; but what
// they loaded and stored themselves, each in the part that it might copy, must lie before the copy too.
//
// And of each copy, whether a proxy fence of the copying thread covers it: the generic accesses of
// what it overwrites must lie before such a fence, and the fence before the copy.

import type { Call, Expression, Group, Program, Statement } from '../../compiler/ir.ts';
import { anyOperand, anyStatement, expressionsOf, listsOf } from '../analysis/walk.ts';
import { stageStepOf } from './verbs.ts';

/** What the calls of a program become: where all threads of the block meet, and what one thread does. */
export interface BlockCalls {
  /** Whether a call is, or ends with, a barrier of the whole block. */
  meets(call: Call): boolean;
  /** Whether a call is a copy that one thread makes for all. */
  copies(call: Call): boolean;
  /** Whether a call does nothing here that others may see. */
  idle(call: Call): boolean;
  /** Acquires of stages whose readers are known to have met since. */
  readonly released: ReadonlySet<Call>;
}

export interface Calm {
  /** Commits and copies with nothing between them and a barrier of the block, or for a barrier of their group. */
  readonly afterBarrier: ReadonlySet<Call>;
  /** Copies that need no fence of their own. */
  readonly fenced: ReadonlySet<Call>;
}

/** What is known at a place of the program. */
interface State {
  /** Whether the way from the last barrier of the block to here is calm. */
  calm: boolean;
  /** Whether all that the copying thread knows lies before a fence of its own. */
  fenced: boolean;
  /** The most threads that have met, all of a group, since one of them made an access. */
  met: number;
}

const nothing: State = { calm: false, fenced: false, met: 0 };

function sizeOf(group: Group): number {
  return group.kind === 'tile' ? group.size : group.kind === 'thread' ? 1 : Number.POSITIVE_INFINITY;
}

export function calmOf(program: Program, calls: BlockCalls): Calm {
  const afterBarrier = new Set<Call>();
  const fenced = new Set<Call>();
  const readsOthers = (expression: Expression) =>
    anyOperand(expression, (each) => {
      if (each.kind !== 'load' || each.array.space === 'local') return false;
      const parameter = each.array.space === 'global' ? program.parameters[each.array.id]! : null;
      return !(parameter?.kind === 'array' && parameter.readonly);
    });
  const note = (set: Set<Call>, call: Call, holds: boolean) => {
    if (holds) set.add(call);
    else set.delete(call);
  };
  const stir = (state: State) => {
    state.calm = false;
    state.fenced = false;
  };
  const access = (state: State) => Object.assign(state, nothing);

  const atCopy = (call: Extract<Call, { intrinsic: 'memcpyAsync' }>, state: State) => {
    note(fenced, call, state.fenced);
    if ('barrier' in call) {
      const size = sizeOf(call.group);
      note(afterBarrier, call, state.met >= size);
      state.met = Math.max(state.met, size);
      stir(state);
      return;
    }
    note(afterBarrier, call, state.calm);
    // One that is not yet gets what it lacks.
    Object.assign(state, { calm: true, fenced: true, met: Number.POSITIVE_INFINITY });
  };

  const atCall = (call: Call, state: State) => {
    if (call.intrinsic === 'memcpyAsync') {
      if (calls.copies(call)) atCopy(call, state);
      else access(state);
    } else if (stageStepOf(call) === 'acquire' && calls.released.has(call)) state.fenced = true;
    else if (calls.meets(call))
      Object.assign(state, { calm: true, fenced: false, met: Number.POSITIVE_INFINITY });
    else if (call.intrinsic === 'sync') {
      if (call.mask === undefined) state.met = Math.max(state.met, sizeOf(call.group));
      stir(state);
    } else if (call.intrinsic === 'atomic') access(state);
    else if (stageStepOf(call) === 'commit' && calls.idle(call)) note(afterBarrier, call, state.calm);
    else if (!calls.idle(call)) stir(state);
  };

  const visit = (statements: readonly Statement[], state: State): void => {
    for (const statement of statements) {
      // Where a copy lies, its copying thread alone evaluates.
      const own = statement.kind === 'call' && calls.copies(statement) && 'count' in statement;
      const evaluated = own ? [statement.count!] : expressionsOf(statement);
      if (evaluated.some(readsOthers)) access(state);
      switch (statement.kind) {
        case 'store':
          if (statement.array.space !== 'local') access(state);
          break;
        case 'call':
          atCall(statement, state);
          break;
        case 'if': {
          const [then, otherwise] = [{ ...state }, { ...state }];
          visit(statement.then, then);
          visit(statement.otherwise, otherwise);
          meet(state, then, otherwise);
          break;
        }
        case 'loop':
        case 'block':
          around(statement, state);
          break;
        default:
      }
    }
  };
  /** Ways come together at the begin of a loop, and behind what threads may leave. */
  const around = (statement: Extract<Statement, { kind: 'loop' | 'block' }>, state: State) => {
    const jumps = anyStatement([statement], ({ kind }) => kind === 'break' || kind === 'continue');
    const entry = jumps ? { ...nothing } : { ...state };
    for (let before = ''; before !== JSON.stringify(entry); ) {
      before = JSON.stringify(entry);
      const end = { ...entry };
      for (const list of listsOf(statement)) visit(list, end);
      if (statement.kind === 'loop') meet(entry, entry, end);
      Object.assign(state, statement.kind === 'loop' ? entry : end);
    }
    if (jumps) access(state);
  };
  const meet = (state: State, one: State, other: State) =>
    Object.assign(state, {
      calm: one.calm && other.calm,
      fenced: one.fenced && other.fenced,
      met: Math.min(one.met, other.met),
    });
  visit(program.body, { ...nothing });
  return { afterBarrier, fenced };
}
