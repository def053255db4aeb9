// A function's body in place of its call.
//
// A return at the end of the body gives the value of the call directly; any other goes through a
// variable, and leaves the body as `break` leaves a block.

import type { AnyNode, Function as FunctionNode, Node } from 'acorn';
import type { ResultTypes } from '../kernel/schema.ts';
import { newCell, read } from './cells.ts';
import type { Frame, ReturnTarget } from './frame.ts';
import type { Lowering } from './lowering.ts';
import type { ParsedFunction } from './parse.ts';
import { returned } from './returned.ts';
import { undefinedValue, type Value } from './values.ts';

/** A function that is called. */
export interface Activation {
  readonly name: string;
  readonly node: FunctionNode;
  readonly parsed: ParsedFunction;
  readonly source: number;
  readonly parent: Frame | null;
  /** What the results are for, where that is known. */
  readonly results?: ResultTypes | undefined;
}

/** Lowers a function's body in place of its call. */
export function inline(lowering: Lowering, activation: Activation, at: Node, bind: () => void): Value {
  const { name, node, parsed } = activation;
  refuseRecursion(lowering, activation, at);
  const path = lowering.key(at);
  const body = node.body as AnyNode;
  const returns = returnTarget(lowering, activation, at);
  lowering.calls.push({ callee: node, name });
  try {
    return lowering.within(activation, path, returns, () => {
      bind();
      if (body.type !== 'BlockStatement') return returned(lowering, body, returns);
      return inlineBlock(lowering, body, returns, parsed.resolution.returns.get(node) ?? 0);
    });
  } finally {
    lowering.calls.pop();
  }
}

function returnTarget(lowering: Lowering, { parsed, node, results }: Activation, at: Node): ReturnTarget {
  const body = node.body as AnyNode;
  const last = body.type === 'BlockStatement' ? body.body.at(-1) : undefined;
  const count = parsed.resolution.returns.get(node) ?? 0;
  return {
    label: lowering.newLabel(),
    depth: lowering.scopes.depth,
    cell: newCell(lowering, 'result', at, ':result'),
    last: last?.type === 'ReturnStatement' ? last : null,
    isOnly: count === 1,
    used: false,
    results,
    expression: null,
    // A return that cannot be lowered leaves it so.
    value: count > 0 ? { kind: 'broken' } : undefinedValue,
  };
}

function inlineBlock(lowering: Lowering, body: Node, returns: ReturnTarget, count: number): Value {
  if (count === 0 || (returns.isOnly && returns.last !== null)) {
    lowering.statement(body);
    return returns.value;
  }
  const statements = lowering.collect(() => lowering.statement(body));
  if (returns.used) {
    lowering.emit({ kind: 'block', label: returns.label, body: statements, range: lowering.range(body) });
  } else {
    for (const statement of statements) lowering.emit(statement);
  }
  if (returns.cell.holds !== 'nothing') return read(lowering, returns.cell, body);
  return lowering.mistakes.any ? { kind: 'broken' } : undefinedValue;
}

function refuseRecursion(lowering: Lowering, { name, node }: Activation, at: Node): void {
  const position = lowering.calls.findIndex(({ callee }) => callee === node);
  if (position < 0) return;
  const chain = [...lowering.calls.slice(position).map((one) => one.name), name];
  const message =
    chain.length === 2 ? `'${name}' calls itself` : chain.map((one) => `'${one}'`).join(' calls ');
  lowering.fail(
    at,
    'WS1007',
    message,
    'functions are inlined where they are called, so none may call itself: use a loop',
  );
}
