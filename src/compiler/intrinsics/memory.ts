// Arrays and atomics.

import type { Node } from 'acorn';
import type { MemoryOrder, MemoryScope } from '../../kernel/intrinsics.ts';
import { bytesOf, isNumberElement, layoutOf } from '../../kernel/layout.ts';
import type { Element, NumberElement } from '../../kernel/types.ts';
import { intrinsic } from '../advice.ts';
import { binary, compare, numberConstant, variable } from '../build.ts';
import {
  type AtomicOperator,
  type Expression,
  numberValueType,
  type SharedArray,
  type Statement,
} from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { loadedType } from '../number-types.ts';
import { toStored } from '../numbers.ts';
import { partOf, shaped } from '../shapes.ts';
import {
  type Numeric,
  number,
  type QuotientValue,
  undefinedValue,
  type Value,
  type ViewValue,
} from '../values.ts';
import { newLocalArray, refuseWindow, subarray, viewLength } from '../views.ts';
import { isBitType } from './bitcast.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

export const memoryHandlers = {
  'cuda.threadFence': (call) => fence(call, 'device'),
  'cuda.threadFenceBlock': (call) => fence(call, 'block'),
  'cuda.threadFenceSystem': (call) => fence(call, 'system'),
  'cuda.sharedArray': sharedArray,
  'cuda.localArray': localArray,
  'array.length': ({ lowering, receiver, node }) => number('index', viewLength(lowering, receiver, node)),
  'array.shaped': ({ lowering, receiver, args, node }) => {
    refuseWindow(lowering, receiver, node);
    return shaped(lowering, partOf(lowering, receiver, node), args.shape, args.pitch ?? null, node);
  },
  'array.as': (call) => seenAs(call, call.args.element),
  'array.subarray': ({ lowering, receiver, args, node }) =>
    subarray(lowering, receiver, args.begin ?? null, args.end ?? null, node),

  'cuda.atomicAdd': (call) => atomic(call, 'add', call.args),
  'cuda.atomicSub': (call) => atomic(call, 'sub', call.args),
  'cuda.atomicMin': (call) => atomic(call, 'min', call.args),
  'cuda.atomicMax': (call) => atomic(call, 'max', call.args),
  'cuda.atomicAnd': (call) => atomic(call, 'and', call.args),
  'cuda.atomicOr': (call) => atomic(call, 'or', call.args),
  'cuda.atomicXor': (call) => atomic(call, 'xor', call.args),
  'cuda.atomicExch': (call) => atomic(call, 'exch', call.args),
  'cuda.atomicCAS': (call) => atomic(call, 'cas', call.args),
  'cuda.atomicInc': (call) => atomic(call, 'inc', { ...call.args, value: call.args.limit }),
  'cuda.atomicDec': (call) => atomic(call, 'dec', { ...call.args, value: call.args.limit }),
  'cuda.atomicLoad': (call) => atomic(call, 'load', call.args),
  'cuda.atomicStore': (call) => {
    atomic(call, 'store', call.args);
    return undefinedValue;
  },
} satisfies SomeHandlers;

/** An array as elements of another type. Where it begins must be a whole number of them. */
function seenAs({ lowering, receiver, node, at }: IntrinsicCall<'array.as'>, element: Element): ViewValue {
  refuseWindow(lowering, receiver, node);
  const view = partOf(lowering, receiver, node);
  const range = lowering.range(node);
  const { space, id } = view.array;
  if (space === 'local') {
    lowering.fail(
      node,
      'WS1006',
      `'${view.name}' is a thread's own array, and stays what it is`,
      isBitType(element) && isBitType(view.element) && bytesOf(element) === bytesOf(view.element)
        ? `see one of its elements so: ${intrinsic(lowering, 'bitcast')}('${element}', ${view.name}[0])`
        : 'arrays of the schema and shared arrays can be seen as other elements',
    );
  }
  const declared = declaredElement(lowering, view.array);
  const array = element === declared ? { space, id } : { space, id, as: element };
  const isNew = !lowering.views.some(
    (known) => known.space === space && known.id === id && known.as === element,
  );
  if (array.as !== undefined && isNew) lowering.views.push(array);
  const [from, to] = [bytesOf(view.element), bytesOf(element)];
  const inBytes = (elements: Expression) =>
    binary('multiply', elements, lowering.indexConstant(from, node), range);
  const divided = (elements: Expression) =>
    from % to === 0
      ? binary('multiply', elements, lowering.indexConstant(from / to, node), range)
      : binary('divide', inBytes(elements), lowering.indexConstant(to, node), range);
  const offset = lowering.settleExpression(view.offset, 'begin');
  if (from % to !== 0) {
    if (offset.kind === 'constant') {
      if ((Number(offset.value) * from) % to !== 0) {
        lowering.fail(
          at('element'),
          'WS1009',
          `'${view.name}' begins at element ${offset.value}, ${Number(offset.value) * from} bytes from its array's beginning, which is no multiple of the ${to} bytes of ${element}`,
          `let it begin at a multiple of ${to / greatestCommonDivisor(from, to)} elements`,
        );
      }
    } else {
      const rest = binary('remainder', inBytes(offset), lowering.indexConstant(to, node), range);
      lowering.emit({
        kind: 'call',
        intrinsic: 'assert',
        test: compare('equal', rest, lowering.indexConstant(0, node), range),
        parts: [
          `'${view.name}' is seen as ${element} from element `,
          offset,
          ` on, ${from} bytes each, which is no multiple of ${to} bytes`,
        ],
        range,
      });
    }
  }
  return {
    ...view,
    array,
    element,
    offset: divided(offset),
    length: view.length === null ? null : divided(view.length),
  };
}

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);

