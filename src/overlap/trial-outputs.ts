// Where the trials of a plan write: beside the real outputs, so that it takes as long, under names of their
// own; over a file where the real ones replace one. What is not to be a regular file is collected in memory,
// since a trial may not write there; so is what goes to an object. Nothing is left of a trial.

import { access, constants, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { unwritable } from '../diagnostics/problem.ts';
import { folderOfProcess } from '../files/leftovers.ts';
import { placeOf } from '../files/place.ts';
import type { Format } from '../formats/format.ts';
import { isObject } from '../formats/url.ts';
import type { OutputData, OutputFile } from './options.ts';
import { isTaken, saidRate } from './output-data.ts';
import { outputFile } from './outputs.ts';

/** Outputs by name; those that are missing are collected in memory. */
type Outputs = Readonly<Record<string, OutputData>>;

/** Has `attempt` write to outputs of its own in the places of the real ones, and removes them. */
export async function withTrialOutputs<T>(
  destinations: ReadonlyMap<string, OutputData>,
  attempt: (outputs: Outputs) => Promise<T>,
): Promise<T> {
  const folders: string[] = [];
  try {
    const outputs: Record<string, OutputData> = {};
    // What goes to one file does so in a trial, too.
    const owns = new Map<string, string | null>();
    for (const [name, data] of destinations) {
      if (isTaken(data)) continue;
      const { file, format } = outputFile(data);
      if (!owns.has(file))
        owns.set(file, file === '-' || isObject(file) ? null : await ownFile(file, format, folders));
      const own = owns.get(file)!;
      if (own !== null) {
        const rate = saidRate(data);
        outputs[name] = {
          file: own,
          format: format.name,
          ...(rate === undefined ? {} : { rate }),
        } satisfies OutputFile;
      }
    }
    return await attempt(outputs);
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

/** A name for a trial's output, in a new folder beside the real one; null if that is there and no regular file. */
async function ownFile(path: string, { mark }: Format, folders: string[]): Promise<string | null> {
  try {
    const { path: final, about } = await placeOf(path);
    const isFolder = about?.isDirectory() === true && mark !== undefined;
    if (about?.isDirectory() && !isFolder) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (about !== undefined && !about.isFile() && !isFolder) return null;
    // A file that must not be written is not replaced either.
    if (about !== undefined) await access(final, constants.W_OK);
    const folder = folderOfProcess(dirname(final), '.warpstage-plan');
    folders.push(folder);
    const own = join(folder, basename(final));
    if (about?.isFile()) await writeFile(own, '');
    return own;
  } catch (cause) {
    throw unwritable(path, cause, 'check that its directory exists and may be written');
  }
}
