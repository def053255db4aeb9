// Clocks, and sleep.

import { variable } from '../build.ts';
import { number, undefinedValue, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

export const timeHandlers = {
  'cuda.globaltimer': (call) => clock(call, 'globaltimer'),
  'cuda.clock64': (call) => clock(call, 'clock64'),
  'cuda.nanosleep': ({ lowering, args: { duration }, node }) => {
    lowering.emit({ kind: 'call', intrinsic: 'nanosleep', duration, range: lowering.range(node) });
    return undefinedValue;
  },
} satisfies SomeHandlers;

function clock(
  { lowering, node }: Pick<IntrinsicCall, 'lowering' | 'node'>,
  intrinsic: 'globaltimer' | 'clock64',
): Value {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('time', 'f64');
  lowering.emit({ kind: 'call', intrinsic, result, range });
  return number('f64', variable(result, 'f64', range));
}
