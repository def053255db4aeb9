// The arguments of an intrinsic's call, checked by the table.

import type { Node } from 'acorn';
import {
  type ArgumentKind,
  type Combination,
  combinations,
  type Form,
  type MemoryOrder,
  type MemoryScope,
  memoryOrders,
  memoryScopes,
} from '../../kernel/intrinsics.ts';
import { type Element, isElementType } from '../../kernel/types.ts';
import { type Advice, callFix, castAdvice } from '../advice.ts';
import { numberConstant } from '../build.ts';
import type { Expression } from '../ir.ts';
import type { PipelineScope } from '../ir-pipelines.ts';
import type { Lowering } from '../lowering.ts';
import { isFloat } from '../number-types.ts';
import { isBigintValue, knownNumber, numberHint, numeric, toIndex, toType } from '../numbers.ts';
import { dividedFor } from '../quotients.ts';
import { refuseRows } from '../shapes.ts';
import { describe, hasFraction, isNumeric, type Numeric, type Value, type ViewValue } from '../values.ts';
import { refuseReadonly } from '../views.ts';
import { written } from '../written.ts';
import { formsText, kindText } from './argument-words.ts';
import type { ArgumentTypes } from './handler.ts';

/** A value that was passed, and where it stands. */
export interface Given {
  readonly value: Value;
  readonly node: Node;
}

interface Slot {
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly optional: boolean;
  readonly rest: boolean;
}

/** Finds the form that fits what is given, and converts each argument as its kind says. */
export function checkArguments(
  lowering: Lowering,
  intrinsic: string,
  forms: readonly Form[],
  given: readonly Given[],
  node: Node,
): Readonly<Record<string, unknown>> {
  const candidates = forms.map(slotsOf).filter((slots) => takesCount(slots, given.length));
  if (candidates.length === 0) {
    return lowering.fail(
      node,
      'WS1009',
      `${intrinsic} is given ${given.length === 1 ? 'one argument' : `${given.length} arguments`}`,
      `it takes ${formsText(forms)}`,
    );
  }
  const slots = candidates.find((one) => mismatch(one, given) < 0) ?? nearest(candidates, given);
  const wrong = mismatch(slots, given);
  if (wrong >= 0) {
    const { value, node: place } = given[wrong]!;
    if (value.kind === 'broken') lowering.broken();
    const { name, kind } = slotAt(slots, wrong);
    lowering.fail(
      place,
      'WS1009',
      `${name} of ${intrinsic} must be ${kindText(kind)}, and is ${describe(value)}`,
      wantsNumber(kind) && value.kind !== 'text'
        ? numberHint(value)
        : (hintForLanes(intrinsic, value) ?? `it takes ${formsText(forms)}`),
    );
  }
  const converted: Record<string, unknown> = {};
  slots.forEach(({ name, kind, rest }, position) => {
    const what = `${name} of ${intrinsic}`;
    if (rest) {
      converted[name] = given.slice(position).map((one) => convertArgument(lowering, kind, one, what));
    } else if (position < given.length) {
      converted[name] = convertArgument(lowering, kind, given[position]!, what);
    }
  });
  return converted;
}

/** What a group of any lanes has in place of a pipeline or barrier that its threads share. */
function hintForLanes(intrinsic: string, { kind }: Value): string | null {
  if (kind !== 'lanes' && kind !== 'subset') return null;
  if (kind === 'subset' && intrinsic === 'cuda.binaryPartition')
    return 'cut the block by both: cuda.binaryPartition(cuda.thisThreadBlock(), first && second)';
  return intrinsic === 'cuda.pipelined'
    ? "such groups write the verbs: cuda.makePipeline(group, cuda.pipelineSharedState('block', 2)), producerAcquire, …"
    : null;
}

function slotsOf(form: Form): Slot[] {
  return Object.entries(form).map(([name, text]) => ({
    name,
    kind: text.replace(/\?$|\.\.\.$/, '') as ArgumentKind,
    optional: text.endsWith('?'),
    rest: text.endsWith('...'),
  }));
}

function takesCount(slots: readonly Slot[], count: number): boolean {
  const least = slots.filter(({ optional, rest }) => !optional && !rest).length;
  return count >= least && (count <= slots.length || slots.some(({ rest }) => rest));
}

function slotAt(slots: readonly Slot[], position: number): Slot {
  return slots[Math.min(position, slots.length - 1)]!;
}

/** The position of the first argument that is of another kind, or -1. */
function mismatch(slots: readonly Slot[], given: readonly Given[]): number {
  return given.findIndex(({ value }, position) => !accepts(slotAt(slots, position).kind, value));
}

