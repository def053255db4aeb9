// Names beside the outputs of a run that are its own, or those of other runs of the same outputs: where they wait, their
// journals, their checksums and their pieces. All of them, whatever this run is asked for: another may have left something
// there that is to be gone on with, or put together.

import { basename } from 'node:path';
import { placeOf } from '../files/place.ts';
import { unfinishedFiles } from '../overlap/journal/places.ts';
import { jobsOf } from '../overlap/sequence.ts';
import { placesOf } from '../overlap/shards/piece-files.ts';
import { sumsPath } from '../overlap/sums.ts';
import { rolesOfFiles, type Work } from './assign-files.ts';

/** Those beside these outputs. Of pieces there are as many as one likes: those count that one of `others` could be. */
export async function namesBeside(
  work: Work,
  outputs: readonly string[],
  journal: string | undefined,
  others: readonly string[],
): Promise<string[]> {
  const names = rolesOfFiles(work).outputs;
  const places = placesOf(names, outputs);
  const files = places.map((_, i) => outputs[outputs.length === 1 ? 0 : i]!);
  const waiting = files.map((path, i) => ({ path, part: places[i] === path ? undefined : names[i] }));
  const passes = jobsOf(work).length;
  const endings = (await Promise.all(others.map(endingOfPiece))).filter((ending) => ending !== undefined);
  return [
    ...files.filter((path) => path !== '-').map(sumsPath),
    ...(await unfinishedFiles(waiting, true, passes)),
    ...(journal === undefined ? [] : await unfinishedFiles([], journal, passes)),
    ...endings.flatMap((ending) => places.map((place) => place + ending)),
  ];
}

/** How the name of a piece ends, wherever a path leads; undefined for what is called otherwise. */
async function endingOfPiece(path: string): Promise<string | undefined> {
  const place = await placeOf(path).catch(() => undefined);
  return /\.\d+-of-\d+$/.exec(basename(place?.path ?? path))?.[0];
}
