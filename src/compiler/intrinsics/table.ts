// How every intrinsic of the table is lowered.

import type { Node } from 'acorn';
import { formsOf, type IntrinsicName } from '../../kernel/intrinsics.ts';
import { withArray } from '../each-array.ts';
import type { Lowering } from '../lowering.ts';
import type { Value } from '../values.ts';
import { checkArguments, type Given } from './arguments.ts';
import { arithmeticHandlers } from './arithmetic.ts';
import { barrierHandlers } from './barriers.ts';
import { bitcastHandlers } from './bitcast.ts';
import { bitHandlers } from './bits.ts';
import { coalescedHandlers } from './coalesced.ts';
import { combiningHandlers } from './combining.ts';
import { consoleHandlers } from './console.ts';
import { copyHandlers } from './copies.ts';
import { groupHandlers } from './groups.ts';
import type { Handlers, IntrinsicCall } from './handler.ts';
import { memoryHandlers } from './memory.ts';
import { numberHandlers } from './numbers.ts';
import { pipelinedHandlers } from './pipelined.ts';
import { pipelineHandlers } from './pipelines.ts';
import { randomHandlers } from './random.ts';
import { randomStateHandlers } from './random-states.ts';
import { subsetHandlers } from './subsets.ts';
import { timeHandlers } from './time.ts';
import { vectorHandlers } from './vectors.ts';
import { warpHandlers } from './warps.ts';

const handlers = {
  ...groupHandlers,
  ...warpHandlers,
  ...vectorHandlers,
  ...bitHandlers,
  ...bitcastHandlers,
  ...coalescedHandlers,
  ...combiningHandlers,
  ...subsetHandlers,
  ...memoryHandlers,
  ...copyHandlers,
  ...pipelineHandlers,
  ...pipelinedHandlers,
  ...timeHandlers,
  ...barrierHandlers,
  ...arithmeticHandlers,
  ...numberHandlers,
  ...randomHandlers,
  ...randomStateHandlers,
  ...consoleHandlers,
} satisfies Handlers;

/** Lowers one use of an intrinsic. */
export function useIntrinsic(
  lowering: Lowering,
  name: IntrinsicName,
  receiver: Value | null,
  given: readonly Given[],
  node: Node,
): Value {
  const choice = [receiver, ...given.map(({ value }) => value)].find((one) => one?.kind === 'arrayChoice');
  if (choice?.kind === 'arrayChoice') {
    return withArray(lowering, choice, node, (view) => {
      const chosen = given.map((one) => (one.value === choice ? { ...one, value: view } : one));
      return useIntrinsic(lowering, name, receiver === choice ? view : receiver, chosen, node);
    });
  }
  const forms = formsOf(name);
  const written = name.startsWith('cg.') ? `cuda.${name}` : name;
  const args = forms === null ? {} : checkArguments(lowering, written, forms, given, node);
  const at = (argument: string) => {
    const position = Object.keys(args).indexOf(argument);
    return given[position]?.node ?? node;
  };
  // The arguments were just checked by the same table that the handler's type is made of.
  const handle = handlers[name] as (call: object) => Value;
  return handle({ lowering, node, receiver, args, at, name: written } satisfies {
    [K in keyof IntrinsicCall]: unknown;
  });
}