/** The form that fits furthest. */
function nearest(candidates: readonly (readonly Slot[])[], given: readonly Given[]): readonly Slot[] {
  return candidates.reduce((best, one) => (mismatch(one, given) > mismatch(best, given) ? one : best));
}

/** A pipeline of the thread's own has no shared state; who asks for one gets an error from its handler. */
const scopes = { thread: 0, block: 0, cluster: 0, device: 0, system: 0 } satisfies Record<PipelineScope, 0>;

function accepts(kind: ArgumentKind, value: Value): boolean {
  switch (kind) {
    case 'number':
    case 'number or bigint':
    case 'index':
    case 'lanes':
    case 'constant':
    case 'number or quotient':
    case 'number, bigint or quotient':
    case 'nanoseconds':
      return isNumericOrQuotient(value);
    case 'count':
      return value.kind === 'count' || isNumericOrQuotient(value);
    case 'vector':
      return value.kind === 'vector';
    case 'vector or number':
      return value.kind === 'vector' || isNumeric(value);
    case 'array':
    case 'readonly array':
      return value.kind === 'view';
    case 'shape':
      return (
        value.kind === 'list' && [2, 3].includes(value.items.length) && value.items.every(isNumericOrQuotient)
      );
    case 'element type':
      return value.kind === 'elementType' || (value.kind === 'text' && isElementType(value.text));
    case 'group':
      return value.kind === 'group' && value.group.kind !== 'grid';
    case 'group or lanes':
      return value.kind === 'lanes' || value.kind === 'subset' || accepts('group', value);
    case 'group or its lanes':
      return (value.kind === 'lanes' && value.tile !== undefined) || accepts('group', value);
    case 'block':
      return value.kind === 'group' && value.group.kind === 'block';
    case 'block or tile':
      return value.kind === 'group' && (value.group.kind === 'block' || value.group.kind === 'tile');
    case 'block, tile or its lanes':
      return (value.kind === 'lanes' && value.tile !== undefined) || accepts('block or tile', value);
    case 'block, tile or lanes':
      return value.kind === 'lanes' || value.kind === 'subset' || accepts('block or tile', value);
    case 'lanes of a warp':
      return value.kind === 'lanes';
    case 'tile, lanes or subset':
      return value.kind === 'subset' || accepts('tile or lanes', value);
    case 'tile or lanes':
      return value.kind === 'lanes' || (value.kind === 'group' && value.group.kind === 'tile');
    case 'pipeline':
      return value.kind === 'pipeline';
    case 'pipeline state':
      return value.kind === 'pipelineState';
    case 'random state':
      return value.kind === 'randomState';
    case 'combination':
      return isOneOf(combinations, value);
    case 'memory order':
      return isOneOf(memoryOrders, value);
    case 'memory scope':
      return isOneOf(memoryScopes, value);
    case 'scope':
      return value.kind === 'text' && Object.hasOwn(scopes, value.text);
    case 'role':
      return value.kind === 'choice' || (value.kind === 'text' && /^(producer|consumer)$/.test(value.text));
    case 'barrier':
    case 'token':
    case 'object':
      return value.kind === kind;
    case 'pipeline or barrier':
      return value.kind === 'pipeline' || value.kind === 'barrier';
    case 'function':
      return value.kind === 'closure' || value.kind === 'deviceFunction';
    case 'anything':
      return isNumeric(value) || ['text', 'choice', 'template', 'quotient', 'vector'].includes(value.kind);
  }
}

function isNumericOrQuotient(value: Value): boolean {
  return isNumeric(value) || value.kind === 'quotient';
}

function isOneOf(names: readonly string[], value: Value): boolean {
  return value.kind === 'text' && names.includes(value.text);
}

function wantsNumber(kind: ArgumentKind): boolean {
  return accepts(kind, { kind: 'literal', value: 0 });
}

type Converter<K extends ArgumentKind> = (
  lowering: Lowering,
  value: Value,
  node: Node,
  what: string,
) => ArgumentTypes[K];

const same = (_lowering: Lowering, value: Value) => value as never;

