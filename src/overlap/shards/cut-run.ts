// Has a run be one of several that compute pieces of the same outputs: each begins at its first row.

import type { BindRequest, Unopened } from '../bind.ts';
import { filesOf } from '../input-data.ts';
import type { AnyDefinition } from '../job.ts';
import { dataFact, factsOf, nameOfFact } from '../journal/facts.ts';
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
    inputs: inputs.flatMap(({ name, reader: { source } }) => {
      const known = (filesOf(data.get(name)!) ?? []).flatMap(({ file }) => contents.get(file) ?? []);
      // Files by their content, which says where each begins; without it, all of them are so many elements.
      const parts = known.length > 0 ? known : [undefined];
      return parts.map((content, position) => ({
        name: nameOfFact(name, position, parts.length),
        fact: dataFact(source.dtype, source.length!, content),
      }));
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
