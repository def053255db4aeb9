// The pieces of a pass that are there: how many make the whole, which of them are of this work, and whether what they were
// computed from is what is there now.

import { problem } from '../diagnostics/problem.ts';
import { isUrl } from '../formats/url.ts';
import type { CutWork } from '../overlap/shards/describe-cut.ts';
import { differingVersion, versionsOf } from '../overlap/shards/input-stamps.ts';
import { piecesBeside } from '../overlap/shards/merge.ts';
import { checkNewer } from '../overlap/shards/newer.ts';
import { readPiece } from '../overlap/shards/piece.ts';
import { piecePath } from '../overlap/shards/piece-files.ts';
import { formatCount } from '../timeline/quantities.ts';

/** Bytes of input that make a piece, and pieces at most, where nobody says. */
const usualPiece = { bytes: 2 ** 26, most: 1000 } as const;

/** The pieces of a pass. */
export interface CutPieces {
  readonly places: readonly string[];
  readonly cut: CutWork;
  /** In all. */
  readonly of: number;
}

/** Into how many pieces the work is cut: as was said, or as it was before, or by its size alone. */
export async function countPieces(
  places: readonly string[],
  { rows, granularity, bytes }: CutWork,
  said: number | undefined,
): Promise<number> {
  const before = new Set<number>();
  for (const place of places) for (const of of (await piecesBeside(place)).keys()) before.add(of);
  const other = [...before].find((of) => of !== (said ?? [...before][0]));
  if (other !== undefined) {
    throw problem(
      'WS5015',
      `${places[0]!} has pieces of a cut into ${formatCount(other)}`,
      `go on with these: --pieces ${other}; or remove them`,
    );
  }
  const most = Math.max(1, Math.ceil(rows / granularity));
  const usual = Math.min(usualPiece.most, Math.max(1, Math.ceil(bytes / usualPiece.bytes)));
  return said ?? [...before][0] ?? Math.min(most, usual);
}

/**
 * The pieces that are there, of all outputs.
 *
 * @throws WarpstageError WS5015 for those of another work, and for one that is older than the last change of an input
 */
export async function piecesThere({ places, cut, of }: CutPieces): Promise<ReadonlySet<number>> {
  let there: ReadonlySet<number> | undefined;
  for (const place of places) {
    const found = (await piecesBeside(place)).get(of) ?? new Set<number>();
    for (const n of found) await checkWork(piecePath(place, [n, of]), cut);
    there = new Set([...found].filter((n) => there?.has(n) ?? true));
  }
  const paths = places.flatMap((place) => [...(there ?? [])].map((n) => piecePath(place, [n, of])));
  // A piece knows the version of a URL; of a file it knows none.
  const files = Object.values(cut.files).flat();
  await checkNewer(
    paths,
    files.filter((file) => !isUrl(file)),
  );
  return there ?? new Set();
}

async function checkWork(path: string, { work, versions }: CutWork): Promise<void> {
  const piece = await readPiece(path);
  const names = Object.keys({ ...piece.work, ...work });
  const differing = names.find((name) => piece.work[name] !== work[name]);
  const version = differingVersion(versionsOf(piece.inputs), versions);
  if (differing === undefined && version === undefined) return;
  const what =
    version === undefined
      ? `${differing} is ${piece.work[differing!]}, and here ${work[differing!]}`
      : `${version.name} is ${version.was}, and here ${version.is}`;
  throw problem(
    'WS5015',
    `${path} is of another work: ${what}`,
    'remove it, or run with what it was computed with',
  );
}

/** Refuses inputs that are other files, or of other versions, than an earlier pass found. */
export function checkSameInputs(before: CutWork, now: CutWork, pass: number): void {
  const isOther = <T>(a: T | undefined, b: T) => a !== undefined && JSON.stringify(a) !== JSON.stringify(b);
  const name =
    Object.keys(now.files).find((one) => isOther(before.files[one], now.files[one])) ??
    Object.keys(now.versions).find((one) => isOther(before.versions[one], now.versions[one]));
  if (name === undefined) return;
  const input = name in now.files ? `input '${name}'` : name;
  throw problem(
    'WS5015',
    `${input} is another one than pass ${pass} has read`,
    'remove the pieces, and begin the run anew, for what is there now',
  );
}