const converters: { readonly [K in ArgumentKind]: Converter<K> } = {
  number: numberAlone,
  'number or bigint': numeric,
  'number or quotient': (lowering, value, node, what) =>
    value.kind === 'quotient' ? value : numberAlone(lowering, value, node, what),
  'number, bigint or quotient': (lowering, value, node, what) =>
    value.kind === 'quotient' ? value : numeric(lowering, value, node, what),
  index: toIndex,
  lanes: toLanes,
  constant: knownInteger,
  count: (lowering, value, node, what) =>
    value.kind === 'count'
      ? value
      : { kind: 'count', count: toIndex(lowering, value, node, what), alignment: 1 },
  array: (lowering, value, node) => {
    refuseReadonly(lowering, value as ViewValue, node);
    refuseRows(lowering, value as ViewValue, node);
    return value as ViewValue;
  },
  'readonly array': (lowering, value, node) => {
    refuseRows(lowering, value as ViewValue, node);
    return value as ViewValue;
  },
  shape: (lowering, value, node, what) =>
    value.kind === 'list' ? value.items.map((item) => toIndex(lowering, item, node, what)) : [],
  'element type': (_lowering, value) =>
    value.kind === 'elementType' ? value.element : (textOf(value) as Element),
  group: same,
  'group or lanes': same,
  block: same,
  'block or tile': same,
  'group or its lanes': same,
  'block, tile or its lanes': same,
  'block, tile or lanes': same,
  vector: same,
  'vector or number': same,
  'tile or lanes': same,
  'lanes of a warp': same,
  'tile, lanes or subset': same,
  pipeline: same,
  'pipeline state': same,
  'random state': same,
  combination: (_lowering, value) => textOf(value) as Combination,
  scope: (_lowering, value) => textOf(value) as PipelineScope,
  role: same,
  'memory order': (_lowering, value) => textOf(value) as MemoryOrder,
  'memory scope': (_lowering, value) => textOf(value) as MemoryScope,
  nanoseconds: (lowering, value, node, what) =>
    toType(lowering, numeric(lowering, dividedFor(lowering, value, 'f64'), node, what), 'f64', node),
  barrier: same,
  'pipeline or barrier': same,
  token: same,
  function: same,
  object: same,
  anything: (_lowering, value) => value,
};

function convertArgument(
  lowering: Lowering,
  kind: ArgumentKind,
  { value, node }: Given,
  what: string,
): unknown {
  return converters[kind](lowering, value, node, what);
}

function textOf(value: Value): string {
  return value.kind === 'text' ? value.text : '';
}

/** A mask as the 32 bits of a u32, however it is written: 0xffffffff and -1 name the same lanes. */
function toLanes(lowering: Lowering, value: Value, node: Node, what: string): Expression {
  const mask = numberAlone(lowering, value, node, what);
  if (mask.kind === 'literal') {
    const lanes = Number(mask.value);
    if (Number.isInteger(lanes) && Math.abs(lanes) < 2 ** 32) {
      return numberConstant('u32', lanes >>> 0, lowering.range(node));
    }
  }
  lowering.inference.meets(mask, 'u32');
  const isFractional = mask.kind === 'number' ? isFloat(mask.type) : hasFraction(mask);
  if (isFractional) {
    lowering.fail(
      node,
      'WS1004',
      `${what} must be an integer, and is ${describe(mask)}`,
      'bit i names lane i: 0xffffffff names all 32',
    );
  }
  return toType(lowering, mask, 'u32', node);
}

/** A number that is no bigint: what JavaScript's Math takes. */
function numberAlone(lowering: Lowering, value: Value, node: Node, what: string): Numeric {
  const given = numeric(lowering, value, node, what);
  if (!isBigintValue(given)) return given;
  const hint = /\bMath\.(min|max)$/.test(what)
    ? 'choose by a comparison: a < b ? a : b'
    : castAdvice(lowering, node, 'f64');
  return lowering.fail(node, 'WS1004', `${what} must be a number, and is ${describe(given)}`, hint);
}

/** An integer that is known when the kernel is compiled. */
function knownInteger(lowering: Lowering, value: Value, node: Node, what: string): number {
  const known = knownNumber(lowering, numberAlone(lowering, value, node, what));
  if (known === null) {
    return lowering.fail(
      node,
      'WS1013',
      `${what} must be known when the kernel is compiled`,
      "make it of literals, of constants of the schema ('constant index = 2') and of the block's size",
    );
  }
  if (Number.isInteger(known)) return known;
  return lowering.fail(
    node,
    'WS1009',
    `${what} must be an integer, and is ${known}`,
    roundAdvice(lowering, node),
  );
}

/** A number without its fraction. */
function roundAdvice(lowering: Lowering, node: Node): Advice {
  const fix = callFix(lowering, node, 'Math.trunc');
  return { hint: `round it: Math.trunc(${written(lowering, node)})`, fixes: [fix] };
}
