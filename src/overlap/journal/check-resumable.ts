// Which runs can be resumed: those whose whole state is in their files. What was read can be read again
// from any row on, what was written is still there, and what else goes from chunk to chunk, in accumulators, is kept
// beside the journal. That lies beside the first output, or where the caller says.

import { stat } from 'node:fs/promises';
import { type Issue, WarpstageError } from '../../diagnostics/error.ts';
import { isObject, isUrl } from '../../formats/url.ts';
import { filesOf } from '../input-data.ts';
import type { Job } from '../job.ts';
import type { InputData, OutputData, OutputFile } from '../options.ts';
import { pathOf } from '../output-data.ts';
import { outputFile } from '../outputs.ts';

/**
 * Refuses a run that could not be resumed. What is not there is found missing later.
 *
 * @throws WarpstageError WS5010 with an issue for everything that stands in the way
 */
export async function checkResumable(
  jobs: readonly Job[],
  inputs: ReadonlyMap<string, InputData>,
  outputs: ReadonlyMap<string, OutputData>,
  resume: true | string,
): Promise<void> {
  const issues: Issue[] = [];
  const refuse = (why: string, hint: string) =>
    issues.push({ code: 'WS5010', message: `the run cannot be resumed: ${why}`, hint });
  const { definition } = jobs.at(-1)!;
  if (resume === true && Object.keys(definition.outputs ?? {}).length === 0) {
    const hint = "name it: --journal sums, or resume: 'sums' in a program";
    refuse('it has no output that its journal could lie beside', hint);
  }
  const names = new Set(jobs.flatMap((job) => Object.keys(job.definition.inputs)));
  for (const name of names) {
    const data = inputs.get(name);
    const files = data === undefined ? [] : (filesOf(data) ?? [{ file: '-' }]);
    // Whether a URL has a version is known when it is opened.
    const own = files.filter(({ file }) => !isUrl(file));
    if (!(await Promise.all(own.map(isFile))).every(Boolean))
      refuse(`input '${name}' is no file`, 'save it to a file first, or run it without resume');
  }
  for (const name of Object.keys(definition.outputs ?? {})) {
    const data = outputs.get(name);
    const path = pathOf(data) ?? '';
    if (isObject(path) && outputFile(data as string | OutputFile).format.mark !== undefined)
      refuse(
        `output '${name}' goes to many objects, which are there in part only`,
        'write it to a folder, or run it without resume',
      );
    else if (data === undefined || !(isObject(path) || (await isFile(data))))
      refuse(`output '${name}' goes to no file`, 'write it to a file, or run it without resume');
  }
  if (issues.length > 0) throw new WarpstageError(issues);
}

/** Whether data is a regular file, or may become one. */
async function isFile(data: OutputData | { readonly file: string }): Promise<boolean> {
  const path = typeof data === 'string' ? data : 'file' in data ? data.file : '-';
  if (path === '-' || isUrl(path)) return false;
  const about = await stat(path).catch(() => undefined);
  return about === undefined || about.isFile() || about.isDirectory();
}
