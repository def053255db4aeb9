// Vectors: made of components, and combined component by component.

import type { FormTable, IntrinsicName } from '../../kernel/intrinsics.ts';
import { type VectorType, vectorTypes } from '../../kernel/types.ts';
import { intrinsic, replacementAdvice } from '../advice.ts';
import { isInteger, loadedType } from '../number-types.ts';
import { toStored } from '../numbers.ts';
import { binaryOperation } from '../operators.ts';
import { describe, isNumeric, type Numeric, number, type Value, type VectorValue } from '../values.ts';
import { componentValue, toComponent, toVector } from '../vectors.ts';
import { written } from '../written.ts';
import type { Handlers, IntrinsicCall, SomeHandlers } from './handler.ts';

type Call = Pick<IntrinsicCall, 'lowering' | 'node' | 'at' | 'name'>;
type Maker = Extract<IntrinsicName, `cuda.${VectorType}`>;

const makers = Object.fromEntries(
  Object.keys(vectorTypes).map((type) => [
    `cuda.${type}`,
    (call: Call & { readonly args: FormTable extends never ? never : Readonly<Record<string, Value>> }) =>
      made(call, type as VectorType),
  ]),
) as unknown as Pick<Handlers, Maker>;

export const vectorHandlers = {
  ...makers,
  'cuda.add': (call) => combined(call, '+'),
  'cuda.subtract': (call) => combined(call, '-'),
  'cuda.multiply': (call) => combined(call, '*'),
  'cuda.divide': (call) => {
    refuseIntegers(call, call.args.a);
    return combined(call, '/');
  },
  'cuda.dot': (call) => dot(call, call.args.a, likeFirst(call)),
  'cuda.cross': cross,
  'cuda.length': (call) => {
    refuseIntegers(call, call.args.a);
    const sum = dot(call, call.args.a, call.args.a) as Extract<Numeric, { kind: 'number' }>;
    const { type, range } = sum.expression;
    if (type !== 'f32' && type !== 'f64') return sum;
    return number(type, { kind: 'unary', operator: 'sqrt', type, operand: sum.expression, range });
  },
} satisfies SomeHandlers;

function made(
  { lowering, at, args }: Call & { readonly args: Readonly<Record<string, Value>> },
  type: VectorType,
): Value {
  const components = Object.entries(args).map(([name, value], component) =>
    toComponent(lowering, value, type, component, at(name)),
  );
  return { kind: 'vector', type, components };
}

interface Pair {
  readonly a: VectorValue;
  readonly b: VectorValue | Numeric;
}

/** The second argument as a vector of the first one's type. */
function likeFirst({
  lowering,
  at,
  args: { a, b },
}: Call & { readonly args: { readonly a: VectorValue; readonly b: VectorValue } }): VectorValue {
  return toVector(lowering, b, a.type, at('b'), 'b');
}

function combined(call: Call & { readonly args: Pair }, operator: '+' | '-' | '*' | '/'): Value {
  const { lowering, node, at, args } = call;
  const { a, b } = args;
  const right = isNumeric(b) ? null : toVector(lowering, b, a.type, at('b'), 'b');
  // What is wrong with a number is said of it, not of the components that it would give.
  const component = loadedType(a.type);
  if (isNumeric(b) && isInteger(component)) toStored(lowering, b, component, at('b'), 'b');
  const components = a.components.map((_, at) => {
    const other = right === null ? (b as Numeric) : componentValue(right, at);
    const value = binaryOperation(lowering, operator, componentValue(a, at), other, node);
    return toComponent(lowering, value, a.type, at, node);
  });
  return { kind: 'vector', type: a.type, components };
}

function dot({ lowering, node }: Call, a: VectorValue, b: VectorValue): Value {
  const products = a.components.map((_, at) =>
    binaryOperation(lowering, '*', componentValue(a, at), componentValue(b, at), node),
  );
  return products.reduce((sum, product) => binaryOperation(lowering, '+', sum, product, node));
}

function cross(call: IntrinsicCall<'cuda.cross'>): Value {
  const { lowering, node, at, args } = call;
  const { a } = args;
  const { component, components: count } = vectorTypes[a.type];
  if (count !== 3) {
    const given = written(lowering, at('a'));
    const third = count === 4 ? `${given}.z` : /64/.test(component) && component !== 'f64' ? '0n' : '0';
    const code = `${intrinsic(lowering, `${component}x3`)}(${given}.x, ${given}.y, ${third})`;
    lowering.fail(
      at('a'),
      'WS1004',
      `cuda.cross takes vectors of three components, and is given ${describe(a)}`,
      replacementAdvice(lowering, at('a'), code),
    );
  }
  const b = likeFirst(call);
  const product = (one: VectorValue, i: number, other: VectorValue, j: number) =>
    binaryOperation(lowering, '*', componentValue(one, i), componentValue(other, j), node);
  const components = [0, 1, 2].map((at) => {
    const [i, j] = [(at + 1) % 3, (at + 2) % 3];
    const value = binaryOperation(lowering, '-', product(a, i, b, j), product(a, j, b, i), node);
    return toComponent(lowering, value, a.type, at, node);
  });
  return { kind: 'vector', type: a.type, components };
}

function refuseIntegers({ lowering, at, name }: Call, { type }: VectorValue): void {
  const component = loadedType(type);
  if (component === 'f32' || component === 'f64') return;
  const { component: integer, components } = vectorTypes[type];
  const text = written(lowering, at('a'));
  const parts = ['x', 'y', 'z', 'w'].slice(0, components).map((part) => `${text}.${part}`);
  const code = `${intrinsic(lowering, `f32x${components}`)}(${parts.join(', ')})`;
  lowering.fail(
    at('a'),
    'WS1004',
    `${name} takes vectors of floats, and is given one of ${integer}`,
    replacementAdvice(lowering, at('a'), code),
  );
}
