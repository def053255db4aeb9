// How a running kernel stops: a Fault, thrown from wherever it was found.

import type { Range } from '../../diagnostics/source.ts';
import type { Extent3 } from '../../kernel/types.ts';
import { assertionFault } from '../assertions.ts';
import type { BarrierMisuse } from '../barrier-misuse.ts';
import type { Fault } from '../executable.ts';
import type { PipelineMisuse } from '../pipeline-misuse.ts';

/** Carries a fault from a thread to the runner. */
export class KernelFault extends Error {
  override readonly name = 'KernelFault';
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.kind);
    this.fault = fault;
  }
}

/** The thread that a fault names. */
export interface Culprit {
  readonly index: Extent3;
  readonly block: { readonly index: Extent3 };
}

type Access = Extract<Fault, { kind: 'out-of-range' }>;

/** An access outside its array. */
export function outOfRange(
  culprit: Culprit,
  access: Pick<Access, 'range' | 'array' | 'access' | 'index' | 'count' | 'length' | 'dimension'>,
): KernelFault {
  return new KernelFault({
    kind: 'out-of-range',
    ...access,
    thread: culprit.index,
    block: culprit.block.index,
  });
}

/** An integer division by zero. */
export function divisionByZero(culprit: Culprit, range: Range): KernelFault {
  return new KernelFault({
    kind: 'division-by-zero',
    range,
    thread: culprit.index,
    block: culprit.block.index,
  });
}

/** A wrong use of a pipeline. */
export function pipelineMisuse(
  culprit: Culprit,
  range: Range,
  { message, hint }: PipelineMisuse,
): KernelFault {
  return misuse(culprit, 'WS3006', range, message, hint);
}

/** A wrong use of a barrier. */
export function barrierMisuse(culprit: Culprit, range: Range, { message, hint }: BarrierMisuse): KernelFault {
  return misuse(culprit, 'WS3009', range, message, hint);
}

/** An assertion of the kernel that does not hold. */
export function brokenAssertion(culprit: Culprit, range: Range, message: string): KernelFault {
  return new KernelFault({
    ...assertionFault(message),
    range,
    thread: culprit.index,
    block: culprit.block.index,
  });
}

/** A rule of the hardware that a lowered program breaks. */
export function brokenRule(culprit: Culprit, range: Range, message: string): KernelFault {
  return misuse(
    culprit,
    'WS3011',
    range,
    message,
    'A lowering of warpstage is wrong; please report it with the kernel.',
  );
}

/**
 * A wrong use of a copy (WS3005), a pipeline (WS3006), a barrier (WS3009) or a warp's lanes (WS3010), or a
 * budget that ran out (WS3007).
 */
export function misuse(
  culprit: Culprit,
  code: Extract<Fault, { kind: 'misuse' }>['code'],
  range: Range,
  message: string,
  hint: string,
): KernelFault {
  return new KernelFault({
    kind: 'misuse',
    code,
    message,
    hint,
    range,
    thread: culprit.index,
    block: culprit.block.index,
  });
}
