// Reductions that are cut: each piece is what the accumulators hold after its rows, and the pieces are combined in their
// order, whoever was faster.
//
// What the caller said an accumulator begins with counts once, as it does over several devices: in the first piece.

import { problem } from '../../diagnostics/problem.ts';
import { parseSchema } from '../../kernel/parameters.ts';
import type { ElementType } from '../../kernel/types.ts';
import { combineParts } from '../accumulate.ts';
import { inNode } from '../in-node.ts';
import type { AnyDefinition, Job, JobContext, TypedArray } from '../job.ts';
import type { Facts } from '../journal/text.ts';
import type { RunOptions } from '../options.ts';
import type { Settings } from '../settings.ts';
import { runWhole } from '../whole-run.ts';
import { skipTo } from './cut-run.ts';
import { differingVersion, type InputStamps, stampsOf, urlStamps, versionsOf } from './input-stamps.ts';
import { readPieces } from './merge.ts';
import type { Shard } from './piece-files.ts';
import { openPiece } from './sink.ts';

/** Where the pieces of an accumulator lie. */
export function accumulatorPath(journal: string, name: string): string {
  return `${journal}.${name}`;
}

/** Whether a job gives accumulators alone, which can be cut. */
export function isReduction({ accumulators = {}, outputs = {} }: AnyDefinition): boolean {
  return Object.keys(accumulators).length > 0 && Object.keys(outputs).length === 0;
}

/** What all pieces of a reduction are of: the work, and the versions of its URLs. */
interface ReducedWork {
  readonly shard: Shard;
  readonly journal: string;
  readonly work: Facts;
  readonly versions: Facts;
  /** Settings that the value of a pass before gave. */
  readonly computed?: Settings;
}

/**
 * Computes a piece of a reduction, and writes a file for each accumulator.
 *
 * @throws WarpstageError WS5015 where a URL has another version than the other pieces are of
 */
export async function reducePiece(
  job: Job,
  { fsync = false, signal, ...options }: RunOptions,
  { shard, journal, work, versions, computed = {} }: ReducedWork,
): Promise<void> {
  const { finish: _, ...definition } = job.definition;
  const accumulators = definition.accumulators!;
  const begins = Object.entries(accumulators).map(([name, declaration]) => {
    const { initial: __, ...neutral } = declaration;
    return [name, shard[0] === 1 || typeof declaration.combine === 'function' ? declaration : neutral];
  });
  const part = { ...job, definition: { ...definition, accumulators: Object.fromEntries(begins) } } as Job;
  let inputs: InputStamps = {};
  const cutting = {
    ...inNode,
    async cut(...[definition, request, run, rows]: Parameters<typeof skipTo>): Promise<void> {
      inputs = urlStamps(await stampsOf(run.inputs, request));
      const differing = differingVersion(versions, versionsOf(inputs));
      if (differing !== undefined) {
        const { name, was, is } = differing;
        const message = `${name} is ${is}, and the other pieces are of ${was}`;
        throw problem(
          'WS5015',
          message,
          'begin the run anew, where all pieces are to be of what is there now',
        );
      }
      await skipTo(definition, request, run, rows);
    },
  };
  const { value } = await runWhole(
    cutting,
    part,
    { ...options, ...(signal === undefined ? {} : { signal }), shard },
    { computed },
  );
  const [n, of] = shard;
  const how = { fsync, signal: signal as AbortSignal | undefined };
  for (const [name, array] of Object.entries(value as Record<string, TypedArray>)) {
    const { length } = array;
    const sink = await openPiece(
      accumulatorPath(journal, name),
      {
        ...{ shard, job: job.name, work, parameter: name, element: elementOf(definition, name) },
        ...{ shape: [of * length], begin: (n - 1) * length, end: n * length, inputs },
      },
      how,
    );
    try {
      await sink.write(array);
      await sink.finish([]);
      sink.publish();
    } catch (error) {
      await sink.abandon();
      throw error;
    }
  }
}

function elementOf({ kernel }: Pick<AnyDefinition, 'kernel'>, name: string): ElementType {
  const parameter = parseSchema(kernel.schema).find((one) => one.name === name);
  return (parameter as { readonly element: ElementType }).element;
}

/** The value of a reduction whose pieces are all there. */
export async function combinePieces(
  { definition }: Job,
  journal: string,
  context: JobContext & { readonly rows: number },
  signal: AbortSignal,
): Promise<unknown> {
  const results: Record<string, TypedArray> = {};
  for (const [name, declaration] of Object.entries(definition.accumulators!)) {
    const parts = await readPieces(accumulatorPath(journal, name), signal);
    results[name] = combineParts(declaration, parts);
  }
  return definition.finish === undefined ? results : definition.finish(results, context);
}
