// Has a run be one of several that compute pieces of the same outputs: each begins at its first row.

import { isObject } from '../../formats/url.ts';
import type { BindRequest, Unopened } from '../bind.ts';
import { filesOf } from '../input-data.ts';
import type { AnyDefinition } from '../job.ts';
import { dataFact, factsOf, formatFact, nameOfFact } from '../journal/facts.ts';
import type { Facts } from '../journal/text.ts';
import { pathOf, sharedFiles } from '../output-data.ts';
import { rowsOut } from '../plan.ts';
import { needsPlaces } from '../sinks/s3.ts';
import { checkSharded } from './cut.ts';
import { stampsOf } from './input-stamps.ts';

/** What a job over certain data is recognised by, wherever the data lies and however it is cut into pieces. */
export async function factsOfCut(
  definition: AnyDefinition,
  { data, contents, head, convert }: BindRequest,
  { inputs, outputs, shapes, plan, ...bound }: Unopened,
): Promise<Facts> {
  return await factsOf({
    ...bound,
    definition,
    // A short piece has shorter chunks; what accumulators hold may depend on how long a full one is.
    chunkRows: bound.accumulators.length > 0 ? plan.chunkRows : undefined,
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
    outputs: outputs.map(({ name, element, rate }, i) => ({
      ...{ name, element, path: undefined, format: formatFact('any', rate), shape: shapes[i]! },
    })),
  });
}

/** Has the outputs be pieces, of the rows from the first to before the last, and the inputs begin there. */
export async function cutRun(
  definition: AnyDefinition,
  request: BindRequest,
  run: Unopened,
  rows: readonly [begin: number, end: number],
): Promise<void> {
  const { job, shard, destinations, outputs: open } = request;
  const { outputs, shapes } = run;
  const [begin, end] = rows;
  checkSharded(
    definition,
    outputs.map(({ name }) => destinations.get(name)),
  );
  const work = await factsOfCut(definition, request, run);
  // Inputs that change from here to the end fail the run, so that these are the files which it reads.
  const inputs = await stampsOf(run.inputs, request);
  const shared = sharedFiles(destinations.values());
  const object = [...shared].find(isObject);
  if (object !== undefined) throw needsPlaces(object);
  const fileOf = (name: string) => pathOf(destinations.get(name))!;
  open.cut!(
    new Map(
      outputs.map(({ name, element, rate, width, ratio }, i) => [
        name,
        {
          ...{ shard: shard!, job, work, parameter: name, element, shape: shapes[i]!, inputs },
          ...(rate && { rate }),
          ...(shared.has(fileOf(name)) && {
            together: outputs.map((one) => one.name).filter((one) => fileOf(one) === fileOf(name)),
          }),
          begin: rowsOut(begin, ratio) * width,
          end: rowsOut(end, ratio) * width,
        },
      ]),
    ),
  );
  await skipTo(definition, request, run, rows);
}

/** Has the inputs begin at a row. */
export async function skipTo(
  _: AnyDefinition,
  __: BindRequest,
  { inputs }: Unopened,
  [begin]: readonly [begin: number, end: number],
): Promise<void> {
  if (begin === 0) return;
  for (const { reader, element, inPlace } of inputs)
    if (inPlace === undefined) await reader.skip(begin, element);
}
