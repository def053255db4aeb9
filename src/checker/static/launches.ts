// The launches that a kernel is compiled for where nothing is launched.

import type { Specialisation } from '../../compiler/specialise.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { parseSchema, type ScalarValue } from '../../kernel/parameters.ts';
import type { Extent3 } from '../../kernel/types.ts';

/** A block, and the value of constants without a default. */
export interface Launch {
  readonly block: Extent3;
  readonly value: number;
}

export const launches: readonly Launch[] = [
  { block: [256, 1, 1], value: 2 },
  { block: [32, 1, 1], value: 4 },
  { block: [64, 1, 1], value: 1 },
  { block: [1024, 1, 1], value: 16 },
  { block: [16, 16, 1], value: 32 },
  { block: [1, 1, 1], value: 3 },
];

/** What a kernel is compiled for. */
export function specialisationFor(kernel: Kernel, { block, value }: Launch): Specialisation {
  const constants: Record<string, ScalarValue> = {};
  for (const parameter of parseSchema(kernel.schema)) {
    if (parameter.kind !== 'constant' || parameter.default !== undefined) continue;
    const { type } = parameter;
    constants[parameter.name] =
      type === 'bool' ? value % 2 === 0 : type === 'i64' || type === 'u64' ? BigInt(value) : value;
  }
  return { block, indexType: 'i32', constants, cooperative: true, functions: {} };
}
