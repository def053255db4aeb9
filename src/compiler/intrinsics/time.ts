// Clocks, and sleep.

import { convert, variable } from '../build.ts';
import type { Expression } from '../ir.ts';
import { number, undefinedValue, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

export const timeHandlers = {
  'cuda.globaltimer': (call) => clock(call, 'globaltimer'),
  'cuda.clock64': (call) => clock(call, 'clock64'),
  // What fits into 32 bits: differences wrap as the counter does.
  'cuda.clock': (call) => {
    const range = call.lowering.range(call.node);
    return number('u32', convert(convert(ticks(call, 'clock64'), 'i64', range), 'u32', range));
  },
  'cuda.nanosleep': ({ lowering, args: { duration }, node }) => {
    lowering.emit({ kind: 'call', intrinsic: 'nanosleep', duration, range: lowering.range(node) });
    return undefinedValue;
  },
} satisfies SomeHandlers;

type Place = Pick<IntrinsicCall, 'lowering' | 'node'>;

function clock(call: Place, intrinsic: 'globaltimer' | 'clock64'): Value {
  return number('f64', ticks(call, intrinsic));
}

function ticks({ lowering, node }: Place, intrinsic: 'globaltimer' | 'clock64'): Expression {
  const range = lowering.range(node);
  const result = lowering.newFixedVariable('time', 'f64');
  lowering.emit({ kind: 'call', intrinsic, result, range });
  return variable(result, 'f64', range);
}
