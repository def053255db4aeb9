// A run in Node: files of all formats, their journals and pieces, limits of the process's memory, and every device. What few
// runs need is loaded by those.

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { problem } from '../diagnostics/problem.ts';
import { type Content, contentOf } from '../files/content.ts';
import { FileStamps } from '../files/stamps.ts';
import { formatOfFolder } from '../formats/registry.ts';
import { isUrl } from '../formats/url.ts';
import { loadCompiler } from '../runtime/cpu/late-compiler.ts';
import { knownModel } from '../runtime/model/known.ts';
import { checkOutputs, refusePresent } from './check-outputs.ts';
import { openDevices } from './devices.ts';
import { expandInputs } from './file-lists.ts';
import { copiesFor } from './host-copies.ts';
import { inputPaths } from './input-data.ts';
import { hasColumns, isRepeatable, OpenInputs } from './inputs.ts';
import { hostMemory } from './memory-limit.ts';
import { holdsSeveral, OpenOutputs } from './outputs.ts';
import { inPieces } from './pieces.ts';
import type { Given, LookingAt, Surroundings } from './surroundings.ts';
import { contentOfUrl } from './url-inputs.ts';

export const inNode: Surroundings = {
  get processors() {
    return availableParallelism();
  },
  hasColumns,
  holdsSeveral,
  expand: expandInputs,
  isRepeatable,
  async check(given) {
    const { jobs, data, destinations, options } = given;
    await checkOutputs(destinations, inputPaths(data.values()), options, jobs.length);
    if (options.shard !== undefined) await checkShards(given);
    if (options.overwrite === false) await refusePresent(destinations.values(), options.checksum ?? false);
    if (!options.resume) return;
    const { checkResumable } = await import('./journal/check-resumable.ts');
    await checkResumable(jobs, data, destinations, options.resume);
  },
  openDevices: (wanted, limit) => openDevices(wanted, {}, limit),
  copiesFor,
  modelOf: knownModel,
  hostMemory,
  async lookAt(given, checksum, looking) {
    const paths = given.filter((path) => !isOtherFolder(path));
    const stamps = await FileStamps.of(paths);
    const contents = checksum ? await contentsOf(paths, looking) : new Map<string, Content>();
    return { contents, check: () => stamps.check() };
  },
  inputs: (copy, versions) => new OpenInputs(copy, undefined, versions),
  outputs: (how, copy) => new OpenOutputs(how, copy),
  async loadCompilers(participants) {
    for (const { device } of participants) await loadCompiler(device);
  },
  inPieces,
  resume: async (...given) => (await import('./journal/resume-run.ts')).resumeRun(...given),
  cut: async (...given) => (await import('./shards/cut-run.ts')).cutRun(...given),
};

/** Whether a path is a folder of no format: it is refused later, and nothing looks into it before. */
function isOtherFolder(path: string): boolean {
  if (path === '-' || isUrl(path)) return false;
  try {
    return statSync(path).isDirectory() && formatOfFolder(path) === undefined;
  } catch {
    return false;
  }
}

/** What regular files and URLs hold, by their paths. */
async function contentsOf(
  paths: readonly string[],
  { versions, signal }: LookingAt,
): Promise<ReadonlyMap<string, Content>> {
  const contents = new Map<string, Content>();
  for (const path of new Set(paths)) {
    if (path === '-') continue;
    const content = await (isUrl(path) ? contentOfUrl(path, versions.kept, signal) : contentOf(path, signal));
    if (content !== undefined) contents.set(path, content);
  }
  return contents;
}

/** Work that is cut is one job, over data that each run can begin anywhere in. */
async function checkShards({ jobs, data, options: { resume } }: Given): Promise<void> {
  if (jobs.length > 1) {
    const [first] = jobs;
    throw problem(
      'WS5007',
      'a sequence of jobs cannot be cut into shards: each pass begins with what all rows of the one before have given',
      `let workers compute it pass by pass: --workers 2 in place of --shard; or run each pass as a job that the module exports: --job ${first!.name}, and the next with what it found, by --set`,
    );
  }
  if (resume) {
    throw problem(
      'WS5010',
      'a shard cannot be resumed',
      'run it again without resume, or cut into more shards',
    );
  }
  for (const [name, source] of data) {
    if (await isRepeatable(source)) continue;
    const message = `input '${name}' is a stream, and a shard begins anywhere in it`;
    throw problem('WS5005', message, 'save it to a file first');
  }
}
