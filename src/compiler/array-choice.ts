// One of several arrays, which is chosen when the kernel runs: `flag ? a : b`, `[a, b][stage]`, `[a, b] = [b, a]`.
//
// Parts of one array differ in their offset alone and stay one view. Of several arrays the program has a number
// that says which is meant; what is done with the choice is done with each of them, behind a test of the number
// (each-array.ts).

import type { Node } from 'acorn';
import { compare, conditional, numberConstant } from './build.ts';
import type { Expression } from './ir.ts';
import type { Lowering } from './lowering.ts';
import { partOf } from './shapes.ts';
import { type ArrayChoiceValue, describe, isSameArray, type ViewValue } from './values.ts';
import { refuseWindow, viewLength } from './views.ts';

/** The arrays that may be meant. */
export function optionsOf(value: ViewValue | ArrayChoiceValue): readonly ViewValue[] {
  return value.kind === 'view' ? [value] : value.options;
}

/** The same arrays, rows among them as parts that have an end. */
export function partsOf(
  lowering: Lowering,
  value: ViewValue | ArrayChoiceValue,
  node: Node,
): ViewValue | ArrayChoiceValue {
  if (value.kind === 'view') return partOf(lowering, value, node);
  return { ...value, options: value.options.map((option) => partOf(lowering, option, node)) };
}

/** Whether the option at a position is meant. */
export function isMeant(
  lowering: Lowering,
  { code }: ArrayChoiceValue,
  position: number,
  node: Node,
): Expression {
  return compare('equal', code, codeOf(lowering, position, node), lowering.range(node));
}

/** One of two arrays, or of two choices of arrays, as a test says. */
export function mergeArrays(
  lowering: Lowering,
  test: Expression,
  oneGiven: ViewValue | ArrayChoiceValue,
  otherGiven: ViewValue | ArrayChoiceValue,
  node: Node,
): ViewValue | ArrayChoiceValue {
  const [one, other] = [partsOf(lowering, oneGiven, node), partsOf(lowering, otherGiven, node)];
  const [first, second] = [optionsOf(one), optionsOf(other)];
  for (const view of [...first, ...second]) refuseWindow(lowering, view, node);
  const options = first.map((view) => {
    const match = second.find((candidate) => isSameArray(candidate, view));
    return match === undefined ? view : mergeParts(lowering, test, view, match, node);
  });
  options.push(...second.filter((view) => !first.some((known) => isSameArray(known, view))));
  const [only, ...more] = options;
  if (more.length === 0) return only!;
  refuseOtherElements(lowering, options, node);
  const code = conditional(
    test,
    codeAmong(lowering, one, options, node),
    codeAmong(lowering, other, options, node),
    lowering.range(node),
  );
  return { kind: 'arrayChoice', code, options };
}

/** The options of a choice have one element type, which is known before the kernel's variables have types. */
export function refuseOtherElements(lowering: Lowering, options: readonly ViewValue[], node: Node): void {
  const [first] = options;
  const list = options.find(({ inferred }) => inferred !== null);
  if (list !== undefined && options.some((option) => !isSameArray(option, list))) {
    lowering.fail(
      node,
      'WS1006',
      `'${list.name}' is a list of numbers, and cannot be chosen among other arrays`,
      `make it an array: cuda.localArray('f32', 4)`,
    );
  }
  const other = options.find(({ element }) => element !== first!.element);
  if (other === undefined) return;
  lowering.fail(
    node,
    'WS1004',
    `this is ${describe(first!)} or ${describe(other)}, as is decided when the kernel runs`,
    'arrays of one element type can be chosen so; use an if statement',
  );
}

/** A part of one array, or another part of it. */
function mergeParts(lowering: Lowering, test: Expression, a: ViewValue, b: ViewValue, node: Node): ViewValue {
  const range = lowering.range(node);
  const hasEnd = a.length !== null || b.length !== null;
  const length = hasEnd
    ? conditional(test, viewLength(lowering, a, node), viewLength(lowering, b, node), range)
    : null;
  return {
    ...a,
    readonly: a.readonly || b.readonly,
    offset: conditional(test, a.offset, b.offset, range),
    length,
  };
}

/** The number by which options name the array that a value means. */
export function codeAmong(
  lowering: Lowering,
  value: ViewValue | ArrayChoiceValue,
  options: readonly ViewValue[],
  node: Node,
): Expression {
  const position = (view: ViewValue) => options.findIndex((option) => isSameArray(option, view));
  const own = optionsOf(value);
  const range = lowering.range(node);
  return own
    .slice(0, -1)
    .reduceRight<Expression>(
      (rest, view, at) =>
        conditional(
          isMeant(lowering, value as ArrayChoiceValue, at, node),
          codeOf(lowering, position(view), node),
          rest,
          range,
        ),
      codeOf(lowering, position(own.at(-1)!), node),
    );
}

/** What an expression is for the array that is meant. */
export function ofArray(
  lowering: Lowering,
  value: ViewValue | ArrayChoiceValue,
  node: Node,
  part: (view: ViewValue) => Expression,
): Expression {
  if (value.kind === 'view') return part(value);
  const range = lowering.range(node);
  return value.options
    .slice(0, -1)
    .reduceRight<Expression>(
      (rest, view, at) => conditional(isMeant(lowering, value, at, node), part(view), rest, range),
      part(value.options.at(-1)!),
    );
}

function codeOf(lowering: Lowering, position: number, node: Node): Expression {
  return numberConstant('i32', position, lowering.range(node));
}
