// What is run or planned, and is no job: most often the kernel of one.

import { problem } from '../diagnostics/problem.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { parseSchema } from '../kernel/parameters.ts';
import { inWords } from '../runtime/arguments.ts';

/** WS5007, with the job that a kernel could be. */
export function noJob(called: 'run' | 'plan', given: unknown): Error {
  const { kind } = (given ?? {}) as { readonly kind?: unknown };
  const words = kind === 'kernel' ? 'a kernel' : given instanceof Promise ? 'a promise' : inWords(given);
  const hint =
    kind === 'kernel'
      ? `say what its parameters are: ${called}(${jobText(given as Kernel)}, { … })`
      : given instanceof Promise
        ? `wait for it: ${called}(await job, { … })`
        : 'make one with job({ kernel, inputs: { x: {} }, outputs: { y: {} } }), or with map() or reduce()';
  return problem('WS5007', `${called} takes a job, and was given ${words}`, hint);
}

/** The text of a job of a kernel, as its schema suggests: what it only reads comes in, what it may write goes out. */
export function jobText({ name, schema }: Kernel): string {
  const parameters = parseSchema(schema);
  const part = (role: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [`${role}: { ${entries.join(', ')} }`];
  const arrays = (isReadonly: boolean) =>
    parameters.flatMap((one) =>
      one.kind === 'array' && one.readonly === isReadonly ? [`${one.name}: {}`] : [],
    );
  const scalars = parameters.flatMap((one) => (one.kind === 'scalar' ? [`${one.name}: {}`] : []));
  const parts = [
    name === 'kernel' ? 'kernel' : `kernel: ${name}`,
    ...part('inputs', arrays(true)),
    ...part('outputs', arrays(false)),
    ...part('settings', scalars),
  ];
  return `job({ ${parts.join(', ')} })`;
}
