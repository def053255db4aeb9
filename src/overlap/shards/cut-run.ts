// Has a run be one of several that compute pieces of the same outputs: each begins at its first row.

import type { BindRequest, Unopened } from '../bind.ts';
import type { AnyDefinition } from '../job.ts';
import { dataFact, factsOf } from '../journal/facts.ts';
import type { InputFile } from '../options.ts';
import { rowsOut } from '../plan.ts';
import { checkSharded } from './cut.ts';

/** Has the outputs be pieces, of the rows from the first to before the last, and the inputs begin there. */
export async function cutRun(
  definition: AnyDefinition,
  { job, shard, data, contents, destinations, head, convert, outputs: open }: BindRequest,
  { inputs, outputs, shapes, plan: _, ...bound }: Unopened,
  [begin, end]: readonly [begin: number, end: number],
): Promise<void> {
  checkSharded(
    definition,
    outputs.map(({ name }) => destinations.get(name)),
  );
  const work = await factsOf({
    ...bound,
    definition,
    // A short piece has shorter chunks.
    chunkRows: undefined,
    devices: 1,
    head,
    convert,
    inputs: inputs.map(({ name, reader: { source } }) => {
      const from = data.get(name);
      const path = typeof from === 'string' ? from : (from as Partial<InputFile>).file;
      const content = path === undefined ? undefined : contents.get(path);
      return { name, fact: dataFact(source.dtype, source.length!, content) };
    }),
    outputs: outputs.map(({ name, element }, i) => ({
      ...{ name, element, path: undefined, format: 'any', shape: shapes[i]! },
    })),
  });
  open.cut!(
    new Map(
      outputs.map(({ name, element, width, ratio }, i) => [
        name,
        {
          ...{ shard: shard!, job, work, parameter: name, element, shape: shapes[i]! },
          begin: rowsOut(begin, ratio) * width,
          end: rowsOut(end, ratio) * width,
        },
      ]),
    ),
  );
  if (begin === 0) return;
  for (const { reader, element, inPlace } of inputs)
    if (inPlace === undefined) await reader.skip(begin, element);
}
