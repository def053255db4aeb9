// What the lowering of a kernel is given, and what it gives up with: the rules by which nodes of the text are lowered.

import type { AnyNode, Node } from 'acorn';
import type { Extent3 } from '../kernel/types.ts';
import type { Inference } from './infer.ts';
import type { Given } from './intrinsics/arguments.ts';
import type { Expression } from './ir.ts';
import type { Barrier } from './ir-barriers.ts';
import type { Lowering } from './lowering.ts';
import type { ClosureValue, DeviceFunctionValue, Value } from './values.ts';

/** How the nodes of the text are lowered. */
export interface Rules {
  statement(lowering: Lowering, node: AnyNode): void;
  value(lowering: Lowering, node: AnyNode): Value;
  /** Whether an expression holds. */
  condition(lowering: Lowering, node: AnyNode): Expression;
  /** An expression whose value is not used. */
  effect(lowering: Lowering, node: AnyNode): void;
  /** A call, at a node. */
  call(lowering: Lowering, callee: Value, given: readonly Given[], node: Node): Value;
}

/** Unwinds to the statement that could not be lowered; what is wrong is among the issues already. */
export class LoweringFailure extends Error {}

export interface LoweringOptions {
  readonly block: Extent3;
  readonly indexType: 'i32' | 'i64';
  /** Whether the launch is. */
  readonly cooperative: boolean;
  /** Whether all blocks of the grid lie along x. */
  readonly flatGrid: boolean;
  readonly inference: Inference;
  readonly rules: Rules;
}

/** A barrier, and the function that is run at the end of each of its phases. */
export interface LoweredBarrier {
  readonly barrier: Barrier;
  readonly completion: ClosureValue | DeviceFunctionValue | null;
}
