// What the code of one thread is written with.
//
// Expressions and straight statements mean the same in a region's loop over threads, at the
// uniform level of a block and in a state machine; where they differ is in how a variable is
// kept, how the thread is distinguished from the others, and how the thread's code is left. That is the
// Frame; whoever writes such code brings one.

import type { Call, Expression, Region } from '../../compiler/ir.ts';
import type { Code, Label, Local } from './encoder/code.ts';
import type { LaunchValues } from './launch-values.ts';
import type { Unit } from './unit.ts';

/** The place of an element: bytes from an address that a local holds. */
export interface ElementLocation {
  readonly address: Local;
  readonly offset: number;
}

/** How one kind of code keeps a thread. */
export interface Frame {
  /** Pushes a variable's value. */
  readVariable(id: number): void;
  /** Sets a variable to what `push` pushes. */
  writeVariable(id: number, push: () => void): void;
  /** Pushes the thread's rank in its block, an i32. */
  pushRank(): void;
  /** The local that holds this expression's value already, if one does. */
  cached(expression: Expression): Local | null;
  /** Where a load's element is, if that is known to be inside its array. */
  located?(load: Expression): ElementLocation | null;
  /** Ends this thread: `return` in the kernel. */
  finish(): void;
  /** Leaves the function, after a fault was noted. */
  fail(): void;
  /** Writes a call that other threads take part in, or that uses a pipeline. */
  collective(call: Call): void;
  /** Writes what all threads do, in the code of their block. */
  region?(region: Region): void;
}

export interface ThreadContext {
  readonly unit: Unit;
  readonly code: Code;
  readonly launch: LaunchValues;
  readonly frame: Frame;
  /** Where `break` and `continue` of the open loops and blocks go, by the program's label. */
  readonly labels: Map<number, { readonly break: Label; readonly continue: Label | null }>;
}
