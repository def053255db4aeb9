// The bits of a number as another number of the same width.

import type { Element } from '../../kernel/types.ts';
import { castAdvice } from '../advice.ts';
import { bitcast, numberConstant } from '../build.ts';
import { isFloat, type NumberType } from '../number-types.ts';
import { isBigintValue, toType } from '../numbers.ts';
import { describe, type Numeric, number, type Value } from '../values.ts';
import type { IntrinsicCall, SomeHandlers } from './handler.ts';

export const bitcastHandlers = { 'cuda.bitcast': reinterpreted } satisfies SomeHandlers;

type BitType = 'i32' | 'u32' | 'f32' | 'i64' | 'u64' | 'f64';

const widths = { i32: 32, u32: 32, f32: 32, i64: 64, u64: 64, f64: 64 } as const;

export function isBitType(type: Element | NumberType): type is BitType {
  return Object.hasOwn(widths, type);
}

function reinterpreted({ lowering, node, at, args: { element, x } }: IntrinsicCall<'cuda.bitcast'>): Value {
  if (!isBitType(element)) {
    return lowering.fail(
      at('element'),
      'WS1004',
      `cuda.bitcast makes no ${element}`,
      `write one of '${Object.keys(widths).join("', '")}'`,
    );
  }
  if (x.kind === 'open') return x;
  const from = typeOf(x, element);
  const isOther = from !== null && x.kind === 'number' && widths[from] !== widths[element];
  if (from === null || isOther) {
    return lowering.fail(
      at('x'),
      'WS1004',
      `cuda.bitcast keeps the bits: ${element} has ${widths[element]}, and is given ${describe(x)}`,
      castAdvice(
        lowering,
        at('x'),
        isFloat(element) ? (widths[element] === 32 ? 'u32' : 'u64') : widths[element] === 32 ? 'f32' : 'f64',
        '',
        'cast it first',
      ),
    );
  }
  const range = lowering.range(node);
  const given =
    x.kind === 'literal' && from === 'u32'
      ? numberConstant('u32', Number(x.value) >>> 0, range)
      : toType(lowering, x, from, at('x'));
  return number(element, bitcast(given, element, range));
}

/** The type whose bits are taken: of a literal the one that the other side of the cast suggests. */
function typeOf(x: Numeric, to: BitType): BitType | null {
  if (x.kind === 'number' && isBitType(x.type)) return x.type;
  const wide = widths[to] === 64;
  if (x.kind === 'number') return x.type === 'index' && !wide ? 'i32' : null;
  if (isBigintValue(x)) return wide ? 'u64' : null;
  if (isFloat(to)) return wide ? null : 'u32';
  return wide ? 'f64' : 'f32';
}