function declaredElement(lowering: Lowering, { space, id }: ViewValue['array']): Element {
  if (space === 'shared') return lowering.sharedArrays[id]!.element;
  const parameter = lowering.parameters[id]!;
  if (parameter.kind !== 'array') throw new TypeError(`${parameter.name} is no array`);
  return parameter.element;
}

function sharedArray(call: IntrinsicCall<'cuda.sharedArray'>): Value {
  const { lowering, args, node, at } = call;
  const { element } = args;
  const extents = 'shape' in args ? args.shape.map((extent) => lowering.expanded(extent)) : null;
  const count = 'count' in args ? args.count : productOf(call, extents!);
  const name = lowering.nameOf(node, 'shared');
  const array = newSharedArray(lowering, { name, element, count }, node, {
    node: at(extents === null ? 'count' : 'shape'),
    message: 'the size of a shared array must be the same for all threads and known at the launch',
    hint: 'make it of literals, constants, scalar parameters and the extents of block and grid',
  });
  return extents === null ? array : shaped(lowering, array, extents, null, node);
}

function productOf({ lowering, node }: Place, extents: readonly Expression[]): Expression {
  return extents.reduce((product, extent) => binary('multiply', product, extent, lowering.range(node)));
}

/** A shared array; `unknown` says what is wrong with a count that is not known at the launch. */
export function newSharedArray(
  lowering: Lowering,
  { name, element, count: given }: Omit<SharedArray, 'range'>,
  node: Node,
  unknown: { readonly node: Node; readonly message: string; readonly hint: string },
): ViewValue {
  const count = lowering.expanded(given);
  if (!isKnownAtLaunch(count)) lowering.fail(unknown.node, 'WS1008', unknown.message, unknown.hint);
  if (count.kind === 'constant' && Number(count.value) < 1) {
    lowering.fail(
      unknown.node,
      'WS1008',
      `a shared array cannot have ${count.value} elements`,
      'give it at least one',
    );
  }
  const id = lowering.sharedArrays.push({ name, element, count, range: lowering.range(node) }) - 1;
  return {
    kind: 'view',
    array: { space: 'shared', id },
    name,
    element,
    readonly: false,
    inferred: null,
    offset: lowering.indexConstant(0, node),
    length: null,
  };
}

/** Whether every thread finds the same value, before the kernel runs. */
function isKnownAtLaunch(expression: Expression): boolean {
  switch (expression.kind) {
    case 'constant':
    case 'scalar':
      return true;
    case 'builtin':
      return expression.name.startsWith('gridDim.');
    case 'unary':
    case 'convert':
      return isKnownAtLaunch(expression.operand);
    case 'binary':
    case 'compare':
      return isKnownAtLaunch(expression.left) && isKnownAtLaunch(expression.right);
    case 'conditional':
      return [expression.test, expression.then, expression.otherwise].every(isKnownAtLaunch);
    case 'math':
      return expression.operands.every(isKnownAtLaunch);
    default:
      return false;
  }
}

function localArray(call: IntrinsicCall<'cuda.localArray'>): Value {
  const { lowering, args, node, at } = call;
  if ('count' in args) return newZeroedArray(call, args.count, at('count'));
  const count = productOf(call, args.shape);
  if (count.kind !== 'constant') {
    return lowering.fail(
      at('shape'),
      'WS1013',
      'the extents of a local array must be known when the kernel is compiled',
      "make them of literals, of constants of the schema ('constant index = 2') and of the block's size",
    );
  }
  return shaped(lowering, newZeroedArray(call, Number(count.value), at('shape')), args.shape, null, node);
}

function newZeroedArray(
  { lowering, args: { element }, node }: IntrinsicCall<'cuda.localArray'>,
  count: number,
  place: Node,
): ViewValue {
  if (count < 1 || count > 2 ** 16) {
    lowering.fail(
      place,
      'WS1009',
      `a local array has 1 to 65536 elements, and this one ${count}`,
      count < 1 ? 'give it at least one' : 'larger arrays belong into shared or global memory',
    );
  }
  const view = newLocalArray(lowering, { name: lowering.nameOf(node, 'local'), element, count }, null, node);
  clear(lowering, view, count, node);
  return view;
}

