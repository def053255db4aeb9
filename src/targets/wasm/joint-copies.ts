// Copies that the threads of a row make one by one, of elements that lie side by side: together
// they are one copy, and a long one is much faster than many short ones.

import type { View } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';

import { AffineForms, integer } from '../analysis/affine.ts';
import { constantOf } from '../analysis/elements.ts';
import type { CopyCall } from './copies.ts';
import type { Lanes } from './simd/lanes.ts';
import type { Unit } from './unit.ts';

/** What a row's threads copy as one, by operands that its first thread can tell; null if that is not so. */
export function jointCopy(unit: Unit, lanes: Lanes, call: CopyCall): CopyCall | null {
  const each = constantOf(call.count);
  if (call.group.kind !== 'thread' || call.zeroFill !== null || each === null || each < 1) return null;
  // Each thread's own copy must be as aligned as it promises.
  const bytes = each * bytesOf(unit.elementOf(call.destination.array));
  if (bytes % call.alignment !== 0) return null;
  const forms = new AffineForms(unit.program, (expression) => lanes.isUniform(expression));
  const baseOf = ({ array, offset }: View): View | null => {
    const form = forms.of(offset);
    if (array.space === 'local' || form?.coefficient !== each) return null;
    return { array, offset: form.base ?? integer(offset, 0) };
  };
  const destination = baseOf(call.destination);
  const source = baseOf(call.source);
  if (destination === null || source === null) return null;
  return { ...call, destination, source, count: integer(call.count, each * unit.program.block[0]) };
}
