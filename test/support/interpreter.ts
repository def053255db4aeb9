// The interpreter as a target of `runProgram`.

import {
  createInterpreterRunner,
  type Delivery,
  interpreterExecutable,
} from '#warpstage/targets/interpreter/runner.js';
import type { Target } from './run-program.ts';

export function interpreter(delivery: Delivery = 'late', options?: { readonly steps?: number }): Target {
  return {
    name: `interpreter, ${typeof delivery === 'number' ? `seed ${delivery}` : delivery}`,
    compile: (program) => interpreterExecutable(program, delivery, options),
    createRunner(executable, context) {
      if (executable.target !== 'interpreter') throw new Error('not an executable of the interpreter');
      return createInterpreterRunner(executable, context);
    },
  };
}

/** Every policy of delivery that a program must be right under. */
export const deliveries: readonly Delivery[] = ['eager', 'late', 1, 2];
