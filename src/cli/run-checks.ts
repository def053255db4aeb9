// What `warpstage run` was told, and what of it is refused before anything is opened.

import { stat } from 'node:fs/promises';
import type { Conversion, Dtype } from '../formats/dtype.ts';
import { formatOfFile, formatOfFolder, formatOfName } from '../formats/registry.ts';
import type { Extent3 } from '../kernel/types.ts';
import { type AssignedFiles, asGiven, type NamedWork } from './assign-files.ts';
import { usageError } from './failure.ts';
import { isTerminal, type Terminal } from './terminal.ts';
import type { Settings } from './values.ts';

export interface RunCommandOptions {
  readonly set?: Settings;
  readonly device: string;
  readonly threads?: number;
  readonly checked?: boolean;
  readonly chunk?: number | string;
  readonly depth?: number;
  readonly rows?: number;
  readonly maxMemory?: string;
  readonly shard?: readonly [n: number, of: number];
  readonly queue?: string | true;
  readonly pieces?: number;
  readonly tries?: number;
  readonly ackWait?: number;
  readonly patience: number;
  readonly workers?: number;
  readonly resume?: boolean;
  readonly journal?: string;
  readonly fsync?: boolean;
  readonly clobber: boolean;
  readonly checksum?: boolean;
  readonly deadline?: number;
  readonly input?: readonly string[];
  readonly raw?: boolean;
  readonly format?: string;
  readonly dtype?: Dtype;
  readonly convert?: Conversion;
  readonly column?: readonly string[];
  readonly nulls?: number;
  readonly job?: string;
  readonly trace?: string;
  readonly log?: string;
  readonly stages?: Extent3;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly help?: boolean;
}

/** Numbers as their bytes would be no use on a screen, and may change how the terminal works. */
export function refuseOnTerminal({ outputs }: AssignedFiles, { output }: Terminal): void {
  if (!outputs.includes('-') || !isTerminal(output)) return;
  throw usageError(
    'the output goes to the terminal, and is no text',
    'name a file, or pass it on: warpstage run … - | …, or > y.raw',
  );
}

/** Whether a run is to be resumed, and where what it keeps lies if that is said. */
export function resumeOf({
  resume = false,
  journal,
}: Pick<RunCommandOptions, 'resume' | 'journal'>): boolean | string {
  return journal ?? resume;
}

/** Refuses outputs that take the place of the module, and a trace or log that takes the place of anything. */
export async function checkFiles(
  modulePath: string,
  { work }: NamedWork,
  { reads, outputs, behindEachOther }: AssignedFiles,
  { trace, log, checksum, device, ...options }: RunCommandOptions,
): Promise<void> {
  const [{ checkWritable, refuseOverwriting }, { sumsPath }, { expandInput }, { inputPaths }] =
    await Promise.all([
      import('./write-whole.ts'),
      import('../overlap/sums.ts'),
      import('../overlap/file-lists.ts'),
      import('../overlap/input-data.ts'),
    ]);
  if (behindEachOther > 1) await refuseLastOfInputs(behindEachOther, outputs);
  const files = outputs.filter((output) => output !== '-');
  for (const output of [...outputs, ...(checksum ? files.map(sumsPath) : [])])
    await refuseOverwriting(output, 'the output', { reads: [modulePath] });
  const besides = [trace, log].filter((path) => path !== undefined);
  if (besides.length === 0) return;
  const { namesBeside } = await import('./names-beside.ts');
  const writes = [...outputs, ...(await namesBeside(work, outputs, options.journal, besides))];
  const models = device.split(',').filter((name) => name.startsWith('model:'));
  const inputs = [
    ...[modulePath, ...models.map((name) => name.slice('model:'.length))],
    ...inputPaths(await Promise.all(reads.map(expandInput))),
  ];
  if (trace !== undefined) await checkWritable(trace, '--trace', { reads: inputs, writes });
  if (log !== undefined) {
    const others = [...writes, ...(trace === undefined ? [] : [trace])];
    await checkWritable(log, '--log', { reads: inputs, writes: others });
  }
}

/**
 * Refuses an output that is there, behind several files of one input: a shell has put names in the place of a pattern,
 * and the output that was forgotten would be written over the last of them.
 */
async function refuseLastOfInputs(inputs: number, outputs: readonly string[]): Promise<void> {
  for (const output of outputs) {
    if (!(await isRegularFile(output)) && formatOfFolder(output) === undefined) continue;
    throw usageError(
      `${output} is there already, and may be one more of the ${inputs} files of the input`,
      "put the pattern in quotes, so that the output stands for itself: warpstage run … 'parts/*.npy' y.npy",
    );
  }
}

async function isRegularFile(path: string): Promise<boolean> {
  const about = await stat(path).catch(() => undefined);
  return about?.isFile() ?? false;
}

/** What is said of a table's columns would be passed over in silence where no input is a table. */
export function refuseTableOptions(inputs: readonly string[], options: RunCommandOptions): void {
  const { column, nulls } = options;
  // What a file is that no name tells shows when it is read.
  const mayBeTable = (file: string) => {
    const { format } = asGiven(file, options);
    const known = format === undefined ? formatOfName(file) : formatOfFile(format, file);
    return known === undefined || Boolean(known.columns);
  };
  if ((column === undefined && nulls === undefined) || inputs.some(mayBeTable)) return;
  const option = column === undefined ? `--nulls ${nulls}` : `--column ${column[0]}`;
  throw usageError(
    `${option} is about files with columns, and no input is one`,
    'leave it out, or name a file that has columns, for example one that ends in .parquet',
  );
}
