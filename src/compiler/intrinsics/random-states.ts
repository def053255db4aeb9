// Generators of random numbers that count their draws, as cuRAND's states do: `cuda.curandInit` and what draws from it.
//
// A subsequence is a row of words, and a generator says how many lie before the next. Four words have one counter: they
// are made with the first of them, and kept in variables for the others. So the words are those of `cuda.philox`, in
// their order, however they are drawn and wherever the draws begin.

import type { Node } from 'acorn';
import { binary, compare, conditional, constant, convert, variable } from '../build.ts';
import { branch } from '../conditional.ts';
import type { Expression } from '../ir.ts';
import type { Lowering } from '../lowering.ts';
import { number, type RandomStateValue } from '../values.ts';
import type { SomeHandlers } from './handler.ts';
import { halves, philox, upper } from './random.ts';

type Place = ReturnType<Lowering['range']>;

export const randomStateHandlers = {
  'cuda.curandInit': ({ lowering, node, args, at }) => {
    const range = lowering.range(node);
    const [seed, subsequence, offset] = (['seed', 'subsequence', 'offset'] as const).map((name) =>
      halves(lowering, args[name], at(name), `${name} of cuda.curandInit`),
    );
    const fresh = (name: string, type: 'u64' | 'u32') =>
      variable(lowering.newVariable(name, type), type, range) as RandomStateValue['drawn'];
    const state: RandomStateValue = {
      kind: 'randomState',
      seed: seed!,
      subsequence: subsequence!,
      drawn: fresh('drawn', 'u64'),
      words: ['x', 'y', 'z', 'w'].map((name) => fresh(`words.${name}`, 'u32')),
    };
    const [low, high] = offset!.map((half) => convert(half, 'u64', range));
    const shifted = binary('shiftLeft', high!, constant('u64', 32n, range), range);
    assign(lowering, state.drawn, binary('or', shifted, low!, range), node);
    for (const word of state.words) assign(lowering, word, constant('u32', 0, range), node);
    const { place, four } = next(lowering, state, range);
    branch(
      lowering,
      isFirst(place, true),
      () => keep(lowering, state, made(lowering, state, four, range), node),
      null,
      node,
    );
    return state;
  },
  'cuda.curand': ({ lowering, node, args: { state } }) => {
    const range = lowering.range(node);
    const { place, four } = next(lowering, state, range);
    const make = () => keep(lowering, state, made(lowering, state, four, range), node);
    branch(lowering, isFirst(place), make, null, node);
    const word = lowering.settleExpression(picked(state.words, place, 0), 'word');
    count(lowering, state, 1n, node);
    return number('u32', word);
  },
  'cuda.curand4': ({ lowering, node, args: { state } }) => {
    const range = lowering.range(node);
    const { place, four } = next(lowering, state, range);
    const first = isFirst(place);
    const [zero, one] = [constant('u64', 0n, range), constant('u64', 1n, range)];
    const group = binary('add', four, conditional(first, zero, one, range), range);
    const fresh = made(lowering, state, group, range);
    // What is left of the words that were made before, and then those that follow.
    const both = [...state.words, ...fresh];
    const components = fresh.map((word, n) =>
      lowering.settleExpression(conditional(first, word, picked(both, place, n), range), 'word'),
    );
    keep(lowering, state, fresh, node);
    count(lowering, state, 4n, node);
    return { kind: 'vector', type: 'u32x4', components };
  },
} satisfies SomeHandlers;

/** Where among its four the next word is, and which four they are. */
function next(lowering: Lowering, { drawn }: RandomStateValue, range: Place) {
  const place = binary('and', convert(drawn, 'u32', range), constant('u32', 3, range), range);
  const four = binary('shiftRight', drawn, constant('u64', 2n, range), range);
  return {
    place: lowering.settleExpression(place, 'place'),
    four: lowering.settleExpression(four, 'four'),
  };
}

const isFirst = (place: Expression, not?: true) =>
  compare(not ? 'notEqual' : 'equal', place, constant('u32', 0, place.range), place.range);

function made(
  lowering: Lowering,
  { seed, subsequence }: RandomStateValue,
  group: Expression,
  range: Place,
): readonly Expression[] {
  const whole = lowering.settleExpression(group, 'four');
  return philox(lowering, seed, [convert(whole, 'u32', range), upper(whole, range), ...subsequence], range);
}

/** The word that lies `by` behind a place from 0 to 3. */
function picked(words: readonly Expression[], place: Expression, by: number): Expression {
  const { range } = place;
  const [first, ...later] = words.slice(by, by + 4);
  return later.reduce(
    (others, word, n) =>
      conditional(compare('equal', place, constant('u32', n + 1, range), range), word, others, range),
    first!,
  );
}

function keep(lowering: Lowering, state: RandomStateValue, words: readonly Expression[], node: Node): void {
  for (const [n, target] of state.words.entries()) assign(lowering, target, words[n]!, node);
}

function count(lowering: Lowering, { drawn }: RandomStateValue, by: bigint, node: Node): void {
  const range = lowering.range(node);
  assign(lowering, drawn, binary('add', drawn, constant('u64', by, range), range), node);
}

function assign(lowering: Lowering, { id }: RandomStateValue['drawn'], value: Expression, node: Node): void {
  lowering.emit({ kind: 'assign', variable: id, value, range: lowering.range(node) });
}
