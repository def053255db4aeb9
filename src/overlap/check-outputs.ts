// What is refused of outputs before anything is opened: those that would take the place of an input or of each other, lie in one,
// or are there and are to stay.

import { stat } from 'node:fs/promises';
import { problem } from '../diagnostics/problem.ts';
import { findOverwriting } from '../files/overwriting.ts';
import { formatOfFolder } from '../formats/registry.ts';
import { isObject, isUrl } from '../formats/url.ts';
import { unfinishedFiles } from './journal/places.ts';
import type { OutputData, RunOptions } from './options.ts';
import { isTaken, pathOf, sharedFiles } from './output-data.ts';
import { outputFile } from './outputs.ts';
import { isPresent } from './sinks/file.ts';
import { sumsPath } from './sums.ts';

/**
 * Refuses outputs in no format that is written, and those that would overwrite an input, or each other; with `resume`, also the files in which they wait until
 * they are complete.
 *
 * @throws WarpstageError WS5012, WS5006
 */
export async function checkOutputs(
  outputs: ReadonlyMap<string, OutputData>,
  inputs: Iterable<string>,
  { resume = false, checksum = false }: Pick<RunOptions, 'resume' | 'checksum'>,
  passes = 1,
): Promise<void> {
  const files = [...outputs].flatMap(([name, data]) =>
    isTaken(data) ? [] : [{ name, ...outputFile(data) }],
  );
  // What is an archive may be given for several.
  const others = files.filter(
    ({ file, format }, i) =>
      format.archive === undefined || files.findIndex((one) => one.file === file && one.format.archive) === i,
  );
  const paths = others.map(({ file }) => file);
  const shared = sharedFiles(outputs.values());
  const waiting = files.map(({ name, file }) => ({ path: file, part: shared.has(file) ? name : undefined }));
  const unfinished = resume === false ? [] : await unfinishedFiles(waiting, resume, passes);
  const object = checksum ? paths.find(isObject) : undefined;
  if (object !== undefined) {
    throw problem(
      'WS5006',
      `checksums lie in files beside outputs, and ${object} is no file`,
      'leave --checksum out, or write to a file',
    );
  }
  const beside = checksum ? paths.filter((path) => path !== '-').map(sumsPath) : [];
  const found = await findOverwriting(inputs, [...paths, ...unfinished, ...beside]);
  if (found === undefined) return;
  const { path, other, kind, lies } = found;
  const also = path === other ? '' : ` (${other})`;
  if (lies !== undefined) {
    const [inner, outer] = lies === 'within' ? [path, other] : [other, path];
    const isFolder =
      unfinished.includes(outer) ||
      files.some(({ file, format }) => file === outer && format.mark !== undefined);
    const isOutput = lies === 'around' || kind === 'written';
    // What is to be a file, and what is read as none, is refused for what stands there.
    if (isOutput ? !isFolder : !isUrl(outer) && formatOfFolder(outer) === undefined) return;
    const why = isOutput
      ? 'whose place an output takes, with all that is in it'
      : 'which is an input, with all that is in it';
    const what = lies === 'within' ? 'output' : 'input';
    throw problem('WS5006', `the ${what} ${inner} lies in ${outer}, ${why}`, 'write to a name elsewhere');
  }
  if (kind === 'read') {
    const what = paths.includes(path)
      ? 'its output'
      : beside.includes(path)
        ? 'where the checksums of its output are'
        : 'where its output waits until it is complete';
    throw problem(
      'WS5006',
      `${path} is an input of the job${also}, and cannot be ${what} as well`,
      'write to another name, and rename it then',
    );
  }
  throw problem(
    'WS5006',
    `${path} is given for two outputs${also}`,
    'give each its own name, or write all to one .npz file',
  );
}

/** Refuses outputs that are there already. Devices and pipes are written directly, and always there. */
export async function refusePresent(outputs: Iterable<OutputData>, checksum: boolean): Promise<void> {
  const files = [...outputs].flatMap((data) => pathOf(data) ?? []).filter((path) => path !== '-');
  for (const path of [...files, ...(checksum ? files.map(sumsPath) : [])]) {
    if (isObject(path)) await (await import('./sinks/s3.ts')).refusePresentObject(path);
    const about = isObject(path) ? undefined : await stat(path).catch(() => undefined);
    if (about?.isFile() || about?.isDirectory()) throw isPresent(path);
  }
}
