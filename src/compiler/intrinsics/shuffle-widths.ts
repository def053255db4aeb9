// Shuffles whose width is known at run time only.
//
// A target's shuffle has its width in its instruction. So the lane that is read is computed here, as
// `sourceLane` says it, and every target shuffles over the whole warp. Each lane counts with its own width.
// No width but a power of two means anything: another is a failed assertion, on every device.

import type { Node } from 'acorn';
import { binary, compare, conditional, numberConstant } from '../build.ts';
import type { Expression } from '../ir.ts';
import { type Shuffle, shuffles } from '../ir-warps.ts';
import type { Lowering } from '../lowering.ts';

const warpSize = 32;

interface Asked {
  readonly operator: Shuffle;
  /** The number of the calling lane. */
  readonly own: Expression;
  /** The lane, the distance or the mask that the shuffle is given. */
  readonly operand: Expression;
  readonly width: Expression;
}

/** The lane of the warp that a shuffle within parts of `width` lanes reads. */
export function laneWithin(lowering: Lowering, node: Node, name: string, asked: Asked): Expression {
  const range = lowering.range(node);
  const whole = (value: number) => numberConstant(lowering.indexType, value, range);
  const of = (operator: Parameters<typeof binary>[0], a: Expression, b: Expression) =>
    binary(operator, a, b, range);
  const settled = (value: Expression, called: string) => lowering.settleExpression(value, called);

  const own = settled(asked.own, 'own');
  const width = settled(asked.width, 'width');
  const distance = settled(of('and', asked.operand, whole(warpSize - 1)), 'distance');
  // One bit at most, and no less than 1 nor more than 32.
  const before = settled(of('subtract', width, whole(1)), 'before');
  const wrong = of('or', of('and', width, before), of('and', before, whole(-warpSize)));
  lowering.emit({
    kind: 'call',
    intrinsic: 'assert',
    test: compare('equal', wrong, whole(0), range),
    parts: [`width of ${name} must be a power of two up to ${warpSize}, and is `, width],
    range,
  });

  const first = settled(of('and', own, of('subtract', whole(0), width)), 'first');
  const way = shuffles[asked.operator];
  if (way === 'given') return of('add', first, of('and', distance, before));
  const other = settled(of(way, own, distance), 'other');
  const isInside =
    way === 'subtract'
      ? compare('greaterEqual', other, first, range)
      : compare('lessEqual', other, of('add', first, before), range);
  return conditional(isInside, other, own, range);
}
