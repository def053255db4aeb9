// Scalars and vectors as the host passes them, brought to what a program takes.

import { decodeHalf, encodeHalf } from '../kernel/half.ts';
import { type ScalarValue, scalarProblem } from '../kernel/parameters.ts';
import {
  componentCount,
  componentNames,
  type ScalarType,
  type VectorType,
  vectorTypes,
} from '../kernel/types.ts';

/** What a scalar of the type holds of a value that was given. */
export function heldValue(type: ScalarType, value: ScalarValue): ScalarValue {
  if (type !== 'f16' && type !== 'bf16') return value;
  return decodeHalf(type, encodeHalf(type, Number(value)));
}

/** What is wrong with a vector that was given: of which argument, what, and how to pass it. */
export interface VectorProblem {
  readonly argument: string;
  readonly problem: string;
  readonly hint?: string;
}

/**
 * A vector's components as the scalars that the program has for them, `v.x` and so on, put into
 * `scalars`; or what is wrong with it.
 */
export function takeVector(
  name: string,
  type: VectorType,
  value: unknown,
  scalars: Record<string, ScalarValue>,
): readonly VectorProblem[] {
  const names = componentNames.slice(0, componentCount(type));
  if (typeof value !== 'object' || value === null) {
    const problem = value === undefined ? 'is missing' : `must be a vector (${type})`;
    return [{ argument: name, problem, hint: `pass { ${names.map((one) => `${one}: 0`).join(', ')} }` }];
  }
  const given = value as Readonly<Record<string, unknown>>;
  return names.flatMap((one) => {
    const component = given[one];
    const problem =
      component === undefined ? 'is missing' : scalarProblem(vectorTypes[type].component, component);
    if (problem !== null) return [{ argument: `${name}.${one}`, problem }];
    scalars[`${name}.${one}`] = component as number;
    return [];
  });
}
