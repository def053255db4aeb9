// What a random program is launched with.

import type { Program } from '#warpstage/compiler/ir.js';
import { componentCount, type ElementType, hostArrays } from '#warpstage/kernel/types.js';
import type { HostArray } from '../support/run-program.ts';
import { allElements, counterLength, inputLength, ownElements } from './random-data.ts';
import type { RandomProgram } from './random-program.ts';

const scalars = {
  count: 3,
  scalar_bool: true,
  scalar_i32: -7,
  scalar_u32: 4_000_000_000,
  scalar_i64: -(2n ** 40n) + 3n,
  scalar_u64: 2n ** 63n + 5n,
  scalar_f32: 0.7,
  scalar_f64: -1e9 / 7,
};

function arrayOf(element: ElementType, length: number): HostArray {
  const Constructor: new (length: number) => HostArray = hostArrays[element];
  return new Constructor(length * componentCount(element));
}

function inputs(): Record<string, HostArray> {
  return Object.fromEntries(
    allElements.map((element) => {
      const array = arrayOf(element, inputLength);
      for (let i = 0; i < array.length; i += 1) {
        if (array instanceof BigInt64Array || array instanceof BigUint64Array) {
          array[i] = BigInt(i) * 0x9e3779b97f4a7c15n;
        } else
          array[i] =
            element.startsWith('f') && element !== 'f16' ? (i * 37 - 4000) / 8 : (i * 2_654_435_761) | 0;
      }
      return [`in_${element}`, array];
    }),
  );
}

function scalarsOf(program: Program) {
  return { ...scalars, count: program.indexType === 'i64' ? BigInt(scalars.count) : scalars.count };
}

/** The arguments of a launch, and among them the arrays that the program writes. */
export function randomArguments({ program, grid, threads }: RandomProgram) {
  const outputs: Record<string, HostArray> = Object.fromEntries(
    allElements.map((element) => [`out_${element}`, arrayOf(element, grid * threads * ownElements)]),
  );
  const counters = Uint32Array.from({ length: counterLength }, (_, i) => i * 1000);
  const everything = { ...inputs(), ...outputs, ...scalarsOf(program), counters };
  return { outputs, counters, everything };
}
