// What lies between the barriers of a block and the calls that one thread makes for all.
//
// With bulk copies one thread copies and arrives for the block. It can speak for what it knows: all
// that lies before the last barrier of the block, and what it did itself since. So of each commit
// and each copy this tells whether the way from a barrier to it is calm: no thread loads or stores
// there what another may write or read, and none learns anything from another.
//
// And of each copy, whether a proxy fence of the copying thread covers it: the generic accesses of
// what it overwrites must lie before such a fence, and the fence before the copy.

import type { Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import { expressionsOf, forEachOperand, listsOf } from '../analysis/walk.ts';

/** What the calls of a program become: where all threads of the block meet, and what one thread does. */
export interface BlockCalls {
  /** Whether a call is, or ends with, a barrier of the whole block. */
  meets(call: Call): boolean;
  /** Whether a call is a copy that the copying thread makes. */
  copies(call: Call): boolean;
  /** Whether a call does nothing here that others may see. */
  idle(call: Call): boolean;
  /** Acquires of stages whose readers are known to have met since. */
  readonly released: ReadonlySet<Call>;
}

export interface Calm {
  /** Commits and copies with nothing between them and a barrier of the block. */
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
}

export function calmOf(program: Program, calls: BlockCalls): Calm {
  const afterBarrier = new Set<Call>();
  const fenced = new Set<Call>();
  const readsOthers = (expression: Expression) => {
    let reads = false;
    forEachOperand(expression, (each) => {
      if (each.kind !== 'load' || each.array.space === 'local') return;
      const parameter = each.array.space === 'global' ? program.parameters[each.array.id]! : null;
      reads ||= !(parameter?.kind === 'array' && parameter.readonly);
    });
    return reads;
  };
  const stir = (state: State) => {
    state.calm = false;
    state.fenced = false;
  };

  const atCall = (call: Call, state: State) => {
    if (calls.copies(call)) {
      if (state.calm) afterBarrier.add(call);
      if (state.fenced) fenced.add(call);
      // One that is not yet gets what it lacks.
      state.calm = true;
      state.fenced = true;
    } else if (call.intrinsic === 'producerAcquire' && calls.released.has(call)) state.fenced = true;
    else if (calls.meets(call)) {
      state.calm = true;
      state.fenced = false;
    } else if (call.intrinsic === 'producerCommit' && calls.idle(call)) {
      if (state.calm) afterBarrier.add(call);
    } else if (!calls.idle(call)) stir(state);
  };

  const visit = (statements: readonly Statement[], state: State): void => {
    for (const statement of statements) {
      // Where a copy lies, its copying thread alone evaluates.
      const own = statement.kind === 'call' && calls.copies(statement) && 'count' in statement;
      const evaluated = own ? [statement.count!] : expressionsOf(statement);
      if (evaluated.some(readsOthers)) stir(state);
      switch (statement.kind) {
        case 'store':
          if (statement.array.space !== 'local') stir(state);
          break;
        case 'call':
          atCall(statement, state);
          break;
        case 'if': {
          const [then, otherwise] = [{ ...state }, { ...state }];
          visit(statement.then, then);
          visit(statement.otherwise, otherwise);
          state.calm = then.calm && otherwise.calm;
          state.fenced = then.fenced && otherwise.fenced;
          break;
        }
        case 'loop':
        case 'block':
          // Ways come together at its begin and behind it.
          for (const list of listsOf(statement)) visit(list, { calm: false, fenced: false });
          stir(state);
          break;
        default:
      }
    }
  };
  visit(program.body, { calm: false, fenced: false });
  return { afterBarrier, fenced };
}
