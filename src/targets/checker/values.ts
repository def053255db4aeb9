// Values as an array holds them.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Elements } from '../interpreter/memory.ts';

interface ValueArray {
  [index: number]: Value;
}

const probes = new Map<string, ValueArray>();

/** Whether an element, or a part of one, holds a value already, once it is rounded to the element's type. */
export function sameValue({ parts }: Elements, index: number, component: number, value: Value): boolean {
  const { element, values, stride } = parts[component]!;
  let probe = probes.get(element);
  if (probe === undefined) {
    probe = new (values.constructor as new (length: number) => ValueArray)(1);
    probes.set(element, probe);
  }
  probe[0] = value;
  return Object.is(probe[0], values[index * stride]);
}