/** Zeroes an array, each time that its declaration is reached. */
function clear(lowering: Lowering, { array, element }: ViewValue, count: number, node: Node): void {
  const range = lowering.range(node);
  const { indexType: type } = lowering;
  const stores = (index: Expression): Statement[] =>
    layoutOf(element).parts.map((part, component) => {
      const value = numberConstant(numberValueType(part.element), 0, range);
      const store = { kind: 'store', array, index, value, range } as const;
      return isNumberElement(element) ? store : { ...store, component };
    });
  if (count <= 8) {
    for (let i = 0; i < count; i++) {
      for (const store of stores(numberConstant(type, i, range))) lowering.emit(store);
    }
    return;
  }
  const id = lowering.newVariable('i', type);
  const i = variable(id, type, range);
  const one = numberConstant(type, 1, range);
  lowering.emit({ kind: 'assign', variable: id, value: numberConstant(type, 0, range), range });
  lowering.emit({
    kind: 'loop',
    label: lowering.newLabel(),
    testFirst: true,
    test: {
      kind: 'compare',
      type: 'bool',
      operator: 'less',
      left: i,
      right: numberConstant(type, count, range),
      range,
    },
    body: stores(i),
    update: [
      {
        kind: 'assign',
        variable: id,
        value: { kind: 'binary', type, operator: 'add', left: i, right: one, range },
        range,
      },
    ],
    range,
  });
}

function fence(
  { lowering, node }: Pick<IntrinsicCall, 'lowering' | 'node'>,
  scope: 'block' | 'device' | 'system',
): Value {
  const operation = { kind: 'fence', scope } as const;
  lowering.emit({ kind: 'call', intrinsic: 'core', operation, result: null, range: lowering.range(node) });
  return undefinedValue;
}

/** Atomic operations that floats have too. */
const ofFloats: readonly AtomicOperator[] = ['add', 'exch', 'cas', 'load', 'store'];

/** Orders that an operation does not have: one that only reads releases nothing, one that only writes acquires nothing. */
const refusedOrders: { readonly [O in AtomicOperator]?: readonly MemoryOrder[] } = {
  load: ['release', 'acq_rel'],
  store: ['acquire', 'acq_rel'],
};

interface AtomicArguments {
  readonly array: ViewValue;
  readonly index: Expression;
  readonly value?: Numeric | QuotientValue;
  readonly compare?: Numeric | QuotientValue;
  readonly order?: MemoryOrder | undefined;
  readonly scope?: MemoryScope | undefined;
}

function atomic(
  { lowering, node, name, at }: Omit<IntrinsicCall, 'args' | 'receiver'>,
  operator: AtomicOperator,
  { array, index, value, compare, order = 'relaxed', scope = 'device' }: AtomicArguments,
): Value {
  const { element } = array;
  const isFloat = element === 'f32' || element === 'f64';
  if (!/^[iu](32|64)$/.test(element) && !(isFloat && ofFloats.includes(operator))) {
    lowering.fail(
      at('array'),
      'WS1004',
      `${name} does not work on ${element}`,
      isFloat
        ? `of the atomics cuda.atomicAdd, atomicExch and atomicCAS take ${element}`
        : 'atomics take arrays of i32, u32, i64 and u64; cuda.atomicAdd, atomicExch and atomicCAS also f32 and f64',
    );
  }
  if ((operator === 'inc' || operator === 'dec') && element !== 'u32') {
    lowering.fail(
      at('array'),
      'WS1004',
      `${name} does not work on ${element}`,
      `${name} takes arrays of u32`,
    );
  }
  if (refusedOrders[operator]?.includes(order)) {
    lowering.fail(
      at('order'),
      'WS1009',
      `${name} cannot be '${order}'`,
      operator === 'load'
        ? "write 'acquire', or leave the order out"
        : "write 'release', or leave the order out",
    );
  }
  const type = loadedType(element as NumberElement);
  const stored = (given: Numeric | QuotientValue, slot: string) =>
    toStored(lowering, given, type, at(slot), `an element of '${array.name}'`);
  const range = lowering.range(node);
  const result = lowering.isUnused(node) ? null : lowering.newFixedVariable('old', lowering.valueType(type));
  lowering.emit({
    kind: 'call',
    intrinsic: 'atomic',
    operator,
    array: array.array,
    index: subarray(lowering, array, index, null, node).offset,
    value:
      value === undefined
        ? numberConstant(lowering.valueType(type), 0, range)
        : stored(value, operator === 'inc' || operator === 'dec' ? 'limit' : 'value'),
    compare: compare === undefined ? null : stored(compare, 'compare'),
    ...(order !== 'relaxed' && { order }),
    ...(scope !== 'device' && { scope }),
    result,
    range,
  });
  return result === null ? undefinedValue : number(type, variable(result, lowering.valueType(type), range));
}
