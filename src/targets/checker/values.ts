// Values as an array holds them.

import type { Elements } from '../interpreter/memory.ts';

interface NumberArray {
  [index: number]: number | bigint;
}

const probes = new Map<string, NumberArray>();

/** Whether an element holds a value already, once it is rounded to the element's type. */
export function sameValue({ element, values }: Elements, index: number, value: number): boolean {
  let probe = probes.get(element);
  if (probe === undefined) {
    probe = new (values.constructor as new (length: number) => NumberArray)(1);
    probes.set(element, probe);
  }
  probe[0] = value;
  return Object.is(probe[0], values[index]);
}
