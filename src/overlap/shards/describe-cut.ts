// What the pieces of a job over certain data say of themselves, without computing any: a run that ends where it would
// begin to write. It finds as well what is wrong with the job, its settings and its inputs.

import { checkCombinable } from '../accumulate.ts';
import { rowBytes } from '../chunks.ts';
import { inNode } from '../in-node.ts';
import { filesOf } from '../input-data.ts';
import type { Job, JobContext } from '../job.ts';
import type { Facts } from '../journal/text.ts';
import type { OutputFile, RunOptions } from '../options.ts';
import { checkWhole } from '../outputs.ts';
import { granularityOf } from '../plan.ts';
import type { Sequence } from '../sequence.ts';
import type { Settings } from '../settings.ts';
import type { Given, Outputs } from '../surroundings.ts';
import { runWhole } from '../whole-run.ts';
import { cutRun, factsOfCut } from './cut-run.ts';
import { stampsOf, versionsOf } from './input-stamps.ts';
import { isReduction } from './reductions.ts';

/** Work that can be cut. */
export interface CutWork {
  /** What all pieces say that they are of. */
  readonly work: Facts;
  /** The versions of URLs among the inputs. */
  readonly versions: Facts;
  readonly rows: number;
  /** Rows that stay together. */
  readonly granularity: number;
  /** Bytes of the inputs, as the kernel has them. */
  readonly bytes: number;
  /** The files of each input. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** What a reduction makes its value with. */
  readonly context: JobContext & { readonly rows: number };
}

/** Ends the run that describes; no error. */
class Described extends Error {
  readonly cut: CutWork;

  constructor(cut: CutWork) {
    super();
    this.cut = cut;
  }
}

/**
 * Describes the pieces of a job, or of the first pass of a sequence. Throws what a run of one would, before it computes.
 *
 * @param computed settings that the value of a pass before gave
 */
export async function describeCut(
  work: Job | Sequence,
  options: RunOptions,
  computed: Settings = {},
): Promise<CutWork> {
  const describing = {
    ...inNode,
    // Of a sequence each pass is cut by itself.
    check: (given: Given) => inNode.check({ ...given, jobs: given.jobs.slice(-1) }),
    async cut(...[definition, request, run, rows]: Parameters<typeof cutRun>): Promise<void> {
      if (!isReduction(definition)) {
        // Refuses what cannot be cut.
        const outputs = { cut: () => {} } as unknown as Outputs;
        await cutRun(definition, { ...request, outputs }, run, [0, rows[1]]);
        // So does each piece, but whoever deals them is to know it before.
        for (const [i, { name, element, rate }] of run.outputs.entries()) {
          const data = request.destinations.get(name) as string | OutputFile;
          checkWhole(data, { parameter: name, element, rate, shape: run.shapes[i]! });
        }
      } else checkCombinable(definition, 'pieces');
      const bytes = run.inputs.reduce((sum, input) => sum + rows[1] * rowBytes(input), 0);
      throw new Described({
        work: await factsOfCut(definition, request, run),
        versions: versionsOf(await stampsOf(run.inputs, request)),
        rows: rows[1],
        granularity: granularityOf(run.outputs),
        bytes,
        files: Object.fromEntries(
          [...request.data]
            .filter(([name]) => name in definition.inputs || name in (definition.arrays ?? {}))
            .map(([name, data]) => [name, (filesOf(data) ?? []).map(({ file }) => file)]),
        ),
        context: {
          ...{ settings: run.settings, rows: rows[1], chunkRows: run.plan.chunkRows },
          lengths: Object.fromEntries([...run.constants].map(([name, { length }]) => [name, length])),
        },
      });
    },
  };
  try {
    await runWhole(describing, work, { ...options, shard: [1, 1] }, { computed });
  } catch (error) {
    if (error instanceof Described) return error.cut;
    throw error;
  }
  throw new Error('a run of a piece was not cut');
}
