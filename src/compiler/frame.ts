// One activation of a function while it is inlined: what its names are bound to.

import type { Node } from 'acorn';
import type { ResultTypes } from '../kernel/schema.ts';
import type { ParsedFunction } from './parse.ts';
import type { Declaration } from './resolve.ts';
import type { Value } from './values.ts';

/** A variable that changes. What it holds is fixed by the first value that it is given. */
export interface Cell {
  readonly name: string;
  /** The same in every pass of the inference. */
  readonly key: string;
  readonly node: Node;
  holds: 'nothing' | 'number' | 'text' | 'view' | 'token' | 'vector' | 'object' | 'list' | 'other';
  /** The variable of the program; null while there is none, because its type is open. */
  variable: number | null;
  /**
   * For a view or token: everything but its offset or phase, which the variable has. For a vector: one variable
   * for each component. For anything else that cannot change: itself.
   */
  value: Value | null;
  /** Of an object or a list: the variables of its parts, by their names. */
  parts: Map<string, Cell> | null;
  /** Holds one object's members for ever, and no other's: a second name for it means the same variables. */
  readonly stays?: boolean;
}

export type Binding =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'cell'; readonly cell: Cell };

/** Something that `break` or `continue` can leave or go on with. */
export interface JumpTarget {
  /** Its labels in the text. */
  readonly names: readonly string[];
  readonly kind: 'loop' | 'switch' | 'block';
  /** Its label in the program. */
  readonly label: number;
  /** How many blocks of the text are open around it. */
  readonly depth: number;
  used: boolean;
}

/** Where the results of an inlined function go. */
export interface ReturnTarget {
  /** Leaves the function; used where a return is not its last statement. */
  readonly label: number;
  /** How many blocks of the text are open around the call. */
  readonly depth: number;
  readonly cell: Cell;
  /** Its last statement, after which nothing need be left. */
  readonly last: Node | null;
  /** Whether there is one return alone. */
  readonly isOnly: boolean;
  used: boolean;
  value: Value;
  /** What the results are for, where the caller has said so. */
  readonly results?: ResultTypes | undefined;
  /** The expression that is being returned. */
  expression: Node | null;
}

export class Frame {
  readonly parsed: ParsedFunction;
  /** Which of the program's sources the function is in. */
  readonly source: number;
  readonly parent: Frame | null;
  /** Tells the activations of a function apart, alike in every pass. */
  readonly path: string;
  /** Null in the kernel itself, whose returns end the thread. */
  readonly returns: ReturnTarget | null;
  readonly jumps: JumpTarget[] = [];
  readonly #bindings = new Map<Declaration, Binding>();

  constructor(
    parsed: ParsedFunction,
    source: number,
    parent: Frame | null,
    path: string,
    returns: ReturnTarget | null,
  ) {
    this.parsed = parsed;
    this.source = source;
    this.parent = parent;
    this.path = path;
    this.returns = returns;
  }

  bind(declaration: Declaration, binding: Binding): void {
    this.#bindings.set(declaration, binding);
  }

  lookUp(declaration: Declaration): Binding | undefined {
    return this.#bindings.get(declaration) ?? this.parent?.lookUp(declaration);
  }
}
